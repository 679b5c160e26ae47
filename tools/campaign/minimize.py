"""Minimizes a case that violates an invariant, and writes a file that runs it again."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from caudal.tools.campaign.campaign import Case, Outcome, open_case, run_case
from caudal.tools.common.options import as_toml, toml_line
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.faults.kinds import FOREVER_S, PI_CHIPS, Fault, default_size, read_fault

MOST_RUNS = 80
SHORTEST_S = 0.02
SIMPLER = {"sensor": ("silent", "stuck"), "actuator": ("dead",), "wire": ("cut",), "bus": ("silent",)}


def minimize(outcome: Outcome, run: Callable[[Case], Outcome] = run_case) -> tuple[Outcome, int]:
    """The simplest case found that violates the same invariant first, and the number of runs it took."""
    invariant, tried, runs = outcome.invariants[0], {outcome.case}, 0
    smaller = True
    while smaller and runs < MOST_RUNS:
        smaller = False
        for case in _smaller(outcome):
            if case in tried or runs == MOST_RUNS:
                continue
            tried.add(case)
            runs += 1
            again = run(case)
            if invariant in again.invariants:
                outcome, smaller = again, True
                break
    return outcome, runs


def _smaller(outcome: Outcome) -> Iterator[Case]:
    """Simpler cases, the largest steps first."""
    case = outcome.case
    vehicle = open_case(case)
    for k in range(len(case.faults) if len(case.faults) > 1 else 0):
        yield replace(case, faults=case.faults[:k] + case.faults[k + 1 :])
    until_s = round(outcome.violated_s + 0.1, 2)
    if until_s < case.seconds:
        yield replace(case, seconds=until_s)
    for k, text in enumerate(case.faults):
        for simpler in _simpler(read_fault(text, vehicle), vehicle, case.seconds):
            if str(simpler) != text:
                yield replace(case, faults=(*case.faults[:k], str(simpler), *case.faults[k + 1 :]))


def _simpler(fault: Fault, vehicle: Vehicle, seconds: float) -> Iterator[Fault]:
    names = SIMPLER.get(fault.kind.family, ())
    before = names[: names.index(fault.kind.name)] if fault.kind.name in names else names
    for name in before:
        text = str(replace(fault, size=0.0)).replace(fault.kind.name, name, 1).partition("*")[0]
        yield read_fault(text, vehicle)
    if fault.period_s:
        yield replace(fault, period_s=None)
    if fault.until_s > seconds and fault.kind.lasts_s == FOREVER_S:
        yield replace(fault, for_s=FOREVER_S)
    elif fault.for_s != FOREVER_S and fault.for_s >= 2 * SHORTEST_S:
        yield replace(fault, for_s=max(SHORTEST_S, round(fault.for_s / 2, 2)))
    if fault.at_s > 0.1:
        yield replace(fault, at_s=round(fault.at_s / 2, 2))
    for digits in (0, 1):
        yield replace(fault, at_s=round(fault.at_s, digits))
    if fault.kind.size:
        yield replace(fault, size=default_size(fault.kind, fault.target, vehicle))


def command(case: Case, file: Path) -> str:
    """The command that runs a saved case again."""
    vehicle = open_case(case)
    chips = any(read_fault(text, vehicle).kind.needs == PI_CHIPS for text in case.faults)
    on = " --on emulated" if chips else ""
    return f"caudal run {case.vehicle} --scenario {case.scenario} --seed {case.seed}{on} --with {file}"


def save(outcome: Outcome, folder: Path) -> Path:
    """Writes a case as keys of the vehicle file, for `caudal run --with`."""
    case = outcome.case
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(case.vehicle).stem
    path = folder / f"{name}-{case.scenario}-{outcome.invariants[0]}-{case.seed}.toml"
    lines = [f"# {text}" for text in outcome.violations]
    lines.append(f"# {command(case, path)}")
    lines += map(toml_line, case.set)
    lines.append(f"scenario.{case.scenario}.duration_s = {case.seconds!r}")
    lines.append(f"scenario.{case.scenario}.faults = {as_toml(list(case.faults))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
