"""Servo and motor pulses on machine.PWM, in whole microseconds; 0 is no pulse. Portable."""


class PulsePins:
    """One PWM a channel, all at the same frequency."""

    def __init__(self, pwms):
        self._pwms = pwms
        self._last_us = [0] * len(pwms)

    def write(self, outputs):
        """A pin is told when its pulse changes; the new width holds from its next period on."""
        i = 0
        for pulse_us in outputs:
            if pulse_us != self._last_us[i]:
                self._pwms[i].duty_ns(pulse_us * 1000)
                self._last_us[i] = pulse_us
            i += 1

    def close(self):
        """No pulses, and the pins given back: a PWM left running would go on by itself."""
        i = 0
        for pwm in self._pwms:
            pwm.duty_ns(0)
            pwm.deinit()
            self._last_us[i] = 0
            i += 1
