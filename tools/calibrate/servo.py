"""Calibrates a servo in its joint: straight (trim_us), scale (us_per_rad), direction, and optionally end stops.

The end stops are low_us and high_us. You read angles off the joint, with a protractor or a scale. Calibrate the clock
first. Angles have the vehicle's own sign: a tail's joint bends to port if positive.
"""

import argparse
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from caudal.hal.tables.channels import Servo
from caudal.tools.calibrate.output import CalibrationFile, add_output
from caudal.tools.common import options, output
from caudal.tools.config.pi_vehicle import PiVehicle

if TYPE_CHECKING:
    from caudal.tools.calibrate.test_stand import Stand

SPREAD_US = 300
LEAST_SPREAD_US = 50
CROOKED_DEG = 3.0
CLOSE_US = 50  # the largest nudge towards an end stop


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal calibrate servo`."""
    command.add_argument("actuator", help="the servo's name in the vehicle file")
    command.add_argument(
        "--spread",
        metavar="US",
        type=options.whole,
        default=SPREAD_US,
        help=f"distance of the two angles from straight, in us of the pulse (default: {SPREAD_US})",
    )
    add_output(command)


def run(args: argparse.Namespace) -> int:
    """Moves the servo step by step, and writes what was found."""
    from caudal.tools.calibrate.prompts import confirm
    from caudal.tools.calibrate.test_stand import Stand

    file = CalibrationFile(args)
    servo = file.vehicle.actuator(args.actuator)
    if not isinstance(servo, Servo):
        raise output.UsageError(f"{args.actuator} is a {servo.map}, not a servo")
    confirm(
        f"{args.actuator} (channel {servo.port}) will JUMP to {servo.centre_us + servo.trim_us} us, then move "
        f"slowly by up to {args.spread} us to each side. All other actuators are off. Keep hands and hoses clear."
    )
    with Stand(file.vehicle, args.on) as stand:
        joint = Joint(file.vehicle, servo, stand)
        joint.straighten()
        joint.turn(args.spread)
        joint.find_ends()
    _warn(joint)
    found = {
        f"actuator.{args.actuator}.{key}": (getattr(servo, key), value) for key, value in joint.found.items()
    }
    return file.write(found, f"servo {args.actuator}")


class Joint:
    """One servo on the stand; `found` holds the values so far, each valid in the vehicle file."""

    def __init__(self, vehicle: PiVehicle, servo: Servo, stand: "Stand") -> None:
        self.servo = servo
        self.found: dict[str, Any] = {}
        self._vehicle = vehicle
        self._stand = stand
        self._zero_us = servo.centre_us + servo.trim_us
        self._sides_us = (self._zero_us, self._zero_us)

    def straighten(self) -> None:
        """Finds trim_us: the person nudges the joint until it is straight."""
        low_us, high_us = self.servo.low_us, self.servo.high_us

        def refuses(pulse_us: int) -> str | None:
            if not low_us < pulse_us < high_us:
                return f"{pulse_us} us is outside low_us to high_us, {low_us} to {high_us}"
            return self._refuses(trim_us=pulse_us - self.servo.centre_us)

        self._move(self._zero_us)
        self._zero_us = self._nudged(self._zero_us, "straight", 100, refuses)
        self.found["trim_us"] = self._zero_us - self.servo.centre_us

    def turn(self, spread_us: int) -> None:
        """Finds us_per_rad and direction from two angles, `spread_us` to both sides."""
        from caudal.tools.calibrate.prompts import number

        room_us = min(self._zero_us - self.servo.low_us, self.servo.high_us - self._zero_us)
        if room_us < min(spread_us, LEAST_SPREAD_US):
            raise output.UsageError(
                f"straight is {room_us} us from an end stop; correct low_us or high_us first"
            )
        if room_us < spread_us:
            output.note(f"only {room_us} us to each side, because of low_us and high_us")
        spread_us = min(spread_us, room_us)
        self._sides_us = (self._zero_us - spread_us, self._zero_us + spread_us)
        while True:
            degrees = []
            for pulse_us in self._sides_us:
                self._move(pulse_us)
                degrees.append(
                    number(f"{pulse_us} us. Angle of the joint in degrees, with its sign:", -180, 180)
                )
            low_deg, high_deg = degrees
            if low_deg * high_deg >= 0:
                output.note(
                    f"{low_deg:g} and {high_deg:g} degrees are not on both sides of straight; measure again"
                )
                continue
            us_per_rad = round(2 * spread_us / math.radians(abs(high_deg - low_deg)), 1)
            problem = self._refuses(us_per_rad=us_per_rad)
            if problem is None:
                break
            output.note(f"{problem} Measure again.")
        middle_deg = (low_deg + high_deg) / 2
        if abs(middle_deg) > CROOKED_DEG:
            output.note(
                f"by these, the joint is off by {middle_deg:.1f} degrees when straight; if that is much, start again"
            )
        self.found["us_per_rad"] = us_per_rad
        self.found["direction"] = 1 if high_deg > low_deg else -1
        self._move(self._zero_us)

    def find_ends(self) -> None:
        """Finds low_us and high_us, if the user chooses to: nudges the joint until it is at its end stops."""
        from caudal.tools.calibrate.prompts import ask

        if ask("Type yes to find the end stops too, or press Enter to keep them:") != "yes":
            return
        for key, start_us, sign in zip(("low_us", "high_us"), self._sides_us, (-1, 1), strict=True):

            def refuses(pulse_us: int, key: str = key, sign: int = sign) -> str | None:
                if sign * (pulse_us - self._zero_us) <= 0:
                    return f"{pulse_us} us is not beyond straight, which is {self._zero_us} us"
                return self._refuses(**{key: pulse_us})

            self._move(start_us)
            output.note(f"towards {key}: {sign * 20:+d} and so on; stop before the servo strains")
            self.found[key] = self._nudged(start_us, f"at the end ({key})", CLOSE_US, refuses)
            self._move(self._zero_us)

    def _nudged(self, pulse_us: int, where: str, most_us: int, refuses: Callable[[int], str | None]) -> int:
        """The pulse after the person's nudges, in us."""
        from caudal.tools.calibrate.prompts import nudge

        while True:
            by_us = nudge(f"{pulse_us} us. Nudge by +N or -N us, press Enter when it is {where}:", most_us)
            if by_us is None:
                problem = refuses(pulse_us)  # the pulse it started from may be invalid
                if problem is None:
                    return pulse_us
            else:
                problem = refuses(pulse_us + by_us)
                if problem is None:
                    pulse_us += by_us
                    self._move(pulse_us)
            if problem:
                output.note(problem)

    def _move(self, pulse_us: int) -> None:
        self._stand.move(self.servo.name, pulse_us)

    def _refuses(self, **values: Any) -> str | None:
        together = {**self.found, **values}
        return self._vehicle.refuses(
            {f"actuator.{self.servo.name}.{key}": value for key, value in together.items()}
        )


def _warn(joint: Joint) -> None:
    """Warns of angles that the vehicle file allows but the end stops do not."""
    servo = replace(joint.servo, **joint.found)
    zero_us = servo.centre_us + servo.trim_us
    for key in ("min_rad", "max_rad"):
        pulse_us = zero_us + servo.direction * servo.us_per_rad * getattr(servo, key)
        if not servo.low_us - 1 <= pulse_us <= servo.high_us + 1:
            ends = f"{servo.low_us} to {servo.high_us} us"
            output.note(
                f"{key}, {getattr(servo, key):g} rad, would be {pulse_us:.0f} us, beyond {ends}: it cannot be reached"
            )
