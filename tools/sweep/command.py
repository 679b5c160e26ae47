"""Runs a scenario over a grid of settings and takes measures of every run: on all cores, or across machines by dask.

Interrupted, it leaves FILE.partial beside its table; the same command again goes on from there.
"""

import argparse
import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.onboard import vehicles
from caudal.tools.common import options, output
from caudal.tools.simulate import rollout
from caudal.tools.sweep import result as sweep_result
from caudal.tools.sweep.grid import Point, Varied, grid, overrides, read_all_varied
from caudal.tools.sweep.journal import Journal
from caudal.tools.sweep.workers import THIS_CAUDAL, Job, across_machines, in_threads


def arguments(command: argparse.ArgumentParser) -> None:
    options.add_vehicle(command)
    command.add_argument(
        "--scenario", metavar="NAME", help="which of the vehicle's scenarios (default: its first)"
    )
    command.add_argument(
        "--vary",
        metavar="KEY=FROM:TO:COUNT",
        action="append",
        required=True,
        help="a key of the vehicle file and its values, both ends included; may be repeated: all combinations",
    )
    command.add_argument(
        "--seeds",
        metavar="N",
        type=options.whole,
        default=1,
        help="runs of every combination, seeds 0 to N - 1",
    )
    command.add_argument(
        "--metric",
        metavar="NAME",
        action="append",
        required=True,
        help="what to take of a run; may be repeated",
    )
    command.add_argument(
        "--for", dest="seconds", metavar="S", type=options.positive, help="simulated seconds of each run"
    )
    options.add_set(command)
    command.add_argument(
        "--jobs", metavar="N", type=options.whole, help="threads on this machine (default: its cores)"
    )
    command.add_argument("--dask", metavar="ADDRESS", help="a dask scheduler, such as tcp://10.0.0.1:8786")
    command.add_argument(
        "--chunk",
        metavar="N",
        type=options.whole,
        help="points a worker is given at once (default: some seconds' work)",
    )
    command.add_argument(
        "--out", metavar="FILE", type=Path, help="the table, .csv or .parquet (default: below runs/)"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    varied = read_all_varied(args.vary)
    measures = list(dict.fromkeys(args.metric))
    points = grid(varied, args.seeds)
    vehicle_name, scenario_name = check(args, varied, points)
    file = VehicleFile.open(vehicles.find(args.vehicle), args.set)
    job = Job(
        args.vehicle, file.text, scenario_name, tuple(args.set), args.seconds, tuple(varied), tuple(measures),
        THIS_CAUDAL,
    )  # fmt: skip
    sweep = {
        "vehicle": file.digest(),
        "scenario": scenario_name,
        "seconds": args.seconds,
        "vary": [[one.key, list(one.values)] for one in varied],
        "seeds": args.seeds,
        "measures": measures,
        "caudal": job.caudal,
    }
    out = args.out or Path("runs") / f"{vehicle_name}-{scenario_name}-sweep-{_short(sweep)}.csv"
    sweep_result.check_out(out)
    journal = Journal(out, sweep)
    resumed = len(journal.rows)
    try:
        work(args, job, points, journal)
    finally:
        journal.close()
    table = sweep_result.columns(varied, points, measures, journal.rows)
    sweep_result.write_table(out, table)
    picture = out.with_suffix(".svg")
    drawn = sweep_result.draw(picture, varied, args.seeds, measures, table)
    journal.remove()
    failed = [row["error"] for row in journal.rows.values() if row["error"]]
    result = {
        "vehicle": vehicle_name,
        "scenario": scenario_name,
        "points": len(points),
        "failed": len(failed),
        "resumed": resumed,
        "measures": sweep_result.extremes(varied, points, args.seeds, measures, table),
        "out": str(out),
        "picture": str(picture) if drawn else None,
    }
    if args.json:
        output.as_json(result)
    else:
        show(result, failed)
    return 1 if failed else 0


def check(args: argparse.Namespace, varied: list[Varied], points: list[Point]) -> tuple[str, str]:
    """Refuses a key or a scenario that there is not. One end of a range may be out of bounds: such points fail."""
    refused: VehicleFileError | output.UsageError | None = None
    for point in (points[0], points[-1]):
        try:
            return rollout.check(args.vehicle, args.scenario, [*args.set, *overrides(varied, point)])
        except (VehicleFileError, output.UsageError) as error:
            refused = refused or error
    assert refused
    raise refused


def work(args: argparse.Namespace, job: Job, points: list[Point], journal: Journal) -> None:
    """Every point that the journal does not have; each is in it as soon as it is done."""
    left = [point for point in points if point.index not in journal.rows]
    if args.dask:
        rows = across_machines(job, left, args.dask, args.chunk)
    else:
        rows = in_threads(job, left, args.jobs or len(os.sched_getaffinity(0)))
    if len(left) < len(points):
        output.note(f"going on: {len(points) - len(left)} of {len(points)} points are in {journal.path}")
    progress = output.Progress("sweeping", len(points), "points")
    sound = any(row["values"] for row in journal.rows.values())
    try:
        with contextlib.closing(rows):
            for row in rows:
                if row.pop("unknown", False) and not sound:
                    raise output.UsageError(row["error"])
                journal.add(row)
                sound = sound or row["error"] is None
                progress.at(len(journal.rows))
    except KeyboardInterrupt:
        if journal.rows:
            done = f"{len(journal.rows)} of {len(points)} points are in {journal.path}"
            output.note(f"{done}; the same command goes on from there")
        raise
    finally:
        progress.end()


def _short(sweep: dict[str, Any]) -> str:
    """Of the sweep as a whole: the same command finds its journal again."""
    return hashlib.sha256(json.dumps(sweep, sort_keys=True).encode()).hexdigest()[:8]


def show(result: dict[str, Any], failed: list[str]) -> None:
    print(
        f"{result['vehicle']} swam {result['scenario']} at {result['points']} points, {result['failed']} failed"
    )
    rows = [
        (name, m["min"], _where(m["min_at"]), m["mean"], m["max"], _where(m["max_at"]))
        for name, m in result["measures"].items()
    ]
    output.table(rows, ("measure", "min", "at", "mean", "max", "at"))
    if failed:
        print(f"The first that failed: {failed[0]}")
    output.table([(key, result[key]) for key in ("out", "picture")])


def _where(at: dict[str, float] | None) -> str:
    return "-" if at is None else " ".join(f"{key}={value:.6g}" for key, value in at.items())
