"""How a chain lies and moves: the base's pose, the joints' coordinates, the chambers' pressures. Needs numpy.

Each has a small filter of its own (estimate/kalman.py), carried on by the acceleration that the chain's model had
under the last commands, and corrected by what is measured. Slides are stiff, quick and follow the pressures: their
filters know no model. `known` says whether there is all that a controller needs.
"""

import math

import numpy as np

from caudal.onboard.chain.lead import euler_turn
from caudal.onboard.chain.model import JOINT
from caudal.onboard.estimate.kalman import Angle, Axis
from caudal.onboard.estimate.planar import channel

LOST_S = 0.5  # a joint or a pressure without a reading for so long is not known any more
# More than this no chain ever has: a gyro's spike, through drag that grows with the square, else carries filters away
# to where numbers end before a reading of the place can call them back.
MOST_M_S2 = 50.0
MOST_RAD_S2 = 2000.0


class ChainEstimator:
    def __init__(self, settings, control, board, rate_hz, thrusters):
        noise, joints = settings["filter"], control["filter"]
        dt = 1 / rate_hz
        self._board, self._dt, self._thrusters = board, dt, thrusters
        self._lost = LOST_S * rate_hz
        self._axes = [Axis(noise, noise[key], 0.1, dt) for key in ("position_m", "position_m", "depth_m")]
        self._angles = [
            Angle(noise["angle_rad"], noise["rate_rad_s"], noise["bias_rad_s2"], dt) for _ in range(3)
        ]
        self._places = [channel(board, settings[key]) for key in ("x", "y", "depth")]
        self._tilts = [channel(board, settings[key]) for key in ("roll", "pitch", "heading")]
        self._gyros = [channel(board, settings[key]) for key in ("roll_rate", "pitch_rate", "turn_rate")]
        bend = {"push_s": 5.0, "push_m_s2": joints["push_rad_s2"], "gust_m_s2": joints["gust_rad_s2"]}
        slide = {"push_s": 5.0, "push_m_s2": 1e-6, "gust_m_s2": joints["gust_m_s2"]}
        self._joints, self._coordinates = [], []
        for soft in control["soft"]:
            for k, name in enumerate(soft["coordinates"]):
                bends = k in (1, 2)
                filter = (
                    Axis(bend, joints["angle_rad"], 0.5, dt)
                    if bends
                    else Axis(slide, joints["stroke_m"], 5.0, dt)
                )
                self._joints.append(filter)
                self._coordinates.append(board.sensor(name))
        self._bends = [k % JOINT in (1, 2) for k in range(len(self._joints))]
        chambers = [name for soft in control["soft"] for name in soft["chambers"]]
        self._gauges = [board.sensor(board.actuators[board.actuator(name)].follows) for name in chambers]
        self.acceleration = np.zeros(
            6 + len(self._joints)
        )  # of the model, base axes; whoever controls fills it
        self.known = False
        self.turn = np.eye(3)  # base to world
        self.place = np.zeros(3)  # world, z up
        self.velocity = np.zeros(6)  # base axes
        self.q = np.zeros(len(self._joints))
        self.qd = np.zeros(len(self._joints))
        self.pressures = np.zeros(len(self._gauges))

    def step(self, state):
        self._thrusters.follow(state.outputs, state.not_following)
        self._turn_on()
        self._carry_on()
        known = self._correct()
        self._gather()
        for k, gauge in enumerate(self._gauges):
            pressure_pa = self._board.reading(gauge)
            if pressure_pa is not None:
                self.pressures[k] += 0.5 * (pressure_pa - self.pressures[k])
            known = known and self._board.age[gauge] < self._lost
        self.known = known
        self._tell(state.estimate)

    def _turn_on(self):
        """Euler's rates from the gyros', at the attitude there is."""
        p, q, r = (0.0 if (rate := self._reading(gyro)) is None else rate for gyro in self._gyros)
        roll, pitch, _ = (angle.angle_rad for angle in self._angles)
        about = q * math.sin(roll) + r * math.cos(roll)
        upright = max(math.cos(pitch), 0.05)
        rates = (
            p + about * math.sin(pitch) / upright,
            q * math.cos(roll) - r * math.sin(roll),
            about / upright,
        )
        for angle, tilt, rate in zip(self._angles, self._tilts, rates, strict=True):
            angle.predict(rate)
            if self._fresh(tilt):
                angle.correct(self._board.reading(tilt))

    def _carry_on(self):
        v, w = self.velocity[:3], self.velocity[3:]
        spun = np.array([w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2], w[0] * v[1] - w[1] * v[0]])
        push = bounded(self.turn @ (self.acceleration[:3] + spun), MOST_M_S2)
        bends = bounded(self.acceleration[6:], MOST_RAD_S2)
        for axis, one in zip(self._axes, push.tolist(), strict=True):
            if axis.known:
                axis.predict(one)
        for k, joint in enumerate(self._joints):
            if joint.known:
                joint.predict(float(bends[k]) if self._bends[k] else -20.0 * joint.speed_m_s)

    def _correct(self):
        """Take what was read in this tick; is everything known?"""
        known = all(angle.known for angle in self._angles)
        for k, (axis, place) in enumerate(zip(self._axes, self._places, strict=True)):
            if self._fresh(place):
                self._take(axis, -self._board.reading(place) if k == 2 else self._board.reading(place))
            known = known and axis.known
        for joint, sensor in zip(self._joints, self._coordinates, strict=True):
            if self._fresh(sensor):
                self._take(joint, self._board.reading(sensor))
            known = known and joint.known and self._board.age[sensor] < self._lost
        return known

    def _gather(self):
        roll, pitch, yaw = self._angles
        self.turn = euler_turn(roll.angle_rad, pitch.angle_rad, yaw.angle_rad)
        self.place[:] = [axis.place_m for axis in self._axes]
        self.velocity[:3] = self.turn.T @ [axis.speed_m_s for axis in self._axes]
        cr, sr, cp, sp = (f(a.angle_rad) for a in (roll, pitch) for f in (math.cos, math.sin))
        a, b, c = roll.rate_rad_s, pitch.rate_rad_s, yaw.rate_rad_s
        self.velocity[3:] = a - c * sp, b * cr + c * cp * sr, c * cp * cr - b * sr
        self.q[:] = [joint.place_m for joint in self._joints]
        self.qd[:] = [joint.speed_m_s for joint in self._joints]

    def _tell(self, estimate):
        innovations = self._innovations() if self.known else (None,) * 4
        estimate.x_nis, estimate.y_nis, estimate.depth_nis, estimate.heading_nis = innovations
        if not self.known:
            return
        estimate.roll_rad, estimate.pitch_rad, estimate.heading_rad = self._attitude()
        estimate.x_m, estimate.y_m, estimate.depth_m = (
            float(v) for v in (self.place[0], self.place[1], -self.place[2])
        )
        estimate.speed_m_s, estimate.sway_m_s, estimate.heave_m_s = self.velocity[:3].tolist()
        estimate.roll_rate_rad_s, estimate.pitch_rate_rad_s, estimate.turn_rate_rad_s = self.velocity[
            3:
        ].tolist()

    def _innovations(self):
        return *(axis.nis for axis in self._axes), self._angles[2].nis

    def _attitude(self):
        return [angle.angle_rad for angle in self._angles]

    def _fresh(self, index):
        return index is not None and self._board.age[index] == 0

    def _reading(self, index):
        return None if index is None else self._board.reading(index)

    @staticmethod
    def _take(filter, value):
        if filter.known:
            filter.correct(value)
        else:
            filter.start(value)


def bounded(accelerations, most):
    return np.clip(np.nan_to_num(accelerations), -most, most)
