"""Where the vehicle is, by raw readings alone: an independent check next to the estimator's own output.

An estimator smooths, rejects outliers and dead-reckons while it has no readings, so readings can only contradict it
where they are clear: many in a row that are far from a limit, or that jump by far more than noise. Otherwise UNSURE.
"""

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from caudal.onboard.tables.read import Settings
from caudal.tools.campaign.feedback_oracle import ABSENT, PRESENT, UNSURE

if TYPE_CHECKING:
    from caudal.tools.campaign.failsafe_oracle import LoopInputs

IN_A_ROW = 15  # readings; more than any estimator rejects before it accepts them
MARGIN_M = 0.5  # for an estimator's smoothing
WILD_ROW = 60  # readings...
WILD_SHARE = 2 / 3  # ...of which so many leave the line through the two before them...
WILD = 300  # ...by so many standard deviations of the filter's measurement noise
READ_BY = {"x_m": "x", "y_m": "y", "depth_m": "depth", "heading_rad": "heading"}
POSE = ("x", "y", "depth", "heading", "roll", "pitch")


class PositionOracle:
    """Collects the raw readings of one loop's position and pose, whose sensors the table `estimate` names."""

    def __init__(self, settings: Settings, inputs: "LoopInputs") -> None:
        estimate = settings.estimate
        self._inputs = inputs
        self._named = {key: getattr(estimate, key) for key in POSE if getattr(estimate, key)}
        # a chain has a position once it has its joints and chambers too
        chain = settings.control.kind == "chain"
        self._needed = [s.name for s in settings.sensors] if chain else list(self._named.values())
        self._ever: set[str] = set()
        self._all_at_once = False
        axes: list[str] = [key for key in ("x", "y", "depth") if key in self._named]
        self._last = {key: deque[float](maxlen=WILD_ROW + 2) for key in axes}
        position_m, depth_m = (
            (estimate.filter.position_m, estimate.filter.depth_m) if estimate.filter else (0.0, 0.0)
        )
        self._noise_m = {key: depth_m if key == "depth" else position_m for key in axes}

    def update(self) -> None:
        """Takes the readings of a tick. Once after each tick."""
        fresh = self._inputs.fresh
        for key, sensor in self._named.items():
            value = fresh(sensor)
            if value is not None:
                self._ever.add(key)
                if key in self._last:
                    self._last[key].append(value)
        if not self._all_at_once:
            self._all_at_once = all(fresh(sensor) is not None for sensor in self._needed)

    def unknown(self, needs: Sequence[str]) -> int:
        """Is one of these estimates unknown? PRESENT if a sensor of theirs has never read anything."""
        if any(READ_BY[field] not in self._ever for field in needs):
            return PRESENT
        return ABSENT if self._all_at_once or not needs else UNSURE

    def outside(self, low_m: list[float], high_m: list[float]) -> int:
        """Is the vehicle outside this volume of x, y and depth?"""
        if not self._all_at_once:
            return UNSURE
        found = ABSENT
        for key, low, high in zip(("x", "y", "depth"), low_m, high_m, strict=True):
            row = list(self._last.get(key, ()))[-IN_A_ROW:]
            if len(row) < IN_A_ROW or self._inputs.reading(self._named[key]) is None:
                found = max(found, UNSURE)
            elif min(row) > high + MARGIN_M or max(row) < low - MARGIN_M:
                return PRESENT
            elif max(row) > high - MARGIN_M or min(row) < low + MARGIN_M:
                found = UNSURE
        return found

    def wild(self) -> int:
        """Do readings of the position jump as no vehicle can move? PRESENT or UNSURE."""
        return max((self._jumps(key) for key in self._last), default=UNSURE) if self._all_at_once else UNSURE

    def _jumps(self, key: str) -> int:
        row = self._last[key]
        if len(row) < WILD_ROW + 2 or self._inputs.reading(self._named[key]) is None:
            return UNSURE
        values, limit_m = list(row), WILD * self._noise_m[key]
        jumps = (abs(a - 2 * b + c) for a, b, c in zip(values, values[1:], values[2:], strict=False))
        return PRESENT if sum(jump > limit_m for jump in jumps) >= WILD_SHARE * WILD_ROW else UNSURE
