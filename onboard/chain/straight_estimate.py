"""State estimate of a chain that runs straight: all readings correct the whole state, by gains for its speed. Needs
numpy.

The state (gain_schedule.py) is predicted by the chain's model under the thrusters' mean force of the last tick, then
corrected by readings; a reading that is absent corrects nothing. Slides keep their own filters.
"""

import numpy as np

from caudal.hal.core.board import Board
from caudal.onboard.chain.arrays import Floats, solved
from caudal.onboard.chain.estimate import MOST_RAD_S2, ChainEstimator, bounded, correct_filter
from caudal.onboard.chain.gain_schedule import GainSchedule
from caudal.onboard.chain.model import ChainModel
from caudal.onboard.chain.rotations import euler_rates, euler_rotation, wrapped
from caudal.onboard.chain.thrusters import Thrusters
from caudal.onboard.estimate.pose import MOST_M_S2
from caudal.onboard.tables.chain import Chain
from caudal.onboard.tables.stack import EstimateTable
from caudal.onboard.tables.thrusters import FilterTable


class StraightRunEstimator(ChainEstimator):
    """A Kalman filter of the whole state, with the gains of `schedule`."""

    def __init__(
        self,
        table: EstimateTable,
        noise: FilterTable,
        control: Chain,
        board: Board,
        rate_hz: int,
        thrusters: Thrusters,
        chain: ChainModel,
        schedule: GainSchedule,
    ) -> None:
        super().__init__(table, noise, control, board, rate_hz, thrusters)
        self._chain, self._schedule = chain, schedule
        self._half = 6 + len(chain.bends)
        self._state: Floats = np.zeros(2 * self._half)
        self._started = False
        self._nis: tuple[float | None, ...] = (None,) * 4

    def _predict_attitude(self) -> None:
        """Nothing: angles are predicted with the rest of the state."""

    def _predict(self) -> None:
        for k, joint in enumerate(self._joints):
            if joint.known and not self._bends[k]:
                joint.predict(-20.0 * joint.speed_m_s)
        if not self._started:
            return
        chain, state, dt, half = self._chain, self._state, self._dt, self._half
        forces = chain.free_b @ self._thrusters.mean - chain.free_load
        acceleration = solved(chain.free_mass, forces)
        acceleration[:3] = bounded(acceleration[:3], MOST_M_S2)
        acceleration[3:] = bounded(acceleration[3:], MOST_RAD_S2)
        rates = state[half:] + 0.5 * dt * acceleration
        state[:3] += dt * (euler_rotation(*state[3:6]) @ rates[:3])
        state[3:6] += dt * np.array(euler_rates(state[3:6], rates[3:6]))
        state[6:half] += dt * rates[6:]
        state[half:] += dt * acceleration

    def _correct(self) -> bool:
        known = True
        for k, (joint, sensor) in enumerate(zip(self._joints, self._coordinates, strict=True)):
            reading = None if self._bends[k] else self._fresh_reading(sensor)
            if reading is not None:
                correct_filter(joint, reading)
            known = known and self._board.age[sensor] < self._lost
        readings = self._readings()
        if not self._started:
            pose = [reading for reading in readings if reading is not None]
            if len(pose) < len(readings):
                return False
            self._state[: self._half] = pose[: self._half]
            self._started = True
        self._correct_state(readings)
        return known and all(self._board.age[i] < self._lost for i in (*self._positions, *self._tilts))

    def _readings(self) -> list[float | None]:
        """Position, attitude, bends, gyros: those that came in this tick."""
        bends = [sensor for k, sensor in enumerate(self._coordinates) if self._bends[k]]
        sensors = (*self._positions, *self._tilts, *bends, *self._gyros)
        readings = [self._fresh_reading(i) for i in sensors]
        depth = readings[2]
        readings[2] = None if depth is None else -depth
        return readings

    def _correct_state(self, readings: list[float | None]) -> None:
        state, half = self._state, self._half
        expected = np.concatenate([state[:half], state[half + 3 : half + 6]])
        error = np.array([0.0 if r is None else r - e for r, e in zip(readings, expected, strict=True)])
        error[3:6] = wrapped(error[3:6])
        # gains are those of a chain that heads along x
        ahead = euler_rotation(0.0, 0.0, state[5])
        error[:3] = ahead.T @ error[:3]
        speed = float(state[half])
        nis = error * error / self._schedule.at(speed, self._schedule.variance)
        self._nis = tuple(None if readings[k] is None else float(nis[k]) for k in (0, 1, 2, 5))
        correction = self._schedule.at(speed, self._schedule.correction) @ error
        correction[:3] = ahead @ correction[:3]
        state += correction
        state[3:6] = wrapped(state[3:6])

    def _collect(self) -> None:
        state, half, bends = self._state, self._half, self._chain.bends
        self.rotation = euler_rotation(*state[3:6])
        self.position[:], self.velocity[:] = state[:3], state[half : half + 6]
        self.q[:] = [joint.position_m for joint in self._joints]
        self.qd[:] = [joint.speed_m_s for joint in self._joints]
        self.q[bends], self.qd[bends] = state[6:half], state[half + 6 :]

    def _innovations(self) -> tuple[float | None, ...]:
        """Those ahead in place of x, across in place of y."""
        return self._nis

    def _attitude(self) -> list[float]:
        angles: list[float] = self._state[3:6].tolist()
        return angles
