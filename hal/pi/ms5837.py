"""Depth by pressure: MS5837-30BA (30 bar) and -02BA (2 bar). CPython only.

The sensor converts pressure (D1) and temperature (D2) alternately, each on a command; its PROM holds six coefficients
and a CRC. A depth is put out as soon as its D1 is read, with the temperature before it: this makes it half a cycle
younger.

An ADC that is read too early gives 0, and then a wrong result for that conversion; so a conversion is read once, and
after a 0 it is ended by a reset, started again and given more time. Before a depth is put out some words of the PROM
are read again: they show stuck bits and swapped bytes. A CRC of four bits accepts one wrong PROM in sixteen, so a PROM
that differs from the first one is rejected too. Datasheets: TE MS5837-30BA and MS5837-02BA21, "pressure and temperature
calculation" and "ADC read sequence".
"""

from collections.abc import Sequence
from itertools import combinations

from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot, Steps

_RESET, _CONVERT_D1, _CONVERT_D2, _ADC, _PROM = 0x1E, 0x48, 0x58, 0x00, 0xA0
_RESET_US = 5_000  # the PROM is loaded within 2.8 ms
_CONVERSION_US = 9_100  # OSR 4096: 9.04 ms at most
_WAITS = (1, 1, 2, 4)  # conversion times to wait, by trial

COLDEST, HOTTEST = -2000, 8500  # 0.01 degC, the sensor's range
RANGE_PA = {"30ba": (0, 3_000_000), "02ba": (1_000, 200_000)}
# Product by bits 11 to 5 of word 0, if it is given there.
_PRODUCTS = {0x1A: "30ba", 0x15: "02ba"}


def crc4(words: Sequence[int]) -> int:
    """CRC of the seven PROM words, without the four bits of word 0 that hold it."""
    remainder = 0
    for word in (words[0] & 0x0FFF, *words[1:7], 0):
        for byte in (word >> 8, word & 0xFF):
            remainder ^= byte
            for _ in range(8):
                remainder = remainder << 1 ^ 0x3000 if remainder & 0x8000 else remainder << 1
            remainder &= 0xFFFF
    return remainder >> 12


def check_words(prom: Sequence[int]) -> tuple[int, ...]:
    """The fewest words, with word 0, whose bytes have every bit as 0 and as 1: they show a stuck bit."""
    for count in range(7):
        for others in combinations(range(1, 7), count):
            ones, zeros = 0, 0
            for i in (0, *others):
                for byte in (prom[i] >> 8, prom[i] & 0xFF):
                    ones, zeros = ones | byte, zeros | ~byte
            if ones & zeros & 0xFF == 0xFF:
                return (0, *others)
    return tuple(range(7))


def compensate(prom: Sequence[int], d1: int, d2: int, model: str) -> tuple[int, int]:
    """Pressure in mPa and temperature in 0.01 degC.

    Integers as in the datasheets, except for the last step of the pressure: its 10 Pa (30BA) are a millimetre of water.
    """
    _, c1, c2, c3, c4, c5, c6 = prom
    dt = d2 - (c5 << 8)
    temperature = 2000 + (dt * c6 >> 23)
    square = (temperature - 2000) ** 2
    if model == "30ba":
        offset = (c2 << 16) + (c4 * dt >> 7)
        sense = (c1 << 15) + (c3 * dt >> 8)
        if temperature < 2000:
            correction = 3 * dt * dt >> 33
            offset -= 3 * square >> 1
            sense -= 5 * square >> 3
            if temperature < -1500:
                cold = (temperature + 1500) ** 2
                offset -= 7 * cold
                sense -= 4 * cold
        else:
            correction = 2 * dt * dt >> 37
            offset -= square >> 4
        unit_mpa, shift = 10_000, 13
    else:
        offset = (c2 << 17) + (c4 * dt >> 6)
        sense = (c1 << 16) + (c3 * dt >> 7)
        correction = 0
        if temperature < 2000:
            correction = 11 * dt * dt >> 35
            offset -= 31 * square >> 3
            sense -= 63 * square >> 5
        unit_mpa, shift = 1_000, 15
    pressure_mpa = (d1 * sense - (offset << 21)) * unit_mpa >> 21 + shift
    return pressure_mpa, temperature - correction


def depth_mm(pressure_mpa: int, surface_pa: float, density_kg_m3: float, g_m_s2: float) -> int:
    """Hydrostatic depth: pressure above the surface's, divided by the weight of a millimetre of water."""
    return round((pressure_mpa - surface_pa * 1000) / (density_kg_m3 * g_m_s2))


class Depth:
    """Depth once per period, which is at least the time of both conversions."""

    restart_us = RESTART_US

    def __init__(
        self,
        bus: I2cBus,
        address: int,
        model: str,
        surface_pa: float,
        density_kg_m3: float,
        g_m_s2: float,
        depth: Slot | None,
        temperature: Slot | None = None,
        period_us: int = 20_000,
        name: str = "",
    ) -> None:
        if model not in RANGE_PA:
            raise ValueError(f'an MS5837 is a "30ba" or a "02ba", not {model!r}')
        self.name = name or f"ms5837 at 0x{address:02x}"
        self.period_us = period_us
        self.working = False
        self._bus = bus
        self._address = address
        self._model = model
        self._water = (surface_pa, density_kg_m3, g_m_s2)
        self._depth = depth
        self._temperature = temperature
        self._prom: tuple[int, ...] = ()
        self._check_words: tuple[int, ...] = ()
        self._counts = [0, 0]  # D1, D2

    def run(self) -> Steps:
        """Reads the PROM, then converts pressure and temperature for ever."""
        self._bus.write(self._address, bytes((_RESET,)))
        yield _RESET_US
        self._read_prom()
        yield from self._convert(1)
        self.working = True
        while True:
            yield -_CONVERSION_US  # so that the depth is ready at the period
            yield from self._convert(0)
            self._check_prom()
            self._put()
            yield from self._convert(1)

    def _read_prom(self) -> None:
        prom = tuple(self._word(i) for i in range(7))
        kept, found = prom[0] >> 12, crc4(prom)
        if kept != found:
            raise DeviceError(
                f"{self.name} has a PROM with CRC {found}, not {kept}; check its wiring and address"
            )
        if not any(prom):  # a data line held low; the CRC of zeros is 0
            raise DeviceError(f"{self.name} has an empty PROM; check its wiring")
        if self._count():  # without a conversion since the reset it must be 0
            raise DeviceError(f"{self.name} responds without a conversion; check its wiring")
        if self._prom and prom != self._prom:
            raise DeviceError(
                f"{self.name} has another PROM than at first; check its wiring, and restart if the sensor was replaced"
            )
        product = _PRODUCTS.get(prom[0] >> 5 & 0x7F, self._model)
        if product != self._model:
            raise DeviceError(f"{self.name} is a {product}, not a {self._model}; correct the vehicle file")
        self._prom = prom
        self._check_words = check_words(prom)

    def _check_prom(self) -> None:
        for i in self._check_words:
            word = self._word(i)
            if word != self._prom[i]:
                raise DeviceError(
                    f"{self.name} has 0x{word:04x} in PROM word {i} where 0x{self._prom[i]:04x} was;"
                    " check its wiring and supply"
                )

    def _word(self, index: int) -> int:
        return int.from_bytes(self._bus.write_read(self._address, bytes((_PROM + 2 * index,)), 2), "big")

    def _count(self) -> int:
        return int.from_bytes(self._bus.write_read(self._address, bytes((_ADC,)), 3), "big")

    def _convert(self, which: int) -> Steps:
        """0 is pressure, 1 temperature."""
        for trial, times in enumerate(_WAITS):
            if trial:
                self._bus.write(self._address, bytes((_RESET,)))
                yield _RESET_US
            self._bus.write(self._address, bytes((_CONVERT_D2 if which else _CONVERT_D1,)))
            yield times * _CONVERSION_US
            count = self._count()
            if count:
                self._counts[which] = count
                return
        raise DeviceError(f"{self.name} does not finish a conversion; check its supply")

    def _put(self) -> None:
        """Puts the reading out if it is within the range of the sensor."""
        pressure_mpa, temperature = compensate(self._prom, self._counts[0], self._counts[1], self._model)
        low_pa, high_pa = RANGE_PA[self._model]
        if not (COLDEST <= temperature <= HOTTEST and low_pa * 1000 <= pressure_mpa <= high_pa * 1000):
            return
        if self._depth is not None:
            self._depth.put(depth_mm(pressure_mpa, *self._water))
        if self._temperature is not None:
            self._temperature.put(temperature)
