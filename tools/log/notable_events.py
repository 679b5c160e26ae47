"""Which events of a run a view and a report show."""

from caudal.onboard.log.reader import Event


class EventFilter:
    """Filters events for display: manual-control commands, several per second, count once until another event."""

    def __init__(self) -> None:
        self._in_manual: set[str] = set()

    def __call__(self, event: Event) -> bool:
        """Returns whether to show this event; call it for all events in order."""
        details = event.details
        vehicle = str(details.get("vehicle"))
        if event.kind != "command" or details.get("kind") != "sticks" or details.get("refused"):
            self._in_manual.discard(vehicle)
            return True
        repeated = vehicle in self._in_manual
        self._in_manual.add(vehicle)
        return not repeated
