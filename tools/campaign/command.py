"""Injects faults at random times into many runs of a vehicle, and checks invariants (docs/faults.md) in every tick.

Faults of sensors, actuators, buses, the HIL link, the program, power, clock, computer and ground station are injected
in the simulation, those of a Raspberry Pi's chips into emulated chips. A run has one fault or two at once, lasting or
intermittent. The first cases that violate an invariant are minimized and saved as files that run them again.
"""

import argparse
import collections
import contextlib
import signal
import tempfile
import time
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.tools.campaign.campaign import SECONDS, Case, Outcome, plan, run_case, summarise
from caudal.tools.campaign.minimize import command, minimize, save
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.kinds import FAMILIES, KINDS
from caudal.tools.sweep.workers import DIED, THIS_CAUDAL, across_machines, expect_same, local_copy

LEAST_S = 1.0
MOST_MINIMIZED = 5  # of each invariant
TOTALS = ("runs", "ticks", "worst_to_safe_s", "worst_row_late_ticks", "broken_runs", "diverged_runs")
KIND_NAMES = tuple(dict.fromkeys([*FAMILIES, *(kind.name for kind in KINDS)]))


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal faults`."""
    options.add_vehicle(parser)
    parser.add_argument("--scenario", metavar="NAME", help="a scenario of the vehicle (default: its first)")
    parser.add_argument(
        "--runs", type=options.whole, default=100, metavar="N", help="number of runs (default: 100)"
    )
    parser.add_argument(
        "--for",
        dest="seconds",
        metavar="S",
        type=options.positive,
        default=SECONDS,
        help=f"simulated seconds of each run (default: {SECONDS:g})",
    )
    parser.add_argument(
        "--kind",
        choices=KIND_NAMES,
        action="append",
        default=[],
        metavar="KIND",
        help=f"only this kind or family ({', '.join(FAMILIES)}) of faults; may be repeated",
    )
    parser.add_argument(
        "--seed", type=options.natural, default=0, metavar="N", help="of the faults, their times, and noise"
    )
    parser.add_argument("--jobs", type=options.whole, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="run on a dask scheduler's workers: tcp://HOST:PORT"
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        type=Path,
        default=Path("runs/faults"),
        help="where cases that violate an invariant are saved (default: runs/faults)",
    )
    options.add_set(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Runs a campaign; 1 if an invariant was violated, a plant diverged, or it was stopped early."""
    if args.seconds < LEAST_S:
        raise output.UsageError(
            f"--for {args.seconds:g}: faults begin after half a second; give {LEAST_S:g} s or more"
        )
    cases = cases_for(args)
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=args.out).close()  # an existing folder may be read-only
    except OSError as error:
        raise output.UsageError(
            f"--out {args.out}: cases cannot be saved there ({error.strerror}); choose another folder"
        ) from error
    outcomes: list[Outcome] = []
    progress = output.Progress("injecting faults", len(cases), "runs")
    try:
        with contextlib.closing(work(args, cases)) as done:
            for outcome in done:
                outcomes.append(outcome)
                progress.at(len(outcomes))
    except KeyboardInterrupt:
        if not outcomes:
            raise
    progress.end()
    stopped_early = len(outcomes) < len(cases)
    if stopped_early:
        output.note(f"stopped after {len(outcomes)} of {len(cases)} runs; their results:")
    outcomes.sort(key=lambda outcome: outcome.case.index)
    result = {"vehicle": args.vehicle, "scenario": cases[0].scenario, **summarise(outcomes)}
    result["stopped_early"] = stopped_early
    result["broken"] = minimized_cases(outcomes, args.out)
    result["diverged"] = diverged_cases(outcomes, args.out)
    if args.json:
        output.as_json(result)
    else:
        show(result)
    return 1 if result["broken"] or result["diverged"] or stopped_early else 0


def cases_for(args: argparse.Namespace) -> list[Case]:
    """The cases to run, with a single vehicle in the world."""
    vehicle, scenario, settings = open_scenario(args.vehicle, args.set, args.scenario)
    overrides = list(args.set)
    if vehicle.worlds[settings.world].vehicles > 1:
        overrides.append(f"world.{settings.world}.vehicles=1")
        vehicle, _, _ = open_scenario(args.vehicle, overrides, scenario)
    base = Case(args.vehicle, tuple(overrides), scenario, args.seed, args.seconds, ())
    cases = plan(vehicle, base, args.runs, args.kind)
    if not cases:
        raise output.UsageError(
            f"{vehicle.name} cannot have faults of the kind {', '.join(args.kind)}; choose another --kind"
        )
    return cases


def work(args: argparse.Namespace, cases: list[Case]) -> Generator[Outcome, None, None]:
    """Outcomes in the order in which they finish. The first case runs alone, because it compiles the plant."""
    if args.dask:
        file = VehicleFile.open(vehicles.find(args.vehicle), args.set)
        job = Job(args.vehicle, file.text, THIS_CAUDAL)
        yield from across_machines(job, cases, args.dask, None, run_chunk, _died)
        return
    yield run_case(cases[0])
    if args.jobs == 1:
        yield from map(run_case, cases[1:])
        return
    yield from in_processes(cases[1:], args.jobs)


def in_processes(cases: list[Case], jobs: int) -> Generator[Outcome, None, None]:
    """Outcomes in the order in which they finish. Each process has a pool of its own, which fails with it."""
    waiting = iter(cases)
    pools = [_process() for _ in range(min(jobs, len(cases)))]
    under_way: dict[Future[Outcome], tuple[Case, int]] = {}

    def submit(k: int) -> None:
        case = next(waiting, None)
        if case:
            under_way[pools[k].submit(run_case, case)] = case, k

    try:
        for k in range(len(pools)):
            submit(k)
        while under_way:
            for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                case, k = under_way.pop(done)
                try:
                    outcome = done.result()
                except BrokenProcessPool:
                    pools[k].shutdown()
                    pools[k] = _process()
                    (outcome,) = _died([case])
                submit(k)
                yield outcome
    finally:  # if stopped early, no further case begins
        for pool in pools:
            pool.shutdown()


def _process() -> ProcessPoolExecutor:
    """Ctrl-C stops the campaign; the run in this process ends normally."""
    return ProcessPoolExecutor(1, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))


@dataclass(frozen=True)
class Job:
    """What a worker on another machine needs in addition to its cases."""

    vehicle: str
    text: str
    caudal: str


def run_chunk(job: Job, cases: list[Case]) -> tuple[list[Outcome], float]:
    """Runs cases on a worker: their outcomes, and the seconds that a case took."""
    expect_same(job.caudal)
    start = time.monotonic()
    with local_copy(job.vehicle, job.text) as path:
        outcomes = [run_case(replace(case, vehicle=path)) for case in cases]
    for outcome, case in zip(outcomes, cases, strict=True):
        outcome.case = case
    return outcomes, (time.monotonic() - start) / len(cases)


def _died(cases: list[Case]) -> list[Outcome]:
    return [Outcome(case, ["unknown"], violations=[f"alive: {DIED}"], invariants=["alive"]) for case in cases]


def minimized_cases(outcomes: list[Outcome], folder: Path) -> list[dict[str, Any]]:
    """Runs that violated an invariant; the first few of each invariant are minimized and saved."""
    found: list[dict[str, Any]] = []
    count: collections.Counter[str] = collections.Counter()
    for outcome in outcomes:
        if not outcome.violations:
            continue
        invariant, run = outcome.invariants[0], outcome.case.index
        count[invariant] += 1
        entry: dict[str, Any] = {"run": run, "broken": outcome.violations, "file": None}
        if count[invariant] <= MOST_MINIMIZED and outcome.kinds != ["unknown"]:
            output.note(f"run {run} violated the invariant {invariant}; minimizing its case")
            outcome, runs = minimize(outcome)
            path = save(outcome, folder)
            entry |= {"broken": outcome.violations, "shrunk_in_runs": runs, "file": str(path)}
            entry["command"] = command(outcome.case, path)
        entry["faults"] = list(outcome.case.faults)
        found.append(entry)
    return found


def diverged_cases(outcomes: list[Outcome], folder: Path) -> list[dict[str, Any]]:
    """Runs whose plant diverged, saved: nothing is known of the vehicle in the ticks after it."""
    found = []
    for outcome in outcomes:
        if outcome.diverged:
            path = save(replace(outcome, invariants=["diverged"], violations=[outcome.diverged]), folder)
            entry = {"run": outcome.case.index, "why": outcome.diverged, "faults": list(outcome.case.faults)}
            found.append(entry | {"file": str(path), "command": command(outcome.case, path)})
    return found


def show(result: dict[str, Any]) -> None:
    """Prints the result as tables, and the command that runs each saved case again."""
    if result["kinds"]:
        output.table([list(row.values()) for row in result["kinds"]], list(result["kinds"][0]))
    output.table([[name, count] for name, count in result["faults"].items()], ["fault", "injected"])
    output.table([(key, result[key]) for key in TOTALS])
    for entry in result["diverged"]:
        print(f"run {entry['run']}, {' '.join(entry['faults'])}: {entry['why']}")
        print(f"  again: {entry['command']}")
    for entry in result["broken"]:
        print(f"run {entry['run']}, {' '.join(entry['faults'])}:")
        for violation in entry["broken"]:
            print(f"  {violation}")
        if entry["file"]:
            print(f"  again: {entry['command']}")
