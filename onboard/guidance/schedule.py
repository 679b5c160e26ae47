"""Tail settings by time: a table of rows. Portable."""

from caudal.hal.core.fixed_point import to_q14, to_q20_or_none


class Schedule:
    """Tail settings by the clock, no guidance: `rows` of at_s, frequency_hz, amplitude, deflection_deg.

    All rows are turned into integers beforehand, so that a row that comes allocates nothing.
    """

    error_m = None

    def __init__(self, rows, board, rate_hz):
        self._rows = [_ScheduleRow(row, board, rate_hz) for row in rows]
        self._next = 0
        self._again = False

    def begin(self, state):
        """Another mode has had the tail: say once more what is the case."""
        if self._next:
            self._rows[self._next - 1].say(state)

    def changed(self):
        """A parameter has changed a row (onboard/params/hot_update.py)."""
        self._again = True

    def step(self, state):
        if self._again:
            self._again = False
            self.begin(state)
        while self._next < len(self._rows) and self._rows[self._next].tick <= state.tick:
            self._rows[self._next].say(state)
            self._next += 1


class _ScheduleRow:
    def __init__(self, row, board, rate_hz):
        self.tick = int(row["at_s"] * rate_hz + 0.5)
        self._frequency_hz = row["frequency_hz"]
        self._amplitude = row["amplitude"]
        self._deflection_rad = row["deflection_deg"] * 0.017453292519943295
        self._beat = (to_q14(self._frequency_hz), to_q14(self._amplitude), to_q14(self._deflection_rad))
        self._depth_m = row["depth_m"]
        self._depth_q20 = to_q20_or_none(self._depth_m)
        self._hold = [(board.actuator(name), value) for name, value in row["hold"]]

    def say(self, state):
        want = state.setpoint
        want.frequency_hz = self._frequency_hz
        want.amplitude = self._amplitude
        want.deflection_rad = self._deflection_rad
        want.beat_q14 = self._beat
        if self._depth_m is not None:
            want.depth_m = self._depth_m
            want.depth_q20 = self._depth_q20
        for index, command in self._hold:
            state.commands[index] = command
