"""Does an actuator follow, found anew: what the gate gave out against the counts of the sensor that hears it.

Shares nothing with onboard/core/actuator_monitor.py but the vehicle file and the rule (docs/faults.md, "The judge").
Integers there and floats here never agree to the last bit, so each number has a room that it may be off by, and all
that is counted is counted twice, at least and at most: an actuator must be marked, may be marked, or is not.
"""

import math
from typing import Any, Protocol

GONE, UNSURE, THERE = -1, 0, 1
UNKNOWN = 2  # nobody can know: nothing changes
UNITS = {"servo": "rad", "thruster": "n", "valve": "pa"}
BACK = 8  # ticks on target take back one that was off
TRUST = 4  # this part of found_s it has to follow, to be trusted again...
AWAY = 1.5  # ...so many times what is off from where it was stuck
CURVE = 0.25  # of its push: as well as a thruster's curve is known
ROUND = 0.5 / 1024  # of a lag's share, kept in ten bits
CUT = 2e-3  # of a step that is too large to be multiplied whole
GRAIN = 1 / 8192  # of a command, in its unit
NEAR = 0.01  # of what is off: a sensor's slope is kept in a few bits


class Heard(Protocol):
    rate_hz: int

    def fresh(self, sensor: str) -> float | None: ...
    def told(self, actuator: str) -> float | None: ...


class Following:
    """Of one actuator that somebody hears."""

    def __init__(self, channel: dict[str, Any], seen: Heard) -> None:
        self._seen, self._name, self._sensor = seen, channel["name"], channel["feedback"]
        self._limp = channel["map"] == "servo"  # while it is off: it stays anywhere
        self._turn_n_s2 = channel["turn_n_s2"] if channel["map"] == "thruster" else None
        self._share = 1 - math.exp(-1 / (seen.rate_hz * max(channel["lag_s"], 1e-4)))
        self._off = channel["off_" + UNITS[channel["map"]]]
        found = max(1, math.floor(channel["found_s"] * seen.rate_hz + 0.5))
        self._most, self._trust = found * BACK, max(found // TRUST, 1)
        self._should: float | None = None
        self._doubt = 0.0  # what `should` may be off by
        self._since = 0
        self._least = self._greatest = 0  # ticks off, times BACK
        self._must = self._may = False  # be marked
        self._stuck: tuple[float, float] | None = None  # between these, if it may be marked
        self._met_least = self._met_most = 0
        self._sure = False  # it was marked since it was last surely not
        self._freed: int | None = None  # what is counted at most since its mark may have gone

    def check(self) -> int:
        """Once, after each tick."""
        told, heard = self._seen.told(self._name), self._seen.fresh(self._sensor)
        if told is None and self._limp:
            self._should = None
        elif self._should is not None or heard is not None:
            if self._should is None:
                self._should, self._since, self._doubt = (0.0 if self._turn_n_s2 else heard), 0, 0.0
            pushes = None if heard is None else self._pushes(heard)
            self._lag(told or 0.0)
            if pushes is not None:
                self._judge(pushes)
                self._since = 0
        return THERE if self._must else UNSURE if self._may else GONE

    def _pushes(self, heard: float) -> list[float]:
        """What is heard, in the actuator's unit; two where turns, which have no sign, may be either way."""
        if not self._turn_n_s2:
            return [heard]
        ahead, back = (c * heard * heard for c in self._turn_n_s2)
        assert self._should is not None
        return [ahead, back] if abs(self._should) <= self._doubt else [ahead if self._should > 0 else back]

    def _lag(self, told: float) -> None:
        assert self._should is not None
        step = told - self._should
        self._should += step * self._share
        self._doubt += abs(step) * (ROUND + CUT * self._share) + GRAIN - self._doubt * self._share
        self._since += 1

    def _judge(self, heard: list[float]) -> None:
        room = self._doubt + NEAR * self._off
        gaps = [self._gap(one) for one in heard]
        off = min(gaps) > self._off + room
        perhaps = max(gaps) > self._off - room
        self._least = self._counted(self._least, off)
        self._greatest = self._counted(self._greatest, perhaps)
        if self._freed is not None:
            self._freed = self._counted(self._freed, perhaps)
        if perhaps:
            self._met_least = 0
            if (self._greatest if self._freed is None else self._freed) >= self._most and not self._must:
                self._may = True
                self._stuck = _wider(self._stuck, heard)
        if off:
            self._met_most = 0
            self._must = self._must or self._least >= self._most
            self._sure = self._sure or self._must
        if self._may and self._stuck:
            self._forgive(heard, off, perhaps, AWAY * self._off, room)

    def _forgive(self, heard: list[float], off: bool, perhaps: bool, away: float, room: float) -> None:
        """The mark goes once it was heard on target, away from where it was stuck, for long enough."""
        low, high = self._stuck or (0.0, 0.0)
        if not off and max(max(h - low, high - h) for h in heard) > away - room:
            self._met_most += self._since
            if self._met_most >= self._trust:  # it may have gone
                self._must, self._least = False, 0
                self._freed = self._freed or 0
        if not perhaps and min(max(h - high, low - h) for h in heard) > away + room:
            self._met_least += self._since
            if self._met_least >= self._trust:
                self._may = self._must = False
                # marked, it counts from nothing now; if it never was, what it had counted is still there
                counted = self._freed or 0 if self._sure else max(self._freed or 0, self._greatest)
                self._greatest, self._least = min(counted, self._most - 1), 0
                self._freed, self._stuck, self._sure = None, None, False
                self._met_least = self._met_most = 0

    def _gap(self, heard: float) -> float:
        assert self._should is not None
        if not self._turn_n_s2:
            return abs(heard - self._should)
        size = abs(self._should)
        return max(abs(heard - size) - CURVE * size, 0.0)

    def _counted(self, count: int, off: bool) -> int:
        return min(count + BACK * self._since, self._most) if off else max(count - self._since, 0)


def _wider(span: tuple[float, float] | None, values: list[float]) -> tuple[float, float]:
    low, high = span or (values[0], values[0])
    return min(low, *values), max(high, *values)
