"""The invariants that hold whatever faults are injected, checked after every tick. docs/faults.md gives the reasons.

limits      every set-point is within its channel's limits, every output within its device's
slew        no set-point changes faster than its slew, and no servo's pulse, also across a time of being off
still       disarmed means off: no pulse, no current, a motor's neutral
safe        a rule whose trigger condition has lasted for its delay and two ticks is active, and its action in effect
rules       no rule is active without its trigger condition or clears early; no arming without a command
alive       no tick is missing; a stage that fails ends in the safe state within its tick
numbers     estimates are numbers, or absent
recorded    the log opens, holds every rule and fault, and replays to the same commands (invariant_check.py)
"""

import math
from dataclasses import dataclass
from typing import Any

from caudal.hal.core.fixed_point import ONE
from caudal.hal.tables.channels import Actuator, Servo, Valve
from caudal.onboard.core import modes
from caudal.onboard.core.failsafe import ACTIONS, DISARM, DROP, HOLD, NEUTRAL, SLOW, SURFACE
from caudal.onboard.core.loop import Loop
from caudal.onboard.core.state import Estimate
from caudal.onboard.tables.failsafe import RuleTable
from caudal.onboard.tables.read import Settings
from caudal.tools.campaign.failsafe_oracle import LoopInputs, TriggerOracle
from caudal.tools.campaign.feedback_oracle import ABSENT, PRESENT, UNKNOWN

SLACK_TICKS = 2
MOST = 5  # violations that are reported of one run


@dataclass(frozen=True)
class Violation:
    """An invariant that was violated: its name, the tick, and how."""

    invariant: str
    tick: int
    what: str

    def __str__(self) -> str:
        return f"{self.invariant}: tick {self.tick}: {self.what}"


class Violations(list[Violation]):
    """The first violation of each invariant, at most MOST."""

    def add(self, invariant: str, tick: int, what: str) -> None:
        """Adds one, unless its invariant is among them."""
        if len(self) < MOST and not any(one.invariant == invariant for one in self):
            self.append(Violation(invariant, tick, what))


class _ExpectedRule:
    """One failsafe rule as it should be."""

    def __init__(self, settings: RuleTable, inputs: LoopInputs) -> None:
        self.name, self.action, self.latched = settings.name, settings.action, settings.latched
        self.trigger = TriggerOracle(settings, inputs)
        self.delay = math.floor(settings.delay_s * inputs.rate_hz + 0.5)
        self.clear = math.floor(settings.clear_s * inputs.rate_hz + 0.5)
        self.present = self.absent = 0  # for how many ticks its trigger condition certainly has been
        self.maybe_present = self.maybe_absent = 0
        self.active = False

    def count(self, condition: int) -> None:
        if condition == UNKNOWN:
            return
        self.present = self.present + 1 if condition == PRESENT else 0
        self.absent = self.absent + 1 if condition == ABSENT else 0
        self.maybe_present = self.maybe_present + 1 if condition != ABSENT else 0
        self.maybe_absent = self.maybe_absent + 1 if condition != PRESENT else 0


class Invariants:
    """Checks one loop. `bugs`: are stages made to fail on purpose."""

    def __init__(self, settings: Settings, loop: Loop, bugs: bool = False) -> None:
        self.violations = Violations()
        self.changes: list[tuple[int, str, bool]] = []  # tick, rule, active
        # by rule, ticks behind its delay
        self.worst_late: dict[str, int] = dict.fromkeys((row.name for row in settings.failsafes), 0)
        self.fault_tick: int | None = None
        self._settings, self._bugs = settings, bugs
        rate_hz = settings.rate_hz
        self._inputs = LoopInputs(settings)
        self._rules = [_ExpectedRule(row, self._inputs) for row in settings.failsafes]
        board = loop.board
        rests = [0 if a.safe is None else a.safe for a in board.actuators]
        self._rest = [min(max(rest, a.low), a.high) for rest, a in zip(rests, board.actuators, strict=True)]
        self._last: list[int] = list(self._rest)
        self._step: list[float] = [max(1.0, a.slew / rate_hz) for a in board.actuators]
        self._pulse = [  # of servos; calling another map would change its state
            a.map.to_device(rest) if s.map == "servo" else 0
            for a, rest, s in zip(board.actuators, self._rest, settings.actuators, strict=True)
        ]
        self._pulse_step = [
            max(1.0 / ONE, s.slew_rad_s / rate_hz) * s.us_per_rad + 1 if isinstance(s, Servo) else None
            for s in settings.actuators
        ]
        self._device = [device_limits(s) for s in settings.actuators]
        self._ticks = loop.ticks - 1
        self._tick = 0
        self._armed = False
        surface = settings.surface
        self._up, self._dropped = (dict(surface.commands), dict(surface.drop)) if surface else ({}, {})

    def check(self, loop: Loop, before_faults: bool = False) -> None:
        """Checks the tick that the loop has just done. `before_faults`: no fault has been injected so far."""
        self._inputs.before_faults = before_faults
        self._tick = loop.state.tick
        if loop.ticks != self._ticks + 1 or loop.state.tick != loop.ticks - 1:
            self._violated("alive", f"{loop.ticks - self._ticks} ticks were counted in one")
        self._ticks = loop.ticks
        if loop.fault is not None:
            self._check_fault(loop)
            return
        self._inputs.update(loop)
        self._check_rules(loop)
        self._check_outputs(loop)
        self._check_numbers(loop)
        self._armed = loop.state.armed

    def _violated(self, invariant: str, what: str) -> None:
        self.violations.add(invariant, self._tick, what)

    def _check_fault(self, loop: Loop) -> None:
        """From the first tick of a fault on: the safe state."""
        if self.fault_tick is None:
            self.fault_tick = self._tick
            if not self._bugs:
                self._violated("alive", f"the loop failed: {loop.fault}")
        safe = [a.safe for a in loop.board.actuators]
        if loop.state.outputs != safe or loop.board.outputs != loop.board.safe_outputs or loop.state.armed:
            self._violated("alive", "a stage failed, but the outputs of that tick are not the safe ones")

    def _check_rules(self, loop: Loop) -> None:
        state = loop.state
        commands = {kind for kind, _, _, refusal in loop.taken if refusal is None and isinstance(kind, str)}
        strongest = 0
        for bit, (rule, actual) in enumerate(zip(self._rules, loop.monitor.rules, strict=True)):
            maybe_absent_before = rule.maybe_absent
            rule.count(rule.trigger.check(loop))
            active: bool = actual.active
            if active != rule.active:
                self.changes.append((self._tick, rule.name, active))
                if active:
                    late = rule.present - rule.delay - 1
                    self.worst_late[rule.name] = max(self.worst_late[rule.name], late)
                    if rule.maybe_present <= rule.delay:
                        self._violated("rules", f"{rule.name} is active, though its trigger has not lasted")
                elif rule.latched and ("disarm" not in commands or maybe_absent_before <= rule.clear):
                    self._violated("rules", f"{rule.name} is latched, but cleared without a disarm command")
                elif not rule.latched and rule.maybe_absent <= rule.clear:
                    self._violated("rules", f"{rule.name} cleared early")
                rule.active = active
            if not active and rule.present > rule.delay + 1 + SLACK_TICKS:
                self._violated("safe", f"{rule.name} is not active after {rule.present} ticks of its trigger")
            if active and not rule.latched and rule.absent > rule.clear + 1 + SLACK_TICKS:
                self._violated("rules", f"{rule.name} does not clear, {rule.absent} ticks after its trigger")
            if active:
                strongest = max(strongest, ACTIONS[rule.action])
            if bool(state.active_rules >> bit & 1) != active:
                self._violated("safe", f"{rule.name} is active, but not in the loop's state")
        if state.action != strongest:
            self._violated(
                "safe", f"the strongest active rule has action {strongest}, the state {state.action}"
            )
        mode = self._mode(loop, strongest)
        if state.mode != mode:
            self._violated("safe", f"mode {modes.NAMES[state.mode]} instead of {modes.NAMES[mode]}")
        if state.armed and not self._armed and "arm" not in commands:
            self._violated("rules", "armed without a command")
        if self._armed and not state.armed and "disarm" not in commands and strongest != DISARM:
            self._violated("rules", "disarmed without a command or a rule")

    def _mode(self, loop: Loop, action: int) -> int:
        """The mode that has to be in effect with this action."""
        if action in (SURFACE, DROP) or (action == HOLD and modes.HOLD not in loop.handler.available):
            return modes.SURFACE
        asked = self._inputs.asked
        return modes.HOLD if action == HOLD and asked != modes.SURFACE else asked

    def _check_outputs(self, loop: Loop) -> None:
        action = loop.state.action
        for i, (actuator, command) in enumerate(zip(loop.board.actuators, loop.state.outputs, strict=True)):
            output, last, name = loop.board.outputs[i], self._last[i], actuator.name
            goal = self._goal(actuator, action)
            if command is None:
                if output != actuator.map.idle:
                    self._violated("still", f"{name} is off, but its output is {output}")
                if action < NEUTRAL:
                    self._violated("safe", f"{name} is off, though no rule says so")
                if not actuator.map.stays:
                    self._last[i] = self._rest[i]
                continue
            if action == DISARM or not loop.state.armed:
                self._violated("still", f"{name} has a set-point of {command / ONE:g} while disarmed")
            if action == NEUTRAL and actuator.safe is None:
                self._violated("safe", f"{name} should be off")
            if not isinstance(command, int) or not actuator.low <= command <= actuator.high:
                self._violated("limits", f"{name} has a set-point of {command / ONE:g}, outside its limits")
            if abs(command - last) > self._step[i] + 1:
                self._violated("slew", f"{name} steps from {last / ONE:g} to {command / ONE:g} in a tick")
            if goal is not None and command != goal and not self._approaches(i, command, goal):
                self._violated("safe", f"{name} goes to {command / ONE:g}, not towards {goal / ONE:g}")
            self._last[i] = command
            self._check_device(i, name, output)
            if action == SLOW and actuator.map.pushes:
                room = max(abs(command - min(max(command, actuator.low // 2), actuator.high // 2 + 1)), 0)
                if room and abs(command) >= abs(last):
                    self._violated("safe", f"{name} has a thrust of {command / ONE:g} while limited to slow")

    def _approaches(self, i: int, command: int, goal: int) -> bool:
        """Is it a full step nearer than in the tick before, or as near as the limits are?"""
        return abs(goal - command) <= max(0, abs(goal - self._last[i]) - int(self._step[i]) + 1)

    def _goal(self, actuator: Any, action: int) -> int | None:
        """The set-point that this action moves an actuator to, if it names one."""
        goal: int | None = None
        if action == NEUTRAL:
            goal = actuator.safe
            return goal
        if action not in (SURFACE, DROP):
            return None
        if action == DROP:
            goal = self._dropped.get(actuator.name)
        if goal is None:
            goal = self._up.get(actuator.name, 0 if actuator.map.pushes else None)
        return None if goal is None else min(max(goal, actuator.low), actuator.high)

    def _check_device(self, i: int, name: str, output: Any) -> None:
        low, high = self._device[i]
        if not isinstance(output, int) or not low <= output <= high:
            self._violated("limits", f"{name}'s output is {output}, outside {low} to {high}")
        most = self._pulse_step[i]
        if most is not None:
            if abs(output - self._pulse[i]) > most:
                self._violated("slew", f"{name}'s pulse steps from {self._pulse[i]} to {output} us in a tick")
            self._pulse[i] = output

    def _check_numbers(self, loop: Loop) -> None:
        if self._bugs:
            return
        for field in Estimate.FIELDS:
            value = getattr(loop.state.estimate, field)
            if value is not None and not math.isfinite(value):
                self._violated("numbers", f"the estimate of {field} is {value}")


def device_limits(s: Actuator) -> tuple[int, int]:
    """An actuator's lowest and highest output: pulse in us, or current in uA."""
    return (0, s.high_ua) if isinstance(s, Valve) else (s.low_us, s.high_us)
