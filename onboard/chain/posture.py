"""Chamber pressures for a desired shape.

The set-points are the pressures at which a joint without load rests with the desired bend; the lowest of the three is
ease_pa, so that the joint is not slack. There is no feedback of the bend: pressures are too slow and too weak for
modules that swing in water (a spring of 1 N m/rad against 30 kg m2), and would only add their lag. A chamber that does
not follow (marked so in state.not_following, or away from its set-point for long) is taken as it is: the other two
then get so much more, or less, that the joint rests the same. Where two do not follow, the third comes as near as one
can.
"""

import math
from collections.abc import Sequence

from caudal.onboard.chain.chamber import Chambers
from caudal.onboard.tables.chain import PostureTable


class Posture:
    """Pressure set-points of all chambers, and which of them do not follow."""

    def __init__(
        self, chambers: Sequence[Chambers], table: PostureTable, most_pa: float, rate_hz: int
    ) -> None:
        self._chambers = chambers
        self._ease_pa, self._most_pa = table.ease_pa, most_pa
        self._stuck_pa, self._stuck_ticks = table.stuck_pa, round(table.stuck_s * rate_hz)
        self._off_ticks = [0] * (3 * len(chambers))
        self._lost: Sequence[bool] = [False] * (3 * len(chambers))

    def stuck(self, k: int) -> bool:
        """Whether chamber k does not follow."""
        return self._lost[k] or self._off_ticks[k] > self._stuck_ticks

    def pressures(
        self,
        desired: Sequence[float],
        commanded: Sequence[float],
        measured: Sequence[float],
        lost: Sequence[bool],
    ) -> list[float]:
        """Set-points (Pa), three a joint, for bend vectors; `commanded` and `measured`: the chambers' last set-points
        and pressures (Pa); `lost`: which are marked as not following."""
        self._lost = lost
        for k, pressure in enumerate(commanded):
            off = abs(pressure - measured[k]) > self._stuck_pa
            self._off_ticks[k] = self._off_ticks[k] + 1 if off else 0
        out = []
        for k, chambers in enumerate(self._chambers):
            wanted = chambers.pressures_for(desired[2 * k], desired[2 * k + 1], self._ease_pa)
            out += self._compensated(k, chambers.at_deg, wanted, measured)
        return out

    def _compensated(
        self, joint: int, at_deg: Sequence[float], wanted: Sequence[float], measured: Sequence[float]
    ) -> list[float]:
        """The same pull with the chambers that follow; the same pressure more in all three bends nothing."""
        stuck = [self.stuck(3 * joint + k) for k in range(3)]
        more = [0.0] * 3
        if sum(stuck) == 1:
            k = stuck.index(True)
            more = [measured[3 * joint + k] - wanted[k]] * 3
        elif sum(stuck) == 2:
            free = stuck.index(False)
            for k in range(3):
                if stuck[k]:  # its lack of pull, along the free one's direction
                    along = math.cos(math.radians(at_deg[k] - at_deg[free]))
                    more[free] += (wanted[k] - measured[3 * joint + k]) * along
        return [min(max(w + m, 0.0), self._most_pa) for w, m in zip(wanted, more, strict=True)]
