"""Checks a simulated run with faults: every tick against the invariants, then its log."""

import bisect
import math
from pathlib import Path
from typing import Any

from caudal.hal.errors import CaudalError
from caudal.hal.tables.channels import Servo
from caudal.onboard.core.failsafe import HOLD
from caudal.onboard.core.loop import Loop
from caudal.onboard.log.reader import Log, LogError
from caudal.onboard.run.replay import replay
from caudal.onboard.run.session import Session
from caudal.onboard.tables.read import Settings
from caudal.tools.campaign.invariants import Invariants, Violation, Violations, device_limits
from caudal.tools.faults.kinds import PI_CHIPS, Fault
from caudal.tools.simulate.simulation import Simulation

BUGS = ("exception", "nan")  # kinds that make a stage fail on purpose


class InvariantCheck:
    """Attaches to a simulation and checks its first vehicle, into which its faults are injected."""

    def __init__(self, simulation: Simulation) -> None:
        self._period_ns = simulation.period_us * 1000
        self._faults: list[Fault] = simulation.faults
        self._instance = simulation.instances[0]
        self._instance.after.append(self._ticked)
        simulation.after_step.append(self._stepped)
        self._settings = simulation.vehicle.settings
        self._bugs = any(fault.kind.name in BUGS for fault in self._faults)
        self._loops: dict[str, tuple[Loop, Invariants]] = {}
        self._link = _LinkInvariants(self._settings) if hasattr(self._instance, "line") else None
        self._raised: list[Violation] = []
        self._began_ns = min((fault.at_s for fault in self._faults), default=math.inf) * 1e9
        self.to_safe_s: float | None = None  # after the first fault
        self.ticks = 0
        self._steps = 0
        self._chips = None
        if len(self._faults) == 1 and getattr(self._instance, "driver", None):
            fault = self._faults[0]
            if (fault.kind.needs == PI_CHIPS or fault.name == "brown-out:pulses") and fault.period_s is None:
                from caudal.tools.campaign.chip_invariants import ChipInvariants

                self._chips = ChipInvariants(simulation.vehicle, self._instance, fault)

    def _ticked(self, session: Session, time_ns: int) -> None:
        name, loop = session.name, session.loop
        self.ticks += 1
        if name not in self._loops or self._loops[name][0] is not loop:
            self._loops[name] = loop, Invariants(self._settings, loop, self._bugs)
        self._loops[name][1].check(loop, before_faults=not self._instance.injector.begun)
        state = loop.state
        safe = loop.fault is not None or not state.armed or state.action >= HOLD
        if self.to_safe_s is None and safe and time_ns >= self._began_ns:
            self.to_safe_s = (time_ns - self._began_ns) / 1e9 + 1 / self._settings.rate_hz

    def _stepped(self) -> None:
        """After each step of the simulation."""
        self._steps += 1
        if self._link:
            self._link.check(self._instance)
        if self._chips:
            self._chips.check(self._instance.loop.ticks - 1)

    def raised(self, error: Exception) -> None:
        """Records an exception of a step: none may come out of it."""
        what = f"a tick raised {type(error).__name__}: {error}"
        self._raised.append(Violation("alive", self.ticks, what))

    def finish(self, log: Path, failed: str | None) -> list[Violation]:
        """All violations of a run whose recorder is closed. `failed` is why the recording stopped, if it did."""
        steps = self._steps
        if self._chips:
            self._chips.finish(steps)
        found = self.so_far()
        expected = steps - self._stalled(steps)
        if not self._raised and not self._link and self.ticks != expected:
            found.append(Violation("alive", steps, f"{self.ticks} ticks of {expected} ran"))
        problem = self._log_problem(log, failed)
        return found + ([Violation("recorded", self.ticks, problem)] if problem else [])

    def so_far(self) -> list[Violation]:
        """The violations in ticks, without the log."""
        found = [*self._raised, *(self._chips.violations if self._chips else ())]
        for _, invariants in self._loops.values():
            found += invariants.violations
        return found + (self._link.violations if self._link else [])

    def _stalled(self, steps: int) -> int:
        """The number of ticks that a stalled loop missed."""
        stalls = [fault for fault in self._faults if fault.kind.name == "stalled"]
        return (
            sum(any(u.on(k * self._period_ns / 1e9) for u in stalls) for k in range(steps)) if stalls else 0
        )

    @property
    def disk_fails(self) -> bool:
        """Does a fault stop the recording?"""
        return any(fault.kind.name == "fails" for fault in self._faults)

    @property
    def pulses_back_s(self) -> float:
        """How long pulses were off after a fault of a chip, in s."""
        return self._chips.pulses_back_s if self._chips else 0.0

    @property
    def worst_late(self) -> dict[str, int]:
        """By failsafe rule, the most ticks that it took longer than its delay."""
        worst: dict[str, int] = {}
        for _, invariants in self._loops.values():
            for rule, late in invariants.worst_late.items():
                worst[rule] = max(worst.get(rule, 0), late)
        return worst

    def _log_problem(self, path: Path, failed: str | None) -> str | None:
        """What is wrong with the log, if something is."""
        if failed and not self.disk_fails:
            return f"the recording failed: {failed}"
        try:
            log = Log(path)
        except LogError as error:
            return f"the log does not open: {error}"
        if not self.disk_fails:
            problem = self._missing_event(log) if log.complete else "the log is not complete"
            if problem:
                return problem
        if not any(topic.endswith("/counts") for topic in log.topics):
            return None if self.disk_fails else "the log holds no readings"
        try:
            again = replay(log, self._settings)
        except CaudalError as error:
            return f"the log does not replay: {error}"
        except Exception as error:
            return f"the replay raised {type(error).__name__}: {error}"
        if again["identical"] or (self._bugs and again["tick"] >= self._bug_tick(log, again["channel"])):
            return None
        return f"replayed, it differs at tick {again['tick']}, {again['channel']}: {again['found']}"

    def _bug_tick(self, log: Log, channel: str) -> float:
        """The first tick in which an injected bug makes a controller's run differ from its replay.

        A controller that began after the bug has none. One that was stalled or cut off has had fewer ticks than time
        has passed.
        """
        begun = [ns for fault, ns in self._instance.injector.begun.items() if fault.kind.name in BUGS]
        times_ns = log.topics[f"/{channel.split()[0]}/counts"].time_ns
        if not begun or times_ns[0] > min(begun):
            return math.inf
        return bisect.bisect_left(times_ns, min(begun))

    def _missing_event(self, log: Log) -> str | None:
        """A failsafe rule's change or a fault that has no event in the log."""
        logged = {
            (e.kind, e.details.get("vehicle"), e.details.get("tick"), e.details.get("row"))
            for e in log.events
        }
        for name, (loop, invariants) in self._loops.items():
            for tick, rule, active in invariants.changes:
                if ("failsafe" if active else "failsafe cleared", name, tick, rule) not in logged:
                    return f"the log has no event of {rule} at tick {tick}"
            if loop.fault and ("fault", name, invariants.fault_tick, None) not in logged:
                return f"the log has no event of the loop's fault: {loop.fault}"
        begun = {e.details["fault"] for e in log.events if e.kind == "fault set"}
        lost = [fault.name for fault in self._instance.injector.begun if fault.name not in begun]
        return f"the log has no event of the fault {lost[0]}" if lost else None


class _LinkInvariants:
    """Checks what the plant side of a HIL link writes to the actuators: limits, slew of servos, off without a link."""

    def __init__(self, settings: Settings) -> None:
        self.violations = Violations()
        self._actuators = settings.actuators
        rate_hz = settings.rate_hz
        self._steps = [
            s.slew_rad_s * s.us_per_rad / rate_hz + 1 if isinstance(s, Servo) else None
            for s in self._actuators
        ]
        self._last = [0] * len(self._actuators)
        self._tick = 0

    def check(self, instance: Any) -> None:
        """Checks one step of a WiredVehicle."""
        for k, (s, pulse) in enumerate(zip(self._actuators, instance.outputs, strict=True)):
            low, high = device_limits(s)
            if pulse and not low <= pulse <= high:
                self._violated("limits", f"{s.name} gets {pulse}")
            step, last = self._steps[k], self._last[k]
            if step and pulse and last and abs(pulse - last) > step:
                self._violated("slew", f"{s.name} gets {pulse} us after {last}")
            self._last[k] = pulse or last
        if instance.gone and any(instance.outputs):
            self._violated("safe", "pulses go out, though the controller is gone")
        self._tick += 1

    def _violated(self, invariant: str, what: str) -> None:
        self.violations.add(invariant, self._tick, f"on the HIL link: {what}")
