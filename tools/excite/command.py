"""Finds a trajectory that shows a vehicle's inertia and drag best, within the limits of its file's [excite].

The curves are Bezier segments for x, y, depth and heading; the objective is on the regressor of surge, sway, heave and
yaw with linear drag (23 parameters):

d (default): the volume of the parameters' error ellipsoid, each equation weighted by the noise to expect (D-optimal).
cond: the regressor's raw condition number, as papers report it. Its net-weight column is constant and its m33 column
holds the heave acceleration alone, so it is never below 1 / RMS(heave acceleration), and the best trajectory meets
that: it measures vertical limits and units, not how well parameters are found. Compare it only at the same limits.
scaled: the condition number with columns scaled to unit length: free of units, but a motion of a millimetre may have
1, the best there is; so a little of d is added to make motions large.

In simulated identification on the reference limits d and scaled found m26 and the drag in yaw several times better than
cond did; which found the masses better depended on the smoothing, and between d and scaled there was little. d is the
default because it alone knows the sensors' noise. All three figures are reported.
"""

import argparse
import time
from pathlib import Path
from typing import Any

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
from caudal.tools.excite.tables import divided, read


def arguments(command: argparse.ArgumentParser) -> None:
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    options.add_vehicle(command)
    command.add_argument("--objective", choices=OBJECTIVES, default="d", help="what is best (default: d)")
    command.add_argument(
        "--starts", metavar="N", type=options.whole, default=3, help="random starts (default: 3)"
    )
    command.add_argument(
        "--segments",
        metavar="M",
        type=options.whole,
        help="the same time in M equal segments (default: the file's)",
    )
    command.add_argument("--seed", metavar="N", type=options.natural, default=0, help="of the random starts")
    options.add_set(command)
    command.add_argument(
        "--out", metavar="FILE", type=Path, help="the trajectory, .toml (default: below runs/)"
    )
    command.add_argument(
        "--against", choices=["slsqp"], help="run scipy's SLSQP from the first start too, and compare"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    file = VehicleFile.open(vehicles.find(args.vehicle), args.set)
    name = file.read("name", str)
    table = read(file)
    if args.segments:
        if args.segments > 60:
            raise say.UsageError(f"--segments {args.segments} is more than 60; take fewer")
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
    output.write(out, text, output.picture(shape, control))
    result |= {"out": str(out), "picture": str(out.with_suffix(".svg"))}
    if args.json:
        say.as_json(result)
    else:
        say.table([(key, _short(value)) for key, value in result.items()])
        print(f"To track it: caudal run {args.vehicle} --scenario excite --with {out}")
    return 0


class Try:
    """One start and what became of it."""

    def __init__(self, begun: np.ndarray, found: Found, cpu_s: float) -> None:
        self.begun, self.found, self.cpu_s = begun, found, cpu_s


def find(
    shape: Curve, objective: str, noise: np.ndarray | None, centre: np.ndarray, starts: int, seed: int
) -> list[Try]:
    tries: list[Try] = []
    for turn in range(starts):
        began_s = time.process_time()
        begun = start(shape, centre, seed, turn)
        found = search(Objective(shape, objective, noise), begun, FIRST[turn % len(FIRST)])
        tries.append(Try(begun, found, time.process_time() - began_s))
        best = shown(shape, objective, min(tries, key=lambda one: one.found.value).found)
        here = shown(shape, objective, found)
        say.note(f"start {turn + 1} of {starts}: {objective} {here:.5g}, best so far {best:.5g}")
    return tries


def shown(shape: Curve, objective: str, found: Found) -> float:
    """Condition numbers as such; D-optimality as the log it is."""
    if objective == "d":
        return float(found.value)
    return getattr(
        quality(shape, found.free), {"cond": "condition_number"}.get(objective, "scaled_condition_number")
    )


def noise_of(file: VehicleFile, table: Any, objective: str) -> np.ndarray | None:
    """Without it the other objectives go on, and log_det counts all rows alike."""
    try:
        return row_noise(file, table)
    except VehicleFileError:
        if objective == "d":
            raise
        return None


def figures(shape: Curve, free: np.ndarray, noise: np.ndarray | None) -> dict[str, Any]:
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
    """SLSQP's CPU until it is as good as our first start (within 0.1 %), or until it gives up."""
    from caudal.tools.excite.slsqp import slsqp

    say.note("the same by SLSQP, which takes a while")
    peer = slsqp(Objective(shape, objective, noise), own.begun, own.found.value)
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
