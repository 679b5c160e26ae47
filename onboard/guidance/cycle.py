"""The update cycle: compare with the task, detect, decide, and say what motion is wanted next. Portable."""

from hal.fixed import fine, fixed


class Cycle:
    def __init__(self, task, detector, decider, recoil):
        self.task = task
        self._detector = detector
        self._decider = decider
        self._recoil = recoil

    def step(self, state):
        self.task.step(state)
        points = self._detector.step(state)
        self._decider.step(state, points, self.task.speed_m_s, self.task.turn_rad_s)
        self._recoil.step(state)


class Recoil:
    """The nose has touched something: back off for a while, whatever else was decided.

    `watch` looks at the bumper every tick, since a touch may be shorter than a guidance step.
    """

    def __init__(self, settings, board, guide_hz):
        self._bumper = board.sensor(settings["bumper"]) if settings["bumper"] else None
        self._steps = int(settings["recoil_s"] * guide_hz + 0.5)
        self._brake_m_s2 = settings["recoil_m_s2"]
        self._left = 0

    def watch(self, state):
        if self._bumper is not None and state.board.reading(self._bumper):
            self._left = self._steps

    def step(self, state):
        state.want.reverse = self._left > 0
        if self._left:
            self._left -= 1
            state.want.acceleration_m_s2 = -self._brake_m_s2
            state.want.turn_rate_rad_s = 0.0


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
        """A parameter has changed a row (onboard/graft.py)."""
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
        self._beat = (fixed(self._frequency_hz), fixed(self._amplitude), fixed(self._deflection_rad))
        self._depth_m = row["depth_m"]
        self._depth_fine = fine(self._depth_m)
        self._hold = [(board.actuator(name), value) for name, value in row["hold"]]

    def say(self, state):
        want = state.want
        want.frequency_hz = self._frequency_hz
        want.amplitude = self._amplitude
        want.deflection_rad = self._deflection_rad
        want.beat = self._beat
        if self._depth_m is not None:
            want.depth_m = self._depth_m
            want.depth_fine = self._depth_fine
        for index, command in self._hold:
            state.commands[index] = command
