"""Thrusters that do not follow, by their turns; and a short push now and then once one is marked. Portable; floats."""

from caudal.hal.core.fixed_point import to_q14
from caudal.onboard.core.actuator_monitor import Observer

PROBE_EVERY_S = 5.0
PROBE_FOR_S = 0.5
_CURVE_BITS = 2  # a thruster's curve is not known better than to a quarter


class TurnsObserver(Observer):
    """A thruster, by its turns, which have no sign: a push of c n**2, either way."""

    def __init__(self, index, sensor, actuator, settings, rate_hz):
        super().__init__(index, sensor, actuator, settings, rate_hz)
        self._ahead, self._back = settings["turn_n_s2"]
        self.probe = 4 * self._off  # what it is asked for to see if it turns again

    def heard(self, board):
        if board.age[self.sensor]:
            return None
        turns = board.reading(self.sensor)
        return to_q14((self._ahead if self._should >= 0 else self._back) * turns * turns)

    def first(self, heard):
        return 0

    def gap(self, heard):
        size = abs(self._should)
        unknown = size >> _CURVE_BITS
        gap = heard - size
        return max(gap - unknown, 0) if gap > 0 else min(gap + unknown, 0)


class Probe:
    """Nothing is asked of a thruster that is found dead, but a short push now and then: does it turn again?"""

    def __init__(self, thrusters, rate_hz):
        self._thrusters = thrusters
        self._every = int(PROBE_EVERY_S * rate_hz)
        self._for = int(PROBE_FOR_S * rate_hz)

    def step(self, state):
        for thruster in self._thrusters:
            if thruster.marked:
                pushes = state.tick % self._every < self._for
                state.commands[thruster.index] = thruster.probe if pushes else 0
