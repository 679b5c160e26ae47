"""Runs the devices of one bus when they are due: on the vehicle in a thread, so that a bus that hangs (Linux blocks for
a second) makes readings old and never delays a tick.

A device is a generator, `run()`: set-up first, then its work for ever. Each `yield` is the delay before it is resumed:
microseconds, up to its next period (None), or up to so long before it (a negative number: a conversion that must have
ended by then). Periods end half a tick before the loop's. When a device fails, its readings are absent, the reason is
stored, and it restarts a little later. In a simulated run `run_until` steps the same worker in simulated time. CPython
only.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

from caudal.hal.pi.slot import DeviceError

IDLE_US = 100_000  # wait of a worker without devices
LATE_US = 20_000  # a step this far behind its time is counted
HUNG_US = 300_000  # in one step of a device: every transfer is shorter


class Device(Protocol):
    """A device on a bus or a serial port."""

    name: str
    period_us: int
    restart_us: int  # from a failure to its restart
    working: bool  # set by the device after its set-up, cleared by the worker when it fails

    def run(self) -> Generator[int | None, None, None]:
        """Sets the device up, then works for ever; yields the delay before it is resumed."""


@dataclass(eq=False)
class Task:
    """A device and its next step."""

    device: Device
    steps: Generator[int | None, None, None]
    due_us: int
    reason: str = ""  # of its failure, until it works again
    poked: bool = False


class SimulatedClock:
    """The time of one bus, which passes with its transactions and waits."""

    def __init__(self, us: int) -> None:
        self.us = us

    def __call__(self) -> int:
        return self.us

    def spend(self, us: int) -> None:
        """Lets time pass."""
        self.us += us


class Worker:
    """The devices of one bus."""

    def __init__(self, name: str, devices: list[Device], now_us: Callable[[], int], tick_us: int) -> None:
        self.name = name
        self.news: deque[tuple[str, str, str]] = deque(maxlen=100)  # (event kind, device, reason)
        self.late = 0
        self.worst_late_us = 0
        self._now_us = now_us
        self._tick_us = tick_us
        self._tasks = [Task(device, device.run(), now_us()) for device in devices]
        self._poked: deque[Task] = deque()
        self._wake = threading.Event()
        self._ending = False
        self._began_us: int | None = None  # start of the present step
        self._thread: threading.Thread | None = None

    @property
    def lost(self) -> dict[str, str]:
        """Devices that failed and do not work again yet, with the reason."""
        return {task.device.name: task.reason for task in self._tasks if task.reason}

    @property
    def hung(self) -> bool:
        """Whether no device of this bus works: all are lost, or a step takes longer than any transfer."""
        began_us = self._began_us
        if began_us is not None and self._now_us() - began_us > HUNG_US:
            return True
        return bool(self._tasks) and all(task.reason for task in self._tasks)

    def poke(self, device: Device) -> None:
        """Runs a device at once to send its new outputs; during its set-up it sends them afterwards."""
        for task in self._tasks:
            if task.device is device and device.working and not task.poked:
                task.poked = True
                self._poked.append(task)
        self._wake.set()

    def run_until(self, until_us: int) -> None:
        """Runs every step that is due by then, in simulated time, unless the bus is busy for longer."""
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
        """Starts a thread that runs the devices in real time, until `stop`."""
        self._thread = threading.Thread(
            target=self._work, args=(prepare,), name=f"bus {self.name}", daemon=True
        )
        self._thread.start()

    def stop(self, timeout_s: float = 1.5) -> None:
        """Ends the thread as soon as its present step is over."""
        self._ending = True
        self._wake.set()
        if self._thread:
            self._thread.join(timeout_s)

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
        """The next task: poked ones first, so that outputs do not wait for readings."""
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
            self._restart(task, "its generator ended")
        except DeviceError as error:
            self._restart(task, str(error))
        except OSError as error:
            self._restart(
                task, ": ".join(str(part) for part in (error.strerror or error, error.filename) if part)
            )
        except Exception as error:  # a fault of one driver must not stop the others
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
    """Half a tick before the tick at which a multiple of the period is reached: its sample is then in time."""
    period = (now_us + tick_us // 2) // period_us - 1
    while True:
        period += 1
        due_us = -(-period * period_us // tick_us) * tick_us - tick_us // 2
        if due_us > now_us:
            return due_us


def clock_us() -> int:
    """The monotonic clock."""
    return time.monotonic_ns() // 1000
