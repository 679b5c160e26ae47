"""A fault campaign: many short runs with faults drawn from a seed, each checked against the invariants."""

from __future__ import annotations

import functools
import math
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from caudal.onboard.log.recorder import Recorder
from caudal.onboard.run.recording import VERSION
from caudal.sim_plant.tree.model import PlantDiverged
from caudal.tools.campaign.chip_invariants import immune
from caudal.tools.campaign.invariant_check import InvariantCheck
from caudal.tools.config.vehicle import Vehicle, open_scenario
from caudal.tools.faults.kinds import (
    FOREVER_S,
    PI_CHIPS,
    WIRE,
    Fault,
    Kind,
    possible_faults,
    range_of,
    read_fault,
)
from caudal.tools.hil.in_process_wire import WiredVehicle
from caudal.tools.simulate.simulation import Simulation

SECONDS = 6.0  # of a run, by default
LEAD_S = (0.5, 2.0)  # before the first fault
DOUBLE, INTERMITTENT, REARMED = 0.35, 0.25, 0.2  # shares of the runs
LONG = 0.1  # of the runs are five times as long: failsafe rules have time to clear


@dataclass(frozen=True)
class Case:
    """All that determines one run: the same case gives the same run."""

    vehicle: str
    set: tuple[str, ...]
    scenario: str
    seed: int
    seconds: float
    faults: tuple[str, ...]
    index: int = 0


@dataclass
class Outcome:
    """The result of a case: its violations, and the times that matter."""

    case: Case
    kinds: list[str]
    ticks: int = 0
    to_safe_s: float | None = None
    pulses_back_s: float = 0.0
    worst_late: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    invariants: list[str] = field(default_factory=list)  # the violated ones' names
    violated_s: float = 0.0  # time of the first
    diverged: str = ""  # why the plant diverged: nothing is known of the ticks after it


@functools.lru_cache(maxsize=8)
def _open(vehicle: str, overrides: tuple[str, ...], scenario: str) -> Vehicle:
    return open_scenario(vehicle, list(overrides), scenario)[0]


def open_case(case: Case) -> Vehicle:
    """The vehicle of a case, with its overrides and its scenario's; the last few are cached."""
    return _open(case.vehicle, case.set, case.scenario)


def run_case(case: Case) -> Outcome:
    """Runs a case and checks its ticks and its log."""
    vehicle = open_case(case)
    faults = [read_fault(text, vehicle) for text in case.faults]
    outcome = Outcome(case, [f"{fault.kind.family} {fault.kind.name}" for fault in faults])
    simulation = simulation_for(vehicle, case.scenario, case.seed, faults)
    check = InvariantCheck(simulation)
    steps = round(case.seconds * 1e6 / simulation.period_us)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.mcap"
        recorder = Recorder(log, _about(vehicle, case), lossless=True)
        simulation.record(recorder)
        simulation.arm()
        try:
            for _ in range(steps):
                simulation.step()
            simulation.safe()
        except PlantDiverged as error:
            outcome.diverged = str(error)
        except Exception as error:
            check.raised(error)
        recorder.close()
        found = check.so_far() if outcome.diverged else check.finish(log, recorder.failed)
    outcome.ticks = check.ticks
    outcome.to_safe_s, outcome.pulses_back_s = check.to_safe_s, check.pulses_back_s
    outcome.worst_late = {rule: late for rule, late in check.worst_late.items() if late}
    outcome.violations = [str(one) for one in found]
    outcome.invariants = [one.invariant for one in found]
    outcome.violated_s = min((one.tick for one in found), default=0) * simulation.period_us / 1e6
    return outcome


def simulation_for(vehicle: Vehicle, scenario: str, seed: int, faults: list[Fault]) -> Simulation:
    """A simulation on emulated chips if one of the faults needs them, otherwise on the plant alone."""
    if any(fault.kind.needs == PI_CHIPS for fault in faults):
        from caudal.tools.simulate.emulated_run import emulated_simulation

        return emulated_simulation(vehicle, scenario, seed, faults)
    return Simulation(vehicle, scenario, seed, faults=faults, on_link=WiredVehicle)


def _about(vehicle: Vehicle, case: Case) -> dict[str, str]:
    return {
        "version": VERSION,
        "vehicle": vehicle.name,
        "vehicle_file": vehicle.file.text,
        "overrides": "\n".join(vehicle.file.overrides),
        "scenario": case.scenario,
        "seed": str(case.seed),
        "on": "sim",
    }


def plan(vehicle: Vehicle, case: Case, runs: int, kinds: list[str]) -> list[Case]:
    """The cases of a campaign: run k depends on the seed and k alone. `kinds`: families or kinds; none is all."""
    able = [
        (kind, target)
        for (name, target), kind in possible_faults(vehicle).items()
        if (not kinds or name in kinds or kind.family in kinds)
        and not (kind.family == "chip" and immune(vehicle, name, target))
    ]
    if not able:
        return []
    return [_drawn(vehicle, case, k, able) for k in range(runs)]


def _drawn(vehicle: Vehicle, case: Case, index: int, able: list[tuple[Kind, str]]) -> Case:
    rng = random.Random(f"{case.seed} {index}")
    seconds = case.seconds * (5 if rng.random() < LONG else 1)
    first = _draw(rng, vehicle, able, seconds)
    faults = [first]
    if rng.random() < DOUBLE:
        fitting = [pair for pair in able if _compatible((first.kind, first.target), pair)]
        if fitting:
            faults.append(_draw(rng, vehicle, fitting, seconds))
    if rng.random() < REARMED and not any(u.kind.needs for u in faults):
        at_s = round(rng.uniform(LEAD_S[0], seconds - 0.5), 2)
        faults.append(read_fault(f"rearms:pilot@{at_s:g}+{rng.choice((0.05, 0.3, 1.0)):g}", vehicle))
    return Case(
        case.vehicle, case.set, case.scenario, case.seed + index, seconds, tuple(map(str, faults)), index
    )


def _compatible(one: tuple[Kind, str], other: tuple[Kind, str]) -> bool:
    """A run is on chips or on a HIL link; a controller on a HIL link has neither a clock nor a driver."""
    if {one[0].needs, other[0].needs} == {PI_CHIPS, WIRE}:
        return False
    return not any(
        a.needs == WIRE and (b.name in ("late", "stalled") or (b.name, target) == ("exception", "driver"))
        for (a, _), (b, target) in ((one, other), (other, one))
    )


def _draw(rng: random.Random, vehicle: Vehicle, able: list[tuple[Kind, str]], seconds: float) -> Fault:
    """One fault: first a family, then a kind of it, then a target, each with equal probability."""
    family = rng.choice(sorted({kind.family for kind, _ in able}))
    name = rng.choice(sorted({kind.name for kind, _ in able if kind.family == family}))
    kind, target = rng.choice([(k, t) for k, t in able if k.family == family and k.name == name])
    at_s = rng.uniform(LEAD_S[0], min(LEAD_S[1], 0.6 * seconds))
    for_s = math.exp(rng.uniform(math.log(0.03), math.log(0.7 * seconds)))
    text = f"{name}:{target}@{round(at_s, 2):g}"
    if kind.family == "chip":
        text += "" if name == "brown-out" else f"+{rng.uniform(0.3, 1.5):.2f}"
    elif kind.lasts_s != FOREVER_S or rng.random() < 0.7:
        text += f"+{max(0.02, round(for_s, 2)):g}"
        if for_s > 0.2 and rng.random() < INTERMITTENT and kind.name not in ("killed", "stalled"):
            text += f"/{max(0.02, round(for_s / rng.choice((3, 5, 11)), 2)):g}"
    return read_fault(text + _size(rng, vehicle, kind, target), vehicle)


def _size(rng: random.Random, vehicle: Vehicle, kind: Kind, target: str) -> str:
    if not kind.size:
        return ""
    if kind.family == "sensor" and kind.size not in ("s", "factor"):
        size = range_of(target, vehicle) * 10 ** rng.uniform(-3, 0)
        if kind.low < 0:
            size *= rng.choice((-1, 1))
    elif kind.size == "factor":
        size = rng.choice((-1.0, 0.0, 0.5, 2.0, 10.0))
    else:
        size = kind.default * 10 ** rng.uniform(-1, 1)
    return f"*{min(max(size, kind.low), kind.high):.4g}"


def summarise(outcomes: list[Outcome]) -> dict[str, Any]:
    """Totals, and a row for each kind of single fault, then for double and intermittent ones.

    Rows are without the runs whose plant diverged.
    """
    groups: dict[str, list[Outcome]] = {}
    checked = [outcome for outcome in outcomes if not outcome.diverged]
    for outcome in checked:
        if len(outcome.kinds) > 1:
            name = "double"
        elif "/" in outcome.case.faults[0]:
            name = "intermittent"
        else:
            name = outcome.kinds[0]
        groups.setdefault(name, []).append(outcome)
    rows = []
    for name in sorted(groups, key=lambda n: (n in ("double", "intermittent"), n)):
        runs = groups[name]
        times = [run.to_safe_s for run in runs if run.to_safe_s is not None]
        rows.append(
            {
                "kind": name,
                "runs": len(runs),
                "broken": sum(bool(run.violations) for run in runs),
                "ticks": sum(run.ticks for run in runs),
                "went_safe": len(times),
                "worst_to_safe_s": round(max(times), 3) if times else None,
                "worst_pulses_back_s": round(max(run.pulses_back_s for run in runs), 3) or None,
            }
        )
    faults = Counter(kind for outcome in outcomes for kind in outcome.kinds)
    late: Counter[str] = Counter()
    for outcome in checked:
        for rule, ticks in outcome.worst_late.items():
            late[rule] = max(late[rule], ticks)
    times = [outcome.to_safe_s for outcome in checked if outcome.to_safe_s is not None]
    return {
        "runs": len(outcomes),
        "ticks": sum(outcome.ticks for outcome in outcomes),
        "faults": dict(sorted(faults.items())),
        "kinds": rows,
        "worst_to_safe_s": round(max(times), 3) if times else None,
        "worst_row_late_ticks": max(late.values(), default=0),
        "broken_runs": sum(bool(outcome.violations) for outcome in outcomes),
        "diverged_runs": len(outcomes) - len(checked),
    }
