"""What raw readings say of where a vehicle is, and of what it can know: the judge beside the estimators' own word.

An estimator smooths, refuses outliers and goes on by itself while it is blind, so readings can only contradict it where
they are clear: many in a row that are far from a limit, or that jump by far more than noise. Between, they say nothing.
"""

from collections import deque
from typing import Any, Protocol

from caudal.tools.campaign.feedback_oracle import GONE, THERE, UNSURE

IN_A_ROW = 15  # readings; more than any estimator refuses before it takes them for true
MARGIN_M = 0.5  # for what estimators smooth
WILD_ROW = 60  # readings...
WILD_SHARE = 2 / 3  # ...of which so many leave the line through the two before them...
WILD = 300  # ...by so many standard deviations of what the filter takes for noise
READ_BY = {"x_m": "x", "y_m": "y", "depth_m": "depth", "heading_rad": "heading"}
POSE = ("x", "y", "depth", "heading", "roll", "pitch")


class Read(Protocol):
    def fresh(self, sensor: str) -> float | None: ...
    def reading(self, sensor: str) -> float | None: ...


class Places:
    """Of one loop. Sensors are named by the table `estimate` of the vehicle file."""

    def __init__(self, settings: dict[str, Any], seen: Read) -> None:
        estimate = settings["estimate"]
        self._seen = seen
        self._named = {key: estimate[key] for key in POSE if estimate[key]}
        # a chain says where it is once it knows its joints and chambers too
        chain = settings["control"]["kind"] == "chain"
        self._needed = [s["name"] for s in settings["sensors"]] if chain else list(self._named.values())
        self._ever: set[str] = set()
        self._all_at_once = False
        self._last = {key: deque[float](maxlen=WILD_ROW + 2) for key in ("x", "y", "depth") if estimate[key]}
        noise = estimate["filter"] or {"position_m": 0.0, "depth_m": 0.0}
        self._noise_m = {key: noise["depth_m" if key == "depth" else "position_m"] for key in self._last}

    def check(self) -> None:
        """Once, after each tick."""
        fresh = self._seen.fresh
        for key, sensor in self._named.items():
            value = fresh(sensor)
            if value is not None:
                self._ever.add(key)
                if key in self._last:
                    self._last[key].append(value)
        if not self._all_at_once:
            self._all_at_once = all(fresh(sensor) is not None for sensor in self._needed)

    def unknown(self, needs: tuple[str, ...]) -> int:
        """Is one of these fields of an estimate not known? What was never read cannot be."""
        if any(READ_BY[field] not in self._ever for field in needs):
            return THERE
        return GONE if self._all_at_once or not needs else UNSURE

    def outside(self, low_m: list[float], high_m: list[float]) -> int:
        """Of the volume, by its x, y and depth."""
        if not self._all_at_once:
            return UNSURE
        found = GONE
        for key, low, high in zip(("x", "y", "depth"), low_m, high_m, strict=True):
            row = list(self._last.get(key, ()))[-IN_A_ROW:]
            if len(row) < IN_A_ROW or self._seen.reading(self._named[key]) is None:
                found = max(found, UNSURE)
            elif min(row) > high + MARGIN_M or max(row) < low - MARGIN_M:
                return THERE
            elif max(row) > high - MARGIN_M or min(row) < low + MARGIN_M:
                found = UNSURE
        return found

    def wild(self) -> int:
        """Do readings of the place jump about as nothing that swims can; THERE or UNSURE."""
        return max((self._jumps(key) for key in self._last), default=UNSURE) if self._all_at_once else UNSURE

    def _jumps(self, key: str) -> int:
        row = self._last[key]
        if len(row) < WILD_ROW + 2 or self._seen.reading(self._named[key]) is None:
            return UNSURE
        values, most_m = list(row), WILD * self._noise_m[key]
        bends = (abs(a - 2 * b + c) for a, b, c in zip(values, values[1:], values[2:], strict=False))
        return THERE if sum(bend > most_m for bend in bends) >= WILD_SHARE * WILD_ROW else UNSURE
