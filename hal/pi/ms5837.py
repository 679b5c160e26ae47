"""Depth by pressure: MS5837-30BA (30 bar) and -02BA (2 bar). CPython only.

The sensor converts pressure (D1) and temperature (D2) in turn, each on a command; its PROM holds six coefficients under
a CRC. A depth goes out as soon as its D1 is read, with the temperature before it, so that it is half a cycle younger.

An ADC that is read too early answers 0, and what it gives afterwards for that conversion is wrong; so a conversion is
read once, and after a 0 it is ended by a reset, made again and waited for longer. Before a depth goes out some words of
the PROM are read again: a bit that sticks, bytes that a bus exchanges, leave their traces there. A CRC of four bits
lets one wrong PROM in sixteen through, so one that is not the same as at first is refused too. Datasheets: TE
MS5837-30BA and MS5837-02BA21, "pressure and temperature calculation" and "ADC read sequence".
"""

from collections.abc import Sequence
from itertools import combinations

from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot, Steps

_RESET, _CONVERT_D1, _CONVERT_D2, _ADC, _PROM = 0x1E, 0x48, 0x58, 0x00, 0xA0
_RESET_US = 5_000  # the PROM is loaded within 2.8 ms
_CONVERSION_US = 9_100  # OSR 4096: 9.04 ms at most
_PATIENCE = (1, 1, 2, 4)  # conversion times to wait for, one trial after the other

COLDEST, HOTTEST = -2000, 8500  # 0.01 degC, the sensor's range
RANGE_PA = {"30ba": (0, 3_000_000), "02ba": (1_000, 200_000)}
# What word 0 names as the product, where it does (bits 11 to 5).
_PRODUCTS = {0x1A: "30ba", 0x15: "02ba"}


def crc4(words: Sequence[int]) -> int:
    """Of the seven PROM words, without the four bits of word 0 in which it stands."""
    remainder = 0
    for word in (words[0] & 0x0FFF, *words[1:7], 0):
        for byte in (word >> 8, word & 0xFF):
            remainder ^= byte
            for _ in range(8):
                remainder = remainder << 1 ^ 0x3000 if remainder & 0x8000 else remainder << 1
            remainder &= 0xFFFF
    return remainder >> 12


def telling_words(prom: Sequence[int]) -> tuple[int, ...]:
    """The fewest words (word 0 is one) in whose bytes every bit is both 0 and 1 somewhere: one that sticks shows."""
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
    """Pressure in mPa and temperature in 0.01 degC. Integers as in the datasheets, but for the pressure's last step:
    its 10 Pa (30BA) would be a millimetre of water.
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
    """Hydrostatic: what stands above the surface's pressure, over the weight of a millimetre of water."""
    return round((pressure_mpa - surface_pa * 1000) / (density_kg_m3 * g_m_s2))


class Depth:
    """`period_us` from depth to depth; never less than both conversions."""

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
        self._telling: tuple[int, ...] = ()
        self._counts = [0, 0]  # D1, D2

    def run(self) -> Steps:
        self._bus.write(self._address, bytes((_RESET,)))
        yield _RESET_US
        self._read_prom()
        yield from self._convert(1)
        self.working = True
        while True:
            yield -_CONVERSION_US  # so that the depth is there at the period's own instant
            yield from self._convert(0)
            self._look_at_prom()
            self._put()
            yield from self._convert(1)

    def _read_prom(self) -> None:
        prom = tuple(self._word(i) for i in range(7))
        kept, found = prom[0] >> 12, crc4(prom)
        if kept != found:
            raise DeviceError(
                f"{self.name} has a PROM whose CRC is {found} where it says {kept}; check its wiring and address"
            )
        if not any(prom):  # a data line held low, whose CRC of nothing is right
            raise DeviceError(f"{self.name} has nothing in its PROM; check its wiring")
        if self._count():  # nothing was converted since the reset, so it must be 0
            raise DeviceError(f"{self.name} answers though it was asked nothing; check its wiring")
        if self._prom and prom != self._prom:
            raise DeviceError(
                f"{self.name} has another PROM than at first; check its wiring, and start again if it was exchanged"
            )
        product = _PRODUCTS.get(prom[0] >> 5 & 0x7F, self._model)
        if product != self._model:
            raise DeviceError(f"{self.name} is a {product}, not a {self._model}; say so in the vehicle file")
        self._prom = prom
        self._telling = telling_words(prom)

    def _look_at_prom(self) -> None:
        for i in self._telling:
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
        for trial, times in enumerate(_PATIENCE):
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
        """A reading outside the sensor's range is none."""
        pressure_mpa, temperature = compensate(self._prom, self._counts[0], self._counts[1], self._model)
        low_pa, high_pa = RANGE_PA[self._model]
        if not (COLDEST <= temperature <= HOTTEST and low_pa * 1000 <= pressure_mpa <= high_pa * 1000):
            return
        if self._depth is not None:
            self._depth.put(depth_mm(pressure_mpa, *self._water))
        if self._temperature is not None:
            self._temperature.put(temperature)
