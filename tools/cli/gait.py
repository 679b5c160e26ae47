"""Writes a gait's look-up table as CSV (a row per phase, a column per joint, rad) and a plot; prints its errors."""

import argparse
import csv
import math
from pathlib import Path

from caudal.onboard.gait.shape import wave_of
from caudal.onboard.gait.undulation import Undulation
from caudal.onboard.gait.wave import Wave, chain
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import open_vehicle

PHASES = 720  # of one beat, at which errors are computed


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal gait`."""
    options.add_vehicle(command)
    command.add_argument(
        "--rows",
        metavar="M",
        type=options.natural,
        help="number of rows of the table (default: gait.table_size)",
    )
    command.add_argument("--csv", metavar="FILE", type=Path, help="the table (default: under runs/)")
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Writes table and plot, and prints the errors."""
    overrides = args.set + ([f"gait.table_size={args.rows}"] if args.rows is not None else [])
    vehicle = open_vehicle(args.vehicle, overrides)
    gait = vehicle.settings.gait
    if gait is None:
        raise output.UsageError(f"{vehicle.name} has no gait; its file would need a [gait] table")
    wave = wave_of(gait)
    table = wave.table(gait.table_size)
    csv_path = args.csv or Path("runs") / f"{vehicle.name}-gait.csv"
    plot_path = csv_path.with_suffix(".svg")
    try:
        csv_path.parent.mkdir(parents=True, exist_ok=True)
        write_csv(csv_path, gait.joints, table)
        plot(plot_path, wave, gait.joints, table)
    except OSError as error:
        raise output.UsageError(
            f"cannot write {error.filename}: {error.strerror}; choose another file with --csv"
        ) from error
    result = {
        "vehicle": vehicle.name,
        "rows": len(table),
        "joints": gait.joints,
        **errors(wave, table),
        "csv": str(csv_path),
        "plot": str(plot_path),
    }
    if args.json:
        output.as_json(result)
    else:
        output.table([(key, ", ".join(v) if isinstance(v, list) else v) for key, v in result.items()])
    return 0


def errors(wave: Wave | Undulation, table: list[list[float]]) -> dict[str, float]:
    """Errors of the table: of positions for links on a curve, of angles for joints that swing independently."""
    if isinstance(wave, Undulation):
        return {"angle_error_deg": math.degrees(angle_error_rad(wave, table))}
    return {
        "lateral_error_mm": lateral_error_m(wave, table) * 1e3,
        "chord_error_mm": chord_error_m(wave) * 1e3,
        "node_error_m": node_error_m(wave, table),
    }


def write_csv(path: Path, joints: list[str], table: list[list[float]]) -> None:
    """Writes the table, angles in rad."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"{joint}_rad" for joint in joints])
        writer.writerows([[f"{angle:.9f}" for angle in row] for row in table])


def node_error_m(wave: Wave, table: list[list[float]]) -> float:
    """The largest lateral distance of joints from the curve, at the table's rows, m."""
    worst = 0.0
    for row, angles in enumerate(table):
        phase = 2 * math.pi * row / len(table)
        for x_m, y_m in chain(wave.links_m, angles):
            worst = max(worst, abs(y_m - wave.lateral_m(x_m, phase)))
    return worst


def lateral_error_m(wave: Wave, table: list[list[float]]) -> float:
    """The largest lateral distance of joints from the curve over a beat, between interpolated rows, m."""
    worst = 0.0
    for k in range(PHASES):
        angles = interpolated(table, k / PHASES)
        for x_m, y_m in chain(wave.links_m, angles):
            worst = max(worst, abs(y_m - wave.lateral_m(x_m, 2 * math.pi * k / PHASES)))
    return worst


def angle_error_rad(wave: Undulation, table: list[list[float]]) -> float:
    """The largest error of a joint's angle over a beat, between interpolated rows, rad."""
    worst = 0.0
    for k in range(PHASES):
        exact = wave.angles(2 * math.pi * k / PHASES)
        apart = zip(interpolated(table, k / PHASES), exact, strict=True)
        worst = max(worst, *(abs(angle - angle_exact) for angle, angle_exact in apart))
    return worst


def interpolated(table: list[list[float]], beat: float) -> list[float]:
    """Joint angles at a share of the beat, linear between rows."""
    place = beat * len(table)
    low = int(place)
    rows = zip(table[low], table[(low + 1) % len(table)], strict=True)
    return [before + (place - low) * (after - before) for before, after in rows]


def chord_error_m(wave: Wave) -> float:
    """The largest distance of straight links from the curve, with joints on it: the limit of any table, m."""
    worst = 0.0
    for k in range(PHASES // 10):
        phase = 2 * math.pi * k / (PHASES // 10)
        nodes = wave.nodes(phase)
        for (x0, y0), (x1, y1) in zip(nodes, nodes[1:], strict=False):
            for i in range(1, 20):
                x_m, y_m = x0 + (x1 - x0) * i / 20, y0 + (y1 - y0) * i / 20
                worst = max(worst, abs(y_m - wave.lateral_m(x_m, phase)))
    return worst


def plot(path: Path, wave: Wave | Undulation, joints: list[str], table: list[list[float]]) -> None:
    """Plots the links on the wave, and the joint angles over a beat."""
    from caudal.tools.common.pyplot import pyplot

    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    if isinstance(wave, Undulation):
        left.bar(joints, [math.degrees(angle) for angle in wave.amplitudes_rad])
        left.set(ylabel="swing, deg", title="envelope")
    else:
        for row in range(0, len(table), max(1, len(table) // 6)):
            nodes = wave.nodes(2 * math.pi * row / len(table))
            left.plot([x * 1e3 for x, _ in nodes], [y * 1e3 for _, y in nodes], "o-", markersize=3)
        left.set(
            xlabel="aft of the first joint, mm",
            ylabel="to port, mm",
            title="links on the wave",
            aspect="equal",
        )
    beat = [k / len(table) for k in range(len(table) + 1)]
    for i, joint in enumerate(joints):
        right.plot(beat, [math.degrees(table[k % len(table)][i]) for k in range(len(table) + 1)], label=joint)
    right.set(xlabel="share of a beat", ylabel="angle, deg", title="joint angles")
    right.legend()
    figure.savefig(path)
    plt.close(figure)
