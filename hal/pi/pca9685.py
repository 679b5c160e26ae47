"""Sixteen pulse outputs: PCA9685, for servos, motors and valve drivers. CPython only.

Adafruit's package sets the chip up. Its `duty_cycle` is not used for outputs: it writes one channel per transaction, so
that the channels of a gait would change one after the other at different points of the period, and it rounds down to a
step. Here one burst changes all channels together, each to its nearest step.

The chip has no identity register, and after a brown-out it is silent: asleep, no pulses, no error on the bus. So its
registers are read back in turn, each within CHECK_US, and a chip that lost them is set up again at once, because the
vehicle may be armed and swimming. Without communication the chip keeps its last pulses; an output-enable pin, if it is
wired, ends them. Datasheet: NXP PCA9685, rev. 4, section 7.3.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adafruit_pca9685 import PCA9685

from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.slot import DeviceError, Slot, Steps

CHANNELS = 16
STEPS = 4096  # of a period
CHECK_US = 50_000

_LED0_ON_L = 0x06
_MODE1, _PRESCALE, _ALL_LED_OFF_H = 0x00, 0xFE, 0xFD
_AUTO_INCREMENT = 0x20  # MODE1 as Adafruit's package leaves it: awake, no all-call address
_RESTART = 0x80  # reads 0 or 1
_TOTEM_POLE_ON_STOP = 0x04  # MODE2
_FULL_OFF = 0x10  # in LEDn_OFF_H; stronger than every other bit
# A single byte, because bursts need MODE1's auto-increment, which a chip that was just powered does not have.
_ALL_OFF = bytes((_ALL_LED_OFF_H, _FULL_OFF))


def prescale(frequency_hz: float, clock_hz: int) -> int:
    """PRESCALE for a frequency; a ValueError if the chip cannot have it."""
    value = int(clock_hz / STEPS / frequency_hz + 0.5) - 1  # rounded as by Adafruit's package
    if not 3 <= value <= 255:
        low_hz, high_hz = clock_hz / STEPS / 256, clock_hz / STEPS / 4
        raise ValueError(
            f"a PCA9685 cannot pulse at {frequency_hz:g} Hz; choose {low_hz:.0f} to {high_hz:.0f} Hz"
        )
    return value


class Scale:
    """Conversion between microseconds and steps, at the true frequency of the chip."""

    def __init__(self, frequency_hz: float, clock_hz: int) -> None:
        self.prescale = prescale(frequency_hz, clock_hz)
        self._clock_hz = clock_hz
        self._million_ticks = (self.prescale + 1) * 1_000_000  # of the clock, in a step

    @property
    def step_us(self) -> float:
        """Length of a step."""
        return self._million_ticks / self._clock_hz

    def steps(self, pulse_us: int) -> int:
        """The nearest step; at most one less than the period."""
        nearest = (2 * pulse_us * self._clock_hz + self._million_ticks) // (2 * self._million_ticks)
        return min(max(nearest, 0), STEPS - 1)

    def pulse_us(self, steps: int) -> float:
        """Length of so many steps."""
        return steps * self.step_us


def registers(steps: int) -> bytes:
    """ON_L, ON_H, OFF_L, OFF_H of a pulse that begins with the period; of 0, no pulse."""
    return bytes((0, 0, steps & 0xFF, steps >> 8)) if steps else bytes((0, 0, 0, _FULL_OFF))


class Pulses:
    """`channels` take pulses, in the sequence of `set`; `duty_channels` take duties (hal/pi/valve.py)."""

    restart_us = 5_000  # at once: without it a swimming vehicle has no pulses

    def __init__(
        self,
        bus: I2cBus,
        address: int,
        frequency_hz: float,
        clock_hz: int,
        channels: Sequence[int],
        output_enable: Any = None,
        name: str = "",
        duty_channels: Sequence[int] = (),
    ) -> None:
        used = (*channels, *duty_channels)
        if not used or len(set(used)) != len(used) or not all(0 <= channel < CHANNELS for channel in used):
            raise ValueError(f"channels of a PCA9685 are 0 to 15, each used once, not {list(used)}")
        self.name = name or f"pca9685 at 0x{address:02x}"
        self.period_us = CHECK_US // 2
        self.working = False
        self.acknowledged = Slot()  # 1 after every acknowledged write of outputs
        self.scale = Scale(frequency_hz, clock_hz)
        self._bus = bus
        self._address = address
        self._frequency_hz = frequency_hz
        self._clock_hz = clock_hz
        self._output_enable = output_enable
        self._channels = tuple(channels)
        self._duties = dict.fromkeys(duty_channels, 0)
        self._first = min(used)
        self._count = max(used) - self._first + 1
        self._outputs: tuple[int, ...] = (0,) * len(self._channels)
        self._sent: tuple[int, ...] | None = None
        self._held = registers(0) * self._count  # content of the chip's registers
        self._checks = deque((self._check_modes, self._check_prescale))

    def set(self, pulses_us: Sequence[int]) -> None:
        """Takes one pulse per channel, 0 for none; called by the control thread, which then pokes the device."""
        self._outputs = tuple(pulses_us)

    def set_duty(self, channel: int, steps: int) -> None:
        """Takes 0 to 4095 of 4096 steps on, and sends them if the chip is set up; called by the bus's thread."""
        self._duties[channel] = steps
        if self.working:
            place = 4 * (channel - self._first)
            self._held = self._held[:place] + registers(steps) + self._held[place + 4 :]
            self._bus.write(self._address, bytes((_LED0_ON_L + 4 * channel,)) + registers(steps))

    def close(self) -> None:
        """Ends all pulses; called by the control thread after the bus's own has stopped. Never raises."""
        self._outputs = (0,) * len(self._channels)
        self._duties = dict.fromkeys(self._duties, 0)
        stops: tuple[Callable[[], None], ...] = (lambda: self._enable(False), self._all_off)
        for stop in stops:  # the pin first: it needs no bus
            for _ in range(3):
                try:
                    stop()
                    break
                except Exception:  # after any error the other way of ending pulses must be tried
                    pass

    def run(self) -> Steps:
        """Sets the chip up, then sends new outputs and checks one part of its registers per period."""
        self._set_up()
        while True:
            # Outputs that were set during the set-up have no poke: send them at once.
            yield self.period_us if self._outputs is self._sent else 0
            self._turn()

    def _set_up(self) -> None:
        self._enable(False)
        self._all_off()
        try:
            chip = PCA9685(self._bus, address=self._address, reference_clock_speed=self._clock_hz)
        except ValueError:  # its probe failed
            raise DeviceError(f"{self.name} does not answer; check its wiring and address") from None
        chip.mode2_reg = _TOTEM_POLE_ON_STOP
        chip.frequency = self._frequency_hz
        self._write(registers(0) * self._count)
        for check in self._checks:
            check()
        self._send()
        self._enable(True)
        self.working = True

    def _turn(self) -> None:
        """Sends new outputs, then checks one part of the registers."""
        if self._outputs is not self._sent:
            self._send()
        self._checks.rotate(1)
        self._checks[0]()

    def _send(self) -> None:
        outputs = self._outputs
        held = bytearray(registers(0) * self._count)
        steps = [self.scale.steps(pulse_us) for pulse_us in outputs]
        for channel, step in (*zip(self._channels, steps, strict=True), *self._duties.items()):
            place = 4 * (channel - self._first)
            held[place : place + 4] = registers(step)
        self._write(bytes(held))
        self._sent = outputs
        self.acknowledged.put(1)

    def _write(self, held: bytes) -> None:
        self._bus.write(self._address, bytes((_LED0_ON_L + 4 * self._first,)) + held)
        self._held = held

    def _all_off(self) -> None:
        self._bus.write(self._address, _ALL_OFF)

    def _enable(self, on: bool) -> None:
        if self._output_enable is not None:
            self._output_enable.set(on)

    def _check_modes(self) -> None:
        mode1, mode2 = self._bus.write_read(self._address, bytes((_MODE1,)), 2)
        if mode1 & ~_RESTART != _AUTO_INCREMENT or mode2 != _TOTEM_POLE_ON_STOP:
            raise self._forgot(f"MODE1 0x{mode1:02x}, MODE2 0x{mode2:02x}")
        place = bytes((_LED0_ON_L + 4 * self._first,))
        held = self._bus.write_read(self._address, place, 4)
        if held != self._held[:4]:
            raise self._forgot(f"channel {self._first} {held.hex()} for {self._held[:4].hex()}")

    def _check_prescale(self) -> None:
        (held,) = self._bus.write_read(self._address, bytes((_PRESCALE,)), 1)
        if held != self.scale.prescale:
            raise self._forgot(f"PRESCALE {held} for {self.scale.prescale}")

    def _forgot(self, what: str) -> DeviceError:
        return DeviceError(
            f"{self.name} does not hold what was written ({what}); check its supply and address"
        )
