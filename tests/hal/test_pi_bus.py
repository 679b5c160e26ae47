"""The Pi's I2C bus and the slots between threads (hal/pi/bus.py, slot.py)."""

import errno

import pytest
from adafruit_bus_device.i2c_device import I2CDevice

from caudal.hal.emulated.chip import Chip
from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.slot import Slot
from tests.hal.pi_bench import Bench


class Echo(Chip):
    """Gives back what was written last."""

    def __init__(self, clock) -> None:
        super().__init__(clock, 0x20)
        self.heard: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.heard.append(data)

    def read(self, count: int) -> bytes:
        return self.heard[-1][:count].ljust(count, b"\xee")

    def power_cycle(self) -> None:
        pass


class Failing:
    """An SMBus whose transfers end in an error."""

    def __init__(self, error: int, on_close: int = 0) -> None:
        self.error, self.on_close, self.closed = error, on_close, 0

    def i2c_rdwr(self, *messages) -> None:
        if self.error:
            raise OSError(self.error, "made up")

    def close(self) -> None:
        self.closed += 1
        if self.on_close:
            raise OSError(self.on_close, "made up")


@pytest.fixture
def echo() -> tuple[Bench, Echo]:
    bench = Bench()
    chip = Echo(bench.clock)
    bench.add(chip)
    return bench, chip


def test_bytes_are_sent_and_received(echo):
    bench, chip = echo
    bench.bus.write(0x20, b"\x01\x02")
    assert bench.bus.read(0x20, 3) == b"\x01\x02\xee"
    assert bench.bus.write_read(0x20, b"\x07", 2) == b"\x07\xee"
    assert chip.heard == [b"\x01\x02", b"\x07"]


def test_adafruits_own_device_class_works_on_it_and_leaves_it_unlocked(echo):
    bench, chip = echo
    device = I2CDevice(bench.bus, 0x20)  # probes with an empty write
    buffer = bytearray(b"\x00\x05\x06\x07")
    with device:
        assert not bench.bus.try_lock()
        device.write(buffer, start=1, end=3)
        device.readinto(buffer, start=2)
        assert buffer == b"\x00\x05\x05\x06"
        device.write_then_readinto(buffer, buffer, out_start=1, out_end=2, in_start=3)
    assert buffer == b"\x00\x05\x05\x05"
    assert chip.heard == [b"", b"\x05\x06", b"\x05"]
    assert bench.bus.try_lock()
    bench.bus.unlock()
    with pytest.raises(ValueError, match="0x21"):
        I2CDevice(bench.bus, 0x21)


def test_bus_opens_at_its_first_transfer_and_reports_a_missing_one():
    def missing():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "/dev/i2c-9")

    bus = I2cBus(missing, "i2c-9")
    bus.close()
    with pytest.raises(FileNotFoundError, match="i2c-9"):
        bus.read(0x20, 1)


@pytest.mark.parametrize("error", [errno.ENODEV, errno.EBADF, errno.EIO])
@pytest.mark.parametrize("on_close", [0, errno.EBADF])
def test_lost_adapter_is_opened_again_at_the_next_use(error, on_close):
    opened = [Failing(error, on_close), Failing(0)]
    line = iter(opened)
    bus = I2cBus(lambda: next(line), "usb")
    with pytest.raises(OSError, match="made up"):
        bus.write(0x20, b"\x00")
    assert opened[0].closed == 1
    bus.write(0x20, b"\x00")
    bus.close()
    bus.close()
    assert opened[1].closed == 1


@pytest.mark.parametrize(
    "error", [errno.EREMOTEIO, errno.ENXIO, errno.ETIMEDOUT, errno.EAGAIN, errno.EOPNOTSUPP]
)
def test_device_without_response_leaves_the_bus_open(error):
    smbus = Failing(error)
    bus = I2cBus(lambda: smbus, "bus")
    for _ in range(2):
        with pytest.raises(OSError, match="made up"):
            bus.read(0x20, 1)
    assert smbus.closed == 0


def test_slot_gives_the_newest_count_once():
    slot = Slot()
    assert slot.take() is None
    slot.put(1)
    slot.put(0)
    assert slot.take() == 0
    assert slot.take() is None
