"""Runs the devices of one bus, each when it is due: a thread on the vehicle, so that a bus that hangs (Linux blocks for
a second) makes readings old and never delays a tick.

A device is a generator, `run()`: set-up first, then its work for ever. What it yields says when to go on: after that
many microseconds, at its next period (None), or that many before it (a negative number: a conversion that is to be
through by then). Periods lie half a tick before the loop's. When it ends in an error its readings are absent, the
reason is kept, and it begins afresh a little later. In a simulated run the same worker is stepped by `run_until`, in
simulated time. CPython only.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

from caudal.hal.pi.slot import DeviceError

IDLE_US = 100_000  # how often a worker without devices looks up
LATE_US = 20_000  # a step this far behind its time is counted
HUNG_US = 300_000  # in one step of a device: no transfer takes that long


class Device(Protocol):
    name: str
    period_us: int
    restart_us: int  # how long after a failure it begins afresh
    working: bool  # is its set-up through; the device says so, the worker takes it back when it fails

    def run(self) -> Generator[int | None, None, None]: ...


@dataclass(eq=False)
class Task:
    device: Device
    steps: Generator[int | None, None, None]
    due_us: int
    reason: str = ""  # why it stopped, until it works again
    poked: bool = False


class SimulatedClock:
    """The time of one bus: goes on by what its transactions take, and by waiting."""

    def __init__(self, us: int) -> None:
        self.us = us

    def __call__(self) -> int:
        return self.us

    def spend(self, us: int) -> None:
        self.us += us


class Worker:
    def __init__(self, name: str, devices: list[Device], now_us: Callable[[], int], tick_us: int) -> None:
        self.name = name
        self.news: deque[tuple[str, str, str]] = deque(maxlen=100)  # (what happened, device, reason)
        self.late = 0
        self.worst_late_us = 0
        self._now_us = now_us
        self._tick_us = tick_us
        self._tasks = [Task(device, device.run(), now_us()) for device in devices]
        self._poked: deque[Task] = deque()
        self._wake = threading.Event()
        self._ending = False
        self._began_us: int | None = None  # the step that is being taken
        self._thread: threading.Thread | None = None

    @property
    def lost(self) -> dict[str, str]:
        """Devices that have stopped and do not work again yet, and why."""
        return {task.device.name: task.reason for task in self._tasks if task.reason}

    @property
    def hung(self) -> bool:
        """Does nothing on this bus work: all its devices are lost, or one holds it up for longer than any may."""
        began_us = self._began_us
        if began_us is not None and self._now_us() - began_us > HUNG_US:
            return True
        return bool(self._tasks) and all(task.reason for task in self._tasks)

    def poke(self, device: Device) -> None:
        """Have it run at once: there is something new for it to send. What is still setting up sends it then."""
        for task in self._tasks:
            if task.device is device and device.working and not task.poked:
                task.poked = True
                self._poked.append(task)
        self._wake.set()

    def run_until(self, until_us: int) -> None:
        """In simulated time: every step that is due by then, unless the bus is kept busy for longer."""
        clock = self._now_us
        assert isinstance(clock, SimulatedClock), "by a real clock the worker runs in its thread"
        while clock.us <= until_us:
            task = self._next(until_us)
            if task is None:
                clock.us = until_us
                return
            clock.us = max(clock.us, task.due_us if not task.poked else clock.us)
            self._step(task)

    def start(self, prepare: Callable[[], object] = lambda: None) -> None:
        """In a thread of its own, by the clock, until `stop`."""
        self._thread = threading.Thread(
            target=self._work, args=(prepare,), name=f"bus {self.name}", daemon=True
        )
        self._thread.start()

    def stop(self, patience_s: float = 1.5) -> None:
        """End the thread, as soon as the bus lets go of it."""
        self._ending = True
        self._wake.set()
        if self._thread:
            self._thread.join(patience_s)

    def _work(self, prepare: Callable[[], object]) -> None:
        prepare()
        while not self._ending:
            self._wake.clear()
            now_us = self._now_us()
            task = self._next(now_us)
            if task:
                self._step(task)
            else:
                due_us = min((task.due_us for task in self._tasks), default=now_us + IDLE_US)
                self._wake.wait((due_us - now_us) / 1e6)

    def _next(self, until_us: int) -> Task | None:
        """What was poked comes first: outputs do not wait behind readings."""
        if self._poked:
            return self._poked.popleft()
        task = min(self._tasks, key=lambda task: task.due_us, default=None)
        return task if task and task.due_us <= until_us else None

    def _step(self, task: Task) -> None:
        task.poked = False
        late_us = self._now_us() - task.due_us
        if late_us > LATE_US:
            self.late += 1
            self.worst_late_us = max(self.worst_late_us, late_us)
        device = task.device
        self._began_us = self._now_us()
        try:
            wait_us = next(task.steps)
        except StopIteration:
            self._restart(task, "its work ended")
        except DeviceError as error:
            self._restart(task, str(error))
        except OSError as error:
            self._restart(
                task, ": ".join(str(part) for part in (error.strerror or error, error.filename) if part)
            )
        except Exception as error:  # a driver's own mistake must not stop the others
            self._restart(task, f"{type(error).__name__}: {error}")
        else:
            now_us, lead_us = self._now_us(), -(wait_us or 0)
            if wait_us is not None and wait_us >= 0:
                task.due_us = now_us + wait_us
            else:
                task.due_us = next_period(now_us + lead_us, device.period_us, self._tick_us) - lead_us
            if task.reason and device.working:
                self.news.append(("device back", device.name, task.reason))
                task.reason = ""
        finally:
            self._began_us = None

    def _restart(self, task: Task, reason: str) -> None:
        task.device.working = False
        task.steps = task.device.run()
        task.due_us = self._now_us() + task.device.restart_us
        if reason != task.reason:
            self.news.append(("device lost", task.device.name, reason))
        task.reason = reason


def next_period(now_us: int, period_us: int, tick_us: int) -> int:
    """Half a tick before the tick by which a multiple of the period has come: its sample is there in time."""
    period = (now_us + tick_us // 2) // period_us - 1
    while True:
        period += 1
        due_us = -(-period * period_us // tick_us) * tick_us - tick_us // 2
        if due_us > now_us:
            return due_us


def clock_us() -> int:
    return time.monotonic_ns() // 1000
