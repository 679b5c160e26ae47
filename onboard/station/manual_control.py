"""Which station has manual control: of several that send it the first, the others are ignored until it stops."""

from collections.abc import Hashable

TIMEOUT_S = 1.0  # a station that sends nothing for so long loses manual control


class ManualControl:
    """Manual control of one vehicle. A station is known by session and system: several may share a link."""

    def __init__(self) -> None:
        self._held_by: Hashable = None
        self._received_s = float("-inf")
        self._was_armed = False
        self._refused: set[Hashable] = set()

    def acquire(self, station: Hashable, now_s: float, armed: bool) -> bool:
        """True if this station has manual control, or gets it because no other has it. A disarm releases it."""
        disarmed = self._was_armed and not armed
        self._was_armed = armed
        if disarmed or now_s - self._received_s > TIMEOUT_S:
            self._held_by = None
        if self._held_by is None:
            self._held_by = station
            self._refused.clear()
        if station != self._held_by:
            return False
        self._received_s = now_s
        return True

    def is_first_refusal(self, station: Hashable) -> bool:
        """True the first time for each ignored station, as long as the same other station has manual control."""
        first = station not in self._refused
        self._refused.add(station)
        return first
