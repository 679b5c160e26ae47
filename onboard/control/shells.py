"""Roll held by turning the shells round a swimming body.

Shells are reaction wheels: turned one way, they push the body the other way, and round ones do it as well as lobed
ones. A shell whose angle is the integral of the roll, phi, pushes with -I phi', which is damping at every
frequency (`damp_per_s`; it leaks, so that it does not wind up). The published law, angle = -k phi',
is the same at one frequency, but grows without bound with it: behind a servo's lag it is unstable unless k is
small (`rate_s`). Lobes add a slow hand: a turned shell dips one in on one side, which holds the body level against
a lasting torque (`trim_per_s`). Portable; floats.
"""

from hal.fixed import fixed
from hal.maps import clamp

LASTING_S = 2.0  # a roll that lasts longer is trimmed, not damped


class Shells:
    def __init__(self, settings, board, rate_hz):
        self._joints = [board.actuator(name) for name in settings["joints"]]
        self._rate_s = settings["rate_s"]
        self._damp_per_tick = settings["damp_per_s"] / rate_hz
        self._keep = 1 - 1 / (settings["leak_s"] * rate_hz)
        self._trim_per_tick = settings["trim_per_s"] / rate_hz
        self._limit_rad = settings["limit_rad"]
        self._trim_limit_rad = settings["trim_limit_rad"]
        self._level_rad = settings["level_deg"] * 0.017453292519943295
        self._settle = 1 / (LASTING_S * rate_hz)
        self._lasting_rad = 0.0
        self.damp_rad = 0.0
        self.trim_rad = 0.0

    def step(self, state):
        estimate = state.estimate
        angle_rad = 0.0
        if estimate.roll_rad is not None:
            off_rad = estimate.roll_rad - self._level_rad
            self._lasting_rad += (off_rad - self._lasting_rad) * self._settle
            damp_rad = self.damp_rad * self._keep + self._damp_per_tick * (off_rad - self._lasting_rad)
            self.damp_rad = clamp(damp_rad, -self._limit_rad, self._limit_rad)
            trim_rad = self.trim_rad - self._trim_per_tick * off_rad
            self.trim_rad = clamp(trim_rad, -self._trim_limit_rad, self._trim_limit_rad)
            angle_rad = self.damp_rad + self.trim_rad
        if estimate.roll_rate_rad_s is not None:
            angle_rad -= self._rate_s * estimate.roll_rate_rad_s
        command = fixed(clamp(angle_rad, -self._limit_rad, self._limit_rad))
        for joint in self._joints:
            state.commands[joint] = command
