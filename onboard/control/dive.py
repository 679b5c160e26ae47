"""Depth held with one servo that pitches the vehicle or lifts it: a tail that pitches, fins on a shaft.

    angle = direction (PID of the depth error, on the depth's own rate + pitch_gain x pitch)

A positive error is too shallow. Without a depth reading the servo stays where it is told last. Portable; integers in
2**-20 m, m/s and rad, so that a step allocates nothing.
"""

from caudal.hal.core.fixed_point import Gain, q20_to_q14, to_q20_or_none
from caudal.onboard.control.pid import Q20Pid

RATE_S = 0.25  # the depth's rate is smoothed over this: a pressure sensor counts in millimetres


class Dive:
    def __init__(self, settings, board, depth_m, rate_hz):
        self._actuator = board.actuator(settings["actuator"])
        self._direction = settings["direction"]
        self._pitch_gain = Gain(settings["pitch_gain"])
        self._pid = Q20Pid(
            settings["kp_rad_per_m"],
            settings["ki_rad_per_m_s"],
            settings["kd_rad_s_per_m"],
            settings["limit_rad"],
            rate_hz,
        )
        self._smooth = Gain(1 / (1 + RATE_S * rate_hz))
        self._rate_hz = rate_hz
        self._first_m = depth_m  # asked for from the start, or None
        self._seen = None  # the depth, smoothed
        self._rate = 0

    def step(self, state):
        depth = state.estimate.q20("depth_m")
        if depth is None:
            return
        if self._seen is None:
            self._seen = depth
        want = state.setpoint
        if want.depth_m is None:
            want.depth_m = state.estimate.depth_m if self._first_m is None else self._first_m
        if want.depth_q20 is None:
            want.depth_q20 = to_q20_or_none(want.depth_m)
        target = want.depth_q20
        if target is None:  # the depth set-point is not a number
            return
        before = self._seen
        self._seen += self._smooth.apply(depth - before)
        self._rate += self._smooth.apply((self._seen - before) * self._rate_hz - self._rate)
        pitch = state.estimate.q20("pitch_rad")
        lean = 0 if pitch is None else self._pitch_gain.apply(pitch)
        angle = self._pid.step(target - self._seen, self._rate, lean)
        state.commands[self._actuator] = self._direction * q20_to_q14(angle)
