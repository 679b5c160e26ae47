"""A bench for the Pi's drivers: emulated chips on a bus whose time is simulated, and the worker that runs devices."""

from caudal.hal.emulated.chip import Chip
from caudal.hal.emulated.smbus import EmulatedSMBus
from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.slot import Slot
from caudal.hal.pi.worker import SimulatedClock, Worker

TICK_US = 1_000


class Recorded(EmulatedSMBus):
    """Keeps the writes that went over it: (address, bytes)."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.writes: list[tuple[int, bytes]] = []

    def i2c_rdwr(self, *messages) -> None:
        self.writes += [(message.addr, bytes(message)) for message in messages if not message.flags & 1]
        super().i2c_rdwr(*messages)


class Bench:
    def __init__(self) -> None:
        self.clock = SimulatedClock(0)
        self.chips: dict[int, Chip] = {}
        self.bus = I2cBus(self._open, "bench")
        self.worker = Worker("bench", [], self.clock, TICK_US)
        self._smbus: Recorded | None = None

    def add(self, chip: Chip) -> None:
        self.chips[chip.address] = chip

    @property
    def smbus(self) -> Recorded:
        if self._smbus is None:
            self._smbus = Recorded(self.chips, self.clock.spend)
        return self._smbus

    @property
    def faults(self):
        return self.smbus.faults

    def use(self, *devices) -> None:
        self.worker = Worker("bench", list(devices), self.clock, TICK_US)

    def run(self, ms: float, every_ms: float = 1.0, tick=None) -> None:
        """Simulated time goes on; `tick()` is called every so often, as a control loop would."""
        end_us = self.clock.us + round(ms * 1000)
        while self.clock.us < end_us:
            if tick:
                tick()
            self.worker.run_until(min(end_us, self.clock.us + round(every_ms * 1000)))

    @property
    def reason(self) -> str:
        """Why the one device does not work; "" if it does."""
        return next(iter(self.worker.lost.values()), "")

    def _open(self) -> EmulatedSMBus:
        return self.smbus


def taken(slot: Slot, bench: Bench, ms: float) -> list[int]:
    """Every count that comes within so many milliseconds."""
    counts: list[int] = []

    def take() -> None:
        count = slot.take()
        if count is not None:
            counts.append(count)

    bench.run(ms, tick=take)
    take()
    return counts
