"""Slew limit after a gap: joints return to their set-points no faster than the limit allows.

A loop keeps to the limit by itself. But a controller may have run on for a few ticks while its answers were lost, or
may have restarted without knowing where the joints are; only the plant side knows what they were sent last.
"""

from collections.abc import Sequence

from caudal.hal.tables.channels import Actuator, Servo


class Ramp:
    """Of the servos among a vehicle's actuators, in microseconds a tick; other outputs pass."""

    def __init__(self, actuators: Sequence[Actuator], rate_hz: int) -> None:
        self._limits_us = [
            max(1, int(a.slew_rad_s * a.us_per_rad / rate_hz)) if isinstance(a, Servo) else None
            for a in actuators
        ]
        self._last = [0] * len(actuators)  # pulses last sent, 0 where there were none yet
        self._active = False

    def start(self) -> None:
        """There was a gap: from now on until the pulses have caught up with what is wanted."""
        self._active = True

    def step(self, wanted: list[int]) -> list[int]:
        """What to send this tick."""
        sent = list(wanted)
        if self._active:
            self._active = False
            for k, limit_us in enumerate(self._limits_us):
                last = self._last[k]
                if limit_us and last:
                    if wanted[k]:
                        sent[k] = min(max(wanted[k], last - limit_us), last + limit_us)
                    # One that is off has yet to come back.
                    self._active |= not wanted[k] or sent[k] != wanted[k]
        for k, pulse in enumerate(sent):
            if pulse:
                self._last[k] = pulse
        return sent
