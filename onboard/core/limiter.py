"""Output limiter: binds every channel to its limits and slew, as the last stage. Portable: CPython and MicroPython."""

from caudal.onboard.core.failsafe import DISARM, NEUTRAL, SLOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Actuator, Board
    from caudal.onboard.core.state import State


class OutputLimiter:
    """Limits and slew of every channel, on the controller's commands or on those of the failsafe action."""

    STATE = ("_last",)  # the actuators' positions, whatever a parameter does to limits (params/hot_update.py)

    def __init__(self, board: "Board", rate_hz: int, slow_share: float = 0.5) -> None:
        self._low = [a.low for a in board.actuators]
        self._high = [a.high for a in board.actuators]
        self._slow_low = [_slower(a, a.low, slow_share) for a in board.actuators]
        self._slow_high = [_slower(a, a.high, slow_share) for a in board.actuators]
        self._step = [max(1, a.slew // rate_hz) for a in board.actuators]
        self._safe = [a.safe for a in board.actuators]
        # where an actuator is assumed to be after it was off: at rest, or (None) where it was
        at_rest = [min(max(0 if a.safe is None else a.safe, a.low), a.high) for a in board.actuators]
        self._rest = [None if a.map.stays else rest for a, rest in zip(board.actuators, at_rest)]
        self._last = at_rest

    def step(self, state: "State") -> None:
        """One tick: fills `state.outputs`."""
        action = state.action if state.armed else DISARM  # whatever the failsafe table says
        slow = action == SLOW
        state.commands_applied = action < NEUTRAL
        state.bad_command = False
        i = 0
        while i < len(self._last):
            command = self._safe[i] if action == NEUTRAL else state.commands[i]
            if action == DISARM or (action == NEUTRAL and command is None):
                state.outputs[i] = None
                rest = self._rest[i]
                if rest is not None:
                    self._last[i] = rest
            else:
                if command is None or command != command:
                    state.bad_command = True
                    command = self._last[i]
                if slow:
                    state.outputs[i] = self._limit(i, command, self._slow_low[i], self._slow_high[i])
                else:
                    state.outputs[i] = self._limit(i, command, self._low[i], self._high[i])
            i += 1

    def _limit(self, i: int, command: int, low: int, high: int) -> int:
        last = self._last[i]
        step = self._step[i]
        if command < low:
            command = low
        elif command > high:
            command = high
        if command < last - step:
            command = last - step
        elif command > last + step:
            command = last + step
        command = int(command)
        self._last[i] = command
        return command


def _slower(actuator: "Actuator", limit: int, share: float) -> int:
    """A thruster's limit is reduced; a joint or a chamber keeps its range."""
    return int(limit * share) if actuator.map.pushes else limit
