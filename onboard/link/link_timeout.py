"""Link timeout: how one side detects that it receives no more frames from the other.

Portable: CPython and MicroPython; allocates nothing.
"""


class LinkTimeout:
    """Expires after `limit` ticks without a new frame; it is expired from the start until the first frame."""

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"link timeout: a limit of {limit} ticks is always expired; give 1 or more")
        self.limit = limit
        self.ticks = limit  # ticks since the last new frame
        self.trips = 0

    def step(self, received: bool) -> bool:
        """Once a tick, with whether a new frame came (no duplicate, no late one); True while it is expired."""
        if received:
            self.ticks = 0
        elif self.ticks < self.limit:
            self.ticks += 1
            if self.ticks == self.limit:
                self.trips += 1
        return self.ticks >= self.limit
