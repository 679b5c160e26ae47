"""The thrusters of a chain: what they may be told in a tick, what they give, and which are counted on. Needs numpy.

A thruster is counted on unless the vehicle file says it is dead, or it was found not to follow (state.not_following):
it is then told nothing, and the solver shares its work among the others.
"""

import numpy as np

from caudal.hal.core.fixed_point import ONE


class Thrusters:
    def __init__(self, control, board, dt):
        tables = control["thruster"]
        self.names = [t["name"] for t in tables]
        self.channels = [board.actuator(name) for name in self.names]
        parts = [board.actuators[i] for i in self.channels]
        self.low = np.array([part.low / ONE for part in parts])
        self.high = np.array([part.high / ONE for part in parts])
        self.scale = np.maximum(-self.low, self.high)
        self.lags_s = np.array([max(t["lag_s"], 1e-6) for t in tables])
        self._step = np.array([part.slew / ONE for part in parts]) * dt
        share = dt / self.lags_s
        self._lag = 1 - np.exp(-share)
        self._mean = 1 - self._lag / share  # of the way to what is told, on average over a tick
        self._dead = np.array([name in control["dead"] for name in self.names])
        self.lost = self._dead.copy()
        self.told = np.zeros(len(parts))
        self.force = np.zeros(len(parts))  # now
        self.mean = np.zeros(len(parts))  # over the tick that has just passed

    def follow(self, outputs, not_following):
        """At the start of a tick: what went out in the last one has acted since."""
        self.told = np.array([(outputs[c] or 0) / ONE for c in self.channels])
        self.lost = self._dead | np.array([bool(not_following[c]) for c in self.channels])
        gap = np.where(self.lost, 0.0, self.told) - self.force
        self.mean = self.force + gap * self._mean
        self.force = self.force + gap * self._lag

    def reach(self):
        """(low, high): what they can be told next."""
        low = np.maximum(self.low, np.minimum(self.told - self._step, self.high))
        high = np.minimum(self.high, np.maximum(self.told + self._step, self.low))
        return np.where(self.lost, 0.0, low), np.where(self.lost, 0.0, high)
