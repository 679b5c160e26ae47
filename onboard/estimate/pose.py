"""Where a thruster vehicle is, how it lies and how it moves: attitude, depth and an intermittent position, fused.

Roll, pitch and heading come from an inertial unit, each with the gyro between its readings. Position and depth are
carried on by the model of the vehicle under the forces that its thrusters were told, so that a camera may be blind for
some seconds, and by a push that the filter learns (estimate/kalman.py). Portable; floats.
"""

import math

from caudal.hal.core.fixed_point import ONE
from caudal.onboard.control.allocation import thruster_matrix
from caudal.onboard.control.matrix import times
from caudal.onboard.control.motion import RigidBodyModel
from caudal.onboard.estimate.kalman import Angle, Axis
from caudal.onboard.estimate.planar import channel


class PoseEstimator:
    def __init__(self, settings, control, board, rate_hz):
        noise = settings["filter"]
        dt = 1 / rate_hz
        self._board = board
        self._motion = RigidBodyModel(control["model"])
        self._thrusters = [board.actuator(t["name"]) for t in control["thruster"]]
        self._b = thruster_matrix(control["thruster"])
        self._lag = [1 - math.exp(-dt / max(t["lag_s"], 1e-6)) for t in control["thruster"]]
        self._force = [0.0] * len(self._thrusters)
        self._wrench = [0.0] * 6
        self._v = [0.0] * 6
        self._a = [0.0] * 6
        m = control["model"]["inertia"]
        d = control["model"]["drag"]
        level = 0.5 * (d[0][0] / m[0][0] + d[1][1] / m[1][1])
        self._axes = [
            Axis(noise, noise["position_m"], level, dt),
            Axis(noise, noise["position_m"], level, dt),
            Axis(noise, noise["depth_m"], d[2][2] / m[2][2], dt),
        ]
        self._angles = [
            Angle(noise["angle_rad"], noise["rate_rad_s"], noise["bias_rad_s2"], dt) for _ in range(3)
        ]
        self._places = [channel(board, settings[key]) for key in ("x", "y", "depth")]
        self._tilts = [channel(board, settings[key]) for key in ("roll", "pitch", "heading")]
        self._gyros = [channel(board, settings[key]) for key in ("roll_rate", "pitch_rate", "turn_rate")]

    def step(self, state):
        for k in range(3):
            self._angles[k].predict(self._reading(self._gyros[k]))
            if self._fresh(self._tilts[k]):
                self._angles[k].correct(self._board.reading(self._tilts[k]))
        self._move(state)
        for k in range(3):
            axis = self._axes[k]
            if self._fresh(self._places[k]):
                place_m = self._board.reading(self._places[k])
                if k == 2:
                    place_m = -place_m
                if axis.known:
                    axis.correct(place_m)
                else:
                    axis.start(place_m)
        self._tell(state.estimate)

    def _move(self, state):
        """Carry the place on by the wrench of the commands that went out."""
        roll, pitch, yaw = self._angles
        for i in range(len(self._thrusters)):
            told = state.outputs[self._thrusters[i]]
            dead = state.not_following[self._thrusters[i]]
            goal_n = 0.0 if told is None or dead else told / ONE
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
        self._motion.accelerations(self._wrench, v, roll.angle_rad, pitch.angle_rad, a)
        a0 = a[0] + v[4] * v[2] - v[5] * v[1]
        a1 = a[1] + v[5] * v[0] - v[3] * v[2]
        a2 = a[2] + v[3] * v[1] - v[4] * v[0]
        self._carry(0, x0 * a0 + y0 * a1 + z0 * a2)
        self._carry(1, x1 * a0 + y1 * a1 + z1 * a2)
        self._carry(2, x2 * a0 + y2 * a1 + z2 * a2)

    def _carry(self, k, acceleration_m_s2):
        if self._axes[k].known:
            self._axes[k].predict(acceleration_m_s2)

    def _tell(self, estimate):
        roll, pitch, yaw = self._angles
        if roll.known and pitch.known and yaw.known:
            estimate.roll_rad, estimate.pitch_rad, estimate.heading_rad = (
                roll.angle_rad, pitch.angle_rad, yaw.angle_rad,
            )  # fmt: skip
            estimate.roll_rate_rad_s, estimate.pitch_rate_rad_s = roll.rate_rad_s, pitch.rate_rad_s
            estimate.turn_rate_rad_s = yaw.rate_rad_s
        x, y, z = self._axes
        if x.known and y.known and z.known and yaw.known:
            estimate.x_m, estimate.y_m, estimate.depth_m = x.place_m, y.place_m, -z.place_m
            c, s = math.cos(yaw.angle_rad), math.sin(yaw.angle_rad)
            estimate.speed_m_s = c * x.speed_m_s + s * y.speed_m_s
            estimate.sway_m_s = c * y.speed_m_s - s * x.speed_m_s
            estimate.heave_m_s = z.speed_m_s
        estimate.x_nis, estimate.y_nis, estimate.depth_nis = x.nis, y.nis, z.nis
        estimate.heading_nis = yaw.nis

    def _fresh(self, index):
        return index is not None and self._board.age[index] == 0

    def _reading(self, index):
        return None if index is None else self._board.reading(index)
