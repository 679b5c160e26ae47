"""The clock of a loop on a vehicle: monotonic time and sleep. CPython and MicroPython.

In lockstep there is no clock: the plant's stepper calls the loop.
"""

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _ticks_us() -> int:
    return time.monotonic_ns() // 1000


def _ticks_diff(later: int, earlier: int) -> int:
    return later - earlier


def _ticks_add(ticks: int, duration_us: int) -> int:
    return ticks + duration_us


def _sleep(duration_us: int) -> None:
    time.sleep(duration_us / 1e6)


# MicroPython's ticks wrap, so it has functions of its own for differences and sums
ticks_us: "Callable[[], int]" = getattr(time, "ticks_us", _ticks_us)
ticks_diff: "Callable[[int, int], int]" = getattr(time, "ticks_diff", _ticks_diff)
_add: "Callable[[int, int], int]" = getattr(time, "ticks_add", _ticks_add)
_sleep_us: "Callable[[int], None]" = getattr(time, "sleep_us", _sleep)


class RealClock:
    """Ticks at a fixed period.

    After a stall longer than a second the missed ticks are skipped rather than run in a burst.
    """

    GIVE_UP_US = 1000000

    def __init__(
        self,
        period_us: int,
        ticks_us: "Callable[[], int]" = ticks_us,
        sleep_us: "Callable[[int], None]" = _sleep_us,
        diff: "Callable[[int, int], int]" = ticks_diff,
        add: "Callable[[int, int], int]" = _add,
    ) -> None:
        self.period_us = period_us
        self._now = ticks_us
        self._sleep = sleep_us
        self._diff = diff
        self._add = add
        self._due = ticks_us()

    def wait(self) -> int:
        """Sleep until the next tick; how late it starts, us."""
        ahead_us = self._diff(self._due, self._now())
        if ahead_us > 0:
            self._sleep(ahead_us)
        late_us = max(0, self._diff(self._now(), self._due))
        self._due = self._now() if late_us > self.GIVE_UP_US else self._due
        self._due = self._add(self._due, self.period_us)
        return late_us
