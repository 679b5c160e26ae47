"""Whose hand is on the sticks: of several stations that send them one flies, and the others wait until it lets go."""

from typing import Any

SILENT_S = 1.0  # a hand that is not heard for so long has let go


class Sticks:
    """One vehicle's. A station is whoever spoke, by session and system: several may share a link."""

    def __init__(self) -> None:
        self._held_by: Any = None
        self._heard_s = float("-inf")
        self._was_armed = False
        self._told: set[Any] = set()

    def take(self, station: Any, now_s: float, armed: bool) -> bool:
        """May it fly: it has the sticks, or nobody has."""
        disarmed = self._was_armed and not armed
        self._was_armed = armed
        if disarmed or now_s - self._heard_s > SILENT_S:
            self._held_by = None
        if self._held_by is None:
            self._held_by = station
            self._told.clear()
        if station != self._held_by:
            return False
        self._heard_s = now_s
        return True

    def is_news(self, station: Any) -> bool:
        """Once for each who waits, as long as the same one flies."""
        news = station not in self._told
        self._told.add(station)
        return news
