"""A valve whose pressure is measured: the open-loop current, trimmed by an integer PI. Portable.

A valve opens some milliamperes off its data sheet and closes later than it opened; what the map knows of it gives
the current that is nearly right at once, and the loop adds or takes away what is missing. Nothing here is a float
after the start, so that every runtime gives the same microamperes. Pressures above 65 kPa are more than 2**30 counts
of a command: on boards with words of 4 bytes they take heap, here as in whatever made the command.
"""

from caudal.hal.core.fixed_point import BITS, ONE, Q20_BITS, Gain
from caudal.hal.core.maps import ValveMap, clamp

_EXTRA = 8  # bits that the sum keeps below a microampere, or it would stall short of a small error
_HALF = 1 << (_EXTRA - 1)


class PressureMap(ValveMap):
    """kp in uA a Pa, ki in uA a Pa and second; both together never trim by more than trim_ua."""

    def __init__(self, crack_ua, ua_per_pa, high_ua, kp, ki, trim_ua, rate_hz):
        super().__init__(crack_ua, ua_per_pa, high_ua)
        self._kp = Gain(kp)
        self._ki = Gain(ki / rate_hz * (1 << _EXTRA))
        self._trim_ua = trim_ua
        self._sum = 0
        self._asked = False
        self._measured_pa = None

    def follow(self, sensor, count):
        """Once a tick, before the command. A tick that asked for nothing, whoever put it off, begins afresh."""
        if not self._asked:
            self._sum = 0
        self._asked = False
        if count is None:
            self._measured_pa = None
        else:
            self._measured_pa = (sensor.to_q20(count) + (1 << (Q20_BITS - 1))) >> Q20_BITS

    def to_device(self, pressure):
        if pressure <= 0:
            self._sum = 0
            return 0
        self._asked = True
        current_ua = super().to_device(pressure)
        if self._measured_pa is None:
            return current_ua
        error_pa = ((pressure + ONE // 2) >> BITS) - self._measured_pa
        low_ua = max(current_ua - self._trim_ua, 0)
        high_ua = min(current_ua + self._trim_ua, self._high_ua)
        most = self._trim_ua << _EXTRA
        total = clamp(self._sum + self._ki.apply(error_pa), -most, most)
        current_ua += self._kp.apply(error_pa)
        # The sum only moves where it does not push further into a limit.
        asked_ua = current_ua + ((total + _HALF) >> _EXTRA)
        if low_ua <= asked_ua <= high_ua or (asked_ua > high_ua) != (total > self._sum):
            self._sum = total
        return clamp(current_ua + ((self._sum + _HALF) >> _EXTRA), low_ua, high_ua)
