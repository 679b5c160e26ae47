"""A water probe on a converter's input: read dry, then wet, so that 0 is dry and 1 is wet. Nothing moves.

Wet is a finger moistened with the water it will meet, laid across the probe, or a wire that shorts it.
"""

import argparse
import random
from statistics import fmean, pstdev
from typing import Any

from caudal.tools.calibrate.output import CalibrationFile, add_into
from caudal.tools.common import options, output

READ_S = 2.0
FEWEST = 5  # readings in that time
APART = 10  # times the noise
LEAST_NOISE = 0.5  # counts: a reading that never changes is still rounded
EMULATED = {"dry": 200, "wet": 2600, "noise": 4}


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("sensor", help="the sensor's name in the vehicle file")
    for name, count in EMULATED.items():
        command.add_argument(
            f"--{name}",
            metavar="N",
            type=options.natural,
            default=count,
            help=f"with --on emulated: counts of the emulated probe (default: {count})",
        )
    add_into(command)


def run(args: argparse.Namespace) -> int:
    from caudal.tools.calibrate.prompts import ask
    from caudal.tools.calibrate.test_stand import Stand

    book = CalibrationFile(args)
    sensor = _sensor(book, args.sensor)
    with Stand(book.vehicle, args.on) as stand:
        ask("Leave the probe dry and press Enter:")
        dry, dry_noise = _read(stand, args, args.dry)
        output.note(f"dry: {dry:.1f} counts, noise {dry_noise:.1f}")
        ask("Wet the probe, keep it wet for two seconds, and press Enter:")
        wet, wet_noise = _read(stand, args, args.wet)
        output.note(f"wet: {wet:.1f} counts, noise {wet_noise:.1f}")
    noise = max(dry_noise, wet_noise, LEAST_NOISE)
    if abs(wet - dry) < APART * noise:
        raise output.UsageError(
            f"dry and wet are {abs(wet - dry):.1f} counts apart, less than {APART} times the noise ({noise:.1f}); "
            "nothing was written, check the probe's wiring"
        )
    for state, count in (("dry", dry), ("wet", wet)):
        if not sensor["low_count"] <= count <= sensor["high_count"]:
            allowed = f"{sensor['low_count']} to {sensor['high_count']}"
            raise output.UsageError(
                f"{state} is {count:.0f} counts, which sensor.{args.sensor} takes for no reading "
                f"(low_count to high_count, {allowed}); widen these first"
            )
    zero_count = round(dry)
    found: dict[str, tuple[Any, Any]] = {
        f"sensor.{args.sensor}.zero_count": (sensor["zero_count"], zero_count),
        f"sensor.{args.sensor}.per_count": (sensor["per_count"], float(f"{1 / (wet - zero_count):.6g}")),
    }
    return book.write(found, f"leak {args.sensor}")


def _sensor(book: CalibrationFile, name: str) -> dict[str, Any]:
    sensor, pi = book.vehicle.sensor(name), book.vehicle.pi
    if name not in pi["sensor"]:
        raise output.UsageError(f"sensor {name} is not fitted (pi.absent); give it a place in [pi.sensor]")
    kind = pi["chip"][pi["sensor"][name]["chip"]]["kind"]
    if kind not in ("ads1115", "line"):
        raise output.UsageError(
            f"sensor {name} is on a {kind}; a probe is on an ads1115 or another board's line"
        )
    if sensor["map"] != "linear" or sensor["unit"] != "1":
        raise output.UsageError(f'sensor {name} is no probe: that has map = "linear" and unit = "1"')
    return sensor


def _read(stand: Any, args: argparse.Namespace, emulated: int) -> tuple[float, float]:
    """Mean and noise of what it reads in two seconds."""
    if args.on == "pi":
        counts = stand.read(args.sensor, READ_S)
    else:
        draw = random.Random(emulated)
        counts = []
        for _ in range(round(READ_S * 20)):  # a new sample with every conversion
            stand.emulate(args.sensor, round(draw.gauss(emulated, args.noise)))
            counts += stand.read(args.sensor, 0.05)
    if len(counts) < FEWEST:
        reason = "; ".join(f"{device}: {why}" for device, why in stand.lost.items()) or "see caudal probe"
        raise output.UsageError(f"{args.sensor} gave {len(counts)} readings in {READ_S:g} s ({reason})")
    return fmean(counts), pstdev(counts)
