"""What holds whatever goes wrong, looked at after every tick. docs/faults.md has the list, and the reasons.

limits      every command within its channel's limits, every output within its device's slew        no command moves
faster than its slew, no servo's pulse neither, off or on again in between still       disarmed means off: no pulse,
no current, a motor's neutral safe        a row whose cause has lasted for its delay and two ticks is active, and its
action in effect rules       no row without its cause, none cleared before its time, no arming without an order alive
every tick is there; a stage that fails ends in the safe state within its tick numbers     estimates are numbers, or
absent recorded    the log opens, tells every row, fault and upset, and replays to the same commands
(tools/campaign/verdict.py)
"""

import math
from dataclasses import dataclass
from typing import Any

from caudal.hal.core.fixed_point import ONE
from caudal.onboard.core import modes
from caudal.onboard.core.failsafe import ACTIONS, DISARM, DROP, HOLD, NEUTRAL, SLOW, SURFACE
from caudal.onboard.core.state import Estimate
from caudal.tools.campaign.failsafe_oracle import GONE, THERE, UNKNOWN, Cause, Seen

SLACK_TICKS = 2
MOST = 5  # that are told of one run


@dataclass(frozen=True)
class Broken:
    invariant: str
    tick: int
    what: str

    def __str__(self) -> str:
        return f"{self.invariant}: tick {self.tick}: {self.what}"


class _Line:
    """One row of the table as it should be."""

    def __init__(self, settings: dict[str, Any], seen: Seen, rate_hz: int) -> None:
        self.name, self.action, self.latched = settings["name"], settings["action"], settings["latched"]
        self.cause = Cause(settings, seen)
        self.delay = math.floor(settings["delay_s"] * rate_hz + 0.5)
        self.clear = math.floor(settings["clear_s"] * rate_hz + 0.5)
        self.there = self.gone = 0  # for how many ticks it surely has been
        self.possible = self.doubtful = 0  # ... it may have been, and may not have been
        self.active = False

    def count(self, verdict: int) -> None:
        if verdict == UNKNOWN:
            return
        self.there = self.there + 1 if verdict == THERE else 0
        self.gone = self.gone + 1 if verdict == GONE else 0
        self.possible = self.possible + 1 if verdict != GONE else 0
        self.doubtful = self.doubtful + 1 if verdict != THERE else 0


class Invariants:
    """Of one loop. `bugs`: is a stage made to fail on purpose."""

    def __init__(self, settings: dict[str, Any], loop: Any, bugs: bool = False) -> None:
        self.broken: list[Broken] = []
        self.changes: list[tuple[int, str, bool]] = []  # tick, row, active
        self.worst_late = dict.fromkeys(
            (row["name"] for row in settings["failsafes"]), 0
        )  # ticks behind its delay
        self.fault_tick: int | None = None
        self._settings, self._bugs = settings, bugs
        rate_hz = settings["rate_hz"]
        self._seen = Seen(settings)
        self._lines = [_Line(row, self._seen, rate_hz) for row in settings["failsafes"]]
        board = loop.board
        rests = [0 if a.safe is None else a.safe for a in board.actuators]
        self._rest = [min(max(rest, a.low), a.high) for rest, a in zip(rests, board.actuators, strict=True)]
        self._last = list(self._rest)
        self._step = [max(1.0, a.slew / rate_hz) for a in board.actuators]
        self._pulse = [  # of servos; asking another map would change it
            a.map.to_device(rest) if s["map"] == "servo" else 0
            for a, rest, s in zip(board.actuators, self._rest, settings["actuators"], strict=True)
        ]
        self._pulse_step = [
            max(1.0 / ONE, s["slew_rad_s"] / rate_hz) * s["us_per_rad"] + 1 if s["map"] == "servo" else None
            for s in settings["actuators"]
        ]
        self._device = [_device_range(s) for s in settings["actuators"]]
        self._ticks = loop.ticks - 1
        self._armed = False
        surface = settings["surface"] or {"commands": [], "drop": []}
        self._up, self._dropped = dict(surface["commands"]), dict(surface["drop"])

    def check(self, loop: Any, calm: bool = False) -> None:
        """After each tick. `calm`: nothing has been upset so far."""
        self._seen.calm = calm
        self._tick = loop.state.tick
        if loop.ticks != self._ticks + 1 or loop.state.tick != loop.ticks - 1:
            self._say("alive", f"{loop.ticks - self._ticks} ticks were counted in one")
        self._ticks = loop.ticks
        if loop.fault is not None:
            self._look_at_fault(loop)
            return
        self._seen.check(loop)
        self._look_at_rows(loop)
        self._look_at_outputs(loop)
        self._look_at_numbers(loop)
        self._armed = loop.state.armed

    def _say(self, invariant: str, what: str) -> None:
        if len(self.broken) < MOST and not any(b.invariant == invariant for b in self.broken):
            self.broken.append(Broken(invariant, self._tick, what))

    def _look_at_fault(self, loop: Any) -> None:
        """The first tick of it, and every later one: the safe state."""
        if self.fault_tick is None:
            self.fault_tick = self._tick
            if not self._bugs:
                self._say("alive", f"the loop failed: {loop.fault}")
        safe = [a.safe for a in loop.board.actuators]
        if loop.state.outputs != safe or loop.board.outputs != loop.board.safe_outputs or loop.state.armed:
            self._say("alive", "a stage failed, and that tick's outputs are not the safe ones")

    def _look_at_rows(self, loop: Any) -> None:
        state = loop.state
        told = {kind for kind, _, _, refusal in loop.taken if refusal is None and isinstance(kind, str)}
        strongest = 0
        for bit, (line, row) in enumerate(zip(self._lines, loop.monitor.rows, strict=True)):
            doubtful_before = line.doubtful
            line.count(line.cause.check(loop))
            active = row.active
            if active != line.active:
                self.changes.append((self._tick, line.name, active))
                if active:
                    self.worst_late[line.name] = max(self.worst_late[line.name], line.there - line.delay - 1)
                    if line.possible <= line.delay:
                        self._say("rules", f"{line.name} acts, though its cause has not lasted")
                elif line.latched and ("disarm" not in told or doubtful_before <= line.clear):
                    self._say("rules", f"{line.name} is latched, and cleared though nobody took note")
                elif not line.latched and line.doubtful <= line.clear:
                    self._say("rules", f"{line.name} cleared before its time")
                line.active = active
            if not active and line.there > line.delay + 1 + SLACK_TICKS:
                self._say("safe", f"{line.name} does not act after {line.there} ticks of its cause")
            if active and not line.latched and line.gone > line.clear + 1 + SLACK_TICKS:
                self._say("rules", f"{line.name} does not clear, {line.gone} ticks after its cause")
            if active:
                strongest = max(strongest, ACTIONS[line.action])
            if bool(state.active >> bit & 1) != active:
                self._say("safe", f"{line.name} is active, and the state says otherwise")
        if state.action != strongest:
            self._say("safe", f"the strongest active row says {strongest}, the state {state.action}")
        holds = modes.HOLD in loop.handler.available
        if strongest in (SURFACE, DROP) or (strongest == HOLD and not holds):
            mode = modes.SURFACE
        else:
            asked = self._seen.asked
            mode = modes.HOLD if strongest == HOLD and asked != modes.SURFACE else asked
        if state.mode != mode:
            self._say("safe", f"mode {modes.NAMES[state.mode]} instead of {modes.NAMES[mode]}")
        if state.armed and not self._armed and "arm" not in told:
            self._say("rules", "armed without an order")
        if self._armed and not state.armed and "disarm" not in told and strongest != DISARM:
            self._say("rules", "disarmed by nobody")

    def _look_at_outputs(self, loop: Any) -> None:
        action = loop.state.action
        for i, (actuator, command) in enumerate(zip(loop.board.actuators, loop.state.outputs, strict=True)):
            output, last = loop.board.outputs[i], self._last[i]
            goal = self._goal(actuator, action)
            if command is None:
                if output != actuator.map.idle:
                    self._say("still", f"{actuator.name} is off, and its output is {output}")
                if action < NEUTRAL:
                    self._say("safe", f"{actuator.name} is off though nothing says so")
                if not actuator.map.stays:
                    self._last[i] = self._rest[i]
                continue
            if action == DISARM or not loop.state.armed:
                self._say("still", f"{actuator.name} is told {command / ONE:g} though disarmed")
            if action == NEUTRAL and actuator.safe is None:
                self._say("safe", f"{actuator.name} should be off")
            if not isinstance(command, int) or not actuator.low <= command <= actuator.high:
                self._say("limits", f"{actuator.name} is told {command / ONE:g}")
            if abs(command - last) > self._step[i] + 1:
                self._say("slew", f"{actuator.name} goes from {last / ONE:g} to {command / ONE:g} in a tick")
            if goal is not None and command != goal and not self._approaches(i, command, goal):
                self._say("safe", f"{actuator.name} does not go to {goal / ONE:g}, but to {command / ONE:g}")
            self._last[i] = command
            self._look_at_device(i, actuator.name, output)
            if action == SLOW and actuator.map.pushes:
                room = max(abs(command - min(max(command, actuator.low // 2), actuator.high // 2 + 1)), 0)
                if room and abs(command) >= abs(last):
                    self._say("safe", f"{actuator.name} pushes {command / ONE:g} though it should be slow")

    def _approaches(self, i: int, command: int, goal: int) -> bool:
        """A full step nearer than the tick before, or as near as the limits are."""
        return abs(goal - command) <= max(0, abs(goal - self._last[i]) - int(self._step[i]) + 1)

    def _goal(self, actuator: Any, action: int) -> int | None:
        """Where an actuator has to go while this action is in effect, if the action says so."""
        if action == NEUTRAL:
            return actuator.safe
        if action not in (SURFACE, DROP):
            return None
        goal = self._dropped.get(actuator.name) if action == DROP else None
        if goal is None:
            goal = self._up.get(actuator.name, 0 if actuator.map.pushes else None)
        return None if goal is None else min(max(goal, actuator.low), actuator.high)

    def _look_at_device(self, i: int, name: str, output: Any) -> None:
        low, high = self._device[i]
        if not isinstance(output, int) or not low <= output <= high:
            self._say("limits", f"{name}'s output is {output}, outside {low} to {high}")
        most = self._pulse_step[i]
        if most is not None:
            if abs(output - self._pulse[i]) > most:
                self._say("slew", f"{name}'s pulse goes from {self._pulse[i]} to {output} us in a tick")
            self._pulse[i] = output

    def _look_at_numbers(self, loop: Any) -> None:
        if self._bugs:
            return
        for field in Estimate.FIELDS:
            value = getattr(loop.state.estimate, field)
            if value is not None and not math.isfinite(value):
                self._say("numbers", f"the estimate of {field} is {value}")


def _device_range(s: dict[str, Any]) -> tuple[int, int]:
    return (0, s["high_ua"]) if s["map"] == "valve" else (s["low_us"], s["high_us"])
