"""The board's driver on a Raspberry Pi: takes the devices' newest readings, and passes outputs on to them.

Only workers use the buses, each in its own thread (hal/pi/worker.py). CPython only.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from caudal.hal.pi.slot import Slot
from caudal.hal.pi.worker import Device, Worker


class OutputDevice(Device, Protocol):
    """A device that sends outputs."""

    def set(self, values: Sequence[int], /) -> None:
        """Takes the outputs to send; called by the control thread."""

    def close(self) -> None:
        """Ends all outputs; called by the control thread after the worker has stopped."""


class Outputs:
    """A device that sends outputs, the indices of its outputs, and its worker."""

    def __init__(self, device: OutputDevice, indices: Sequence[int], worker: Worker) -> None:
        self.device = device
        self._indices = indices
        self._worker = worker

    def write(self, outputs: Sequence[int]) -> None:
        """Passes the device its outputs."""
        self.device.set([outputs[i] for i in self._indices])
        self._worker.poke(self.device)


class PiDriver:
    """`slots[i]` has the readings of sensor i; None for a sensor that is not fitted."""

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

    def start(self, prepare: Callable[[], object] = lambda: None) -> None:
        """Starts a thread per bus, which first calls `prepare` (for its priority)."""
        for worker in self.workers:
            worker.start(prepare)

    def read(self, counts: list[int | None]) -> None:
        """Fills the list with one count per sensor."""
        for i, slot in enumerate(self._slots):
            counts[i] = None if slot is None else slot.take()

    def write(self, outputs: Sequence[int]) -> None:
        """Sends one output per actuator."""
        for sender in self._outputs:
            sender.write(outputs)

    def close(self) -> None:
        """Ends all outputs, in any state of the devices."""
        for worker in self.workers:
            worker.stop()
        for sender in self._outputs:
            sender.device.close()

    def armed(self) -> bool | None:
        """The state of the arming switch; None without a switch or a new reading."""
        count = self._arm.take() if self._arm else None
        return None if count is None else bool(count)

    def news(self) -> Iterator[tuple[str, str, str]]:
        """Devices lost and back since the last call: (event kind, device, reason)."""
        for worker in self.workers:
            while worker.news:
                yield worker.news.popleft()

    @property
    def hung(self) -> bool:
        """Whether an I2C bus has no working device."""
        for worker in self.workers:
            if worker.hung and worker.name.startswith("i2c"):
                return True
        return False

    @property
    def lost(self) -> dict[str, str]:
        """Devices that do not work, with the reason."""
        return {name: reason for worker in self.workers for name, reason in worker.lost.items()}
