"""Pressures for a wanted shape.

The chambers are told the pressures at which a joint without load would rest with the wanted bend, and the least of the
three is ease_pa, so that it is not slack. That is all: as a loop round the bend, pressures are too slow and too weak
for modules that swing in water (a spring of 1 N m/rad against 30 kg m2), and only add their lag. A chamber that does
not follow (it was found so, state.not_following, or stays off what it is told) is taken as it is: the other two then
press so much more, or less, that the joint rests the same. Where two do not, the third brings it as near as one can.
"""

import math


class Posture:
    def __init__(self, chambers, settings, most_pa, rate_hz):
        self._chambers = chambers
        self._ease_pa, self._most_pa = settings["ease_pa"], most_pa
        self._stuck_pa, self._stuck_ticks = settings["stuck_pa"], round(settings["stuck_s"] * rate_hz)
        self._off_ticks = [0] * (3 * len(chambers))
        self._lost = [False] * (3 * len(chambers))

    def stuck(self, k):
        return self._lost[k] or self._off_ticks[k] > self._stuck_ticks

    def pressures(self, wanted, told, seen, lost):
        """Pa, three a joint, for bend vectors; `told` and `seen`: what chambers were told last, and what they have;
        `lost`: which are known not to follow."""
        self._lost = lost
        for k, pressure in enumerate(told):
            self._off_ticks[k] = self._off_ticks[k] + 1 if abs(pressure - seen[k]) > self._stuck_pa else 0
        out = []
        for k, chambers in enumerate(self._chambers):
            asked = chambers.pressures_for(wanted[2 * k], wanted[2 * k + 1], self._ease_pa)
            out += self._around(k, chambers.soft["at_deg"], asked, seen)
        return out

    def _around(self, joint, at_deg, asked, seen):
        """The same pull with what can be had; equal pressures more in all three bend nothing."""
        stuck = [self.stuck(3 * joint + k) for k in range(3)]
        more = [0.0] * 3
        if sum(stuck) == 1:
            k = stuck.index(True)
            more = [seen[3 * joint + k] - asked[k]] * 3
        elif sum(stuck) == 2:
            free = stuck.index(False)
            for k in range(3):
                if stuck[k]:  # its lack of pull, as far as the free one's way goes
                    way = math.cos(math.radians(at_deg[k] - at_deg[free]))
                    more[free] += (asked[k] - seen[3 * joint + k]) * way
        return [min(max(a + m, 0.0), self._most_pa) for a, m in zip(asked, more, strict=True)]
