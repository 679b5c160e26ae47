"""The drivers of a microcontroller's pins and buses (hal/mcu), on simulated devices."""

import pytest

from caudal.hal.core.number_line import NumberLine
from caudal.hal.mcu.driver import McuDriver
from caudal.hal.mcu.pulses import PulsePins
from caudal.hal.mcu.sources import AnalogPin, LineField, Register, SwitchPin
from tests.conftest import ROOT
from tests.mcu.conftest import on_board


class Pwm:
    def __init__(self):
        self.told = []

    def duty_ns(self, duty_ns):
        self.told.append(duty_ns)

    def deinit(self):
        self.told.append("deinit")


class Bus:
    """One device at address 0x28 whose registers hold `content` from register 0 on."""

    def __init__(self, content):
        self._content = content
        self.there = True

    def readfrom_mem_into(self, address, register, buffer):
        if not self.there or address != 0x28:
            raise OSError(19)
        buffer[:] = self._content[register : register + len(buffer)]


class Line:
    def __init__(self):
        self.waiting = b""

    def any(self):
        return len(self.waiting)

    def readinto(self, buffer, count):
        buffer[:count] = self.waiting[:count]
        self.waiting = self.waiting[count:]
        return count


def test_pin_is_set_once_per_change_and_released_at_the_end():
    pwms = [Pwm(), Pwm()]
    pulses = PulsePins(pwms)
    for outputs in ([1500, 0], [1500, 0], [1501, 900], [1501, 0]):
        pulses.write(outputs)
    pulses.close()
    assert pwms[0].told == [1_500_000, 1_501_000, 0, "deinit"]
    assert pwms[1].told == [900_000, 0, 0, "deinit"]


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 32767, -1, -128, -32768, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("order", ["little", "big"])
def test_register_reads_as_its_number(value, order):
    for size in (1, 2, 3, 4):
        for signed in (True, False):
            try:
                content = value.to_bytes(size, order, signed=signed)
            except OverflowError:
                continue
            register = Register(Bus(b"\x5a" * 7 + content), 0x28, 7, size, order == "little", signed)
            assert register.count() == value


def test_device_without_response_has_no_reading_until_it_responds():
    bus = Bus(b"\x01\x02")
    register = Register(bus, 0x28, 0, 2, True, True)
    bus.there = False
    assert register.count() is None
    bus.there = True
    assert register.count() == 0x0201


def test_line_of_numbers_counts_once_and_only_if_it_is_complete():
    uart = Line()
    line = NumberLine(uart, 4)
    first, third = LineField(line, 0), LineField(line, 2)

    def after(text):
        uart.waiting += text
        line.take()
        return [line.number(field) for field in range(4)]

    nothing = [None] * 4
    assert after(b"812,-40,,30") == nothing
    assert after(b"00\r\n") == [812, -40, None, 3000]
    assert after(b"") == nothing  # it was counted
    assert after(b"1,2,3,4\n5,6,7,8\n") == [5, 6, 7, 8]  # the newest of two
    for garbage in (b"1,2,3\n", b"1,2,3,4,5\n", b"1,x,3,4\n", b"1,2,3,99999999999\n", b"\xff\x00\n", b"\n"):
        assert after(garbage) == nothing, garbage
    assert after(b" 1, 2, -3, 4\n") == [1, 2, -3, 4]
    assert (first.count(), third.count()) == (1, -3)
    long = b",".join([b"7"] * 4) + b"\n"
    assert after(b"9" * 500 + b"\n" + long) == [7, 7, 7, 7]


def test_driver_reads_each_sensor_from_its_source():
    class Adc:
        def read_u16(self):
            return 40000

    class Pin:
        def value(self):
            return 0

    uart = Line()
    line = NumberLine(uart, 1)
    sources = [AnalogPin(Adc()), SwitchPin(Pin(), True), SwitchPin(Pin(), False), None, LineField(line, 0)]
    driver = McuDriver(PulsePins([]), sources, line)
    counts = [1] * 5
    uart.waiting = b"-5\n"
    driver.read(counts)
    assert counts == [40000, 1, 0, None, -5]
    driver.read(counts)
    assert counts == [40000, 1, 0, None, None]


def test_reading_and_writing_allocate_nothing_on_a_board(micropython_32_bit, tmp_path):
    script = ROOT / "tests" / "mcu" / "driver_heap.py"
    done = on_board(micropython_32_bit, ROOT, str(script))
    assert done.returncode == 0, done.stderr
    taken = dict(line.split() for line in done.stdout.splitlines())
    assert taken.pop("box") != "0"  # the measurement does see an allocation
    assert taken == {"read": "0", "write": "0", "silent": "0"}
