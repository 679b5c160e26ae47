"""A pose and its motion, held with a wrench: PID in the base frame on top of what the model asks for. Portable.

    a = a_ref + kp e + ki sum e + kd (v_ref - v)
    wrench = M a + C(v) v + D v_ref + g

e is the way to the wanted pose in the level base frame; roll and pitch are held at what is wanted, mostly 0. Gains are
per unit of inertia: kp in 1/s2 is the square of how fast the loop answers, whatever the vehicle weighs. The sums stop
growing while the thrusters cannot give what is asked. Without an estimate it asks for no force, and of a thruster that
does not follow never.
"""

import math

from caudal.hal.core.fixed_point import ONE, to_q14_or_none
from caudal.onboard.control.allocation import Allocation
from caudal.onboard.control.matrix import times
from caudal.onboard.control.motion import Motion
from caudal.onboard.core.angles import wrap
from caudal.onboard.core.modes import SURFACE

AXES = ("surge", "sway", "heave", "roll", "pitch", "yaw")


class PoseHold:
    def __init__(self, control, board, rate_hz):
        self._motion = Motion(control["model"])
        self._feed_forward = control["feed_forward"]
        self._gains = [control["gains"][axis] for axis in AXES]
        self._dt = 1 / rate_hz
        self._channels = [board.actuator(t["name"]) for t in control["thruster"]]
        self.allocation = Allocation(
            control["thruster"],
            [board.actuators[i].low / ONE for i in self._channels],
            [board.actuators[i].high / ONE for i in self._channels],
        )
        self._sum = [0.0] * 6
        self._error = [0.0] * 6
        self._want_v = [0.0] * 6
        self._v = [0.0] * 6
        self._a = [0.0] * 6
        self.wrench = [0.0] * 6
        self._load = [0.0] * 6

    def reset(self):
        for i in range(6):
            self._sum[i] = 0.0

    def step(self, state):
        estimate = state.estimate
        if estimate.x_m is None or estimate.heading_rad is None or state.setpoint.heading_rad is None:
            for i in self._channels:
                state.commands[i] = 0
            return
        self._drop(state.not_following)
        self._compare(estimate, state.setpoint)
        if not state.commands_applied or state.mode == SURFACE:  # nothing moves by it: nothing to learn from
            self.reset()
        self._ask(estimate)
        self.allocation.forces(self.wrench)
        for k in range(len(self._channels)):
            state.commands[self._channels[k]] = to_q14_or_none(self.allocation.force[k])

    def _drop(self, not_following):
        """Plan round thrusters that are found dead."""
        for k in range(len(self._channels)):
            if not_following[self._channels[k]] != self.allocation.dropped[k]:
                self.allocation.drop([not_following[i] for i in self._channels])
                return

    def _compare(self, estimate, want):
        """Errors, and both velocities, in the level base frame."""
        c = math.cos(estimate.heading_rad)
        s = math.sin(estimate.heading_rad)
        e, w, v, a = self._error, self._want_v, self._v, self._a
        dx = want.x_m - estimate.x_m
        dy = want.y_m - estimate.y_m
        e[0] = c * dx + s * dy
        e[1] = c * dy - s * dx
        e[2] = estimate.depth_m - want.depth_m
        e[3] = want.roll_rad - estimate.roll_rad
        e[4] = want.pitch_rad - estimate.pitch_rad
        e[5] = wrap(want.heading_rad - estimate.heading_rad)
        rate = want.pose_rate
        w[0] = c * rate[0] + s * rate[1]
        w[1] = c * rate[1] - s * rate[0]
        w[2] = -rate[2]
        w[5] = rate[3]
        v[0], v[1], v[2] = estimate.speed_m_s, estimate.sway_m_s, estimate.heave_m_s
        v[3], v[4], v[5] = estimate.roll_rate_rad_s, estimate.pitch_rate_rad_s, estimate.turn_rate_rad_s
        push = want.pose_acceleration
        turn = v[5]
        a[0] = c * push[0] + s * push[1] + turn * w[1]
        a[1] = c * push[1] - s * push[0] - turn * w[0]
        a[2] = -push[2]
        a[3] = a[4] = 0.0
        a[5] = push[3]

    def _ask(self, estimate):
        a, e = self._a, self._error
        saturated = self.allocation.share < 1.0
        for i in range(6):
            gain = self._gains[i]
            if not self._feed_forward:
                a[i] = 0.0
            if not (saturated and self._sum[i] * e[i] > 0):
                most = gain["sum_limit"]
                self._sum[i] = min(max(self._sum[i] + gain["ki"] * e[i] * self._dt, -most), most)
            a[i] += gain["kp"] * e[i] + self._sum[i] + gain["kd"] * (self._want_v[i] - self._v[i])
        times(self._motion.inertia, a, self.wrench)
        if self._feed_forward:
            self._motion.load(self._want_v, estimate.roll_rad, estimate.pitch_rad, self._load)
            for i in range(6):
                self.wrench[i] += self._load[i]
