"""Calibrates a water probe on an input of a converter: read dry, then wet, so that 0 is dry and 1 is wet.

To wet it, put a finger moistened with the water of the site across the probe, or short it with a wire. Nothing moves.
"""

import argparse
import random
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from caudal.hal.tables.channels import Linear
from caudal.hal.tables.types import tag_of
from caudal.tools.calibrate.output import CalibrationFile, add_output
from caudal.tools.common import options, output

if TYPE_CHECKING:
    from caudal.tools.calibrate.test_stand import Stand

READ_S = 2.0
FEWEST = 5  # readings in that time
APART = 10  # times the noise: least difference of wet and dry
LEAST_NOISE = 0.5  # counts, from rounding
EMULATED = {"dry": 200, "wet": 2600, "noise": 4}


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal calibrate leak`."""
    command.add_argument("sensor", help="the sensor's name in the vehicle file")
    for name, count in EMULATED.items():
        command.add_argument(
            f"--{name}",
            metavar="N",
            type=options.natural,
            default=count,
            help=f"with --on emulated: counts of the emulated probe (default: {count})",
        )
    add_output(command)


def run(args: argparse.Namespace) -> int:
    """Reads the probe dry and wet, and writes zero_count and si_per_count."""
    from caudal.tools.calibrate.prompts import ask
    from caudal.tools.calibrate.test_stand import Stand

    file = CalibrationFile(args)
    sensor = _sensor(file, args.sensor)
    with Stand(file.vehicle, args.on) as stand:
        ask("Leave the probe dry and press Enter:")
        dry, dry_noise = _read(stand, args, args.dry)
        output.note(f"dry: {dry:.1f} counts, noise {dry_noise:.1f}")
        ask("Wet the probe, keep it wet for two seconds, and press Enter:")
        wet, wet_noise = _read(stand, args, args.wet)
        output.note(f"wet: {wet:.1f} counts, noise {wet_noise:.1f}")
    noise = max(dry_noise, wet_noise, LEAST_NOISE)
    if abs(wet - dry) < APART * noise:
        raise output.UsageError(
            f"dry and wet differ by {abs(wet - dry):.1f} counts, less than {APART} times the noise ({noise:.1f}); "
            "nothing was written, check the probe's wiring"
        )
    for state, count in (("dry", dry), ("wet", wet)):
        if not sensor.low_count <= count <= sensor.high_count:
            allowed = f"{sensor.low_count} to {sensor.high_count}"
            raise output.UsageError(
                f"{state} is {count:.0f} counts, outside low_count to high_count of sensor.{args.sensor} ({allowed}); "
                "widen these first"
            )
    zero_count = round(dry)
    found: dict[str, tuple[Any, Any]] = {
        f"sensor.{args.sensor}.zero_count": (sensor.zero_count, zero_count),
        f"sensor.{args.sensor}.si_per_count": (sensor.si_per_count, float(f"{1 / (wet - zero_count):.6g}")),
    }
    return file.write(found, f"leak {args.sensor}")


def _sensor(file: CalibrationFile, name: str) -> Linear:
    sensor, pi = file.vehicle.sensor(name), file.vehicle.pi
    if name not in pi.sensor:
        raise output.UsageError(f"sensor {name} is not fitted (pi.absent); add it to [pi.sensor]")
    kind = tag_of(pi.chip[pi.readings[name].chip])
    if kind not in ("ads1115", "line"):
        raise output.UsageError(
            f"sensor {name} is on a {kind}; a probe has to be on an ads1115 or another board's line"
        )
    if not isinstance(sensor, Linear) or sensor.unit != "1":
        raise output.UsageError(f'sensor {name} is not a probe, which has map = "linear" and unit = "1"')
    return sensor


def _read(stand: "Stand", args: argparse.Namespace, emulated: int) -> tuple[float, float]:
    """Mean and standard deviation of the counts in READ_S."""
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
