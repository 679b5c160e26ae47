"""What the failsafe table should say, found anew from what crossed the board: the judge of onboard/core/failsafe.py.

Written apart from onboard/core/failsafe_triggers.py on purpose: floats from raw counts, ages and orders counted here.
A cause is there, is not there, is too near its limit for two ways of reckoning to agree (`UNSURE`), or its sensor has
fallen silent (`UNKNOWN`). Rows that go by estimates are judged by raw readings where these are clear
(tools/campaign/position_oracle.py), and else by the loop's own estimates.
"""

import math
from typing import Any

from caudal.hal.core.fixed_point import ONE
from caudal.onboard.core import modes
from caudal.tools.campaign.feedback_oracle import GONE, THERE, UNKNOWN, UNSURE, Following
from caudal.tools.campaign.position_oracle import Places

NEAR = 1e-4  # of a limit: as near as integers of 2**-20 and floats may differ
SUM_NEAR = 0.03  # the same of what is summed up or averaged over ticks
FORGET_S = 1.0  # as docs say of attitude_wrong
NEVER = 10**9


def _above(value: float, limit: float, near: float = NEAR) -> int:
    room = near * max(abs(limit), 1e-2)
    return THERE if value > limit + room else GONE if value < limit - room else UNSURE


class Seen:
    """What one loop has been told so far: readings by their age, orders, lateness."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.rate_hz = settings["rate_hz"]
        self.sensors = {s["name"]: i for i, s in enumerate(settings["sensors"])}
        self._maps = [_Linear(s) if s["map"] == "linear" else _Table(s) for s in settings["sensors"]]
        self._max_age = [math.floor(s["max_age_s"] * self.rate_hz + 0.5) for s in settings["sensors"]]
        self._age = [NEVER] * len(self._maps)
        self._values = [0.0] * len(self._maps)
        self.channels = settings["actuators"]
        self._actuators = {channel["name"]: i for i, channel in enumerate(self.channels)}
        self._told: list[int | None] = [None] * len(self.channels)  # in the tick before
        self._told_now = self._told
        self.none = True
        self.late_us = 0
        self.sticks_age = self.station_age = NEVER
        self.host: dict[str, bool] = {}
        self.bad_command = False  # in the tick before
        self._bad_now = False
        self.asked = modes.AUTO
        self._mission_asks: str | None = None  # in the tick before
        self.calm = True  # has nothing been upset yet
        self.places = Places(settings, self)

    def check(self, loop: Any) -> None:
        """Once, after each tick."""
        self.none = all(count is None for count in loop.board.counts)
        for i, count in enumerate(loop.board.counts):
            if count is not None and self._maps[i].low <= count <= self._maps[i].high:
                self._age[i], self._values[i] = 0, self._maps[i].value(count)
            else:
                self._age[i] += 1
        self._told, self._told_now = self._told_now, list(loop.state.outputs)
        self.late_us = loop.state.late_us
        self.sticks_age += 1
        self.station_age += 1
        for kind, values, _, refusal in loop.taken:
            if refusal is None and kind == "sticks":
                self.sticks_age = 1
            elif refusal is None and kind == "station":
                self.station_age = 1
            elif refusal is None and kind == "host":
                self.host[values[0]] = bool(values[1])
            elif refusal is None and kind == "mode":
                self.asked = modes.NAMES.index(values[0])
            elif refusal is None and kind in ("mission", "begin"):
                self._mission_asks = None
                if kind == "mission" and not values[0] and self.asked == modes.MISSION:
                    self.asked = modes.HOLD
        if self._mission_asks and self.asked == modes.MISSION and loop.state.mission_asks is None:
            self.asked = modes.NAMES.index(self._mission_asks)
        self._mission_asks = loop.state.mission_asks
        self.bad_command = self._bad_now
        self._bad_now = loop.state.free and any(c is None or c != c for c in loop.state.commands)
        self.places.check()

    def reading(self, name: str) -> float | None:
        i = self.sensors[name]
        return self._values[i] if self._age[i] <= self._max_age[i] else None

    def silent(self, names: list[str]) -> bool:
        """Has one of them been heard, and is not any more?"""
        return any(self._max_age[i] < self._age[i] < NEVER for i in (self.sensors[name] for name in names))

    def fresh(self, name: str) -> float | None:
        """Of this very tick."""
        i = self.sensors[name]
        return self._values[i] if self._age[i] == 0 else None

    def told(self, actuator: str) -> float | None:
        """What the gate gave it in the tick before, by which this tick's readings came about."""
        command = self._told[self._actuators[actuator]]
        return None if command is None else command / ONE


class _Linear:
    def __init__(self, s: dict[str, Any]) -> None:
        self.low, self.high = s["low_count"], s["high_count"]
        self._zero, self._slope = s["zero_count"], s["per_count"]

    def value(self, count: int) -> float:
        return (count - self._zero) * self._slope


class _Table:
    def __init__(self, s: dict[str, Any]) -> None:
        self._points = list(zip(s["counts"], s["values"], strict=True))
        self.low, self.high = self._points[0][0], self._points[-1][0]

    def value(self, count: int) -> float:
        for (x, y), (x2, y2) in zip(self._points, self._points[1:], strict=False):
            if x <= count <= x2:
                return y + (y2 - y) * (count - x) / (x2 - x)
        return self._points[-1][1]


class Cause:
    """Of one row: THERE, GONE, UNSURE or UNKNOWN in this tick."""

    def __init__(self, settings: dict[str, Any], seen: Seen) -> None:
        self._s, self._seen = settings, seen
        self._look = getattr(self, "_" + settings["trigger"])
        self._pairs = [_Pair(seen, *pair, settings["limit_rad"]) for pair in settings.get("pairs", ())]
        self._following = [
            Following(channel, seen)
            for channel in seen.channels
            if channel["name"] in settings.get("actuators", ()) and channel["feedback"]
        ]
        self._averages = dict.fromkeys(("x_nis", "y_nis", "depth_nis", "heading_nis"), 1.0)

    def check(self, loop: Any) -> int:
        return self._look(loop)

    def _not_armed(self, loop: Any) -> int:
        return GONE if loop.state.armed else THERE

    def _bad_command(self, loop: Any) -> int:
        return THERE if self._seen.bad_command else GONE

    def _overrun(self, loop: Any) -> int:
        return _above(self._seen.late_us, self._s["limit_ticks"] * 1e6 / self._seen.rate_hz)

    def _stalled(self, loop: Any) -> int:
        return _above(self._seen.late_us, self._s["limit_s"] * 1e6)

    def _reading_lost(self, loop: Any) -> int:
        return THERE if any(self._seen.reading(name) is None for name in self._s["sensors"]) else GONE

    def _silence(self, loop: Any) -> int:
        return THERE if self._seen.none else GONE

    def _outside(self, loop: Any) -> int:
        found = GONE
        for value in map(self._seen.reading, self._s["sensors"]):
            if value is not None:
                if self._s["low"] is not None:
                    found = max(found, _above(-value, -self._s["low"]))
                if self._s["high"] is not None:
                    found = max(found, _above(value, self._s["high"]))
        return self._or_unknown(found)

    def _tilted(self, loop: Any) -> int:
        angles = [abs(value) for value in map(self._seen.reading, self._s["sensors"]) if value is not None]
        found = max((_above(angle, math.radians(self._s["limit_deg"])) for angle in angles), default=GONE)
        return self._or_unknown(found)

    def _or_unknown(self, found: int) -> int:
        return UNKNOWN if found == GONE and self._seen.silent(self._s["sensors"]) else found

    def _implausible(self, loop: Any) -> int:
        return max(pair.check() for pair in self._pairs)

    def _inconsistent(self, loop: Any) -> int:
        share = 1 / (self._s["average_s"] * self._seen.rate_hz)
        for field, average in self._averages.items():
            nis = getattr(loop.state.estimate, field)
            if nis is not None:
                surprise = min(nis, 100.0) if nis == nis else 100.0
                self._averages[field] = average + (surprise - average) * share
        clear = GONE if self._seen.calm else self._seen.places.wild()
        return clear or _above(max(self._averages.values()), self._s["limit_nis"], SUM_NEAR)

    def _astray(self, loop: Any) -> int:
        found = GONE
        for k, field in enumerate(("x_m", "y_m", "depth_m")):
            at_m = getattr(loop.state.estimate, field)
            if at_m is not None:
                if at_m != at_m:
                    return UNSURE  # an invariant of its own; what is no number lies nowhere
                beyond = max(_above(at_m, self._s["high_m"][k]), _above(-at_m, -self._s["low_m"][k]))
                found = max(found, beyond)
        return self._seen.places.outside(self._s["low_m"], self._s["high_m"]) or found

    def _pilot_lost(self, loop: Any) -> int:
        limit = int(self._s["limit_s"] * self._seen.rate_hz)
        return THERE if self._seen.asked == modes.MANUAL and self._seen.sticks_age > limit else GONE

    def _station_lost(self, loop: Any) -> int:
        limit = int(self._s["limit_s"] * self._seen.rate_hz)
        return THERE if limit < self._seen.station_age < NEVER else GONE

    def _mode_unable(self, loop: Any) -> int:
        needs = loop.handler.available[self._seen.asked]
        unknown = any(getattr(loop.state.estimate, field) is None for field in needs)
        return self._seen.places.unknown(needs) or (THERE if unknown else GONE)

    def _not_following(self, loop: Any) -> int:
        return max([following.check() for following in self._following], default=GONE)

    def _host(self, loop: Any) -> int:
        return THERE if self._seen.host.get(self._s["word"]) else GONE


class _Pair:
    """How far an angle and the sum of its rate are apart, forgotten over FORGET_S."""

    def __init__(self, seen: Seen, angle: str, rate: str, limit_rad: float) -> None:
        self._seen, self._angle, self._rate, self._limit_rad = seen, angle, rate, limit_rad
        self._before: float | None = None
        self._apart = 0.0

    def check(self) -> int:
        angle, rate = self._seen.reading(self._angle), self._seen.reading(self._rate)
        if angle is None or rate is None:
            self._before, self._apart = None, 0.0
            return GONE
        if self._before is not None:
            turned = math.remainder(angle - self._before, math.tau)
            dt = 1 / self._seen.rate_hz
            self._apart += turned - rate * dt - self._apart * dt / FORGET_S
        self._before = angle
        return _above(abs(self._apart), self._limit_rad, SUM_NEAR)
