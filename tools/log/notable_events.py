"""What of a run's events a person is told of, in a view and in a report."""

from caudal.onboard.log.reader import Event


class Tellable:
    """Which events a person is told of: sticks are heard several times a second, and count once until anything else
    happens to their vehicle."""

    def __init__(self) -> None:
        self._at_sticks: set[str] = set()

    def __call__(self, event: Event) -> bool:
        details = event.details
        vehicle = str(details.get("vehicle"))
        if event.kind != "order" or details.get("kind") != "sticks" or details.get("refused"):
            self._at_sticks.discard(vehicle)
            return True
        known = vehicle in self._at_sticks
        self._at_sticks.add(vehicle)
        return not known
