"""TI ADS1115, four inputs of 16 bits, from its datasheet (SBAS444). CPython only.

Single-shot and continuous conversions take 1 / data rate, and 30 us to wake. A conversion in progress ends with the
settings it began with. The comparator's thresholds are stored; its pin is not emulated.

    paced       inputs with their own sample clock, in a simulated run: a conversion of such an input ends when its time
                is over AND `set` was called for it since its last conversion. Of a differential pair the positive input
                counts.
"""

from collections.abc import Collection

from caudal.hal.emulated.chip import Clock, WordChip, nearest

CONVERSION, CONFIG, LO_THRESH, HI_THRESH = 0, 1, 2, 3
START, SINGLE = 0x8000, 0x0100  # of CONFIG; START reads as "idle"
POWER_ON = {CONVERSION: 0, CONFIG: 0x0583, LO_THRESH: 0x8000, HI_THRESH: 0x7FFF}
FULL_SCALE_UV = (6_144_000, 4_096_000, 2_048_000, 1_024_000, 512_000, 256_000, 256_000, 256_000)
RATES_HZ = (8, 16, 32, 64, 128, 250, 475, 860)
PAIRS = ((0, 1), (0, 3), (1, 3), (2, 3))  # positive and negative input of MUX 0 to 3; 4 to 7 are single-ended
WAKE_US = 30
GENERAL_RESET = b"\x06"


class Ads1115(WordChip):
    """The chip, with its inputs in microvolts."""

    def __init__(self, clock: Clock, address: int = 0x48, paced: Collection[int] = ()) -> None:
        super().__init__(clock, address)
        self.paced = set(paced)
        self._fresh: set[int] = set()
        self._inputs_uv = [0, 0, 0, 0]
        self.power_cycle()

    def set(self, input: int, microvolts: int) -> None:
        """Sets a new sample of an input, 0 to 3."""
        if input not in self.paced:
            self._settle()
        self._inputs_uv[input] = microvolts
        self._fresh.add(input)

    def power_cycle(self) -> None:
        """Sets the registers to their power-on values."""
        self._pointer = 0
        self._registers = dict(POWER_ON)
        self._running: int | None = None  # settings of the conversion in progress
        self._done_us = 0

    def general_call(self, data: bytes) -> bool:
        """Obeys a general reset."""
        if data != GENERAL_RESET:
            return False
        self.power_cycle()
        return True

    def read_word(self, register: int) -> int:
        """The value of a register."""
        self._settle()
        value = self._registers[register & 3]
        return value | START if register & 3 == CONFIG and self._running is None else value

    def write_word(self, register: int, value: int) -> None:
        """Writes a register; a write to CONFIG may start a conversion."""
        self._settle()
        if register & 3 == CONVERSION:
            return
        self._registers[register & 3] = value & ~START if register & 3 == CONFIG else value
        if register & 3 == CONFIG and self._running is None and (value & START or not value & SINGLE):
            self._begin(self.clock() + WAKE_US)

    def _begin(self, from_us: int) -> None:
        self._running = self._registers[CONFIG]
        self._done_us = from_us + self._lasts_us()

    def _lasts_us(self) -> int:
        return 1_000_000 // RATES_HZ[self._registers[CONFIG] >> 5 & 7] * self.slow

    def _settle(self) -> None:
        """Ends conversions whose time is over; of continuous ones the newest result counts."""
        while self._running is not None and self.clock() >= self._done_us:
            positive, negative = _inputs(self._running)
            if positive in self.paced and positive not in self._fresh:
                return
            self._fresh.discard(positive)
            self._registers[CONVERSION] = self._code(self._running, positive, negative)
            self._running = None
            if not self._registers[CONFIG] & SINGLE:
                behind = max(0, self.clock() - self._done_us) // self._lasts_us()
                self._begin(self._done_us + max(0, behind - 1) * self._lasts_us())

    def _code(self, config: int, positive: int, negative: int | None) -> int:
        microvolts = self._inputs_uv[positive] - (0 if negative is None else self._inputs_uv[negative])
        code = nearest(microvolts * 32768, FULL_SCALE_UV[config >> 9 & 7])
        return min(max(code, -32768), 32767) & 0xFFFF


def _inputs(config: int) -> tuple[int, int | None]:
    mux = config >> 12 & 7
    return (mux - 4, None) if mux >= 4 else PAIRS[mux]
