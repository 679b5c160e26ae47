"""Limits and slew of every channel, bound last, whatever was asked. Portable: CPython and MicroPython."""

from caudal.onboard.core.failsafe import DISARM, NEUTRAL, SLOW


class OutputLimiter:
    """Limits and slew of every channel, on what the controller asks or on what the table has put in its place."""

    STATE = (
        "_last",
    )  # where actuators are, whatever a parameter does to limits (onboard/params/hot_update.py)

    def __init__(self, board, rate_hz, slow_share=0.5):
        self._low = [a.low for a in board.actuators]
        self._high = [a.high for a in board.actuators]
        self._slow_low = [_slower(a, a.low, slow_share) for a in board.actuators]
        self._slow_high = [_slower(a, a.high, slow_share) for a in board.actuators]
        self._step = [max(1, a.slew // rate_hz) for a in board.actuators]
        self._safe = [a.safe for a in board.actuators]
        # where an actuator is taken to be after it was off: at rest, or (None) where it was
        at_rest = [min(max(0 if a.safe is None else a.safe, a.low), a.high) for a in board.actuators]
        self._rest = [None if a.map.stays else rest for a, rest in zip(board.actuators, at_rest)]
        self._last = at_rest

    def step(self, state):
        action = state.action if state.armed else DISARM  # whatever the table's rows say
        slow = action == SLOW
        state.commands_applied = action < NEUTRAL
        state.bad_command = False
        i = 0
        while i < len(self._last):
            ask = self._safe[i] if action == NEUTRAL else state.commands[i]
            if action == DISARM or (action == NEUTRAL and ask is None):
                state.outputs[i] = None
                if self._rest[i] is not None:
                    self._last[i] = self._rest[i]
            else:
                if ask is None or ask != ask:
                    state.bad_command = True
                    ask = self._last[i]
                if slow:
                    state.outputs[i] = self._limit(i, ask, self._slow_low[i], self._slow_high[i])
                else:
                    state.outputs[i] = self._limit(i, ask, self._low[i], self._high[i])
            i += 1

    def _limit(self, i, ask, low, high):
        last = self._last[i]
        step = self._step[i]
        if ask < low:
            ask = low
        elif ask > high:
            ask = high
        if ask < last - step:
            ask = last - step
        elif ask > last + step:
            ask = last + step
        ask = int(ask)
        self._last[i] = ask
        return ask


def _slower(actuator, limit, share):
    """What pushes pushes less; a joint or a chamber keeps its room."""
    return int(limit * share) if actuator.map.pushes else limit
