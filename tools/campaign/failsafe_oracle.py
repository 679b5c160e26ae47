"""What the failsafe table should decide, computed independently of onboard/core/failsafe.py from the loop's inputs.

It shares no code with onboard/core/failsafe_triggers.py on purpose: it takes floats from raw counts, and counts ages
and commands itself. A trigger condition is present, absent, too near its limit for two computations to agree (UNSURE),
or its sensor has timed out (UNKNOWN). Rules on estimates are checked by raw readings where these are clear
(tools/campaign/position_oracle.py), otherwise by the loop's own estimates.
"""

import math
from typing import Any

from caudal.hal.core.fixed_point import ONE
from caudal.hal.tables.channels import Linear, Points
from caudal.onboard.core import modes
from caudal.onboard.core.loop import Loop
from caudal.onboard.tables.failsafe import Implausible, NotFollowing, RuleTable
from caudal.onboard.tables.read import Settings
from caudal.tools.campaign.feedback_oracle import ABSENT, PRESENT, UNKNOWN, UNSURE, FeedbackOracle
from caudal.tools.campaign.position_oracle import PositionOracle

NEAR = 1e-4  # of a limit: by how much integers of 2**-20 and floats may differ
SUM_NEAR = 0.03  # the same for sums and averages over ticks
FORGET_S = 1.0  # as docs/failsafes.md says of attitude_wrong
NEVER = 10**9


def _above(value: float, limit: float, near: float = NEAR) -> int:
    room = near * max(abs(limit), 1e-2)
    return PRESENT if value > limit + room else ABSENT if value < limit - room else UNSURE


class LoopInputs:
    """What one loop has received so far: readings with their ages, commands, lateness; and its set-points."""

    def __init__(self, settings: Settings) -> None:
        self.rate_hz: int = settings.rate_hz
        self._sensors = {s.name: i for i, s in enumerate(settings.sensors)}
        self._maps = [_Linear(s) if isinstance(s, Linear) else _Table(s) for s in settings.sensors]
        self._max_age = [math.floor(s.max_age_s * self.rate_hz + 0.5) for s in settings.sensors]
        self._age = [NEVER] * len(self._maps)
        self._values = [0.0] * len(self._maps)
        self.channels = settings.actuators
        self._actuators = {channel.name: i for i, channel in enumerate(self.channels)}
        self._set_points: list[int | None] = [None] * len(self.channels)  # in the tick before
        self._set_points_now = self._set_points
        self.none = True
        self.late_us = 0
        self.manual_input_age = self.station_age = NEVER
        self.host: dict[str, bool] = {}
        self.bad_command = False  # in the tick before
        self._bad_now = False
        self.asked = modes.AUTO
        self._mission_mode: str | None = None  # in the tick before
        self.before_faults = True
        self.position = PositionOracle(settings, self)

    def update(self, loop: Loop) -> None:
        """Takes what the loop received. Once after each tick."""
        self.none = all(count is None for count in loop.board.counts)
        for i, count in enumerate(loop.board.counts):
            if count is not None and self._maps[i].low <= count <= self._maps[i].high:
                self._age[i], self._values[i] = 0, self._maps[i].value(count)
            else:
                self._age[i] += 1
        self._set_points, self._set_points_now = self._set_points_now, list(loop.state.outputs)
        self.late_us = loop.state.late_us
        self.manual_input_age += 1
        self.station_age += 1
        for kind, values, _, refusal in loop.taken:
            if refusal is None:
                self._take(kind, values)
        if self._mission_mode and self.asked == modes.MISSION and loop.state.mission_mode is None:
            self.asked = modes.NAMES.index(self._mission_mode)
        self._mission_mode = loop.state.mission_mode
        self.bad_command = self._bad_now
        self._bad_now = loop.state.commands_applied and any(c is None or c != c for c in loop.state.commands)
        self.position.update()

    def _take(self, kind: str, values: Any) -> None:
        if kind == "sticks":
            self.manual_input_age = 1
        elif kind == "station":
            self.station_age = 1
        elif kind == "host":
            self.host[values[0]] = bool(values[1])
        elif kind == "mode":
            self.asked = modes.NAMES.index(values[0])
        elif kind in ("mission", "begin"):
            self._mission_mode = None
            if kind == "mission" and not values[0] and self.asked == modes.MISSION:
                self.asked = modes.HOLD

    def reading(self, name: str) -> float | None:
        """A sensor's last value in SI, None if it is older than its `max_age_s`."""
        i = self._sensors[name]
        return self._values[i] if self._age[i] <= self._max_age[i] else None

    def timed_out(self, names: list[str]) -> bool:
        """Has one of these sensors been read before, and is its reading too old now?"""
        return any(self._max_age[i] < self._age[i] < NEVER for i in (self._sensors[name] for name in names))

    def fresh(self, name: str) -> float | None:
        """A sensor's value of this very tick, in SI."""
        i = self._sensors[name]
        return self._values[i] if self._age[i] == 0 else None

    def set_point(self, actuator: str) -> float | None:
        """The limiter's output in SI in the tick before, which this tick's readings respond to."""
        command = self._set_points[self._actuators[actuator]]
        return None if command is None else command / ONE


class _Linear:
    def __init__(self, s: Linear) -> None:
        self.low, self.high = s.low_count, s.high_count
        self._zero, self._slope = s.zero_count, s.si_per_count

    def value(self, count: int) -> float:
        return float((count - self._zero) * self._slope)


class _Table:
    def __init__(self, s: Points) -> None:
        self._points: list[tuple[int, float]] = list(zip(s.counts, s.values, strict=True))
        self.low, self.high = self._points[0][0], self._points[-1][0]

    def value(self, count: int) -> float:
        for (x, y), (x2, y2) in zip(self._points, self._points[1:], strict=False):
            if x <= count <= x2:
                return y + (y2 - y) * (count - x) / (x2 - x)
        return self._points[-1][1]


class TriggerOracle:
    """Decides after each tick whether the trigger condition of one failsafe rule is present."""

    def __init__(self, settings: RuleTable, inputs: LoopInputs) -> None:
        self._s: Any = settings  # the Struct of its trigger
        self._inputs = inputs
        self._evaluate = getattr(self, "_" + settings.trigger)
        self._pairs = []
        if isinstance(settings, Implausible):
            self._pairs = [_Pair(inputs, angle, rate, settings.limit_rad) for angle, rate in settings.pairs]
        self._feedback = [
            FeedbackOracle(channel, inputs)
            for channel in inputs.channels
            if isinstance(settings, NotFollowing) and channel.name in settings.actuators and channel.feedback
        ]
        self._averages = dict.fromkeys(("x_nis", "y_nis", "depth_nis", "heading_nis"), 1.0)

    def check(self, loop: Loop) -> int:
        """PRESENT, ABSENT, UNSURE or UNKNOWN in this tick."""
        found: int = self._evaluate(loop)
        return found

    def _not_armed(self, loop: Loop) -> int:
        return ABSENT if loop.state.armed else PRESENT

    def _bad_command(self, loop: Loop) -> int:
        return PRESENT if self._inputs.bad_command else ABSENT

    def _overrun(self, loop: Loop) -> int:
        return _above(self._inputs.late_us, self._s.limit_ticks * 1e6 / self._inputs.rate_hz)

    def _stalled(self, loop: Loop) -> int:
        return _above(self._inputs.late_us, self._s.limit_s * 1e6)

    def _reading_lost(self, loop: Loop) -> int:
        return PRESENT if any(self._inputs.reading(name) is None for name in self._s.sensors) else ABSENT

    def _silence(self, loop: Loop) -> int:
        return PRESENT if self._inputs.none else ABSENT

    def _outside(self, loop: Loop) -> int:
        found = ABSENT
        for value in map(self._inputs.reading, self._s.sensors):
            if value is not None:
                if self._s.low is not None:
                    found = max(found, _above(-value, -self._s.low))
                if self._s.high is not None:
                    found = max(found, _above(value, self._s.high))
        return self._or_unknown(found)

    def _tilted(self, loop: Loop) -> int:
        angles = [abs(value) for value in map(self._inputs.reading, self._s.sensors) if value is not None]
        found = max((_above(angle, math.radians(self._s.limit_deg)) for angle in angles), default=ABSENT)
        return self._or_unknown(found)

    def _or_unknown(self, found: int) -> int:
        return UNKNOWN if found == ABSENT and self._inputs.timed_out(self._s.sensors) else found

    def _implausible(self, loop: Loop) -> int:
        return max(pair.check() for pair in self._pairs)

    def _inconsistent(self, loop: Loop) -> int:
        share = 1 / (self._s.average_s * self._inputs.rate_hz)
        for field, average in self._averages.items():
            nis = getattr(loop.state.estimate, field)
            if nis is not None:
                surprise = min(nis, 100.0) if nis == nis else 100.0
                self._averages[field] = average + (surprise - average) * share
        clear = ABSENT if self._inputs.before_faults else self._inputs.position.wild()
        return clear or _above(max(self._averages.values()), self._s.limit_nis, SUM_NEAR)

    def _out_of_bounds(self, loop: Loop) -> int:
        found = ABSENT
        for k, field in enumerate(("x_m", "y_m", "depth_m")):
            at_m = getattr(loop.state.estimate, field)
            if at_m is not None:
                if at_m != at_m:
                    return UNSURE  # NaN breaks an invariant of its own
                beyond = max(_above(at_m, self._s.high_m[k]), _above(-at_m, -self._s.low_m[k]))
                found = max(found, beyond)
        return self._inputs.position.outside(self._s.low_m, self._s.high_m) or found

    def _pilot_lost(self, loop: Loop) -> int:
        limit = int(self._s.limit_s * self._inputs.rate_hz)
        return (
            PRESENT
            if self._inputs.asked == modes.MANUAL and self._inputs.manual_input_age > limit
            else ABSENT
        )

    def _station_lost(self, loop: Loop) -> int:
        limit = int(self._s.limit_s * self._inputs.rate_hz)
        return PRESENT if limit < self._inputs.station_age < NEVER else ABSENT

    def _mode_unable(self, loop: Loop) -> int:
        needs = loop.handler.available[self._inputs.asked]
        unknown = any(getattr(loop.state.estimate, field) is None for field in needs)
        return self._inputs.position.unknown(needs) or (PRESENT if unknown else ABSENT)

    def _not_following(self, loop: Loop) -> int:
        return max([feedback.check() for feedback in self._feedback], default=ABSENT)

    def _host(self, loop: Loop) -> int:
        return PRESENT if self._inputs.host.get(self._s.word) else ABSENT


class _Pair:
    """By how much an angle and the integral of its rate differ, forgotten over FORGET_S."""

    def __init__(self, inputs: LoopInputs, angle: str, rate: str, limit_rad: float) -> None:
        self._inputs, self._angle, self._rate, self._limit_rad = inputs, angle, rate, limit_rad
        self._before: float | None = None
        self._apart = 0.0

    def check(self) -> int:
        angle, rate = self._inputs.reading(self._angle), self._inputs.reading(self._rate)
        if angle is None or rate is None:
            self._before, self._apart = None, 0.0
            return ABSENT
        if self._before is not None:
            turned = math.remainder(angle - self._before, math.tau)
            dt = 1 / self._inputs.rate_hz
            self._apart += turned - rate * dt - self._apart * dt / FORGET_S
        self._before = angle
        return _above(abs(self._apart), self._limit_rad, SUM_NEAR)
