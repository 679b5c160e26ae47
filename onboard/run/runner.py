"""The clock loop of every run: in real time, or unpaced. CPython only."""

import itertools
import signal
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple, Protocol

from caudal.onboard.core.clock import RealClock
from caudal.onboard.run.arming import Notify, ignore


class Stepped(Protocol):
    """What runs, one step per period: a vehicle, a simulation, the plant side of a HIL link, or a replay."""

    @property
    def period_us(self) -> int:
        """Of a step."""

    @property
    def fault(self) -> str | None:
        """Why it cannot go on, or None."""

    def arm(self) -> None:
        """Arms the vehicles; may wait for a controller on a link."""

    def step(self, late_us: int) -> None:
        """One step, which is this late."""

    def safe(self) -> None:
        """Puts all actuators into their safe state."""


class Ended(NamedTuple):
    """How a run ended: whether a signal stopped it, and whether all of its steps were done."""

    interrupted: bool
    complete: bool


class StopSignal:
    """Ctrl-C, SIGTERM and SIGHUP as a flag that is read before each step: no signal interrupts a step."""

    def __init__(self) -> None:
        self.received = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._receive)

    def __call__(self) -> bool:
        return self.received

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = True


def never() -> bool:
    """No stop signal."""
    return False


def run(
    subject: Stepped,
    *,
    seconds: float | None = None,
    realtime: bool = False,
    arm_after_s: float | None = None,
    stop: Callable[[], bool] = never,
    after_step: Callable[[int], None] | None = None,
    notify: Notify = ignore,
) -> Ended:
    """Steps until the time is over, a fault, `stop` or Ctrl-C. However it ends, actuators are safe before any message.

    Without `seconds` it runs until it is stopped; without `arm_after_s` it does not arm.
    """
    ticks = None if seconds is None else round(seconds * 1e6 / subject.period_us)
    arm_tick = None if arm_after_s is None else round(arm_after_s * 1e6 / subject.period_us)
    tick, interrupted = 0, False
    try:
        if arm_tick == 0:
            subject.arm()
        clock = RealClock(subject.period_us) if realtime else None
        for tick in itertools.count():
            if tick == ticks or subject.fault:
                break
            if stop():
                interrupted = True
                break
            if tick and tick == arm_tick:
                subject.arm()
            subject.step(clock.wait() if clock else 0)
            if after_step:
                after_step(tick)
    except KeyboardInterrupt:
        if tick == 0:  # no step was done: there is nothing to report
            raise
        interrupted = True
    finally:
        subject.safe()
    if interrupted:
        notify("stopped by a signal: actuators are in their safe state, the log is complete so far")
    return Ended(interrupted, tick == ticks)
