"""Modes of a vehicle that swims with its tail: sticks, rest, and the beat that takes it up. Portable."""

from caudal.hal.core.fixed_point import to_q14


class FixedBeat:
    """A tail-beat that does not change: none at all (hold), or the one of [surface]."""

    def __init__(self, frequency_hz):
        self._frequency_hz = frequency_hz
        self._amplitude = 1.0 if frequency_hz else 0.0
        self._beat = (to_q14(frequency_hz), to_q14(self._amplitude), 0)
        self._again = False

    def changed(self):
        """A parameter has changed the beat (onboard/params/hot_update.py)."""
        self._again = True

    def begin(self, state):
        want = state.setpoint
        want.frequency_hz = self._frequency_hz
        want.amplitude = self._amplitude
        want.deflection_rad = 0.0
        want.beat_q14 = self._beat

    def step(self, state):
        if self._again:
            self._again = False
            self.begin(state)


class TailSticks:
    """Ahead is tail-beat frequency, turn is a turning offset, up is the wanted depth's rate."""

    def __init__(self, settings, guide_hz):
        self._frequency_hz = settings["frequency_hz"]
        self._deflection_rad = settings["deflection_deg"] * 0.017453292519943295
        self._depth_m = settings["depth_m_s"] / guide_hz

    def begin(self, state):
        state.setpoint.beat_q14 = None

    def step(self, state):
        want, sticks = state.setpoint, state.manual_input
        want.frequency_hz = sticks[0] * self._frequency_hz
        want.amplitude = 1.0 if sticks[0] else 0.0
        want.deflection_rad = sticks[3] * self._deflection_rad
        if want.depth_m is not None and sticks[2]:
            want.depth_m = max(want.depth_m - sticks[2] * self._depth_m, 0.0)
            want.depth_q20 = None


class Guided:
    """Guidance that decides, and what its decisions ask of the tail."""

    def __init__(self, cycle, inverse):
        self._cycle = cycle
        self._inverse = inverse

    def begin(self, state):
        state.setpoint.beat_q14 = None

    def step(self, state):
        self._cycle.step(state)
        self._inverse.step(state)
