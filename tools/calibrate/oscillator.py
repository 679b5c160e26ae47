"""The PCA9685's oscillator: a pulse is asked for, a person measures it with an oscilloscope or a logic analyser and
types what they see, and the clock follows; again, until the pulse is within one step of what was asked.

Its nominal 25 MHz are off by up to several per cent, and by as much is every pulse of the vehicle.
"""

import argparse
from typing import Any

from caudal.tools.calibrate.output import CalibrationFile, add_into
from caudal.tools.common import options, output
from caudal.tools.config.pi_vehicle import PiVehicle

KEY = "pi.pulses.clock_hz"
PULSE_US = 1500
ROUNDS = 6


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--actuator", metavar="NAME", help="on whose channel to pulse (default: the first)")
    how = command.add_mutually_exclusive_group()
    how.add_argument(
        "--measured",
        metavar="US",
        type=options.positive,
        help=f"what was measured before for {PULSE_US} us (a motor's: its neutral): reckons, and pulses nothing",
    )
    how.add_argument(
        "--measure", action="store_true", help="with --on emulated: measured at the emulated chip itself"
    )
    add_into(command)


def run(args: argparse.Namespace) -> int:
    if args.measure and args.on == "pi":
        raise output.UsageError("--measure is for --on emulated; here a person measures")
    book = CalibrationFile(args)
    actuator = _actuator(book.vehicle, args.actuator)
    asked_us = actuator.get("neutral_us", PULSE_US)
    old_hz = book.vehicle.pi["pulses"]["clock_hz"]
    if args.measured:
        new_hz = _reckoned(book.vehicle, asked_us, args.measured)
        return book.write({KEY: (old_hz, new_hz)}, "clock")
    if not args.measure:
        _confirm(book.vehicle, actuator, asked_us)
    vehicle = book.vehicle
    for _ in range(ROUNDS):
        new_hz = _one_round(args, vehicle, actuator["name"], asked_us)
        if new_hz == vehicle.pi["pulses"]["clock_hz"]:
            return book.write({KEY: (old_hz, new_hz)}, "clock")
        output.note(f"the oscillator has {new_hz / 1e6:.4g} MHz; once more with that")
        vehicle = vehicle.changed({KEY: new_hz})
    raise output.UsageError(
        f"after {ROUNDS} measurements the pulse still is not within a step of {asked_us} us; nothing was written, "
        "check what is measured"
    )


def _actuator(vehicle: PiVehicle, name: str | None) -> dict[str, Any]:
    pulsed = [a for a in vehicle.settings["actuators"] if a["map"] != "valve"]
    actuator = vehicle.actuator(name) if name else pulsed[0] if pulsed else None
    if actuator is None or actuator["map"] == "valve":
        raise output.UsageError(
            "a valve has no pulses to measure; choose a servo or a thruster by --actuator"
        )
    if not actuator["low_us"] <= actuator.get("neutral_us", PULSE_US) <= actuator["high_us"]:
        raise output.UsageError(
            f"{PULSE_US} us lies outside {actuator['name']}'s low_us to high_us; choose another"
        )
    return actuator


def _confirm(vehicle: PiVehicle, actuator: dict[str, Any], asked_us: int) -> None:
    from caudal.tools.calibrate.prompts import confirm

    address = vehicle.pi["pulses"]["address"]
    moves = (
        "Before the clock is right that may not be neutral: THE MOTOR MAY TURN; unplug it or take its propeller off."
        if actuator["map"] == "thruster"
        else "If its servo is plugged in, it jumps to about its middle."
    )
    confirm(
        f"{actuator['name']} (channel {actuator['port']} of the PCA9685 at 0x{address:02x}) will get pulses of "
        f"{asked_us} us. {moves} Measure the high time of the channel's signal."
    )


def _one_round(args: argparse.Namespace, vehicle: PiVehicle, name: str, asked_us: int) -> int:
    """The clock after a measurement; the same as before if the pulse is right."""
    from caudal.tools.calibrate.prompts import number
    from caudal.tools.calibrate.test_stand import Stand

    def refuses(measured_us: float) -> str | None:
        return vehicle.refuses({KEY: _reckoned(vehicle, asked_us, measured_us)})

    with Stand(vehicle, args.on) as stand:
        stand.pulse(name, asked_us)
        if not args.measure:
            measured_us = number("Measured, in us:", asked_us / 2, asked_us * 2, refuses)
        else:
            measured_us = stand.emulated_pulse_us(name)
            output.note(f"measured {measured_us:.1f} us for {asked_us} us")
    return _reckoned(vehicle, asked_us, measured_us)


def _reckoned(vehicle: PiVehicle, asked_us: int, measured_us: float) -> int:
    """The oscillator's frequency, by the pulse that the steps should have given; unchanged where it is close enough."""
    from caudal.hal.pi.pca9685 import Scale

    pulses = vehicle.pi["pulses"]
    try:
        scale = Scale(pulses["frequency_hz"], pulses["clock_hz"])
    except ValueError as error:
        raise vehicle.file.error("pi.pulses", str(error)) from error
    if abs(measured_us - asked_us) <= scale.step_us:
        return pulses["clock_hz"]
    return round(pulses["clock_hz"] * scale.pulse_us(scale.steps(asked_us)) / measured_us)
