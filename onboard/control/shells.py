"""Roll held by turning the shells round a swimming body.

Shells are reaction wheels: turned one way, they push the body the other way, and round ones do it as well as lobed
ones. A shell whose angle is the integral of the roll, phi, pushes with -I phi', which is damping at every
frequency (`damp_per_s`; it leaks, so that it does not wind up). The published law, angle = -k phi',
is the same at one frequency, but grows without bound with it: behind a servo's lag it is unstable unless k is
small (`rate_s`). Lobes add a slow hand: a turned shell dips one in on one side, which holds the body level against
a lasting torque (`trim_per_s`). Portable; integers in 2**-20 rad, so that a tick allocates nothing.
"""

from caudal.hal.core.fixed_point import Q20_BITS, Gain, q20_to_q14, to_q20
from caudal.hal.core.maps import clamp

LASTING_S = 2.0  # a roll that lasts longer is trimmed, not damped
_EXTRA = 8  # bits that the slow mean keeps below its unit, or it would stall short of a small roll


class Shells:
    def __init__(self, settings, board, rate_hz):
        self._joints = [board.actuator(name) for name in settings["joints"]]
        self._rate = Gain(settings["rate_s"])
        self._damp = Gain(settings["damp_per_s"] / rate_hz)
        self._leak = Gain(1 / (settings["leak_s"] * rate_hz))
        self._trim = Gain(settings["trim_per_s"] / rate_hz)
        self._limit = to_q20(settings["limit_rad"])
        self._trim_limit = to_q20(settings["trim_limit_rad"])
        self._level = to_q20(settings["level_deg"] * 0.017453292519943295)
        self._settle_ticks = int(LASTING_S * rate_hz + 0.5)
        self._lasting = 0  # with its extra bits
        self._damping = 0
        self._trimming = 0

    @property
    def damp_rad(self):
        return self._damping / (1 << Q20_BITS)

    @property
    def trim_rad(self):
        return self._trimming / (1 << Q20_BITS)

    def step(self, state):
        roll = state.estimate.q20("roll_rad")
        rate = state.estimate.q20("roll_rate_rad_s")
        angle = 0
        if roll is not None:
            off = roll - self._level
            self._lasting += ((off << _EXTRA) - self._lasting) // self._settle_ticks
            quick = off - (self._lasting >> _EXTRA)
            damping = self._damping - self._leak.apply(self._damping) + self._damp.apply(quick)
            self._damping = clamp(damping, -self._limit, self._limit)
            self._trimming = clamp(
                self._trimming - self._trim.apply(off), -self._trim_limit, self._trim_limit
            )
            angle = self._damping + self._trimming
        if rate is not None:
            angle -= self._rate.apply(rate)
        angle = clamp(angle, -self._limit, self._limit)
        command = q20_to_q14(angle)
        for joint in self._joints:
            state.commands[joint] = command
