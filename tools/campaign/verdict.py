"""A fleet's run with faults, judged: every tick by the invariants, then its log."""

import bisect
import math
from pathlib import Path
from typing import Any

from caudal.onboard.core.failsafe import HOLD
from caudal.onboard.log.reader import Log, LogError
from caudal.tools.campaign.invariants import Broken, Invariants
from caudal.tools.cli.replay import replay
from caudal.tools.common.output import UsageError
from caudal.tools.faults.kinds import PI_CHIPS, Fault


class Verdict:
    """Looks over the shoulder of a fleet's first vehicle, whose upsets these are."""

    def __init__(self, simulation: Any) -> None:
        self._fleet = simulation
        self._upsets: list[Fault] = simulation.faults
        self._swimmer = simulation.instances[0]
        self._swimmer.on_tick = self._ticked
        simulation.on_step = self._stepped
        self._settings = simulation.vehicle.settings
        self._bugs = any(u.kind.name in ("exception", "nan") for u in self._upsets)
        self._loops: dict[str, tuple[Any, Invariants]] = {}
        self._sent = _Sent(self._settings) if hasattr(self._swimmer, "line") else None
        self._broken: list[Broken] = []
        self._began_ns = min((u.at_s for u in self._upsets), default=math.inf) * 1e9
        self.to_safe_s: float | None = None  # from the first upset on
        self.ticks = 0
        self._steps = 0
        self._chips: Any = None
        if len(self._upsets) == 1 and hasattr(self._swimmer, "driver"):
            fault = self._upsets[0]
            if (fault.kind.needs == PI_CHIPS or fault.name == "brown-out:pulses") and fault.period_s is None:
                from caudal.tools.campaign.chip_invariants import ChipPromises

                self._chips = ChipPromises(simulation.vehicle, self._swimmer, fault)

    def _ticked(self, name: str, loop: Any, time_ns: int) -> None:
        self.ticks += 1
        if name not in self._loops or self._loops[name][0] is not loop:
            self._loops[name] = loop, Invariants(self._settings, loop, self._bugs)
        self._loops[name][1].check(loop, calm=not self._swimmer.injector.begun)
        state = loop.state
        safe = loop.fault is not None or not state.armed or state.action >= HOLD
        if self.to_safe_s is None and safe and time_ns >= self._began_ns:
            self.to_safe_s = (time_ns - self._began_ns) / 1e9 + 1 / self._settings["rate_hz"]

    def _stepped(self) -> None:
        """After each step of the fleet."""
        self._steps += 1
        if self._sent:
            self._sent.check(self._swimmer)
        if self._chips:
            self._chips.check(self._swimmer.loop.ticks - 1)

    def raised(self, error: Exception) -> None:
        """Whatever comes out of a tick is one too much."""
        self._broken.append(Broken("alive", self.ticks, f"a tick raised {type(error).__name__}: {error}"))

    def judge(self, log: Path, failed: str | None) -> list[Broken]:
        """At the end, the recorder closed: all that was broken. `failed` is why the recording stopped."""
        steps = self._steps
        if self._chips:
            self._chips.judge(steps)
        broken = self.so_far()
        expected = steps - self._still(steps)
        if not self._broken and not self._sent and self.ticks != expected:
            broken.append(Broken("alive", steps, f"{self.ticks} ticks of {expected} ran"))
        return broken + self._judge_log(log, failed)

    def so_far(self) -> list[Broken]:
        """What ticks have broken, without the log."""
        broken = [*self._broken, *(self._chips.broken if self._chips else ())]
        for _, invariants in self._loops.values():
            broken += invariants.broken
        return broken + (self._sent.broken if self._sent else [])

    def _still(self, steps: int) -> int:
        """Ticks that a loop that stood still did not have."""
        stalls = [u for u in self._upsets if u.kind.name == "stalled"]
        period_ns = self._fleet.period_us * 1000
        return sum(any(u.on(k * period_ns / 1e9) for u in stalls) for k in range(steps)) if stalls else 0

    @property
    def disk_fails(self) -> bool:
        """Is the recording meant to stop."""
        return any(u.kind.name == "fails" for u in self._upsets)

    @property
    def pulses_back_s(self) -> float:
        return self._chips.pulses_back_s if self._chips else 0.0

    @property
    def worst_late(self) -> dict[str, int]:
        """By row, ticks that it took longer than its delay."""
        worst: dict[str, int] = {}
        for _, invariants in self._loops.values():
            for row, late in invariants.worst_late.items():
                worst[row] = max(worst.get(row, 0), late)
        return worst

    def _judge_log(self, path: Path, failed: str | None) -> list[Broken]:
        def wrong(what: str) -> list[Broken]:
            return [Broken("recorded", self.ticks, what)]

        meant = self.disk_fails
        if failed and not meant:
            return wrong(f"the recording failed: {failed}")
        try:
            log = Log(path)
        except LogError as error:
            return wrong(f"the log does not open: {error}")
        if not meant:
            if not log.complete:
                return wrong("the log is not complete")
            missing = self._not_told(log)
            if missing:
                return wrong(missing)
        if not any(topic.endswith("/counts") for topic in log.topics):
            return [] if meant else wrong("the log holds no readings")
        try:
            again = replay(log)
        except UsageError as error:
            return wrong(f"the log does not replay: {error}")
        except Exception as error:
            return wrong(f"the replay raised {type(error).__name__}: {error}")
        if not again["identical"] and not (
            self._bugs and again["tick"] >= self._bug_tick(log, again["channel"])
        ):
            return wrong(
                f"replayed, it differs at tick {again['tick']}, {again['channel']}: {again['found']}"
            )
        return []

    def _bug_tick(self, log: Log, channel: str) -> float:
        """From which tick of a controller on a made-up bug tells the run from its replay. One that began later is
        sound, and one that stood still, or was cut off, has had fewer ticks than time has passed."""
        begun = [ns for u, ns in self._swimmer.injector.begun.items() if u.kind.name in ("exception", "nan")]
        times_ns = log.topics[f"/{channel.split()[0]}/counts"].time_ns
        if not begun or times_ns[0] > min(begun):
            return math.inf
        return bisect.bisect_left(times_ns, min(begun))

    def _not_told(self, log: Log) -> str | None:
        """A row, a fault or an upset that was, and of which the log says nothing."""
        told = {
            (e.kind, e.details.get("vehicle"), e.details.get("tick"), e.details.get("row"))
            for e in log.events
        }
        for name, (loop, invariants) in self._loops.items():
            for tick, row, active in invariants.changes:
                if ("failsafe" if active else "failsafe cleared", name, tick, row) not in told:
                    return f"nothing is told of {row} at tick {tick}"
            if loop.fault and ("fault", name, invariants.fault_tick, None) not in told:
                return f"nothing is told of the fault: {loop.fault}"
        set_ = {e.details["fault"] for e in log.events if e.kind == "fault set"}
        lost = [u.name for u in self._swimmer.injector.begun if u.name not in set_]
        return f"nothing is told of {lost[0]}" if lost else None


class _Sent:
    """What the plant's end of a wire gives the actuators: within their limits, servos within their slew."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.broken: list[Broken] = []
        self._actuators = settings["actuators"]
        rate_hz = settings["rate_hz"]
        self._steps = [
            s["slew_rad_s"] * s["us_per_rad"] / rate_hz + 1 if s["map"] == "servo" else None
            for s in self._actuators
        ]
        self._last = [0] * len(self._actuators)
        self._tick = 0

    def check(self, instance: Any) -> None:
        for k, (s, pulse) in enumerate(zip(self._actuators, instance.outputs, strict=True)):
            low, high = (0, s["high_ua"]) if s["map"] == "valve" else (s["low_us"], s["high_us"])
            if pulse and not low <= pulse <= high:
                self._say("limits", f"{s['name']} is sent {pulse}")
            step, last = self._steps[k], self._last[k]
            if step and pulse and last and abs(pulse - last) > step:
                self._say("slew", f"{s['name']} is sent {pulse} us after {last}")
            self._last[k] = pulse or last
        if instance.gone and any(instance.outputs):
            self._say("safe", "its controller is gone, and it is sent pulses")
        self._tick += 1

    def _say(self, invariant: str, what: str) -> None:
        if not any(broken.invariant == invariant for broken in self.broken):
            self.broken.append(Broken(invariant, self._tick, f"on the wire: {what}"))
