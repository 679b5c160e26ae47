"""The smallest case that still breaks the same promise, and a file that runs it again."""

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from caudal.tools.campaign.campaign import Case, Outcome, opened, run_case
from caudal.tools.common.options import as_toml
from caudal.tools.faults.kinds import EVER, PI_CHIPS, Fault, read_fault, usual_size

MOST_RUNS = 80
SHORTEST_S = 0.02
SIMPLER = {"sensor": ("silent", "stuck"), "actuator": ("dead",), "wire": ("cut",), "bus": ("silent",)}


def shrink(outcome: Outcome, run: Callable[[Case], Outcome] = run_case) -> tuple[Outcome, int]:
    """What is left of a run that broke a promise, and how many runs that took."""
    promise, tried, runs = outcome.invariants[0], {outcome.case}, 0
    smaller = True
    while smaller and runs < MOST_RUNS:
        smaller = False
        for case in _smaller(outcome):
            if case in tried or runs == MOST_RUNS:
                continue
            tried.add(case)
            runs += 1
            again = run(case)
            if promise in again.invariants:
                outcome, smaller = again, True
                break
    return outcome, runs


def _smaller(outcome: Outcome) -> Iterator[Case]:
    """Simpler cases, the boldest first."""
    case = outcome.case
    vehicle = opened(case.vehicle, case.set, case.scenario)
    for k in range(len(case.faults) if len(case.faults) > 1 else 0):
        yield replace(case, faults=case.faults[:k] + case.faults[k + 1 :])
    until_s = round(outcome.broken_s + 0.1, 2)
    if until_s < case.seconds:
        yield replace(case, seconds=until_s)
    for k, text in enumerate(case.faults):
        for simpler in _simpler(read_fault(text, vehicle), vehicle, case.seconds):
            if str(simpler) != text:
                yield replace(case, faults=(*case.faults[:k], str(simpler), *case.faults[k + 1 :]))


def _simpler(fault: Fault, vehicle, seconds: float) -> Iterator[Fault]:
    names = SIMPLER.get(fault.kind.family, ())
    before = names[: names.index(fault.kind.name)] if fault.kind.name in names else names
    for name in before:
        text = str(replace(fault, size=0.0)).replace(fault.kind.name, name, 1).partition("*")[0]
        yield read_fault(text, vehicle)
    if fault.period_s:
        yield replace(fault, period_s=None)
    if fault.until_s > seconds and fault.kind.lasts_s == EVER:
        yield replace(fault, for_s=EVER)
    elif fault.for_s != EVER and fault.for_s >= 2 * SHORTEST_S:
        yield replace(fault, for_s=max(SHORTEST_S, round(fault.for_s / 2, 2)))
    if fault.at_s > 0.1:
        yield replace(fault, at_s=round(fault.at_s / 2, 2))
    for digits in (0, 1):
        yield replace(fault, at_s=round(fault.at_s, digits))
    if fault.kind.size:
        yield replace(fault, size=usual_size(fault.kind, fault.target, vehicle))


def command(case: Case, file: Path) -> str:
    """That runs it again."""
    vehicle = opened(case.vehicle, case.set, case.scenario)
    chips = any(read_fault(text, vehicle).kind.needs == PI_CHIPS for text in case.faults)
    on = " --on emulated" if chips else ""
    return f"caudal run {case.vehicle} --scenario {case.scenario} --seed {case.seed}{on} --with {file}"


def save(outcome: Outcome, folder: Path) -> Path:
    """As keys of the vehicle file, for `caudal run --with`."""
    case = outcome.case
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(case.vehicle).stem
    path = folder / f"{name}-{case.scenario}-{outcome.invariants[0]}-{case.seed}.toml"
    lines = [f"# {text}" for text in outcome.broken]
    lines.append(f"# {command(case, path)}")
    for text in case.set:
        key, _, value = text.partition("=")
        lines.append(f"{key} = {_as_written(value)}")
    lines.append(f"scenario.{case.scenario}.duration_s = {case.seconds!r}")
    lines.append(f"scenario.{case.scenario}.faults = {as_toml(list(case.faults))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _as_written(value: str) -> str:
    """A --set value as TOML has it; a bare word is a string."""
    try:
        tomllib.loads(f"value = {value}")
        return value
    except tomllib.TOMLDecodeError:
        return as_toml(value)
