"""Four voltages: ADS1115, one conversion at a time. CPython only.

The config register is read with every result: its OS bit shows that the conversion has ended, and the rest must be as
written, or the chip lost its supply. A threshold register that is not used otherwise holds a pattern whose two bytes
have every bit once as 0 and once as 1: it shows a stuck bit. A result at the end of the scale is no reading.
Datasheet: TI SBAS444.
"""

from collections.abc import Sequence
from typing import NamedTuple

from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot, Steps

_CONVERSION, _CONFIG, _HIGH_THRESHOLD = 0x00, 0x01, 0x03
_PATTERN = 0x5AA5
_READY = 0x8000  # written: begin; read: not converting
_SINGLE_SHOT = 0x0100
_NO_COMPARATOR = 0x0003
_AGAIN_US = 200
_TALK_US = 500  # on the bus for one conversion
_LATER_US = 1_000  # once it is late: polls must not fill the bus
_TIMEOUT_US = 50_000  # or 20 conversion times, if that is longer

# The step in pV and the PGA bits of each range.
GAINS = {
    6.144: (187_500_000, 0), 4.096: (125_000_000, 1), 2.048: (62_500_000, 2),
    1.024: (31_250_000, 3), 0.512: (15_625_000, 4), 0.256: (7_812_500, 5),
}  # fmt: skip
RATES_HZ = (8, 16, 32, 64, 128, 250, 475, 860)


class Input(NamedTuple):
    """One of the four inputs, against ground: a count is `uv_per_count`."""

    number: int
    full_scale_v: float
    uv_per_count: int
    slot: Slot
    period_us: int


def count_of(raw: int, full_scale_v: float, uv_per_count: int) -> int | None:
    """The nearest count of the chip's steps; None at the ends of the scale."""
    if not -32768 < raw < 32767:
        return None
    step_pv, count_pv = GAINS[full_scale_v][0], uv_per_count * 1_000_000
    return (2 * raw * step_pv + count_pv) // (2 * count_pv)


class Adc:
    """Converts inputs of longer periods every n-th time, in the given sequence."""

    restart_us = RESTART_US

    def __init__(
        self, bus: I2cBus, address: int, inputs: Sequence[Input], data_rate: int = 860, name: str = ""
    ) -> None:
        self._inputs = inputs
        for each in self._inputs:
            if not 0 <= each.number <= 3 or each.full_scale_v not in GAINS:
                raise ValueError(
                    f"an ADS1115 has inputs 0 to 3 and ranges of {', '.join(map(str, GAINS))} V,"
                    f" not input {each.number} at {each.full_scale_v} V"
                )
        if not self._inputs or data_rate not in RATES_HZ:
            raise ValueError(
                f"an ADS1115 converts one input or more at {', '.join(map(str, RATES_HZ))} Hz, not at {data_rate}"
            )
        self.name = name or f"ads1115 at 0x{address:02x}"
        self.period_us = min(each.period_us for each in self._inputs)
        self.working = False
        self._bus = bus
        self._address = address
        self._rate_bits = RATES_HZ.index(data_rate) << 5
        # Its oscillator is good to a tenth; it takes 25 us to wake up.
        self._conversion_us = 1_100_000 // data_rate + 50

    def run(self) -> Steps:
        """Converts the inputs that are due, for ever."""
        self._write(_HIGH_THRESHOLD, _PATTERN)
        cycle = 0
        while True:
            due = [
                each for each in self._inputs if cycle % max(1, round(each.period_us / self.period_us)) == 0
            ]
            yield -len(due) * (self._conversion_us + _TALK_US)  # so that all are ready by their period
            for each in due:
                yield from self._convert(each)
            self.working = True
            cycle += 1

    def _convert(self, each: Input) -> Steps:
        config = 0x4000 | each.number << 12 | GAINS[each.full_scale_v][1] << 9
        config |= _SINGLE_SHOT | self._rate_bits | _NO_COMPARATOR
        self._write(_CONFIG, config | _READY)
        yield self._conversion_us
        late_us = 0
        while late_us < max(_TIMEOUT_US, 20 * self._conversion_us):
            held = self._read(_CONFIG)
            self._compare(held & ~_READY, config)
            if held & _READY:
                break
            wait_us = _AGAIN_US if late_us < _LATER_US else _LATER_US
            yield wait_us
            late_us += wait_us
        else:
            raise DeviceError(f"{self.name} does not finish a conversion; check its supply")
        self._compare(self._read(_HIGH_THRESHOLD), _PATTERN)
        raw = self._read(_CONVERSION)
        count = count_of(raw - ((raw & 0x8000) << 1), each.full_scale_v, each.uv_per_count)
        if count is not None:
            each.slot.put(count)

    def _compare(self, held: int, written: int) -> None:
        if held != written:
            raise DeviceError(
                f"{self.name} holds 0x{held:04x} where 0x{written:04x} was written; check its supply and address"
            )

    def _read(self, register: int) -> int:
        return int.from_bytes(self._bus.write_read(self._address, bytes((register,)), 2), "big")

    def _write(self, register: int, value: int) -> None:
        self._bus.write(self._address, bytes((register,)) + value.to_bytes(2, "big"))
