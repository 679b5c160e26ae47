"""The board's driver on a Raspberry Pi: takes what the devices have brought, leaves what they are to send.

It touches no bus; workers do, each in its own thread (hal/pi/worker.py). CPython only.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from caudal.hal.pi.slot import Slot
from caudal.hal.pi.worker import Worker


class Outputs:
    """One device that sends outputs: which of the board's it takes, and the worker it lives with."""

    def __init__(self, device: Any, indices: Sequence[int], worker: Worker) -> None:
        self.device = device
        self._indices = indices
        self._worker = worker

    def write(self, outputs: list[int]) -> None:
        self.device.set([outputs[i] for i in self._indices])
        self._worker.poke(self.device)


class PiDriver:
    """`slots[i]` brings sensor i; one that is not fitted has None."""

    def __init__(
        self,
        slots: list[Slot | None],
        outputs: list[Outputs],
        workers: list[Worker],
        arm: Slot | None = None,
    ) -> None:
        self.workers = workers
        self._arm = arm
        self._slots = slots
        self._outputs = outputs

    def start(self, prepare: Callable[[], Any] = lambda: None) -> None:
        """Each bus in a thread of its own, which first calls `prepare` (for its priority)."""
        for worker in self.workers:
            worker.start(prepare)

    def read(self, counts: list) -> None:
        for i, slot in enumerate(self._slots):
            counts[i] = None if slot is None else slot.take()

    def write(self, outputs: list) -> None:
        for sender in self._outputs:
            sender.write(outputs)

    def close(self) -> None:
        """Pulses off, whatever state the devices are in."""
        for worker in self.workers:
            worker.stop()
        for sender in self._outputs:
            sender.device.close()

    def armed(self) -> bool | None:
        """What the arming switch says; None where there is none, or nothing new."""
        count = self._arm.take() if self._arm else None
        return None if count is None else bool(count)

    def news(self) -> Iterator[tuple[str, str, str]]:
        """What became of devices since the last call: (what happened, device, reason)."""
        for worker in self.workers:
            while worker.news:
                yield worker.news.popleft()

    @property
    def hung(self) -> bool:
        """Is there an I2C bus on which nothing works."""
        for worker in self.workers:
            if worker.hung and worker.name.startswith("i2c"):
                return True
        return False

    @property
    def lost(self) -> dict[str, str]:
        """Devices that do not work now, and why."""
        return {name: reason for worker in self.workers for name, reason in worker.lost.items()}
