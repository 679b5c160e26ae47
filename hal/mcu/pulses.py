"""Servo and motor pulses on machine.PWM, in whole microseconds; 0 is no pulse. Portable."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Pwm(Protocol):
        """The part of machine.PWM that pulses need."""

        def duty_ns(self, duty_ns: int) -> object:
            """Sets the pulse width."""

        def deinit(self) -> object:
            """Ends the output."""


class PulsePins:
    """One PWM per channel, all at the same frequency."""

    def __init__(self, pwms: "Sequence[Pwm]") -> None:
        self._pwms = pwms
        self._last_us = [0] * len(pwms)

    def write(self, outputs: "Sequence[int]") -> None:
        """Sets the pulses that changed; a new width takes effect with the pin's next period."""
        i = 0
        for pulse_us in outputs:
            if pulse_us != self._last_us[i]:
                self._pwms[i].duty_ns(pulse_us * 1000)
                self._last_us[i] = pulse_us
            i += 1

    def close(self) -> None:
        """Ends the pulses and releases the pins: a PWM that is not released keeps running."""
        i = 0
        for pwm in self._pwms:
            pwm.duty_ns(0)
            pwm.deinit()
            self._last_us[i] = 0
            i += 1
