"""What stands between a bus's thread and the control thread: a slot a reading, and how a device says it failed.

A device is a class with a `name`, a `period_us` and a generator method `run()`. Each `yield` says when to go on: after
so many microseconds, with the next period (None), or so many before it (a negative number). Between two yields it may
do short transactions; it never sleeps. Set-up and identity check are the beginning of `run()`, so that a device that
failed is found again by starting `run()` afresh; `working` says that set-up is through (hal/pi/worker.py). CPython
only.
"""

from collections import deque
from collections.abc import Generator

Steps = Generator[int | None, None, None]  # what run() gives


RESTART_US = 100_000  # how long after a failure a device begins afresh


class DeviceError(Exception):
    """A device that is not what it should be, or says so itself; one sentence."""


class Slot:
    """The newest count of one reading, taken once. A deque of one is atomic, so neither thread waits for the other."""

    def __init__(self) -> None:
        self._newest: deque[int] = deque(maxlen=1)

    def put(self, count: int) -> None:
        """By the bus's thread: an integer in the device's units."""
        self._newest.append(count)

    def take(self) -> int | None:
        """By the control thread: what has come since the last time, or None."""
        try:
            return self._newest.popleft()
        except IndexError:
            return None
