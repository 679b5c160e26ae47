"""Pose control by a wrench: PID in the base frame, with the model's feed-forward. Portable; floats.

    a = a_ref + kp e + ki sum e + kd (v_ref - v)
    wrench = M a + C(v_ref) v_ref + D v_ref + Q |v_ref| v_ref + g

e is the pose error in the level base frame; the setpoints of roll and pitch are mostly 0. Gains are per unit of
inertia: kp in 1/s2 is the square of the loop's bandwidth, whatever the vehicle's mass. The integrals do not grow while
the thrusters saturate. Without an estimate or a setpoint all commands are 0, and a thruster that does not follow its
commands is left out of the allocation.
"""

import math

from caudal.hal.core.fixed_point import ONE, to_q14_or_none
from caudal.onboard.control.allocation import Allocation
from caudal.onboard.control.matrix import times
from caudal.onboard.control.motion import RigidBodyModel
from caudal.onboard.core.angles import wrap
from caudal.onboard.core.modes import SURFACE
from caudal.onboard.core.state import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import Setpoint, State
    from caudal.onboard.tables.thrusters import Wrench


class PoseControl:
    """Controller of a vehicle that holds any pose; vectors are surge, sway, heave, roll, pitch, yaw."""

    def __init__(self, control: "Wrench", board: "Board", rate_hz: int) -> None:
        self._model = RigidBodyModel(control.model)
        self._feed_forward = control.feed_forward
        gains = control.gains
        axes = (gains.surge, gains.sway, gains.heave, gains.roll, gains.pitch, gains.yaw)
        self._kp = [axis.kp for axis in axes]
        self._ki = [axis.ki for axis in axes]
        self._kd = [axis.kd for axis in axes]
        self._sum_limit = [axis.integral_limit for axis in axes]
        self._dt = 1 / rate_hz
        self._channels = [board.actuator(thruster.name) for thruster in control.thruster]
        self.allocation = Allocation(
            control.thruster,
            [board.actuators[i].low / ONE for i in self._channels],
            [board.actuators[i].high / ONE for i in self._channels],
        )
        self._sum = [0.0] * 6
        self._error = [0.0] * 6
        self._v_ref = [0.0] * 6
        self._a = [0.0] * 6
        self.wrench = [0.0] * 6
        self._load = [0.0] * 6

    def reset(self) -> None:
        """Sets the integrals to zero."""
        for i in range(6):
            self._sum[i] = 0.0

    def step(self, state: "State") -> None:
        """One tick: commands the thrusters."""
        e, setpoint = state.estimate, state.setpoint
        pose = known(e.x_m, e.y_m, e.depth_m, e.roll_rad, e.pitch_rad, e.heading_rad)
        v = known(
            e.speed_m_s, e.sway_m_s, e.heave_m_s, e.roll_rate_rad_s, e.pitch_rate_rad_s, e.turn_rate_rad_s
        )
        target = known(setpoint.x_m, setpoint.y_m, setpoint.depth_m, setpoint.heading_rad)
        if pose is None or v is None or target is None:
            for i in self._channels:
                state.commands[i] = 0
            return
        self._drop(state.not_following)
        self._compare(pose, v, target, setpoint)
        if (
            not state.commands_applied or state.mode == SURFACE
        ):  # the errors are not of this controller's making
            self.reset()
        self._set_wrench(v, pose[3], pose[4])
        self.allocation.forces(self.wrench)
        for k in range(len(self._channels)):
            state.commands[self._channels[k]] = to_q14_or_none(self.allocation.force[k])

    def _drop(self, not_following: list[bool]) -> None:
        """Allocates without the thrusters that do not follow."""
        for k in range(len(self._channels)):
            if not_following[self._channels[k]] != self.allocation.dropped[k]:
                self.allocation.drop([not_following[i] for i in self._channels])
                return

    def _compare(self, pose: list[float], v: list[float], target: list[float], setpoint: "Setpoint") -> None:
        """Sets the errors, the reference velocity and the reference acceleration, in the level base frame."""
        x_m, y_m, depth_m, roll_rad, pitch_rad, heading_rad = pose
        c = math.cos(heading_rad)
        s = math.sin(heading_rad)
        error, v_ref, a = self._error, self._v_ref, self._a
        dx = target[0] - x_m
        dy = target[1] - y_m
        error[0] = c * dx + s * dy
        error[1] = c * dy - s * dx
        error[2] = depth_m - target[2]
        error[3] = setpoint.roll_rad - roll_rad
        error[4] = setpoint.pitch_rad - pitch_rad
        error[5] = wrap(target[3] - heading_rad)
        rate = setpoint.pose_rate
        v_ref[0] = c * rate[0] + s * rate[1]
        v_ref[1] = c * rate[1] - s * rate[0]
        v_ref[2] = -rate[2]
        v_ref[5] = rate[3]
        acceleration = setpoint.pose_acceleration
        turn = v[5]
        a[0] = c * acceleration[0] + s * acceleration[1] + turn * v_ref[1]
        a[1] = c * acceleration[1] - s * acceleration[0] - turn * v_ref[0]
        a[2] = -acceleration[2]
        a[3] = a[4] = 0.0
        a[5] = acceleration[3]

    def _set_wrench(self, v: list[float], roll_rad: float, pitch_rad: float) -> None:
        """The wrench of the two equations above."""
        a, error = self._a, self._error
        saturated = self.allocation.share < 1.0
        for i in range(6):
            if not self._feed_forward:
                a[i] = 0.0
            if not (saturated and self._sum[i] * error[i] > 0):
                most = self._sum_limit[i]
                self._sum[i] = min(max(self._sum[i] + self._ki[i] * error[i] * self._dt, -most), most)
            a[i] += self._kp[i] * error[i] + self._sum[i] + self._kd[i] * (self._v_ref[i] - v[i])
        times(self._model.inertia, a, self.wrench)
        if self._feed_forward:
            self._model.load(self._v_ref, roll_rad, pitch_rad, self._load)
            for i in range(6):
                self.wrench[i] += self._load[i]
