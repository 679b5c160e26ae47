"""NXP PCA9685, 16 pulses of 12 bits, from its datasheet (rev. 4). CPython only.

It includes what drivers often get wrong: outputs that pause after a sleep until RESTART or a new LED register, PRESCALE
that is read-only while the chip is awake, a true oscillator that is not 25 MHz, auto-increment that is off after
power-on. Not included: the 500 us of the oscillator's start, and glitches within a period.

The state is in one buffer, which may be a file (`open_registers`): it outlives the process, as the chip does, and
`pulses_of` computes in another process the pulses that the chip would still make.
"""

import mmap
import os
import struct

from caudal.hal.emulated.chip import Chip, Clock, Nack

MODE1, MODE2, SUBADR1, ALLCALLADR, LED0 = 0x00, 0x01, 0x02, 0x05, 0x06
LED_END, ALL_LED, PRESCALE, TESTMODE = 0x46, 0xFA, 0xFE, 0xFF
RESTART, EXTCLK, AUTO_INCREMENT, SLEEP, SUB1, SUB2, SUB3, ALLCALL = 0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1
INVERT, CHANGE_ON_ACK = 0x10, 0x08  # of MODE2
FULL = 0x10  # full-on in LEDn_ON_H, full-off in LEDn_OFF_H
SOFTWARE_RESET = b"\x06"
CHANNELS = 16

# After the 256 registers: the oscillator, the external clock, the output-enable pin, and whether there is power.
_WIRING = struct.Struct("<dd??")
_WIRING_AT = 256
STATE_BYTES = _WIRING_AT + _WIRING.size


class Pca9685(Chip):
    """The chip, with its oscillator and its output-enable pin."""

    def __init__(
        self,
        clock: Clock,
        address: int = 0x40,
        oscillator_hz: float = 25e6,
        external_hz: float = 0.0,
        registers: memoryview | bytearray | mmap.mmap | None = None,
    ) -> None:
        super().__init__(clock, address)
        self._state = memoryview(bytearray(STATE_BYTES) if registers is None else registers).cast("B")
        if len(self._state) < STATE_BYTES:
            raise ValueError(f"a PCA9685's registers need {STATE_BYTES} bytes, not {len(self._state)}")
        self._pointer = 0
        _, _, output_enable, powered = _WIRING.unpack_from(self._state, _WIRING_AT)
        self._wire(oscillator_hz, external_hz, output_enable if powered else True)
        if not powered:
            self.power_cycle()

    @property
    def oscillator_hz(self) -> float:
        """The true frequency of the oscillator."""
        return float(_WIRING.unpack_from(self._state, _WIRING_AT)[0])

    @property
    def output_enable(self) -> bool:
        """The OE pin: True enables pulses."""
        return bool(_WIRING.unpack_from(self._state, _WIRING_AT)[2])

    @output_enable.setter
    def output_enable(self, on: bool) -> None:
        oscillator_hz, external_hz, _, _ = _WIRING.unpack_from(self._state, _WIRING_AT)
        self._wire(oscillator_hz, external_hz, on)

    @property
    def step_us(self) -> float:
        """A 4096th of the period."""
        return (self._state[PRESCALE] + 1) * 1e6 / self.oscillator_hz

    def pulses_us(self) -> list[float]:
        """The width of each channel's pulses; 0.0 without pulses, the period for an output that is always on."""
        return _pulses_us(self._state)

    def power_cycle(self) -> None:
        """Sets the registers to their power-on values."""
        self._pointer = 0
        self._state[:_WIRING_AT] = bytes(_WIRING_AT)
        for register, value in ((MODE1, SLEEP | ALLCALL), (MODE2, 0x04), (PRESCALE, 0x1E)):
            self._state[register] = value
        self._state[SUBADR1 : ALLCALLADR + 1] = b"\xe2\xe4\xe8\xe0"
        self._state[LED0:LED_END] = bytes((0, 0, 0, FULL)) * CHANNELS

    def also_at(self) -> tuple[int, ...]:
        """The subaddresses and the all-call address that are enabled."""
        mode = self._state[MODE1]
        return tuple(
            self._state[SUBADR1 + k] >> 1 for k, bit in enumerate((SUB1, SUB2, SUB3, ALLCALL)) if mode & bit
        )

    def general_call(self, data: bytes) -> bool:
        """Obeys a software reset."""
        if data != SOFTWARE_RESET:
            return False
        self.power_cycle()
        return True

    def write(self, data: bytes) -> None:
        """Sets the register pointer, and writes registers."""
        if not data:
            return
        self._pointer = data[0]
        written = set()
        for value in data[1:]:
            self._write_register(self._pointer, value)
            written.add(self._pointer)
            self._advance()
        self._end_pause(written)

    def read(self, count: int) -> bytes:
        """Reads registers from the pointer on."""
        data = bytearray()
        for _ in range(count):
            self._check(self._pointer)
            all_led = ALL_LED <= self._pointer < PRESCALE  # reads as zero
            data.append(0 if all_led else self._state[self._pointer])
            self._advance()
        return bytes(data)

    def _wire(self, oscillator_hz: float, external_hz: float, output_enable: bool) -> None:
        _WIRING.pack_into(self._state, _WIRING_AT, oscillator_hz, external_hz, output_enable, True)

    def _advance(self) -> None:
        """After the last LED register, and after PRESCALE, the pointer continues at MODE1 (table 3)."""
        if self._state[MODE1] & AUTO_INCREMENT:
            self._pointer = 0 if self._pointer in (LED_END - 1, PRESCALE) else (self._pointer + 1) & 0xFF

    def _check(self, register: int) -> None:
        if LED_END <= register < ALL_LED:
            raise Nack  # reserved addresses are not acknowledged

    def _write_register(self, register: int, value: int) -> None:
        self._check(register)
        if register == MODE1:
            self._write_mode1(value)
        elif register == MODE2:
            self._state[MODE2] = value & 0x1F
        elif register < LED0:
            self._state[register] = value & 0xFE  # an address of seven bits
        elif register < LED_END:
            self._state[register] = value & 0x1F if (register - LED0) % 2 else value
        elif register < PRESCALE:
            for channel in range(CHANNELS):
                self._write_register(LED0 + 4 * channel + register - ALL_LED, value)
        elif register == PRESCALE and self._state[MODE1] & SLEEP:
            self._state[PRESCALE] = max(3, value)  # the hardware's own minimum

    def _write_mode1(self, value: int) -> None:
        old = self._state[MODE1]
        new = value & ~(RESTART | EXTCLK)
        # Only a power cycle or a software reset ends EXTCLK; it begins when it is written to a chip that sleeps.
        new |= old & EXTCLK or (value & EXTCLK if old & value & SLEEP else 0)
        running = any(not self._state[LED0 + 4 * k + 3] & FULL for k in range(CHANNELS))
        if value & SLEEP and not old & SLEEP:
            new |= RESTART if running else 0
        elif old & RESTART and not (value & RESTART and not old & SLEEP):
            new |= RESTART  # writing 0 leaves it; writing 1 counts once the chip is awake
        self._state[MODE1] = new

    def _end_pause(self, written: set[int]) -> None:
        """A new LED register ends the pause after a sleep, as RESTART does (7.3.1.1)."""
        if not self._state[MODE1] & RESTART:
            return
        leds = {(r - LED0 if r < LED_END else r - ALL_LED) for r in written if LED0 <= r < PRESCALE}
        if self._state[MODE2] & CHANGE_ON_ACK:
            ended = any({4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3} <= leds for k in range(CHANNELS))
        else:
            ended = bool(leds)
        if ended:
            self._state[MODE1] &= ~RESTART & 0xFF


def open_registers(path: str | os.PathLike[str]) -> mmap.mmap:
    """A PCA9685's state in a file, made where there is none: a chip that was powered before still is."""
    with open(path, "ab+") as file:
        if os.fstat(file.fileno()).st_size < STATE_BYTES:
            file.truncate(STATE_BYTES)
        return mmap.mmap(file.fileno(), STATE_BYTES)


def pulses_of(path: str | os.PathLike[str]) -> list[float]:
    """The pulses of the chip whose state is in this file, whatever became of the process that wrote it."""
    with open(path, "rb") as file:
        return _pulses_us(memoryview(file.read()))


def _pulses_us(state: memoryview) -> list[float]:
    oscillator_hz, external_hz, output_enable, powered = _WIRING.unpack_from(state, _WIRING_AT)
    mode = state[MODE1]
    hz = external_hz if mode & EXTCLK else oscillator_hz
    if not powered or not output_enable or mode & (SLEEP | RESTART) or not hz:
        return [0.0] * CHANNELS
    step_us = (state[PRESCALE] + 1) * 1e6 / hz
    inverted = bool(state[MODE2] & INVERT)
    return [_steps(state, LED0 + 4 * channel, inverted) * step_us for channel in range(CHANNELS)]


def _steps(state: memoryview, register: int, inverted: bool) -> int:
    on, off = struct.unpack_from("<HH", state, register)
    if off & FULL << 8:  # wins over full-on
        steps = 0
    elif on & FULL << 8:
        steps = 4096
    else:
        steps = (off - on) % 4096  # a pulse may begin in one period and end in the next
    return 4096 - steps if inverted else steps
