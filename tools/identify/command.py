"""Identifies a vehicle's inertia, drag and weight from logs of its motion, with standard errors.

Follow an excitation trajectory (caudal excite, caudal run) and give its log here. Forces are computed from the recorded
pulses by the thrusters' maps, motion from the recorded readings. A standard error covers noise only; a wrong thruster
map, or a force that the model lacks (a tether's twist), shifts parameters by more. Parameters that the logs cannot show
keep the values of the vehicle file and are listed, and so are pairs that cannot be separated. R2 compares the measured
velocities with a simulation from the wrench alone: how well the model predicts, not whether its parameters are right.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.tools.common import options, output
from caudal.tools.identify import model_file
from caudal.tools.identify.from_log import read_motions
from caudal.tools.identify.least_squares import known_names
from caudal.tools.identify.motion import Motion
from caudal.tools.identify.pipeline import Identified, identify
from caudal.tools.identify.predict import Prediction, predict
from caudal.tools.identify.prior_model import read_model
from caudal.tools.identify.rigid_body_model import FREEDOMS
from caudal.tools.identify.trajectory import Track, track


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal identify`."""
    options.add_vehicle(command)
    command.add_argument(
        "logs", metavar="LOG", nargs="+", type=Path, help="logs from which to identify the vehicle"
    )
    command.add_argument(
        "--on",
        metavar="LOG",
        nargs="+",
        type=Path,
        default=[],
        help="other logs, on which to validate the model",
    )
    command.add_argument(
        "--model", choices=("linear", "quadratic"), default="linear", help="the drag model (default: linear)"
    )
    command.add_argument(
        "--freedoms", type=int, choices=(4, 6), default=4,
        help="4: surge, sway, heave, yaw of a level vehicle (default); 6: roll and pitch too",
    )  # fmt: skip
    command.add_argument(
        "--write", metavar="FILE", type=Path,
        help="a vehicle file, in which [control.model] is replaced, or a new file for caudal run --with",
    )  # fmt: skip
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Identifies the model, writes it if asked, and prints parameters and R2."""
    file = VehicleFile.open(vehicles.find(args.vehicle), [])
    name, base = file.read("name", str), read_model(file)
    if args.write:
        model_file.check(args.write, name)
    # read all logs before smoothing, so that a wrong one is rejected at once
    motions, others = (
        [m for path in paths for m in read_motions(path, name)] for paths in (args.logs, args.on)
    )
    tracks, unseen = _tracks(motions), _tracks(others)
    with output.slow_notice("compiling the simulation; the first time, this takes some seconds", 15.0):
        identified = identify(tracks, base, args.freedoms, args.model, output.note)
    seen_as = [predict(identified.model, one, identified.rows) for one in tracks]
    unseen_as = [predict(identified.model, one, identified.rows) for one in unseen]
    sources = [one.motion.name for one in tracks]
    if args.write:
        text = model_file.section(identified.model, identified.found, identified.not_found, sources)
        model_file.write(args.write, text, name)
    plot = args.write.with_suffix(".svg") if args.write else Path("runs") / f"{name}-identify.svg"
    from caudal.tools.identify.plot import draw  # matplotlib takes a second to load

    shown = [*zip(tracks[:1], seen_as, strict=False), *zip(unseen[:1], unseen_as, strict=False)]
    draw(plot, identified, shown, known_names(base, ()))
    result = summarise(name, args, identified, tracks, seen_as, unseen_as, known_names(base, ()))
    result["picture"] = str(plot)
    if args.json:
        output.as_json(result)
    else:
        show(result)
    return 0


def _tracks(motions: list[Motion]) -> list[Track]:
    tracks = []
    for motion in motions:
        output.note(f"smoothing {motion.name}")
        tracks.append(track(motion))
    return tracks


def summarise(
    name: str, args: argparse.Namespace, identified: Identified, tracks: list[Track],
    seen_as: list[Prediction], unseen_as: list[Prediction], base: dict[str, float],
) -> dict[str, Any]:  # fmt: skip
    """All results as JSON values."""
    fit = identified.fit
    freedoms = (FREEDOMS[row] for row in identified.rows)
    disturbances = dict(zip(freedoms, fit.disturbances.strength.tolist(), strict=True))
    return {
        "vehicle": name,
        "logs": [str(path) for path in args.logs],
        "unseen": [str(path) for path in args.on],
        "model": args.model,
        "freedoms": args.freedoms,
        "seconds": sum(float(one.motion.nodes_s[-1] - one.motion.start_s) for one in tracks),
        "parameters": [
            {
                "name": one.name,
                "value": one.value,
                "standard_error": one.error,
                "unit": one.unit,
                "vehicle_file": base.get(one.name, 0.0),
            }
            for one in identified.found
        ],
        "not_found": identified.not_found,
        "cannot_tell_apart": [list(pair) for pair in identified.correlated],
        "condition_number": identified.conditions[0],
        "scaled_condition_number": identified.conditions[1],
        "inertia_was_forced": identified.constrained,
        "settled": fit.converged,
        "unknown_pushes_m_s2_or_rad_s2": disturbances,
        "unknown_pushes_memory_s": fit.disturbances.memory_s,
        "age_of_readings_s": {key: float(np.mean(ages)) for key, ages in identified.ages_s.items()},
        "readings_left_out": sum(one.dropped for one in tracks),
        "r2": {one.name: one.r2 for one in seen_as},
        "r2_unseen": {one.name: one.r2 for one in unseen_as},
        "r2_unseen_worst": _worst(unseen_as),
        "written": str(args.write) if args.write else None,
    }


def _worst(predictions: list[Prediction]) -> dict[str, float | None]:
    """The lowest R2 of each freedom over all runs."""
    worst: dict[str, float | None] = {}
    for one in predictions:
        for freedom, r2 in one.r2.items():
            before = worst.get(freedom)
            worst[freedom] = r2 if before is None else before if r2 is None else min(before, r2)
    return worst


def show(result: dict[str, Any]) -> None:
    """Prints parameters, warnings and R2."""
    print(f"{result['vehicle']}, identified from {result['seconds']:.0f} s in {', '.join(result['logs'])}")
    rows = [
        (p["name"], p["value"], f"+- {p['standard_error']:.2g}", p["unit"], p["vehicle_file"])
        for p in result["parameters"]
    ]
    output.table(rows, ("parameter", "identified", "standard error", "unit", "vehicle file"))
    if result["not_found"]:
        print(
            f"These logs do not show {', '.join(result['not_found'])}; they have the values of the vehicle file."
        )
    for one, other, correlation in result["cannot_tell_apart"]:
        print(f"{one} and {other} cannot be separated: their errors are correlated ({correlation:.3f}).")
    if not result["settled"]:
        print(
            "The fit did not converge: use the values as a first guess only, and give longer or more exciting logs."
        )
    freedoms = list(next(iter(result["r2"].values())))
    seen = [(f"R2 of {name}", *r2.values()) for name, r2 in result["r2"].items()]
    seen += [(f"R2 of {name}, unseen", *r2.values()) for name, r2 in result["r2_unseen"].items()]
    output.table(seen, ("", *freedoms))
    ages = ", ".join(f"{name} {1000 * age:.0f} ms" for name, age in result["age_of_readings_s"].items())
    output.table(
        [("delay of readings", ages), ("written", result["written"]), ("picture", result["picture"])]
    )
