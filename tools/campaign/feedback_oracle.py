"""Does an actuator follow its set-point? Computed independently, from the limiter's outputs and the feedback sensor.

Shares nothing with onboard/core/actuator_monitor.py but the vehicle file and the rule (docs/faults.md, "Independent
checks"). Its floats never equal the monitor's integers to the last bit, so each number has a tolerance and each counter
a lower and an upper bound: an actuator must be marked, may be marked, or is not.
"""

import math
from typing import TYPE_CHECKING

from caudal.hal.tables.channels import Actuator, Thruster

if TYPE_CHECKING:
    from caudal.tools.campaign.failsafe_oracle import LoopInputs

ABSENT, UNSURE, PRESENT = -1, 0, 1  # a condition
UNKNOWN = 2  # its sensor has timed out: nothing changes
UNITS = {"servo": "rad", "thruster": "n", "valve": "pa"}
BACK = 8  # ticks on target take back one that was off
TRUST = 4  # it has to follow for this part of detect_s to be unmarked...
AWAY = 1.5  # ...at so many times its tolerance from where it was stuck
CURVE = 0.25  # of its thrust: uncertainty of a thruster's curve
ROUND = 0.5 / 1024  # of a lag's share, which has ten bits
CUT = 2e-3  # of a step that is too large to be multiplied whole
GRAIN = 1 / 8192  # of a set-point, in its unit
NEAR = 0.01  # of the tolerance: a sensor's slope has a few bits


class FeedbackOracle:
    """Decides after each tick whether one actuator with feedback follows its set-point."""

    def __init__(self, channel: Actuator, inputs: "LoopInputs") -> None:
        self._inputs, self._name, self._sensor = inputs, channel.name, channel.feedback
        self._limp = channel.map == "servo"  # while it is off: it may be anywhere
        self._turn_n_s2 = channel.turn_n_s2 if isinstance(channel, Thruster) else None
        self._share = 1 - math.exp(-1 / (inputs.rate_hz * max(channel.lag_s or 0.0, 1e-4)))
        self._tolerance = getattr(channel, "tolerance_" + UNITS[channel.map])
        found = max(1, math.floor((channel.detect_s or 0.0) * inputs.rate_hz + 0.5))
        self._limit, self._trust = found * BACK, max(found // TRUST, 1)
        self._expected: float | None = None
        self._doubt = 0.0  # what `expected` may be off by
        self._since = 0
        self._least = self._most = 0  # ticks off, times BACK
        self._must = self._may = False  # be marked
        self._stuck: tuple[float, float] | None = None  # between these, if it may be marked
        self._met_least = self._met_most = 0
        self._sure = False  # it was marked since it was last certainly not
        self._unmarked: int | None = None  # the upper count since it may have been unmarked

    def check(self) -> int:
        """PRESENT if the actuator must be marked now, UNSURE if it may be, else ABSENT. Once after each tick."""
        set_point, measured = self._inputs.set_point(self._name), self._inputs.fresh(self._sensor)
        if set_point is None and self._limp:
            self._expected = None
        elif self._expected is not None or measured is not None:
            if self._expected is None:
                self._expected, self._since, self._doubt = (
                    (0.0 if self._turn_n_s2 else measured or 0.0),
                    0,
                    0.0,
                )
            values = None if measured is None else self._in_unit(measured, self._expected)
            expected = self._lag(set_point or 0.0, self._expected)
            if values is not None:
                self._compare(values, expected)
                self._since = 0
        return PRESENT if self._must else UNSURE if self._may else ABSENT

    def _in_unit(self, measured: float, expected: float) -> list[float]:
        """The measurement in the actuator's unit; two thrusts where an unsigned speed may mean either direction."""
        if not self._turn_n_s2:
            return [measured]
        ahead, back = (c * measured * measured for c in self._turn_n_s2)
        return [ahead, back] if abs(expected) <= self._doubt else [ahead if expected > 0 else back]

    def _lag(self, set_point: float, expected: float) -> float:
        step = set_point - expected
        self._expected = expected = expected + step * self._share
        self._doubt += abs(step) * (ROUND + CUT * self._share) + GRAIN - self._doubt * self._share
        self._since += 1
        return expected

    def _compare(self, values: list[float], expected: float) -> None:
        room = self._doubt + NEAR * self._tolerance
        gap = min(self._gap(value, expected) for value in values)
        off, maybe_off = gap > self._tolerance + room, gap > self._tolerance - room
        self._least = self._counted(self._least, off)
        self._most = self._counted(self._most, maybe_off)
        if self._unmarked is not None:
            self._unmarked = self._counted(self._unmarked, maybe_off)
        if maybe_off:
            self._met_least = 0
            if (self._most if self._unmarked is None else self._unmarked) >= self._limit and not self._must:
                self._may = True
                low, high = self._stuck or (values[0], values[0])
                self._stuck = min(low, *values), max(high, *values)
        if off:
            self._met_most = 0
            self._must = self._must or self._least >= self._limit
            self._sure = self._sure or self._must
        if self._may and self._stuck:
            self._unmark(values, off, maybe_off, AWAY * self._tolerance, room)

    def _unmark(self, values: list[float], off: bool, maybe_off: bool, away: float, room: float) -> None:
        """Unmarks it after enough readings on target, away from where it was stuck."""
        low, high = self._stuck or (0.0, 0.0)
        if not off and max(max(v - low, high - v) for v in values) > away - room:
            self._met_most += self._since
            if self._met_most >= self._trust:  # it may have been unmarked
                self._must, self._least = False, 0
                self._unmarked = self._unmarked or 0
        if not maybe_off and min(max(v - high, low - v) for v in values) > away + room:
            self._met_least += self._since
            if self._met_least >= self._trust:
                self._may = self._must = False
                # if it was marked, its counter restarts at 0; if it never was, the counter goes on
                counted = self._unmarked or 0 if self._sure else max(self._unmarked or 0, self._most)
                self._most, self._least = min(counted, self._limit - 1), 0
                self._unmarked, self._stuck, self._sure = None, None, False
                self._met_least = self._met_most = 0

    def _gap(self, value: float, expected: float) -> float:
        if not self._turn_n_s2:
            return abs(value - expected)
        size = abs(expected)
        return max(abs(value - size) - CURVE * size, 0.0)

    def _counted(self, count: int, off: bool) -> int:
        return min(count + BACK * self._since, self._limit) if off else max(count - self._since, 0)
