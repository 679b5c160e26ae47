"""Readings between the thread of a bus and the control thread, and how a device reports a failure. CPython only.

A device is a class with a `name`, a `period_us` and a generator method `run()`. Each `yield` is the delay before it is
resumed: microseconds, up to the next period (None), or up to so long before it (a negative number). Between two yields
it may do short transactions; it never sleeps. Set-up and identity check are the beginning of `run()`, so that a device
which failed is set up again by a new `run()`; `working` is set after the set-up (hal/pi/worker.py).
"""

from collections import deque
from collections.abc import Generator

Steps = Generator[int | None, None, None]  # of run()

RESTART_US = 100_000  # from a failure of a device to its restart


class DeviceError(Exception):
    """A device that is missing, another one, or faulty; one sentence."""


class Slot:
    """The newest count of one reading, taken once. A deque of one is atomic: neither thread waits for the other."""

    def __init__(self) -> None:
        self._newest: deque[int] = deque(maxlen=1)

    def put(self, count: int) -> None:
        """Stores a count in the device's units; called by the bus's thread."""
        self._newest.append(count)

    def take(self) -> int | None:
        """The count since the last call, or None; called by the control thread."""
        try:
            return self._newest.popleft()
        except IndexError:
            return None
