"""TI INA219, voltage, current and power, from its datasheet (SBOS448G). CPython only.

Current and power are computed when a conversion ends, from the calibration register at that time. Every result has full
resolution, 4 mV and 10 uV, for any configured number of bits; averaging only takes its time.

    paced       for a simulated sensor with its own sample clock: a conversion ends, and CNVR is set, when its time is
                over AND `set` was called since the last one.
"""

from caudal.hal.emulated.chip import Clock, WordChip, nearest

CONFIG, SHUNT, BUS, POWER, CURRENT, CALIBRATION = range(6)
RESET = 0x8000
POWER_ON_CONFIG = 0x399F
READY, OVERFLOW = 0x02, 0x01  # CNVR and OVF of BUS
SHUNT_ON, BUS_ON, CONTINUOUS = 1, 2, 4  # of the mode
# Conversion times by the settings 0 to 15: 9 to 12 bits, then 12 bits and 2**n samples.
LASTS_US = (84, 148, 276, 532, 84, 148, 276, 532, 532, 1_060, 2_130, 4_260, 8_510, 17_020, 34_050, 68_100)


class Ina219(WordChip):
    """The chip, with its bus and shunt voltages."""

    def __init__(self, clock: Clock, address: int = 0x40, paced: bool = False) -> None:
        super().__init__(clock, address)
        self._paced = paced
        self._fresh = False
        self._bus_mv = 0
        self._shunt_uv = 0
        self.power_cycle()

    def set(self, *, bus_mv: int | None = None, shunt_uv: int | None = None) -> None:
        """Sets a new sample; values that are not given stay."""
        if not self._paced:
            self._settle()
        self._bus_mv = self._bus_mv if bus_mv is None else bus_mv
        self._shunt_uv = self._shunt_uv if shunt_uv is None else shunt_uv
        self._fresh = True

    def power_cycle(self) -> None:
        """Sets the registers to their power-on values."""
        self._pointer = 0
        self._registers = [POWER_ON_CONFIG, 0, 0, 0, 0, 0]
        self._begin(self.clock())

    def read_word(self, register: int) -> int:
        """The value of a register; reading POWER clears CNVR."""
        self._settle()
        if register >= len(self._registers):
            return 0
        value = self._registers[register] & 0xFFFF
        if register == POWER:
            self._registers[BUS] &= ~READY
        return value

    def write_word(self, register: int, value: int) -> None:
        """Writes a register; a write to CONFIG starts a conversion."""
        self._settle()
        if register == CALIBRATION:
            self._registers[CALIBRATION] = value & 0xFFFE  # its lowest bit is always 0
        elif register == CONFIG and value & RESET:
            self.power_cycle()
        elif register == CONFIG:
            self._registers[CONFIG] = value & 0x3FFF
            if value & (SHUNT_ON | BUS_ON):  # any mode but power-down and off clears CNVR
                self._registers[BUS] &= ~READY
            self._begin(self.clock())

    def _begin(self, from_us: int) -> None:
        self._done_us: int | None = from_us + self._lasts_us() if self._mode() & (SHUNT_ON | BUS_ON) else None

    def _mode(self) -> int:
        return self._registers[CONFIG] & 7

    def _lasts_us(self) -> int:
        config = self._registers[CONFIG]
        shunt_us = LASTS_US[config >> 3 & 15] if config & SHUNT_ON else 0
        bus_us = LASTS_US[config >> 7 & 15] if config & BUS_ON else 0
        return (shunt_us + bus_us) * self.slow

    def _settle(self) -> None:
        """Ends a conversion whose time is over; a continuous one is then in the middle of the next."""
        now_us = self.clock()
        if self._done_us is None or now_us < self._done_us or (self._paced and not self._fresh):
            return
        self._fresh = False
        self._convert()
        if self._mode() & CONTINUOUS:
            self._begin(now_us - (now_us - self._done_us) % self._lasts_us())
        else:
            self._done_us = None

    def _convert(self) -> None:
        registers, mode = self._registers, self._mode()
        if mode & SHUNT_ON:
            range_counts = 4000 << (registers[CONFIG] >> 11 & 3)  # 40 to 320 mV
            registers[SHUNT] = min(max(nearest(self._shunt_uv, 10), -range_counts), range_counts)
        bus = registers[BUS] >> 3
        if mode & BUS_ON:
            bus = min(max(nearest(self._bus_mv, 4), 0), 8000 if registers[CONFIG] & 0x2000 else 4000)
        current = _towards_zero(registers[SHUNT] * registers[CALIBRATION], 4096)
        power = abs(current) * bus // 5000
        overflow = not -32768 <= current <= 32767 or power > 0xFFFF
        registers[CURRENT], registers[POWER] = current, power
        registers[BUS] = bus << 3 | READY | (OVERFLOW if overflow else 0)


def _towards_zero(numerator: int, denominator: int) -> int:
    return numerator // denominator if numerator >= 0 else -(-numerator // denominator)
