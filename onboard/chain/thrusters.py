"""Thrusters of a chain: their reach in a tick, their force now, and which of them work. Needs numpy.

A thruster works unless the vehicle file says that it is dead, or it is marked in state.not_following. One that does not
work gets the command 0, and the solver shares its work among the others.
"""

from collections.abc import Sequence

import numpy as np

from caudal.hal.core.board import Board
from caudal.hal.core.fixed_point import ONE
from caudal.onboard.chain.arrays import Flags, Floats
from caudal.onboard.tables.chain import Chain


class Thrusters:
    """All thrusters of a chain; forces in N."""

    def __init__(self, control: Chain, board: Board, dt: float) -> None:
        names = [t.name for t in control.thruster]
        self.channels = [board.actuator(name) for name in names]
        parts = [board.actuators[i] for i in self.channels]
        self.low: Floats = np.array([part.low / ONE for part in parts])
        self.high: Floats = np.array([part.high / ONE for part in parts])
        self.scale: Floats = np.maximum(-self.low, self.high)
        self.lags_s: Floats = np.array([max(t.lag_s, 1e-6) for t in control.thruster])
        self._step: Floats = np.array([part.slew / ONE for part in parts]) * dt
        share = dt / self.lags_s
        self._lag: Floats = 1 - np.exp(-share)
        self._mean: Floats = 1 - self._lag / share  # share of the way to the command, on average over a tick
        self._dead: Flags = np.array([name in control.dead for name in names])
        self.lost: Flags = self._dead.copy()
        self.commanded: Floats = np.zeros(len(parts))
        self.force = np.zeros(len(parts))  # now
        self.mean = np.zeros(len(parts))  # over the tick that has just passed

    def follow(self, outputs: Sequence[int | None], not_following: Sequence[bool]) -> None:
        """At the start of a tick: the outputs of the last one have acted since."""
        self.commanded = np.array([(outputs[c] or 0) / ONE for c in self.channels])
        self.lost = self._dead | np.array([bool(not_following[c]) for c in self.channels])
        gap = np.where(self.lost, 0.0, self.commanded) - self.force
        self.mean = self.force + gap * self._mean
        self.force = self.force + gap * self._lag

    def reach(self) -> tuple[Floats, Floats]:
        """(low, high): the least and largest forces that they can be commanded next."""
        low = np.maximum(self.low, np.minimum(self.commanded - self._step, self.high))
        high = np.minimum(self.high, np.maximum(self.commanded + self._step, self.low))
        return np.where(self.lost, 0.0, low), np.where(self.lost, 0.0, high)
