"""Which events of a run a view and a report show."""

from caudal.onboard.log.reader import Event

KIND_NAMES = {"order": "command"}  # kinds of events whose name on a page differs from the one in the log


class EventFilter:
    """Filters events for display: manual-control commands, several per second, count once until another event."""

    def __init__(self) -> None:
        self._in_manual: set[str] = set()

    def __call__(self, event: Event) -> bool:
        """Returns whether to show this event; call it for all events in order."""
        details = event.details
        vehicle = str(details.get("vehicle"))
        if event.kind != "order" or details.get("kind") != "sticks" or details.get("refused"):
            self._in_manual.discard(vehicle)
            return True
        repeated = vehicle in self._in_manual
        self._in_manual.add(vehicle)
        return not repeated


def kind_name(event: Event) -> str:
    """Returns an event's kind as pages show it."""
    return KIND_NAMES.get(event.kind, event.kind)
