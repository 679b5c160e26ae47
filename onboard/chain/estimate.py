"""State estimate of a chain: the base's pose, the joints' coordinates, the chambers' pressures. Needs numpy.

Each quantity has a small filter of its own (estimate/kalman.py). It is predicted with the acceleration that the chain's
model had under the last commands, and corrected by readings. Slides are stiff, quick and follow the pressures: their
filters use no model. `known` says whether everything that the controller needs is there.
"""

import math
from typing import NamedTuple

import numpy as np

from caudal.hal.core.board import Board
from caudal.onboard.chain.arrays import Floats
from caudal.onboard.chain.model import JOINT
from caudal.onboard.chain.rotations import euler_rates, euler_rotation
from caudal.onboard.chain.thrusters import Thrusters
from caudal.onboard.core.state import Estimate, State
from caudal.onboard.estimate.kalman import Angle, Axis
from caudal.onboard.estimate.pose import MOST_M_S2
from caudal.onboard.tables.chain import Chain
from caudal.onboard.tables.stack import EstimateTable
from caudal.onboard.tables.thrusters import FilterTable

LOST_S = 0.5  # a joint or a pressure without a reading for so long is no longer known
MOST_RAD_S2 = 2000.0  # no joint accelerates more: see MOST_M_S2


class JointDisturbance(NamedTuple):
    """Disturbance of a joint's coordinate: m in these names is rad for a bend."""

    disturbance_s: float
    disturbance_m_s2: float
    acceleration_noise_m_s2: float


class ChainEstimator:
    """Estimator of a chain's state; `acceleration` is the model's, filled in by the controller."""

    def __init__(
        self,
        table: EstimateTable,
        noise: FilterTable,
        control: Chain,
        board: Board,
        rate_hz: int,
        thrusters: Thrusters,
    ) -> None:
        joints = control.filter
        dt = 1 / rate_hz
        self._board, self._dt, self._thrusters = board, dt, thrusters
        self._lost = LOST_S * rate_hz
        self._axes = [
            Axis(noise, of_m, 0.1, dt) for of_m in (noise.position_m, noise.position_m, noise.depth_m)
        ]
        self._angles = [Angle(noise.angle_rad, noise.rate_rad_s, noise.bias_rad_s2, dt) for _ in range(3)]
        self._positions = [board.sensor(name) for name in (table.x, table.y, table.depth)]
        self._tilts = [board.sensor(name) for name in (table.roll, table.pitch, table.heading)]
        gyros = table.roll_rate, table.pitch_rate, table.turn_rate
        self._gyros = [board.sensor(name) if name else None for name in gyros]
        bend = JointDisturbance(5.0, joints.disturbance_rad_s2, joints.acceleration_noise_rad_s2)
        slide = JointDisturbance(5.0, 1e-6, joints.acceleration_noise_m_s2)
        self._joints, self._coordinates = [], []
        for soft in control.soft:
            for k, name in enumerate(soft.coordinates):
                is_bend = k in (1, 2)
                self._joints.append(
                    Axis(bend, joints.angle_rad, 0.5, dt)
                    if is_bend
                    else Axis(slide, joints.stroke_m, 5.0, dt)
                )
                self._coordinates.append(board.sensor(name))
        self._bends = [k % JOINT in (1, 2) for k in range(len(self._joints))]
        chambers = [name for soft in control.soft for name in soft.chambers]
        self._gauges = [board.sensor(board.actuators[board.actuator(name)].follows) for name in chambers]
        self.acceleration: Floats = np.zeros(6 + len(self._joints))  # base axes
        self.known = False
        self.rotation: Floats = np.eye(3)  # base to world
        self.position: Floats = np.zeros(3)  # world, z up
        self.velocity: Floats = np.zeros(6)  # base axes
        self.q: Floats = np.zeros(len(self._joints))
        self.qd: Floats = np.zeros(len(self._joints))
        self.pressures: Floats = np.zeros(len(self._gauges))

    def step(self, state: State) -> None:
        """One tick: predict, correct by this tick's readings, publish."""
        self._thrusters.follow(state.outputs, state.not_following)
        self._predict_attitude()
        self._predict()
        known = self._correct()
        self._collect()
        for k, gauge in enumerate(self._gauges):
            pressure_pa = self._board.reading(gauge)
            if pressure_pa is not None:
                self.pressures[k] += 0.5 * (pressure_pa - self.pressures[k])
            known = known and self._board.age[gauge] < self._lost
        self.known = known
        self._publish(state.estimate)

    def _predict_attitude(self) -> None:
        """Euler rates from the gyros', at the present attitude; each angle is then corrected by its own reading."""
        p, q, r = (0.0 if (rate := self._reading(gyro)) is None else rate for gyro in self._gyros)
        rates = euler_rates([angle.angle_rad for angle in self._angles], (p, q, r))
        for angle, tilt, rate in zip(self._angles, self._tilts, rates, strict=True):
            angle.predict(rate)
            reading = self._fresh_reading(tilt)
            if reading is not None:
                angle.correct(reading)

    def _predict(self) -> None:
        v, w = self.velocity[:3], self.velocity[3:]
        spun = np.array([w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2], w[0] * v[1] - w[1] * v[0]])
        acceleration = bounded(self.rotation @ (self.acceleration[:3] + spun), MOST_M_S2)
        bends = bounded(self.acceleration[6:], MOST_RAD_S2)
        for axis, one in zip(self._axes, acceleration.tolist(), strict=True):
            if axis.known:
                axis.predict(one)
        for k, joint in enumerate(self._joints):
            if joint.known:
                joint.predict(float(bends[k]) if self._bends[k] else -20.0 * joint.speed_m_s)

    def _correct(self) -> bool:
        """Correct by the readings of this tick; true if all axes and joints are known."""
        known = all(angle.known for angle in self._angles)
        for k, (axis, sensor) in enumerate(zip(self._axes, self._positions, strict=True)):
            reading = self._fresh_reading(sensor)
            if reading is not None:
                correct_filter(axis, -reading if k == 2 else reading)
            known = known and axis.known
        for joint, sensor in zip(self._joints, self._coordinates, strict=True):
            reading = self._fresh_reading(sensor)
            if reading is not None:
                correct_filter(joint, reading)
            known = known and joint.known and self._board.age[sensor] < self._lost
        return known

    def _collect(self) -> None:
        """Fill the arrays from the filters."""
        roll, pitch, yaw = self._angles
        self.rotation = euler_rotation(roll.angle_rad, pitch.angle_rad, yaw.angle_rad)
        self.position[:] = [axis.position_m for axis in self._axes]
        self.velocity[:3] = self.rotation.T @ [axis.speed_m_s for axis in self._axes]
        cr, sr, cp, sp = (f(a.angle_rad) for a in (roll, pitch) for f in (math.cos, math.sin))
        a, b, c = roll.rate_rad_s, pitch.rate_rad_s, yaw.rate_rad_s
        self.velocity[3:] = a - c * sp, b * cr + c * cp * sr, c * cp * cr - b * sr
        self.q[:] = [joint.position_m for joint in self._joints]
        self.qd[:] = [joint.speed_m_s for joint in self._joints]

    def _publish(self, estimate: Estimate) -> None:
        innovations = self._innovations() if self.known else (None,) * 4
        estimate.x_nis, estimate.y_nis, estimate.depth_nis, estimate.heading_nis = innovations
        if not self.known:
            return
        estimate.roll_rad, estimate.pitch_rad, estimate.heading_rad = self._attitude()
        estimate.x_m, estimate.y_m, estimate.depth_m = (
            float(v) for v in (self.position[0], self.position[1], -self.position[2])
        )
        estimate.speed_m_s, estimate.sway_m_s, estimate.heave_m_s = self.velocity[:3].tolist()
        rates = self.velocity[3:].tolist()
        estimate.roll_rate_rad_s, estimate.pitch_rate_rad_s, estimate.turn_rate_rad_s = rates

    def _innovations(self) -> tuple[float | None, ...]:
        """Normalised innovations squared: of x, y, depth and heading."""
        return *(axis.nis for axis in self._axes), self._angles[2].nis

    def _attitude(self) -> list[float]:
        return [angle.angle_rad for angle in self._angles]

    def _fresh_reading(self, index: int | None) -> float | None:
        """A reading that came in this tick."""
        return self._board.reading(index) if index is not None and self._board.age[index] == 0 else None

    def _reading(self, index: int | None) -> float | None:
        return None if index is None else self._board.reading(index)


def correct_filter(filter: Axis, value: float) -> None:
    """Correct a filter by a reading, or start it there."""
    if filter.known:
        filter.correct(value)
    else:
        filter.start(value)


def bounded(accelerations: Floats, most: float) -> Floats:
    """Finite accelerations within +-most."""
    return np.clip(np.nan_to_num(accelerations), -most, most)
