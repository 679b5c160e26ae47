"""Dead-man: one end's own judgement that the other is gone. Each end has one, and neither is told by the wire.

Portable: CPython and MicroPython; allocates nothing.
"""


class LinkTimeout:
    """Gone after `limit` ticks of this end without a new frame, and from the start until the first one comes."""

    def __init__(self, limit):
        if limit < 1:
            raise ValueError(
                f"link dead-man: with a limit of {limit} ticks nobody is ever there; give 1 or more"
            )
        self.limit = limit
        self.silent = limit  # ticks since the last new frame
        self.trips = 0

    def step(self, heard):
        """Once a tick: was there a new frame (not a duplicate, not a late one)? True while the other end is gone."""
        if heard:
            self.silent = 0
        elif self.silent < self.limit:
            self.silent += 1
            if self.silent == self.limit:
                self.trips += 1
        return self.silent >= self.limit
