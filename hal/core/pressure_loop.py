"""A valve with pressure feedback: the open-loop current, corrected by an integer PI. Portable.

A valve opens some milliamperes off its data sheet, and closes at another current than it opens. The map gives nearly
the right current at once; the loop corrects the rest. Only integers after the start, so that every runtime gives the
same microamperes. Commands above 65 kPa exceed 2**30 counts: on boards with words of 4 bytes they take heap, here
and where the command is made.
"""

from caudal.hal.core.fixed_point import BITS, ONE, Q20_BITS, Gain
from caudal.hal.core.maps import ValveMap, clamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.maps import SensorMap

_EXTRA = 8  # bits of the sum below a microampere; without them it would stop at a small error
_HALF = 1 << (_EXTRA - 1)


class PressureMap(ValveMap):
    """kp in uA/Pa, ki in uA/(Pa s); both together change the current by at most trim_ua."""

    def __init__(
        self,
        cracking_current_ua: int,
        ua_per_pa: float,
        high_ua: int,
        kp: float,
        ki: float,
        trim_ua: int,
        rate_hz: int,
    ) -> None:
        super().__init__(cracking_current_ua, ua_per_pa, high_ua)
        self._kp = Gain(kp)
        self._ki = Gain(ki / rate_hz * (1 << _EXTRA))
        self._trim_ua = trim_ua
        self._sum = 0
        self._active = False
        self._measured_pa: int | None = None

    def follow(self, sensor: "SensorMap", count: "int | None") -> None:
        """Takes the pressure before the command of a tick; after a tick without a command the sum restarts at 0."""
        if not self._active:
            self._sum = 0
        self._active = False
        if count is None:
            self._measured_pa = None
        else:
            self._measured_pa = (sensor.to_q20(count) + (1 << (Q20_BITS - 1))) >> Q20_BITS

    def to_device(self, pressure: int) -> int:
        """Current of a pressure, corrected by the loop."""
        if pressure <= 0:
            self._sum = 0
            return 0
        self._active = True
        current_ua = super().to_device(pressure)
        if self._measured_pa is None:
            return current_ua
        error_pa = ((pressure + ONE // 2) >> BITS) - self._measured_pa
        low_ua = max(current_ua - self._trim_ua, 0)
        high_ua = min(current_ua + self._trim_ua, self._high_ua)
        most = self._trim_ua << _EXTRA
        total = clamp(self._sum + self._ki.apply(error_pa), -most, most)
        current_ua += self._kp.apply(error_pa)
        # The sum changes only where that does not push further into a limit.
        command_ua = current_ua + ((total + _HALF) >> _EXTRA)
        if low_ua <= command_ua <= high_ua or (command_ua > high_ua) != (total > self._sum):
            self._sum = total
        return clamp(current_ua + ((self._sum + _HALF) >> _EXTRA), low_ua, high_ua)
