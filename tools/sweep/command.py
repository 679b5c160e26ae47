"""Runs a scenario over a grid of settings and records metrics of every run, on all cores or on a dask cluster.

If interrupted, it leaves FILE.partial next to its table; the same command continues from there.
"""

import argparse
import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from caudal.hal.errors import CaudalError
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.tools.common import options, output
from caudal.tools.simulate import rollout
from caudal.tools.sweep import result as sweep_result
from caudal.tools.sweep.grid import Point, Varied, grid, overrides, read_all_varied
from caudal.tools.sweep.journal import Journal
from caudal.tools.sweep.workers import THIS_CAUDAL, Job, across_machines, in_threads


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal sweep`."""
    options.add_vehicle(command)
    command.add_argument("--scenario", metavar="NAME", help="a scenario of the vehicle (default: its first)")
    command.add_argument(
        "--vary",
        metavar="KEY=FROM:TO:COUNT",
        action="append",
        required=True,
        help="a key of the vehicle file and its values, ends included; if repeated, all combinations are run",
    )
    command.add_argument(
        "--seeds",
        metavar="N",
        type=options.whole,
        default=1,
        help="runs of every combination, with seeds 0 to N - 1 (default: 1)",
    )
    command.add_argument(
        "--metric",
        metavar="NAME",
        action="append",
        required=True,
        help="a figure of each run to record, such as mean_speed_m_s; may be repeated",
    )
    command.add_argument(
        "--for",
        dest="seconds",
        metavar="S",
        type=options.positive,
        help="simulated seconds of each run (default: the scenario's)",
    )
    options.add_set(command)
    command.add_argument(
        "--jobs", metavar="N", type=options.whole, help="threads on this machine (default: its cores)"
    )
    command.add_argument(
        "--dask", metavar="ADDRESS", help="run on a dask scheduler's workers: tcp://HOST:PORT"
    )
    command.add_argument(
        "--chunk",
        metavar="N",
        type=options.whole,
        help="points sent to a worker at once (default: a few seconds of work)",
    )
    command.add_argument(
        "--out", metavar="FILE", type=Path, help="the table, .csv or .parquet (default: under runs/)"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Runs a sweep; 1 if a point failed."""
    varied = read_all_varied(args.vary)
    metrics = list(dict.fromkeys(args.metric))
    points = grid(varied, args.seeds)
    vehicle_name, scenario_name = check(args, varied, points)
    file = VehicleFile.open(vehicles.find(args.vehicle), args.set)
    job = Job(
        args.vehicle, file.text, scenario_name, tuple(args.set), args.seconds, tuple(varied), tuple(metrics),
        THIS_CAUDAL,
    )  # fmt: skip
    sweep = {
        "vehicle": file.digest(),
        "scenario": scenario_name,
        "seconds": args.seconds,
        "vary": [[one.key, list(one.values)] for one in varied],
        "seeds": args.seeds,
        "measures": metrics,
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
    table = sweep_result.columns(varied, points, metrics, journal.rows)
    sweep_result.write_table(out, table)
    plot = out.with_suffix(".svg")
    drawn = sweep_result.draw(plot, varied, args.seeds, metrics, table)
    journal.remove()
    failed = [row["error"] for row in journal.rows.values() if row["error"]]
    result = {
        "vehicle": vehicle_name,
        "scenario": scenario_name,
        "points": len(points),
        "failed": len(failed),
        "resumed": resumed,
        "measures": sweep_result.extremes(varied, points, args.seeds, metrics, table),
        "out": str(out),
        "picture": str(plot) if drawn else None,
    }
    if args.json:
        output.as_json(result)
    else:
        show(result, failed)
    return 1 if failed else 0


def check(args: argparse.Namespace, varied: list[Varied], points: list[Point]) -> tuple[str, str]:
    """Names of vehicle and scenario; an error if no point can run. Points with a value out of its range fail alone."""
    refused: CaudalError | None = None
    for point in (points[0], points[-1]):
        try:
            return rollout.check(args.vehicle, args.scenario, [*args.set, *overrides(varied, point)])
        except CaudalError as error:
            refused = refused or error
    assert refused
    raise refused


def work(args: argparse.Namespace, job: Job, points: list[Point], journal: Journal) -> None:
    """Runs the points that are not in the journal yet, and adds each as soon as it is done."""
    left = [point for point in points if point.index not in journal.rows]
    if args.dask:
        rows = across_machines(job, left, args.dask, args.chunk)
    else:
        rows = in_threads(job, left, args.jobs or len(os.sched_getaffinity(0)))
    if len(left) < len(points):
        output.note(f"continuing: {len(points) - len(left)} of {len(points)} points are in {journal.path}")
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
            output.note(f"{done}; run the same command to continue")
        raise
    finally:
        progress.end()


def _short(sweep: dict[str, Any]) -> str:
    """A digest of the whole sweep, by which the same command finds its journal again."""
    return hashlib.sha256(json.dumps(sweep, sort_keys=True).encode()).hexdigest()[:8]


def show(result: dict[str, Any], failed: list[str]) -> None:
    """Prints the extremes of each metric, and the first failure."""
    print(
        f"{result['vehicle']}, {result['scenario']}: ran {result['points']} points, {result['failed']} failed"
    )
    rows = [
        (name, m["min"], _where(m["min_at"]), m["mean"], m["max"], _where(m["max_at"]))
        for name, m in result["measures"].items()
    ]
    output.table(rows, ("metric", "min", "at", "mean", "max", "at"))
    if failed:
        print(f"first failure: {failed[0]}")
    output.table([(key, result[key]) for key in ("out", "picture")])


def _where(at: dict[str, float] | None) -> str:
    return "-" if at is None else " ".join(f"{key}={value:.6g}" for key, value in at.items())
