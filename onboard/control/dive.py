"""Depth held with one servo that pitches the vehicle or lifts it: a tail that pitches, fins on a shaft. Portable.

    angle = direction (PID of the depth error, on the depth's own rate + pitch_gain x pitch)

A positive error is too shallow. Without a depth reading the servo stays where it is told last.
"""

from hal.fixed import fixed
from onboard.control.pid import Pid

RATE_S = 0.25  # the depth's rate is smoothed over this: a pressure sensor counts in millimetres


class Dive:
    def __init__(self, settings, board, depth_m, rate_hz):
        self._actuator = board.actuator(settings["actuator"])
        self._direction = settings["direction"]
        self._pitch_gain = settings["pitch_gain"]
        self._pid = Pid(
            settings["kp_rad_per_m"],
            settings["ki_rad_per_m_s"],
            settings["kd_rad_s_per_m"],
            settings["limit_rad"],
            rate_hz,
        )
        self._smooth = 1 / (1 + RATE_S * rate_hz)
        self._rate_hz = rate_hz
        self._first_m = depth_m  # asked for from the start, or None
        self._seen_m = None  # the depth, smoothed
        self._rate_m_s = 0.0

    def step(self, state):
        depth_m = state.estimate.depth_m
        if depth_m is None:
            return
        if self._seen_m is None:
            self._seen_m = depth_m
        if state.want.depth_m is None:
            state.want.depth_m = depth_m if self._first_m is None else self._first_m
        before_m = self._seen_m
        self._seen_m += (depth_m - before_m) * self._smooth
        self._rate_m_s += ((self._seen_m - before_m) * self._rate_hz - self._rate_m_s) * self._smooth
        lean = self._pitch_gain * (state.estimate.pitch_rad or 0.0)
        angle_rad = self._pid.step(state.want.depth_m - self._seen_m, self._rate_m_s, lean)
        state.commands[self._actuator] = fixed(self._direction * angle_rad)
