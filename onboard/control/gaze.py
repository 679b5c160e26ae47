"""The head held level and pointing while the body behind it undulates, with the neck's joints.

The inertial unit sits in the head. What the neck's end does is the head's motion less the joint's own, and the
joint is sent where that will be when the servo gets there: the neck's angle and rate, `lead_s` ahead. Portable.
"""

from hal.fixed import ONE, fixed
from hal.maps import clamp
from onboard.estimate.planar import wrap


class Gaze:
    """One axis of it. `sign` is +1 where a positive joint angle turns the head the positive way."""

    def __init__(self, board, name, sign, lead_s, lag_s, limit_rad, rate_hz):
        self._joint = board.actuator(name)
        self._sign = sign
        self._lead_s = lead_s
        self._limit_rad = limit_rad
        self._keep = lag_s * rate_hz / (1 + lag_s * rate_hz)
        self._rate_hz = rate_hz
        self._joint_rad = 0.0  # where the servo is by now, as far as its lag tells
        self._neck_rate_rad_s = 0.0

    def step(self, commands, head_rad, head_rate_rad_s, goal_rad):
        told_rad = commands[self._joint] / ONE
        before_rad = self._joint_rad
        self._joint_rad = told_rad + (before_rad - told_rad) * self._keep
        joint_rate_rad_s = (self._joint_rad - before_rad) * self._rate_hz
        if head_rad is None or head_rate_rad_s is None:
            return
        neck_rad = wrap(head_rad - goal_rad) - self._sign * self._joint_rad
        neck_rate_rad_s = head_rate_rad_s - self._sign * joint_rate_rad_s
        self._neck_rate_rad_s += 0.5 * (neck_rate_rad_s - self._neck_rate_rad_s)
        ahead_rad = neck_rad + self._neck_rate_rad_s * self._lead_s
        commands[self._joint] = fixed(clamp(-self._sign * ahead_rad, -self._limit_rad, self._limit_rad))


class GazeHold:
    """Both axes: the heading it had when it was armed, or one that is given, and level."""

    def __init__(self, settings, board, rate_hz):
        lead_s, lag_s, limit_rad = settings["lead_s"], settings["lag_s"], settings["limit_rad"]
        self._yaw = self._pitch = None
        if settings["yaw"]:
            self._yaw = Gaze(board, settings["yaw"], settings["yaw_sign"], lead_s, lag_s, limit_rad, rate_hz)
        if settings["pitch"]:
            self._pitch = Gaze(
                board, settings["pitch"], settings["pitch_sign"], lead_s, lag_s, limit_rad, rate_hz
            )
        self._heading_rad = settings["heading_deg"]
        if self._heading_rad is not None:
            self._heading_rad *= 0.017453292519943295

    def step(self, state):
        estimate = state.estimate
        if self._heading_rad is None:
            self._heading_rad = estimate.heading_rad
        if self._yaw and self._heading_rad is not None:
            self._yaw.step(state.commands, estimate.heading_rad, estimate.turn_rate_rad_s, self._heading_rad)
        if self._pitch:
            self._pitch.step(state.commands, estimate.pitch_rad, estimate.pitch_rate_rad_s, 0.0)
