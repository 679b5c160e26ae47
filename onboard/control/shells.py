"""Roll control of an undulating body by turning the shells around it.

Shells are reaction wheels: turned one way, they turn the body the other way, whether round or lobed. A shell whose
angle is the integral of the roll, phi, gives the moment -I phi', which is damping at every frequency (`damp_per_s`; the
integral leaks, so that it does not wind up). The published control law, angle = -k phi', gives the same at one
frequency, but grows without bound with frequency: behind a servo's lag it is unstable unless k is small (`rate_s`).
Lobes also act slowly: a turned shell dips one lobe in on one side, which holds the body level against a lasting moment
(`trim_per_s`). Portable; integers in 2**-20 rad, so that a tick allocates nothing.
"""

from caudal.hal.core.fixed_point import Q20_BITS, Gain, q20_to_q14, to_q20
from caudal.hal.core.maps import clamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.stack import ShellTable

LASTING_S = 2.0  # a roll that lasts longer is trimmed, not damped
_EXTRA = 8  # bits that the slow mean keeps below its unit, or it would stall short of a small roll


class Shells:
    """Commands one angle to all shells: damping plus trim, less rate_s times the roll rate."""

    def __init__(self, table: "ShellTable", board: "Board", rate_hz: int) -> None:
        self._joints = [board.actuator(name) for name in table.joints]
        self._rate = Gain(table.rate_s)
        self._damp = Gain(table.damp_per_s / rate_hz)
        self._leak = Gain(1 / (table.leak_s * rate_hz))
        self._trim = Gain(table.trim_per_s / rate_hz)
        self._limit = to_q20(table.limit_rad)
        self._trim_limit = to_q20(table.trim_limit_rad)
        self._level = to_q20(table.level_deg * 0.017453292519943295)
        self._settle_ticks = int(LASTING_S * rate_hz + 0.5)
        self._lasting = 0  # slow mean of the error, with its extra bits
        self._damping = 0
        self._trimming = 0

    @property
    def damp_rad(self) -> float:
        """The share of the angle that damps."""
        return self._damping / (1 << Q20_BITS)

    @property
    def trim_rad(self) -> float:
        """The share of the angle that trims."""
        return self._trimming / (1 << Q20_BITS)

    def step(self, state: "State") -> None:
        """One tick: commands the shells."""
        roll = state.estimate.q20("roll_rad")
        rate = state.estimate.q20("roll_rate_rad_s")
        angle = 0
        if roll is not None:
            error = roll - self._level
            self._lasting += ((error << _EXTRA) - self._lasting) // self._settle_ticks
            quick = error - (self._lasting >> _EXTRA)
            damping = self._damping - self._leak.apply(self._damping) + self._damp.apply(quick)
            self._damping = clamp(damping, -self._limit, self._limit)
            trimming = self._trimming - self._trim.apply(error)
            self._trimming = clamp(trimming, -self._trim_limit, self._trim_limit)
            angle = self._damping + self._trimming
        if rate is not None:
            angle -= self._rate.apply(rate)
        angle = clamp(angle, -self._limit, self._limit)
        command = q20_to_q14(angle)
        for joint in self._joints:
            state.commands[joint] = command
