"""Finds the trajectory from which a vehicle's inertia and drag can best be identified, within the limits of [excite].

The curves are Bezier segments for x, y, depth and heading. The objective is a function of the regressor of surge, sway,
heave and yaw with linear drag (23 parameters):

d (default): the volume of the parameters' error ellipsoid, each equation weighted by its expected noise (D-optimal).
cond: the regressor's raw condition number, as published. Its net-weight column is constant and its m33 column is the
heave acceleration alone, so it is never below 1 / RMS(heave acceleration), and the best trajectory reaches that: it
measures vertical limits and units, not how well parameters can be identified. Compare it only at the same limits.
scaled: the condition number with columns scaled to unit length. It has no units, but a motion of a millimetre may have
the best value, 1; so a little of d is added to make motions large.

In simulated identification with the reference limits, d and scaled gave several times better m26 and yaw drag than
cond; which was better for the masses depended on the smoothing, and d and scaled differed little. d is the default
because it alone includes the sensors' noise. All three figures are reported.
"""

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.onboard import vehicles
from caudal.tools.common import options
from caudal.tools.common import output as say
from caudal.tools.excite import output
from caudal.tools.excite.bezier import Curve, curve, points
from caudal.tools.excite.initial_guess import middle, start
from caudal.tools.excite.noise import row_noise
from caudal.tools.excite.objective import NAMES, OBJECTIVES, Objective, quality
from caudal.tools.excite.optimizer import FIRST, Found, search
from caudal.tools.excite.tables import ExciteTable, divided, read


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal excite`."""
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    options.add_vehicle(command)
    command.add_argument("--objective", choices=OBJECTIVES, default="d", help="the objective (default: d)")
    command.add_argument(
        "--starts", metavar="N", type=options.whole, default=3, help="number of random starts (default: 3)"
    )
    command.add_argument(
        "--segments",
        metavar="M",
        type=options.whole,
        help="divide the same time into M equal segments (default: the file's)",
    )
    command.add_argument("--seed", metavar="N", type=options.natural, default=0, help="of the random starts")
    options.add_set(command)
    command.add_argument(
        "--out", metavar="FILE", type=Path, help="the trajectory, .toml (default: under runs/)"
    )
    command.add_argument(
        "--against", choices=["slsqp"], help="run scipy's SLSQP from the first start too, for comparison"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Finds a trajectory, and writes it with a plot."""
    file = VehicleFile.open(vehicles.find(args.vehicle), args.set)
    name = file.read("name", str)
    table = read(file)
    if args.segments:
        if args.segments > 60:
            raise say.UsageError(f"--segments {args.segments} is more than 60; give fewer")
        table = divided(table, args.segments)
    noise = noise_of(file, table, args.objective)
    out = args.out or Path("runs") / f"{name}-excite.toml"
    output.check_out(out)
    shape = curve(table)
    tries = find(shape, args.objective, noise, middle(shape, file.label), args.starts, args.seed)
    best = min(tries, key=lambda one: one.found.value)
    control = points(shape, best.found.free)
    result = {
        "vehicle": name,
        "objective": args.objective,
        **figures(shape, best.found.free, noise),
        "starts": [shown(shape, args.objective, one.found) for one in tries],
        "cpu_s": float(np.mean([one.cpu_s for one in tries])),
        "evaluations": float(np.mean([one.found.evaluations for one in tries])),
        "seed": args.seed,
        "parameters": len(NAMES),
    }
    if args.against:
        result |= against(shape, args.objective, noise, tries[0])
    about = f"{args.objective} excitation, condition number {result['condition_number']:.2f}"
    text = output.as_toml(about, table.segment_s, control)
    output.write(out, text, output.plot(shape, control))
    result |= {"out": str(out), "picture": str(out.with_suffix(".svg"))}
    if args.json:
        say.as_json(result)
    else:
        say.table([(key, _short(value)) for key, value in result.items()])
        print(f"To follow it: caudal run {args.vehicle} --scenario excite --with {out}")
    return 0


class Try(NamedTuple):
    """One random start and its result."""

    start: np.ndarray
    found: Found
    cpu_s: float


def find(
    shape: Curve, objective: str, noise: np.ndarray | None, centre: np.ndarray, starts: int, seed: int
) -> list[Try]:
    """Optimizes from several random starts."""
    tries: list[Try] = []
    for turn in range(starts):
        began_s = time.process_time()
        free = start(shape, centre, seed, turn)
        found = search(Objective(shape, objective, noise), free, FIRST[turn % len(FIRST)])
        tries.append(Try(free, found, time.process_time() - began_s))
        best = shown(shape, objective, min(tries, key=lambda one: one.found.value).found)
        here = shown(shape, objective, found)
        say.note(f"start {turn + 1} of {starts}: {objective} {here:.5g}, best so far {best:.5g}")
    return tries


def shown(shape: Curve, objective: str, found: Found) -> float:
    """The value to print: a condition number, or for d the objective itself, which is a logarithm."""
    if objective == "d":
        return found.value
    figures = quality(shape, found.free)
    return figures.condition_number if objective == "cond" else figures.scaled_condition_number


def noise_of(file: VehicleFile, table: ExciteTable, objective: str) -> np.ndarray | None:
    """The noise of each row; None if unknown, which only d needs (log_det then weights all rows alike)."""
    try:
        return row_noise(file, table)
    except VehicleFileError:
        if objective == "d":
            raise
        return None


def figures(shape: Curve, free: np.ndarray, noise: np.ndarray | None) -> dict[str, Any]:
    """All figures of a trajectory."""
    found = quality(shape, free, noise)
    table = shape.table
    return {
        "condition_number": found.condition_number,
        "cond_times_rms_heave_acc": found.condition_number * found.rms_heave_acc,
        "scaled_condition_number": found.scaled_condition_number,
        "log_det": found.log_det,
        "rms_heave_acc_m_s2": found.rms_heave_acc,
        "max_constraint_violation": output.violation(shape, points(shape, free)),
        "samples": sum(each.shape[1] for each in shape.samples),
        "segments": len(table.segment_s),
        "order": table.order,
        "duration_s": float(sum(table.segment_s)),
    }


def against(shape: Curve, objective: str, noise: np.ndarray | None, own: Try) -> dict[str, Any]:
    """SLSQP's CPU time until it is as good as our first start (within 0.1 %), or until it ends."""
    from caudal.tools.excite.slsqp import slsqp

    say.note("running SLSQP from the same start, which takes a while")
    peer = slsqp(Objective(shape, objective, noise), own.start, own.found.value)
    cpu_s = peer.cpu_s if peer.there_s is None else peer.there_s
    return {
        "slsqp_cpu_s": cpu_s,
        "slsqp_condition_number": quality(shape, peer.free).condition_number,
        "slsqp_value": float(peer.value),
        "slsqp_as_good": peer.there_s is not None,
        "slsqp_to_own_cpu": cpu_s / own.cpu_s,
    }


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(f"{each:.5g}" for each in value)
    return f"{value:.5g}" if isinstance(value, float) else value
