"""TE MS5837-30BA and -02BA, pressure and temperature, from their datasheets (10/2015 and 09/2017). CPython only.

The chip has five commands and no registers. Its results are computed by inverting the datasheet's compensation, second
order included, so that a driver gets the pressure that was set: within 1 Pa, 0 to 30 bar and -10 to 40 degC.

An ADC read gives 0 if no conversion was made or its result was read before. During a conversion it gives 0, and the
result of that conversion is wrong, as after a second convert command: both datasheets say so (page 11). Here a wrong
result is half of the true one. A driver that polls gets wrong results.

    paced       for a simulated sensor with its own clock: a D1 conversion ends when its time is over AND `set` was
                called since D1 was last read. Waiting for that second condition makes no result wrong.
"""

from dataclasses import dataclass
from typing import Literal

from caudal.hal.emulated.chip import Chip, Clock, Nack

RESET, ADC_READ, PROM, CONVERT_D1, CONVERT_D2 = 0x1E, 0x00, 0xA0, 0x40, 0x50
CONVERSION_US = (600, 1_170, 2_280, 4_540, 9_040, 18_080)  # the longest, for OSR 256, 512, ... 8192
RELOAD_US = 2_800  # to load the PROM after a reset; assumed: the chip does not acknowledge meanwhile
LARGEST = (1 << 24) - 1

Model = Literal["30ba", "02ba"]
# The calibration of the datasheets' own examples, C1 to C6, and the product's bits of word 0.
EXAMPLE: dict[Model, tuple[int, tuple[int, ...]]] = {
    "30ba": (0x1A << 5, (34982, 36352, 20328, 22354, 26646, 26146)),
    "02ba": (0x15 << 5, (46372, 43981, 29059, 27842, 31553, 28165)),
}


@dataclass
class Conversion:
    """A conversion in progress or ended."""

    pressure: bool  # D1, or D2
    done_us: int
    spoilt: bool = False
    value: int | None = None  # after its end


class Ms5837(Chip):
    """The chip, with its pressure and temperature."""

    def __init__(
        self,
        clock: Clock,
        address: int = 0x76,
        model: Model = "30ba",
        coefficients: tuple[int, ...] | None = None,
        paced: bool = False,
    ) -> None:
        super().__init__(clock, address)
        product, example = EXAMPLE[model]
        self.prom = make_prom(product, coefficients or example)
        self._model: Model = model
        self.paced = paced
        self._fresh = False
        self._pressure_pa = 101_325.0
        self._hundredths: int | None = None
        self._d2 = self._d2_read = 0
        self._ready_us = clock()
        self._conversion: Conversion | None = None
        self._answer = b""
        self.set(pressure_pa=101_325, temperature_c=20.0)
        self._d2_read = self._d2
        self._fresh = False

    def set(self, *, pressure_pa: float, temperature_c: float = 20.0) -> None:
        """Sets a new sample; the temperature is rounded to hundredths of a degree, as in drivers."""
        if not self.paced:
            self._settle()
        self._pressure_pa = pressure_pa
        hundredths = round(temperature_c * 100)
        if hundredths != self._hundredths:  # this takes a search
            self._hundredths = hundredths
            self._d2 = find_d2(self._model, self.prom, hundredths)
        self._fresh = True

    def power_cycle(self) -> None:
        """Ends the conversion and loads the PROM again."""
        self._conversion = None
        self._answer = b""
        self._ready_us = self.clock() + RELOAD_US

    def write(self, data: bytes) -> None:
        """Executes commands."""
        self._check_ready()
        for command in data:
            self._execute(command)

    def read(self, count: int) -> bytes:
        """The response to the last command."""
        self._check_ready()
        return self._answer[:count].ljust(count, b"\x00")

    def _check_ready(self) -> None:
        if self.clock() < self._ready_us:
            raise Nack

    def _execute(self, command: int) -> None:
        now_us = self.clock()
        if command == RESET:
            self.power_cycle()
        elif command == ADC_READ:
            self._answer = self._take(now_us).to_bytes(3, "big")
        elif PROM <= command <= PROM + 14:
            word = self.prom[(command - PROM) // 2]
            self._answer = (word ^ 0x2040 if self.wrong_identity else word).to_bytes(2, "big")
        elif command & 0xE1 == CONVERT_D1 and (command & 0x0F) // 2 < len(CONVERSION_US):
            busy = self._conversion is not None and now_us < self._conversion.done_us
            lasts_us = CONVERSION_US[(command & 0x0F) // 2] * self.slow
            self._conversion = Conversion(command < CONVERT_D2, now_us + lasts_us, spoilt=busy)

    def _take(self, now_us: int) -> int:
        """The result of the conversion, once."""
        conversion = self._conversion
        if conversion is None:
            return 0
        if now_us < conversion.done_us:
            conversion.spoilt = True
            return 0
        if self.paced and conversion.pressure and not self._fresh:
            return 0
        self._settle()
        self._conversion = None
        if conversion.pressure:
            self._fresh = False
        value = conversion.value or 0
        if conversion.spoilt:
            return value // 2
        if not conversion.pressure:
            self._d2_read = value
        return value

    def _settle(self) -> None:
        """A conversion that has ended keeps its result when inputs change."""
        conversion = self._conversion
        if conversion and conversion.value is None and self.clock() >= conversion.done_us:
            # A paced sensor's D1 belongs to the D2 that the driver has read: a sample has one time.
            d2 = self._d2_read if self.paced else self._d2
            d1 = find_d1(self._model, self.prom, self._pressure_pa, d2)
            conversion.value = d1 if conversion.pressure else self._d2


def make_prom(product: int, coefficients: tuple[int, ...]) -> tuple[int, ...]:
    """Eight words, with the check sum in the upper bits of the first; the last is not used and reads 0."""
    words = (product & 0x0FFF, *coefficients, 0)
    return (crc4(words) << 12 | words[0], *words[1:])


def crc4(words: tuple[int, ...]) -> int:
    """The check sum in the upper four bits of word 0, computed with these bits and word 7 at 0."""
    return remainder((words[0] & 0x0FFF, *words[1:7], 0))


def remainder(words: tuple[int, ...]) -> int:
    """By x^4 + x + 1, of all bits of the PROM except the last four, which the datasheet's register does not reach."""
    bits = 0
    for word in words:
        bits = bits << 16 | word
    bits >>= 4
    for place in range(bits.bit_length() - 1, 3, -1):
        if bits >> place & 1:
            bits ^= 0x13 << place - 4
    return bits


def temperature(model: Model, prom: tuple[int, ...], d2: int) -> tuple[int, int, int]:
    """First-order and second-order temperature in 0.01 degC, and dT; divisions round down."""
    dt = d2 - (prom[5] << 8)
    first = 2000 + (dt * prom[6] >> 23)
    if model == "02ba":
        correction = 11 * dt * dt >> 35 if first < 2000 else 0
    else:
        correction = 3 * dt * dt >> 33 if first < 2000 else 2 * dt * dt >> 37
    return first, first - correction, dt


def line(model: Model, prom: tuple[int, ...], d2: int) -> tuple[float, float]:
    """The sensor's line at this temperature: pressure in Pa = D1 * slope - offset."""
    first, _, dt = temperature(model, prom, d2)
    below = (first - 2000) ** 2
    if model == "02ba":
        off, sens, unit_pa = (
            (prom[2] << 17) + (prom[4] * dt >> 6),
            (prom[1] << 16) + (prom[3] * dt >> 7),
            2**15,
        )
        if first < 2000:
            off, sens = off - (31 * below >> 3), sens - (63 * below >> 5)
        return sens / 2**21 / unit_pa, off / unit_pa
    off, sens = (prom[2] << 16) + (prom[4] * dt >> 7), (prom[1] << 15) + (prom[3] * dt >> 8)
    if first < 2000:
        off, sens = off - (3 * below >> 1), sens - (5 * below >> 3)
        if first < -1500:
            off, sens = off - 7 * (first + 1500) ** 2, sens - 4 * (first + 1500) ** 2
    else:
        off -= below >> 4
    return sens / 2**21 * 10 / 2**13, off * 10 / 2**13  # in tenths of a millibar


def find_d2(model: Model, prom: tuple[int, ...], hundredths: int) -> int:
    """The lowest D2 that gives this temperature; the first-order one is then nearest above a hundredth."""
    low, high = 0, LARGEST
    while low < high:
        middle = (low + high) // 2
        if temperature(model, prom, middle)[1] < hundredths:
            low = middle + 1
        else:
            high = middle
    return low


def find_d1(model: Model, prom: tuple[int, ...], pressure_pa: float, d2: int) -> int:
    """The nearest D1; the end of its range for a pressure beyond it."""
    slope, offset = line(model, prom, d2)
    return min(max(round((pressure_pa + offset) / slope), 1), LARGEST)
