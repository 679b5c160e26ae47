"""Where a loop's time comes from on a vehicle: a monotonic clock and sleep. CPython and MicroPython.

In lockstep there is no clock: whoever steps the plant calls the loop.
"""

import time

try:
    # MicroPython: its ticks wrap, so differences and sums go through its own functions
    ticks_us = time.ticks_us  # type: ignore[attr-defined]
    ticks_diff = time.ticks_diff  # type: ignore[attr-defined]
    _add = time.ticks_add  # type: ignore[attr-defined]
    _sleep_us = time.sleep_us  # type: ignore[attr-defined]
except AttributeError:

    def ticks_us():
        return time.monotonic_ns() // 1000

    def ticks_diff(later, earlier):
        return later - earlier

    def _add(ticks, duration_us):
        return ticks + duration_us

    def _sleep_us(duration_us):
        time.sleep(duration_us / 1e6)


class RealClock:
    """Ticks at a fixed period; `wait()` sleeps until the next one and says how late it woke.

    After a stall longer than a second the missed ticks are given up rather than run in a burst.
    """

    GIVE_UP_US = 1000000

    def __init__(self, period_us, ticks_us=ticks_us, sleep_us=_sleep_us, diff=ticks_diff, add=_add):
        self.period_us = period_us
        self._now = ticks_us
        self._sleep = sleep_us
        self._diff = diff
        self._add = add
        self._due = ticks_us()

    def wait(self):
        ahead_us = self._diff(self._due, self._now())
        if ahead_us > 0:
            self._sleep(ahead_us)
        late_us = max(0, self._diff(self._now(), self._due))
        self._due = self._now() if late_us > self.GIVE_UP_US else self._due
        self._due = self._add(self._due, self.period_us)
        return late_us
