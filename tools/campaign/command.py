"""Lets things go wrong with a vehicle at random instants, many times over, and checks what must hold whatever does.

Sensors, actuators, buses, the bench wire, the program, power, clock, computer and station in the plant; a Raspberry
Pi's chips, emulated register by register. One fault a run or two at once, lasting or on and off. Every tick is
held against the invariants (docs/faults.md); a run that breaks one is made as small as it gets and saved.
"""

import argparse
import collections
import contextlib
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.tools.campaign.campaign import SECONDS, Case, Outcome, plan, run_case, summarise
from caudal.tools.campaign.minimize import command, save, shrink
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.kinds import FAMILIES, KINDS
from caudal.tools.sweep.workers import DIED, THIS_CAUDAL, across_machines, expect_same

LEAST_S = 1.0
MOST_SHRUNK = 5  # of each promise
TOTALS = ("runs", "ticks", "worst_to_safe_s", "worst_row_late_ticks", "broken_runs", "diverged_runs")
KIND_NAMES = tuple(dict.fromkeys([*FAMILIES, *(kind.name for kind in KINDS)]))


def arguments(parser: argparse.ArgumentParser) -> None:
    options.add_vehicle(parser)
    parser.add_argument("--scenario", metavar="NAME", help="which of its scenarios (default: its first)")
    parser.add_argument("--runs", type=options.whole, default=100, metavar="N", help="(default: 100)")
    parser.add_argument(
        "--for",
        dest="seconds",
        metavar="S",
        type=options.positive,
        default=SECONDS,
        help="simulated, of each",
    )
    parser.add_argument(
        "--kind",
        choices=KIND_NAMES,
        action="append",
        default=[],
        metavar="KIND",
        help=f"only this kind, or this family ({', '.join(FAMILIES)}); may be repeated",
    )
    parser.add_argument(
        "--seed", type=options.natural, default=0, metavar="N", help="for faults, instants and noise"
    )
    parser.add_argument("--jobs", type=options.whole, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--dask", metavar="ADDRESS", help="a dask scheduler, such as tcp://10.0.0.1:8786")
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=Path("runs/faults"), help="where broken cases are saved"
    )
    options.add_set(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.seconds < LEAST_S:
        raise output.UsageError(
            f"--for {args.seconds:g}: faults begin after half a second; give {LEAST_S:g} s or more"
        )
    cases = cases_for(args)
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=args.out).close()  # a folder that is there may still take no file
    except OSError as error:
        raise output.UsageError(
            f"--out {args.out}: broken cases cannot be saved there ({error.strerror})"
        ) from error
    outcomes: list[Outcome] = []
    progress = output.Progress("letting things go wrong", len(cases), "runs")
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
        output.note(f"stopped after {len(outcomes)} of {len(cases)} runs, and these had:")
    outcomes.sort(key=lambda outcome: outcome.case.index)
    result = {"vehicle": args.vehicle, "scenario": cases[0].scenario, **summarise(outcomes)}
    result["stopped_early"] = stopped_early
    result["broken"] = small_cases(outcomes, args.out)
    result["diverged"] = diverged_cases(outcomes, args.out)
    if args.json:
        output.as_json(result)
    else:
        show(result)
    return 1 if result["broken"] or result["diverged"] or stopped_early else 0


def cases_for(args: argparse.Namespace) -> list[Case]:
    """One vehicle of its kind: the others of a world would only take time."""
    vehicle, scenario, settings = open_scenario(args.vehicle, args.set, args.scenario)
    overrides = list(args.set)
    if vehicle.worlds[settings["world"]].vehicles > 1:
        overrides.append(f"world.{settings['world']}.vehicles=1")
        vehicle, _, _ = open_scenario(args.vehicle, overrides, scenario)
    base = Case(args.vehicle, tuple(overrides), scenario, args.seed, args.seconds, ())
    cases = plan(vehicle, base, args.runs, args.kind)
    if not cases:
        raise output.UsageError(f"nothing of the kind {', '.join(args.kind)} can befall {vehicle.name}")
    return cases


def work(args: argparse.Namespace, cases: list[Case]) -> Iterator[Outcome]:
    """As they finish; the first alone, which compiles the plant."""
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


def in_processes(cases: list[Case], jobs: int) -> Iterator[Outcome]:
    """As they finish. Every process is a pool of its own, as one that dies takes along all that its pool has to do."""
    waiting = iter(cases)
    pools = [_process() for _ in range(min(jobs, len(cases)))]
    under_way: dict[Future, tuple[Case, int]] = {}

    def give(k: int) -> None:
        case = next(waiting, None)
        if case:
            under_way[pools[k].submit(run_case, case)] = case, k

    try:
        for k in range(len(pools)):
            give(k)
        while under_way:
            for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                case, k = under_way.pop(done)
                try:
                    outcome = done.result()
                except BrokenProcessPool:
                    pools[k].shutdown()
                    pools[k] = _process()
                    (outcome,) = _died([case])
                give(k)
                yield outcome
    finally:  # stopped early, no further case begins
        for pool in pools:
            pool.shutdown()


def _process() -> ProcessPoolExecutor:
    """Ctrl-C is for the campaign to hear; the run that is under way here ends as it would."""
    return ProcessPoolExecutor(1, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))


@dataclass(frozen=True)
class Job:
    """What a worker elsewhere needs besides its cases."""

    vehicle: str
    text: str
    caudal: str


def run_chunk(job: Job, cases: list[Case]) -> tuple[list[Outcome], float]:
    """On a worker: the outcomes, and the seconds that a case took."""
    expect_same(job.caudal)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(job.vehicle).with_suffix(".toml").name
        path.write_text(job.text)
        outcomes = [run_case(replace(case, vehicle=str(path))) for case in cases]
    for outcome, case in zip(outcomes, cases, strict=True):
        outcome.case = case
    return outcomes, (time.monotonic() - start) / len(cases)


def _died(cases: list[Case]) -> list[Outcome]:
    return [Outcome(case, ["unknown"], broken=[f"alive: {DIED}"], invariants=["alive"]) for case in cases]


def small_cases(outcomes: list[Outcome], folder: Path) -> list[dict[str, Any]]:
    """Runs that broke a promise, the first few of each as small as they get."""
    found: list[dict[str, Any]] = []
    count: collections.Counter[str] = collections.Counter()
    for outcome in outcomes:
        if not outcome.broken:
            continue
        promise = outcome.invariants[0]
        count[promise] += 1
        entry: dict[str, Any] = {"run": outcome.case.index, "broken": outcome.broken, "file": None}
        if count[promise] <= MOST_SHRUNK and outcome.kinds != ["unknown"]:
            output.note(f"run {outcome.case.index} broke {promise}; looking for the smallest case")
            small, runs = shrink(outcome)
            path = save(small, folder)
            entry |= {"broken": small.broken, "shrunk_in_runs": runs, "file": str(path)}
            entry["command"] = command(small.case, path)
        entry["faults"] = list((small if entry["file"] else outcome).case.faults)
        found.append(entry)
    return found


def diverged_cases(outcomes: list[Outcome], folder: Path) -> list[dict[str, Any]]:
    """Runs in which the plant gave up: nothing is known of the vehicle, so none of them is good news."""
    found = []
    for outcome in outcomes:
        if outcome.diverged:
            path = save(replace(outcome, invariants=["diverged"], broken=[outcome.diverged]), folder)
            entry = {"run": outcome.case.index, "why": outcome.diverged, "faults": list(outcome.case.faults)}
            found.append(entry | {"file": str(path), "command": command(outcome.case, path)})
    return found


def show(result: dict[str, Any]) -> None:
    if result["kinds"]:
        output.table([list(row.values()) for row in result["kinds"]], list(result["kinds"][0]))
    output.table([[name, count] for name, count in result["faults"].items()], ["fault", "injected"])
    output.table([(key, result[key]) for key in TOTALS])
    for entry in result["diverged"]:
        print(f"run {entry['run']}, {' '.join(entry['faults'])}: {entry['why']}")
        print(f"  again: {entry['command']}")
    for entry in result["broken"]:
        print(f"run {entry['run']}, {' '.join(entry['faults'])}:")
        for promise in entry["broken"]:
            print(f"  {promise}")
        if entry["file"]:
            print(f"  again: {entry['command']}")
