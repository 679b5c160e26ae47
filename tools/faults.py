"""Breaks a vehicle's chips, one fault a run at a random instant, and checks what must hold whatever breaks.

    the loop keeps its rate           every tick is there, and no stage of it fails
    no reading is invented            what the board gets is what the sensor counted within the last second, or nothing
    the fault is noticed              its readings are absent while it lasts (slow ones late), and the log says why
    actuators are safe                while a failsafe of the vehicle's table says so
    it recovers                       readings come again, failsafes clear, the vehicle swims on

The scenario runs on emulated chips (--on emulated); the first vehicle has the fault, the others do not.
"""

import argparse
import random
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from hal.emulated.faults import KINDS
from hal.emulated.wiring import fault_targets
from onboard.safety import SAFE
from tools import options, say
from tools.emulated import Fault, OnChips, chips_of, emulated_fleet
from tools.vehicles import Vehicle, open_scenario

FIRST_S, LAST_S = 1.0, 8.0  # when a fault may begin
RECOVERY_S = 4.0  # of run behind its end: a hung bus takes 1.02 s more, an inertial unit's reset 0.65 s
NOTICE_S = 0.3  # readings that were on their way, and a conversion
BACK_TICKS_S = 0.1  # outputs after a brown-out
HIDDEN = {  # what a kind cannot do to a chip: it has nothing of the sort
    "identity": ("pca9685", "ads1115", "ina219"),
    "slow": ("pca9685", "bno055", "ina219"),
}


@dataclass
class Outcome:
    """What one run came to; `broken` says which promises it broke."""

    fault: str
    kind: str
    ticks: int = 0
    pulses_back_s: float = 0.0
    reason: str = ""
    safe_ticks: int = 0
    broken: list[str] = field(default_factory=list)


def arguments(command: argparse.ArgumentParser) -> None:
    options.add_vehicle(command)
    command.add_argument("--scenario", metavar="NAME", help="which of its scenarios (default: its first)")
    command.add_argument(
        "--runs", type=options.whole, default=20, metavar="N", help="of each kind (default: 20)"
    )
    command.add_argument("--kind", choices=KINDS, action="append", help="only this kind; may be repeated")
    command.add_argument(
        "--seed", type=options.natural, default=0, metavar="N", help="for instants and noise"
    )
    command.add_argument("--jobs", type=options.whole, default=2, metavar="N", help="processes (default: 2)")
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    vehicle, scenario_name, _ = open_scenario(args.vehicle, args.set, args.scenario)
    plan = faults_for(vehicle, args.kind or list(KINDS), args.runs, args.seed)
    progress = say.Progress("breaking chips", len(plan), "runs")
    work = [(args.vehicle, args.set, scenario_name, args.seed + i, fault) for i, fault in enumerate(plan)]
    outcomes = []
    with ProcessPoolExecutor(args.jobs) as pool:
        for outcome in pool.map(_one, work):
            outcomes.append(outcome)
            progress.at(len(outcomes))
    progress.end()
    result = summarise(outcomes) | {"vehicle": vehicle.name, "scenario": scenario_name}
    if args.json:
        say.as_json(result)
    else:
        keys = list(result["kinds"][0])
        say.table([list(row.values()) for row in result["kinds"]], keys)
        for line in result["broken"]:
            print(line)
    return 1 if result["broken"] else 0


def faults_for(vehicle: Vehicle, kinds: list[str], runs: int, seed: int) -> list[Fault]:
    """The same for the same seed: every kind befalls every chip that it can, in turn, at random instants."""
    rng = random.Random(seed)
    pi = chips_of(vehicle)
    chips = {"pulses": "pca9685", "bus": "bus"} | {name: chip["kind"] for name, chip in pi["chip"].items()}
    plan = []
    for kind in kinds:
        able = [name for name in fault_targets(pi) if chips[name] not in HIDDEN.get(kind, ())]
        for i in range(runs):
            lasts_s = 0.0 if kind == "brown-out" else rng.uniform(0.3, 1.5)
            at_s = rng.uniform(FIRST_S, LAST_S)
            plan.append(Fault(kind, able[i % len(able)], round(at_s, 2), round(lasts_s, 2) or 0.01))
    return plan


def _one(work: tuple[str, list[str], str, int, Fault]) -> Outcome:
    name, overrides, scenario, seed, fault = work
    vehicle, scenario_name, _ = open_scenario(name, overrides, scenario)
    return watch(vehicle, scenario_name, seed, fault)


def watch(vehicle: Vehicle, scenario_name: str, seed: int, fault: Fault) -> Outcome:
    """One run with one fault, every tick looked at."""
    fleet = emulated_fleet(vehicle, scenario_name, seed, [fault])
    swimmer: OnChips = fleet.swimmers[0]
    watcher = _Watcher(vehicle, swimmer, fault)
    fleet.arm()
    ticks = round((fault.until_s + RECOVERY_S) * vehicle.settings["rate_hz"])
    for tick in range(ticks):
        fleet.step()
        watcher.look(tick)
    fleet.safe()
    return watcher.judge(ticks)


class _Watcher:
    def __init__(self, vehicle: Vehicle, swimmer: OnChips, fault: Fault) -> None:
        pi = chips_of(vehicle)
        self._swimmer = swimmer
        self._fault = fault
        self._rate_hz = vehicle.settings["rate_hz"]
        self._outcome = Outcome(str(fault), fault.kind)
        names = [sensor["name"] for sensor in vehicle.settings["sensors"]]
        buses = {chip["bus"] for chip in (pi["pulses"],)}
        hit = {
            name
            for name, chip in pi["chip"].items()
            if name == fault.target or (fault.target == "bus" and chip.get("bus") in buses)
        }
        able = {name for name in hit if pi["chip"][name]["kind"] not in HIDDEN.get(fault.kind, ())}
        self._hit = [i for i, name in enumerate(names) if pi["sensor"].get(name, {}).get("chip") in able]
        self._names = names
        self._counted = [deque([None], maxlen=self._rate_hz) for _ in names]  # the last second's
        self._seen_s = [0.0] * len(names)
        self._absent = False
        self._off_s = 0.0
        self._reasons: list[str] = []
        self._swam = 0

    def look(self, tick: int) -> None:
        now_s = tick / self._rate_hz
        loop, driver = self._swimmer.loop, self._swimmer.driver
        for i, (count, truth) in enumerate(zip(loop.board.counts, driver.truth, strict=True)):
            if truth is not None:
                self._counted[i].append(truth)
            if count is None:
                continue
            if count not in self._counted[i]:
                self._break(f"{self._names[i]} read {count} at tick {tick}, which was never counted")
            if i in self._hit and self._lasting(now_s) and self._fault.kind != "slow":  # slow, but right
                self._break(f"{self._names[i]} had a reading at tick {tick} while its chip was broken")
            self._seen_s[i] = now_s
        board = loop.board
        self._absent |= any(board.age[i] > board.sensors[i].max_age for i in self._hit)
        self._reasons += self._swimmer.take_news()
        self._look_at_outputs(tick, now_s)

    def _lasting(self, now_s: float) -> bool:
        """Is the fault on for long enough to have been noticed."""
        return self._fault.at_s + NOTICE_S < now_s < self._fault.until_s

    def _look_at_outputs(self, tick: int, now_s: float) -> None:
        loop, driver = self._swimmer.loop, self._swimmer.driver
        if loop.gate.action >= SAFE and loop.state.armed:
            self._outcome.safe_ticks += 1
            if loop.board.outputs != loop.board.safe_outputs:
                self._break(f"a failsafe was active at tick {tick} and the outputs were not safe")
        elif now_s > self._fault.until_s:
            self._swam += 1
        apart = [
            abs(a - b) > driver.step_us for a, b in zip(driver.pulses_us, loop.board.outputs, strict=True)
        ]
        if any(apart) and now_s >= self._fault.at_s:
            self._off_s = now_s

    def judge(self, ticks: int) -> Outcome:
        outcome, fault = self._outcome, self._fault
        outcome.ticks = self._swimmer.loop.ticks
        if outcome.ticks != ticks or self._swimmer.loop.fault:
            self._break(f"{outcome.ticks} of {ticks} ticks ran, fault {self._swimmer.loop.fault}")
        if not self._reasons and (self._absent or self._off_s):
            self._break("readings were absent, or pulses others than asked, and nothing says why")
        outcome.reason = self._reasons[0] if self._reasons else ""
        end_s = ticks / self._rate_hz
        late = [self._names[i] for i in self._hit if end_s - self._seen_s[i] > 1.0]
        if late:
            self._break(f"no readings again of {', '.join(late)}")
        if self._swimmer.driver.lost:
            self._break(f"still lost: {', '.join(self._swimmer.driver.lost)}")
        if self._swam < self._rate_hz:
            self._break("it did not swim on")
        outcome.pulses_back_s = max(0.0, self._off_s + 1 / self._rate_hz - fault.at_s) if self._off_s else 0.0
        if fault.kind == "brown-out" and outcome.pulses_back_s > BACK_TICKS_S:
            self._break(f"pulses came back after {outcome.pulses_back_s:.2f} s")
        return outcome

    def _break(self, promise: str) -> None:
        if len(self._outcome.broken) < 3:
            self._outcome.broken.append(promise)


def summarise(outcomes: list[Outcome]) -> dict[str, Any]:
    kinds = []
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        runs = [outcome for outcome in outcomes if outcome.kind == kind]
        reasons = Counter(outcome.reason for outcome in runs)
        kinds.append(
            {
                "kind": kind,
                "runs": len(runs),
                "broken": sum(bool(outcome.broken) for outcome in runs),
                "ticks": sum(outcome.ticks for outcome in runs),
                "safe_ticks": sum(outcome.safe_ticks for outcome in runs),
                "worst_pulses_back_s": round(max(outcome.pulses_back_s for outcome in runs), 3),
                "reasons": len(reasons),
            }
        )
    broken = [f"{outcome.fault}: {promise}" for outcome in outcomes for promise in outcome.broken]
    return {"runs": len(outcomes), "kinds": kinds, "broken": broken}
