"""Measures a thruster on a force gauge: it runs at one pulse after the other, and you type the force at neutral.

The bench data is written to a CSV file, from which caudal thrust makes a map. Calibrate the clock first. Fix the motor
in a tank: it goes up to its full thrust, weak pulses first. An existing file is extended, for several voltages.
"""

import argparse
import csv
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING

from caudal.hal.tables.channels import Thruster
from caudal.tools.calibrate.output import check_writable
from caudal.tools.common import options, output
from caudal.tools.config.pi_vehicle import open_pi_vehicle

if TYPE_CHECKING:
    from caudal.tools.calibrate.test_stand import Stand

POINTS = 25
FEWEST = 20  # that caudal thrust needs at a voltage
SECONDS = 4.0
REST_S = 1.0
READ_S = 1.0
MOST = {"n": 10_000.0, "kgf": 1_000.0}


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal calibrate thruster`."""
    command.add_argument("actuator", help="the thruster's name in the vehicle file")
    command.add_argument(
        "--points",
        metavar="N",
        type=options.whole,
        default=POINTS,
        help=f"number of pulses (default: {POINTS})",
    )
    command.add_argument(
        "--seconds",
        metavar="S",
        type=options.positive,
        default=SECONDS,
        help=f"duration of each pulse (default: {SECONDS:g})",
    )
    command.add_argument(
        "--unit", choices=tuple(MOST), default="n", help="unit of the forces you type (default: n)"
    )
    command.add_argument(
        "--write", metavar="FILE.csv", type=Path, help="the bench data (default: under runs/)"
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Measures the force at each pulse, and writes the bench data."""
    from caudal.tools.calibrate.prompts import ask, confirm
    from caudal.tools.calibrate.test_stand import Stand

    if args.points < FEWEST:
        raise output.UsageError(f"--points {args.points}: caudal thrust needs {FEWEST} or more")
    vehicle = open_pi_vehicle(args.vehicle, args.set)
    thruster = vehicle.actuator(args.actuator)
    if not isinstance(thruster, Thruster):
        raise output.UsageError(f"{args.actuator} is a {thruster.map}, not a thruster")
    path = args.write or Path("runs") / f"{args.actuator}-thrust.csv"
    column = f"force_{args.unit}"
    before = _existing(path, column)
    pulses_us = points(thruster.low_us, thruster.neutral_us, thruster.high_us, args.points)
    confirm(
        f"{args.actuator} (channel {thruster.port}) WILL TURN WITH FULL THRUST: {len(pulses_us)} pulses from "
        f"{thruster.low_us} to {thruster.high_us} us, {args.seconds:g} s each. "
        "Is it under water, fixed, and are hands clear?"
    )
    with Stand(vehicle, args.on) as stand:
        stand.pulse(args.actuator, thruster.neutral_us)
        ask("Neutral. Press Enter when the speed controller is ready (after its last beep):")
        volts = _volts(stand, thruster)
        forces = []
        for k, pulse_us in enumerate(pulses_us, 1):
            where = f"{k} of {len(pulses_us)}: {pulse_us} us"
            forces.append(_measure(stand, args, thruster, pulse_us, where))
    rows = sorted(zip(pulses_us, forces, strict=True))
    _write(path, before, column, volts, rows)
    _show(args, path, thruster, volts, rows)
    return 0


def points(low_us: int, neutral_us: int, high_us: int, count: int) -> list[int]:
    """Pulses in us, evenly over the range, those nearest to neutral first."""
    even = {round(low_us + (high_us - low_us) * k / (count - 1)) for k in range(count)}
    return sorted(even, key=lambda pulse_us: (abs(pulse_us - neutral_us), pulse_us))


def _measure(
    stand: "Stand", args: argparse.Namespace, thruster: Thruster, pulse_us: int, where: str
) -> float:
    """The force at one pulse; the motor is at neutral before the person types."""
    from caudal.tools.calibrate.prompts import ask, number

    most = MOST[args.unit]
    ask(f"{where}. Press Enter to run it for {args.seconds:g} s:")
    while True:
        stand.pulse(args.actuator, pulse_us)
        stand.wait(args.seconds)
        stand.pulse(args.actuator, thruster.neutral_us)
        stand.wait(REST_S)
        prompt = f"Force in {args.unit}, in the direction of long pulses positive (Enter to run it again):"
        force = number(prompt, -most, most, empty=math.nan)
        if not math.isnan(force):
            return force


def _volts(stand: "Stand", thruster: Thruster) -> float:
    """The battery's voltage, from its sensor or typed."""
    from caudal.tools.calibrate.prompts import number

    read_v = stand.read_si(thruster.battery, READ_S) if thruster.battery else None
    if read_v is None:
        return number("Battery voltage in V:", 1, 1000)
    volts = round(read_v, 1)
    return number(
        f"Battery voltage in V (Enter for {volts:g}, as {thruster.battery} reads):", 1, 1000, empty=volts
    )


def _existing(path: Path, column: str) -> str:
    """The file's text, '' if it is new; a UsageError if it cannot be extended."""
    check_writable(path, "--write")
    if not path.exists():
        return ""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise output.UsageError(f"{path} exists but cannot be read; choose another --write") from None
    if text and text.splitlines()[0].split(",") != ["voltage_V", "pwm_us", column]:
        raise output.UsageError(
            f"{path} exists with other columns than voltage_V,pwm_us,{column}; choose another --write"
        )
    return text


def _write(path: Path, before: str, column: str, volts: float, rows: list[tuple[int, float]]) -> None:
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    if not before:
        lines.writerow(("voltage_V", "pwm_us", column))
    lines.writerows((volts, pulse_us, force) for pulse_us, force in rows)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(("\n" if before and not before.endswith("\n") else "") + text.getvalue())
    except OSError as error:
        print(text.getvalue(), end="")  # so that the measurements are not lost if the disk is full
        raise output.UsageError(
            f"{path} cannot be written ({error.strerror}); the points are printed above"
        ) from error


def _show(
    args: argparse.Namespace,
    path: Path,
    thruster: Thruster,
    volts: float,
    rows: list[tuple[int, float]],
) -> None:
    neutral = f" --neutral {thruster.neutral_us}" if thruster.neutral_us != 1500 else ""
    following = f"caudal thrust {path}{neutral}"
    forces = [force for _, force in rows]
    result = {
        "calibrated": f"thruster {args.actuator}",
        "battery_v": volts,
        "points": len(rows),
        f"least_{args.unit}": min(forces),
        f"most_{args.unit}": max(forces),
        "written": str(path),
        "next": following,
    }
    if args.json:
        output.as_json(result)
    else:
        output.table(list(result.items()))
