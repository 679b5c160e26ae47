"""The controller of a vehicle that swims with its tail: wanted motion -> tail settings -> joint commands.

Two stages. `SwimInverse` turns wanted acceleration and turn rate into frequency and deflection; `Tail` hands the
settings to the gait and swims it. Portable.
"""

from caudal.hal.core.fixed_point import ONE, to_q14, to_q14_or_none
from caudal.onboard.core.failsafe import SLOW


class SwimInverse:
    def __init__(self, law):
        self._law = law

    def step(self, state):
        self._law.invert(state.setpoint, state.estimate.speed_m_s or 0.0)


class Tail:
    def __init__(self, gait, frequency_max_hz, deflection_max_rad):
        self.gait = gait
        self._frequency_max = to_q14(frequency_max_hz)
        self._deflection_max = to_q14(deflection_max_rad)
        self._frequency_hz = self._amplitude = self._deflection_rad = None  # asked last
        self._slow = False
        self.limit(None, ONE)

    def limit(self, frequency, amplitude):
        """The most that a gait round a jammed joint can do: fixed-point Hz (None: what it always could), share."""
        most = self._frequency_max
        self._frequency_most = most if frequency is None else min(frequency, most)
        self._amplitude_most = amplitude
        self._frequency_hz = None  # ask once more

    def changed(self):
        """A parameter has moved a limit: what was asked last is asked anew (onboard/params/hot_update.py)."""
        self._frequency_hz = None

    def ask(self, state):
        want = state.setpoint
        if self._slow != (state.action == SLOW):
            self._slow = not self._slow
            self._frequency_hz = None
        if want.beat_q14 is not None:
            self._ask(want.beat_q14[0], want.beat_q14[1], want.beat_q14[2])
            return
        if (
            want.frequency_hz == self._frequency_hz
            and want.amplitude == self._amplitude
            and want.deflection_rad == self._deflection_rad
        ):
            return  # turning floats into counts allocates, and these are asked already
        self._frequency_hz = want.frequency_hz
        self._amplitude = want.amplitude
        self._deflection_rad = want.deflection_rad
        self._ask(
            to_q14_or_none(want.frequency_hz),
            to_q14_or_none(want.amplitude),
            to_q14_or_none(want.deflection_rad),
        )

    def _ask(self, frequency, amplitude, deflection):
        if self._slow and frequency is not None:
            frequency = frequency // 2 if frequency >= 0 else -(-frequency // 2)
        self.gait.ask(
            _within(frequency, self._frequency_most),
            _within(amplitude, self._amplitude_most),
            _within(deflection, self._deflection_max),
        )

    def step(self, state):
        self.gait.step(state.commands)


def _within(count, limit):
    """A setting guidance got wrong must not reach the gait; without a number there is no tail-beat."""
    return 0 if count is None else min(max(count, -limit), limit)
