"""The loop: commands, sense, estimate, monitor, guide, control, limit, act, at a fixed rate.

The owner of the clock calls `tick(late_us)`: a real clock on the vehicle, a plant in lockstep, a recording.
Stages run in order, each every n-th tick. The same commands, readings and lateness give the same outputs, to the bit.
An exception anywhere ends in the safe state: the reason stays in `fault`, and every later tick only sends the safe
state again. Portable: CPython and MicroPython.
"""

from caudal.onboard.core.failsafe import NEUTRAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from caudal.hal.core.board import Board
    from caudal.onboard.core.command_handler import CommandHandler
    from caudal.onboard.core.failsafe import FailsafeMonitor
    from caudal.onboard.core.limiter import OutputLimiter
    from caudal.onboard.core.state import State

    class Diagnostics(Protocol):
        """Intermediate values of a stage, for the log."""

        @property
        def fields(self) -> Sequence[str]: ...
        @property
        def values(self) -> Sequence[float | None]: ...

    Command = tuple[str, tuple[object, ...], object]  # kind, values, ticket


class Stage:
    """One step of the stack, run every `every` ticks: `step(state)`; its `diagnostics` go into the log."""

    def __init__(
        self,
        name: str,
        every: int,
        step: "Callable[[State], None]",
        diagnostics: "Diagnostics | None" = None,
    ) -> None:
        self.name = name
        self.every = every
        self.step = step
        self.diagnostics = diagnostics


COMMANDS_WAITING = 64  # more are refused
COMMANDS_A_TICK = 16


class Loop:
    """Runs one vehicle: `estimators` before the failsafe monitor, `stages` after it."""

    def __init__(
        self,
        board: "Board",
        state: "State",
        estimators: "list[Stage]",
        monitor: "FailsafeMonitor",
        stages: "list[Stage]",
        limiter: "OutputLimiter",
        handler: "CommandHandler",
        rate_hz: int,
    ) -> None:
        self.board = board
        self.state = state
        self.estimators = estimators
        self.monitor = monitor
        self.stages = stages
        self.limiter = limiter
        self.handler = handler
        self.rate_hz = rate_hz
        self.period_us = 1000000 // rate_hz
        self.ticks = 0
        self.overruns = 0
        self.worst_late_us = 0
        self.fault: str | None = None
        # this tick's commands: kind, values, ticket, and the refusal or None
        self.taken: list[tuple[str, tuple[object, ...], object, str | None]] = []
        self._waiting: list[Command] = []
        self._cancelled: list[Command] = []  # arms that a later disarm cancels

    def send(self, kind: str, *values: object, ticket: object = None) -> bool:
        """Queue a command (onboard/core/command_handler.py) for the next tick. False: too many wait already.

        A disarm goes to the front of the queue, whatever its length, and cancels every arm in it.
        """
        if kind == "disarm":
            self._cancelled += [command for command in self._waiting if command[0] == "arm"]
            self._waiting = [command for command in self._waiting if command[0] != "arm"]
            if ticket is not None or not self._waiting or self._waiting[0][0] != "disarm":
                self._waiting.insert(0, (kind, values, ticket))  # one without a ticket is enough
            return True
        if len(self._waiting) + len(self._cancelled) >= COMMANDS_WAITING:
            return False
        self._waiting.append((kind, values, ticket))
        return True

    def arm(self) -> None:
        """Queue the command to arm."""
        self.send("arm")

    def disarm(self) -> None:
        """Queue the command to disarm."""
        self.send("disarm")

    def tick(self, late_us: int = 0) -> None:
        """One tick, which starts `late_us` late."""
        state = self.state
        state.tick = self.ticks
        state.late_us = late_us
        if late_us > self.worst_late_us:
            self.worst_late_us = late_us
        if late_us > self.period_us:
            self.overruns += 1
        if self.taken:
            self.taken = []
        if self._waiting:
            self._take_commands()
        if self.fault is None:
            stage_name = "sense"
            try:
                self.handler.step()
                self.board.sense()
                for stage in self.estimators:
                    stage_name = stage.name
                    if self.ticks % stage.every == 0:
                        stage.step(state)
                stage_name = "monitor"
                self.monitor.step(state)
                for stage in self.stages:
                    stage_name = stage.name
                    if self.ticks % stage.every == 0:
                        stage.step(state)
                stage_name = "limiter"
                self.limiter.step(state)
                stage_name = "act"
                self.board.act(state.outputs)
            except Exception as error:
                self.fail(f"{stage_name}: {type(error).__name__}: {error}")
        else:
            self.fail(self.fault)
        self.ticks += 1

    def _take_commands(self) -> None:
        for kind, values, ticket in self._cancelled:
            self.taken.append((kind, values, ticket, "not armed: a disarm came in between"))
        self._cancelled = []
        count = 0
        while self._waiting and count < COMMANDS_A_TICK:
            kind, values, ticket = self._waiting.pop(0)
            if self.fault is None:
                refusal = self.handler.execute(kind, values)
            else:
                refusal = f"{kind}: the loop has stopped safe: {self.fault}"
            self.taken.append((kind, values, ticket, refusal))
            count += 1

    def fail(self, reason: str) -> None:
        """Put every actuator into its safe state, for good: only a new loop swims again."""
        self.fault = reason
        self.state.armed = False
        self.state.commands_applied = False
        self.state.action = NEUTRAL
        for i, actuator in enumerate(self.board.actuators):
            self.state.outputs[i] = actuator.safe
        try:
            self.board.safe()
        except Exception as error:
            if "; and safe state:" not in reason:
                self.fault = f"{reason}; and safe state: {type(error).__name__}: {error}"
