"""The head held level and pointing while the body behind it undulates, with the neck's joints.

The inertial unit sits in the head. What the neck's end does is the head's motion less the joint's own, and the
joint is sent where that will be when the servo gets there: the neck's angle and rate, `lead_s` ahead. Portable;
integers in 2**-20 rad and rad/s, so that a tick allocates nothing.
"""

from caudal.hal.core.fixed_point import BITS, Q20_BITS, Gain, q20_to_q14, to_q20
from caudal.hal.core.maps import clamp

_TURN = 6588397  # once round
_HALF_TURN = _TURN // 2


class Gaze:
    """One axis of it. `sign` is +1 where a positive joint angle turns the head the positive way."""

    def __init__(self, board, name, sign, lead_s, lag_s, limit_rad, rate_hz):
        self._joint = board.actuator(name)
        self._sign = sign
        self._lead = Gain(lead_s)
        self._limit = to_q20(limit_rad)
        self._keep = Gain(lag_s * rate_hz / (1 + lag_s * rate_hz))
        self._rate_hz = rate_hz
        self._is = 0  # where the servo is by now, as far as its lag tells
        self._neck_rate = 0

    def step(self, commands, head, head_rate, goal):
        told = commands[self._joint] << (Q20_BITS - BITS)
        before = self._is
        self._is = told + self._keep.apply(before - told)
        joint_rate = (self._is - before) * self._rate_hz
        if head is None or head_rate is None:
            return
        off = (head - goal + _HALF_TURN) % _TURN - _HALF_TURN  # the short way round
        neck = off - self._sign * self._is
        neck_rate = head_rate - self._sign * joint_rate
        self._neck_rate += (neck_rate - self._neck_rate) >> 1
        ahead = neck + self._lead.apply(self._neck_rate)
        commands[self._joint] = q20_to_q14(clamp(-self._sign * ahead, -self._limit, self._limit))


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
        self._heading = None
        if settings["heading_deg"] is not None:
            self._heading = to_q20(settings["heading_deg"] * 0.017453292519943295)

    def step(self, state):
        estimate = state.estimate
        heading = estimate.q20("heading_rad")
        if self._heading is None:
            self._heading = heading
        if self._yaw and self._heading is not None:
            self._yaw.step(state.commands, heading, estimate.q20("turn_rate_rad_s"), self._heading)
        if self._pitch:
            self._pitch.step(state.commands, estimate.q20("pitch_rad"), estimate.q20("pitch_rate_rad_s"), 0)
