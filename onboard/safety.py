"""The safety gate: last before the board, and nothing goes around it.

A table of failsafe rows decides what the actuators may do: each row has a cause, a delay, an action, and
whether it clears by itself. The strongest active action wins. Then every channel's limits and slew are
enforced on whatever is left, not-a-number and infinities included.

    warn   recorded, nothing else         hold   commands stay where they are
    safe   each actuator's safe state     off    no pulse, no current

A new kind of row is a function that makes its cause, and a line in TRIGGERS. Portable: CPython and
MicroPython.
"""

NONE, WARN, HOLD, SAFE, OFF = 0, 1, 2, 3, 4
ACTIONS = {"warn": WARN, "hold": HOLD, "safe": SAFE, "off": OFF}


def _not_armed(settings, board, period_us):
    """Nothing moves before arming."""
    return lambda state: not state.armed


def _reading_lost(settings, board, period_us):
    """A reading the vehicle cannot do without is absent or too old."""
    sensors = [board.sensor(name) for name in settings["sensors"]]

    def cause(state):
        for index in sensors:
            if board.age[index] > board.sensors[index].max_age:
                return True
        return False

    return cause


def _overrun(settings, board, period_us):
    """The tick started later than allowed."""
    limit_us = int(settings["limit_ticks"] * period_us)
    return lambda state: state.late_us > limit_us


def _bad_command(settings, board, period_us):
    """The controller asked for something that is not a number."""

    def cause(state):
        for ask in state.commands:
            if ask is None or ask != ask:
                return True
        return False

    return cause


TRIGGERS = {
    "not_armed": _not_armed,
    "reading_lost": _reading_lost,
    "overrun": _overrun,
    "bad_command": _bad_command,
}


class Row:
    """One line of the failsafe table: active once its cause has lasted, until it has been gone long enough.

    A latched row stays until the vehicle is disarmed: a person has taken note of it.
    """

    def __init__(self, settings, board, rate_hz):
        self.name = settings["name"]
        self.action = ACTIONS[settings["action"]]
        self.latched = settings["latched"]
        self.active = False
        self._cause = TRIGGERS[settings["trigger"]](settings, board, 1000000 // rate_hz)
        self._delay_ticks = int(settings["delay_s"] * rate_hz + 0.5)
        self._clear_ticks = int(settings["clear_s"] * rate_hz + 0.5)
        self._count = 0  # ticks for which the cause has disagreed with `active`

    def step(self, state):
        if self._cause(state) == self.active:
            self._count = 0
        elif self.active:
            self._count += 1
            if self._count > self._clear_ticks and not (self.latched and state.armed):
                self.active = False
                self._count = 0
        else:
            self._count += 1
            if self._count > self._delay_ticks:
                self.active = True
                self._count = 0
        return self.active


def build_gate(failsafes, board, rate_hz):
    """The gate of a vehicle file's [failsafe.*] tables."""
    return Gate([Row(settings, board, rate_hz) for settings in failsafes], board, rate_hz)


class Gate:
    def __init__(self, rows, board, rate_hz):
        self.rows = rows
        self.active = 0  # one bit a row
        self.action = NONE
        self._low = [a.low for a in board.actuators]
        self._high = [a.high for a in board.actuators]
        self._step = [max(1, a.slew // rate_hz) for a in board.actuators]
        self._safe = [a.safe for a in board.actuators]
        # where an actuator is taken to be after it was off: at rest, or (None) where it was
        at_rest = [min(max(0 if a.safe is None else a.safe, a.low), a.high) for a in board.actuators]
        self._rest = [None if a.map.stays else rest for a, rest in zip(board.actuators, at_rest)]
        self._last = at_rest

    def step(self, state):
        action = NONE
        active = 0
        bit = 1
        for row in self.rows:
            if row.step(state):
                active |= bit
                if row.action > action:
                    action = row.action
            bit <<= 1
        self.active = active
        self.action = action
        state.free = action < HOLD
        i = 0
        while i < len(self._last):
            ask = self._safe[i] if action == SAFE else state.commands[i]
            if action == OFF or (action == SAFE and ask is None):
                state.outputs[i] = None
                if self._rest[i] is not None:
                    self._last[i] = self._rest[i]
            else:
                state.outputs[i] = self._limit(i, self._last[i] if action == HOLD else ask)
            i += 1

    def _limit(self, i, ask):
        last = self._last[i]
        if ask is None or ask != ask:
            ask = last
        low = max(self._low[i], last - self._step[i])
        high = min(self._high[i], last + self._step[i])
        ask = int(low if ask < low else high if ask > high else ask)
        self._last[i] = ask
        return ask
