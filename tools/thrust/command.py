"""Fits a thruster's map to bench data: dead-band, polynomials and a table per voltage, with their errors.

DATA.csv has a header and the columns voltage_V, pwm_us, force_kgf or force_n (positive for pulses longer than neutral)
and, if measured, current_A; other columns and lines that start with # are ignored.
"""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caudal.tools.common import options, output

if TYPE_CHECKING:
    from caudal.tools.thrust.fit import Fit

NEUTRAL_US = 1500
NAME = re.compile(r"[a-z_][a-z0-9_]*")
COLUMNS = {  # of the printed table -> key of a fit's errors
    "V": "volts", "polynomial rms N": "rms_n", "inverse": "inverse_rms_n", "table rms N": "table_rms_n",
    "its inverse": "table_inverse_rms_n", "points": "table_points", "dead from us": "dead_low_us",
    "to": "dead_high_us", "most reverse N": "max_reverse_n", "forward": "max_forward_n",
}  # fmt: skip


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal thrust`."""
    command.add_argument("data", metavar="DATA.csv", type=Path, help="the measurements, a line per point")
    command.add_argument(
        "--name", metavar="NAME", help="the motor's name in the vehicle file (default: the data file's)"
    )
    command.add_argument(
        "--description", metavar="TEXT", help="the source of the measurements, for the vehicle file"
    )
    command.add_argument(
        "--use",
        choices=["table", "polynomial"],
        default="table",
        help="the map that a vehicle uses (default: table)",
    )
    command.add_argument(
        "--neutral",
        metavar="US",
        type=options.natural,
        default=NEUTRAL_US,
        help="the pulse that stops the motor (default: 1500)",
    )
    command.add_argument(
        "--write",
        metavar="FILE",
        type=Path,
        help="the file for [motor.NAME]: a new file, or a vehicle file to extend (default: under runs/)",
    )
    command.add_argument(
        "--plant",
        action="store_true",
        help="write [plant.motor.NAME] too: thrust and current of the simulated motor",
    )
    command.add_argument("--plot", metavar="FILE.svg", type=Path, help="the plot (default: under runs/)")
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Fits the data, writes motor and plot, and prints the errors."""
    from caudal.tools.thrust import bench_data, plant_curves, vehicle_sections
    from caudal.tools.thrust import fit as thrust_fit

    name = motor_name(args.name, args.data)
    benches = bench_data.read(args.data, args.neutral)
    if args.plant and any(bench.currents_a is None for bench in benches):
        raise output.UsageError(
            f"{args.data} has no column current_A, which --plant needs; add it or leave --plant out"
        )
    progress = output.Progress("fitting", len(benches), "voltages")
    fits = []
    for bench in benches:
        fits.append(thrust_fit.fit(bench))
        progress.at(len(fits))
    progress.end()
    description = args.description or f"fitted to {args.data.name}"
    text = vehicle_sections.motor_section(name, description, args.use, fits)
    if args.plant:
        text += "\n" + vehicle_sections.plant_section(name, [plant_curves.curve(bench) for bench in benches])
    plot = args.plot or Path("runs") / f"{name}-thrust.svg"
    draw(plot, name, fits)
    written = args.write or Path("runs") / f"{name}-motor.toml"
    vehicle_sections.write(written, text, name, fresh=args.write is None)
    result: dict[str, Any] = {
        "motor": name,
        "use": args.use,
        "voltages": [one.errors for one in fits],
        "written": str(written),
        "plot": str(plot),
    }
    if args.json:
        output.as_json(result)
    else:
        output.table([[row[key] for key in COLUMNS.values()] for row in result["voltages"]], list(COLUMNS))
        output.table([(key, result[key]) for key in ("motor", "use", "written", "plot")])
    return 0


def motor_name(asked: str | None, data: Path) -> str:
    """The given name, or the data file's with all invalid characters replaced by _."""
    name = asked if asked is not None else re.sub("[^a-z0-9_]+", "_", data.stem.lower()).strip("_")
    name = f"motor_{name}" if asked is None and not NAME.fullmatch(name) else name
    if not NAME.fullmatch(name):
        raise output.UsageError(
            f'--name "{name}": a motor\'s name consists of lower-case letters, digits and _'
        )
    return name


def draw(path: Path, name: str, fits: "list[Fit]") -> None:
    """Plots the measured points with both maps, and the error of each map."""
    from caudal.tools.common.pyplot import pyplot
    from caudal.tools.thrust.fit import curve_of

    plt = pyplot()
    figure, (force, off) = plt.subplots(2, 1, figsize=(11, 9), sharex=True, layout="constrained")
    for k, one in enumerate(fits):
        pulses_us, colour = [float(us) for us in one.bench.pulses_us], f"C{k % 10}"
        force.plot(
            pulses_us, one.bench.forces_n, ".", color=colour, markersize=3, label=f"{one.bench.volts:g} V"
        )
        for kind, style in (("polynomial", "--"), ("table", "-")):
            curve = curve_of(kind, getattr(one, kind))
            fitted_n = [curve.force_n(us) for us in pulses_us]
            force.plot(pulses_us, fitted_n, style, color=colour, linewidth=0.8)
            off.plot(pulses_us, fitted_n - one.bench.forces_n, style, color=colour, linewidth=0.8)
    force.set(ylabel="force, N", title=f"{name}: measured (dots), table (lines), polynomials (dashed)")
    force.legend()
    off.set(xlabel="pulse, us", ylabel="map minus measured, N")
    for axes in (force, off):
        axes.grid(alpha=0.3)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})
    except OSError as error:
        raise output.UsageError(f"cannot write {path}: {error.strerror}; choose another --plot") from error
    plt.close(figure)
