"""Estimator of a vehicle with thrusters: pose and velocity, from attitude, depth and an intermittent position.

Roll, pitch and heading come from an inertial unit, each with the gyro between its readings. Position and depth are
predicted by the vehicle's model under its thrusters' forces, so that a camera may fail for some seconds, and by a
disturbance that the filter estimates (estimate/kalman.py). Portable; floats.
"""

import math

from caudal.hal.core.fixed_point import ONE
from caudal.hal.core.maps import clamp
from caudal.onboard.control.allocation import thruster_matrix
from caudal.onboard.control.matrix import times
from caudal.onboard.control.motion import RigidBodyModel
from caudal.onboard.estimate.channel import Channel
from caudal.onboard.estimate.kalman import Angle, Axis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import Estimate, State
    from caudal.onboard.tables.stack import EstimateTable
    from caudal.onboard.tables.thrusters import Wrench


# No vehicle accelerates more than this. Otherwise gyros at their limits, through Coriolis forces and a drag that grows
# with the square, would drive the filters to overflow while there is no reading of the position.
MOST_M_S2 = 50.0


class PoseEstimator:
    """Fills the state's estimate every tick."""

    def __init__(self, table: "EstimateTable", control: "Wrench", board: "Board", rate_hz: int) -> None:
        noise = table.filter
        assert noise is not None, "the reader makes sure of it"
        dt = 1 / rate_hz
        self._model = RigidBodyModel(control.model)
        self._thrusters = [board.actuator(thruster.name) for thruster in control.thruster]
        self._b = thruster_matrix(control.thruster)
        self._lag = [1 - math.exp(-dt / max(thruster.lag_s, 1e-6)) for thruster in control.thruster]
        self._force = [0.0] * len(self._thrusters)
        self._wrench = [0.0] * 6
        self._v = [0.0] * 6
        self._a = [0.0] * 6
        m = control.model.inertia
        d = control.model.drag
        level = 0.5 * (d[0][0] / m[0][0] + d[1][1] / m[1][1])
        self._axes = [
            Axis(noise, noise.position_m, level, dt),
            Axis(noise, noise.position_m, level, dt),
            Axis(noise, noise.depth_m, d[2][2] / m[2][2], dt),
        ]  # world, z up
        self._angles = [Angle(noise.angle_rad, noise.rate_rad_s, noise.bias_rad_s2, dt) for _ in range(3)]
        self._positions = [Channel(board, name) for name in (table.x, table.y, table.depth)]
        self._tilts = [Channel(board, name) for name in (table.roll, table.pitch, table.heading)]
        self._gyros = [Channel(board, name) for name in (table.roll_rate, table.pitch_rate, table.turn_rate)]

    def step(self, state: "State") -> None:
        """One tick: predict, correct by this tick's readings, publish."""
        for k in range(3):
            self._angles[k].predict(self._gyros[k].reading())
            angle_rad = self._tilts[k].fresh()
            if angle_rad is not None:
                self._angles[k].correct(angle_rad)
        self._predict(state)
        for k in range(3):
            axis = self._axes[k]
            position_m = self._positions[k].fresh()
            if position_m is not None:
                if k == 2:
                    position_m = -position_m
                if axis.known:
                    axis.correct(position_m)
                else:
                    axis.start(position_m)
        self._publish(state.estimate)

    def _predict(self, state: "State") -> None:
        """Predicts the position under the wrench of the outputs."""
        roll, pitch, yaw = self._angles
        for i in range(len(self._thrusters)):
            output = state.outputs[self._thrusters[i]]
            dead = state.not_following[self._thrusters[i]]
            goal_n = 0.0 if output is None or dead else output / ONE
            self._force[i] += (goal_n - self._force[i]) * self._lag[i]
        times(self._b, self._force, self._wrench)
        # base axes in world axes: turned by heading, pitch (nose down), roll (right side down)
        cr, sr = math.cos(roll.angle_rad), math.sin(roll.angle_rad)
        cp, sp = math.cos(pitch.angle_rad), math.sin(pitch.angle_rad)
        cy, sy = math.cos(yaw.angle_rad), math.sin(yaw.angle_rad)
        x0, x1, x2 = cy * cp, sy * cp, -sp
        y0, y1, y2 = cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr
        z0, z1, z2 = cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr
        v = self._v
        vx, vy, vz = self._axes[0].speed_m_s, self._axes[1].speed_m_s, self._axes[2].speed_m_s
        v[0] = x0 * vx + x1 * vy + x2 * vz
        v[1] = y0 * vx + y1 * vy + y2 * vz
        v[2] = z0 * vx + z1 * vy + z2 * vz
        v[3], v[4], v[5] = roll.rate_rad_s, pitch.rate_rad_s, yaw.rate_rad_s
        a = self._a
        self._model.accelerations(self._wrench, v, roll.angle_rad, pitch.angle_rad, a)
        a0 = a[0] + v[4] * v[2] - v[5] * v[1]
        a1 = a[1] + v[5] * v[0] - v[3] * v[2]
        a2 = a[2] + v[3] * v[1] - v[4] * v[0]
        self._predict_axis(0, x0 * a0 + y0 * a1 + z0 * a2)
        self._predict_axis(1, x1 * a0 + y1 * a1 + z1 * a2)
        self._predict_axis(2, x2 * a0 + y2 * a1 + z2 * a2)

    def _predict_axis(self, k: int, acceleration_m_s2: float) -> None:
        if self._axes[k].known:
            self._axes[k].predict(clamp(acceleration_m_s2, -MOST_M_S2, MOST_M_S2))

    def _publish(self, estimate: "Estimate") -> None:
        roll, pitch, yaw = self._angles
        if roll.known and pitch.known and yaw.known:
            estimate.roll_rad = roll.angle_rad
            estimate.pitch_rad = pitch.angle_rad
            estimate.heading_rad = yaw.angle_rad
            estimate.roll_rate_rad_s = roll.rate_rad_s
            estimate.pitch_rate_rad_s = pitch.rate_rad_s
            estimate.turn_rate_rad_s = yaw.rate_rad_s
        x, y, z = self._axes
        if x.known and y.known and z.known and yaw.known:
            estimate.x_m, estimate.y_m, estimate.depth_m = x.position_m, y.position_m, -z.position_m
            c, s = math.cos(yaw.angle_rad), math.sin(yaw.angle_rad)
            estimate.speed_m_s = c * x.speed_m_s + s * y.speed_m_s
            estimate.sway_m_s = c * y.speed_m_s - s * x.speed_m_s
            estimate.heave_m_s = z.speed_m_s
        estimate.x_nis, estimate.y_nis, estimate.depth_nis = x.nis, y.nis, z.nis
        estimate.heading_nis = yaw.nis
