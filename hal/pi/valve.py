"""Valve currents: a duty of a PCA9685 into a current driver, trimmed by the current that the coil really takes.

A coil's resistance rises by a third when it warms up, and so would its current fall at the same duty. CPython only.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from caudal.hal.pi.pca9685 import Pulses
from caudal.hal.pi.slot import RESTART_US, Slot, Steps
from caudal.hal.pi.worker import clock_us

FULL_DUTY = 4095
UNIT = 1 << 16  # of the gains
_TRIM_MOST = FULL_DUTY // 3


class CurrentLoop:
    """Integer PI around the duty that `full_scale_ua` promises. Gains in 1/65536 of a duty step for each uA (and step).

    Off, until the next measurement, after `patience` steps without one (100 ms at the period of `Valves`). Off, until
    nothing is asked for, when the current was above its limit: a short circuit is not tried again and again.
    """

    def __init__(self, full_scale_ua: int, kp: int, ki: int, limit_ua: int, slow_notice: int = 10) -> None:
        if full_scale_ua <= 0 or limit_ua <= 0 or kp < 0 or ki < 0:
            raise ValueError("a current loop has a full scale and a limit above 0, and gains not below 0")
        self.tripped = False
        self._full_scale_ua = full_scale_ua
        self._kp = kp
        self._ki = ki
        self._limit_ua = limit_ua
        self._patience = slow_notice
        self._silent = slow_notice  # nothing was ever measured
        self._sum = 0
        self._trim = 0

    def step(self, asked_ua: int, measured_ua: int | None, early: bool = False) -> int:
        """The duty, 0 to 4095. A step between two periods (`early`) does not count as one of silence."""
        if measured_ua is not None:
            self._silent = 0
        elif not early:
            self._silent += 1
        if measured_ua is not None and measured_ua > self._limit_ua:
            self.tripped = True
        elif asked_ua <= 0:
            self.tripped = False
        if asked_ua <= 0 or self.tripped or self._silent >= self._patience:
            self._sum = self._trim = 0
            return 0
        if measured_ua is not None:
            error_ua = asked_ua - measured_ua
            most = _TRIM_MOST * UNIT
            self._sum = min(max(self._sum + self._ki * error_ua, -most), most)
            self._trim = min(max(self._sum + self._kp * error_ua, -most), most) // UNIT
        duty = asked_ua * FULL_DUTY // self._full_scale_ua + self._trim
        return min(max(duty, 0), FULL_DUTY)


class Coil(NamedTuple):
    """One valve: the PCA9685's duty channel, its loop, and where its current is measured."""

    channel: int
    loop: CurrentLoop
    measured: Slot
    ua_per_count: float = 1.0


class Valves:
    """Stands on the same bus as `pulses`, whose duty channels it drives."""

    restart_us = RESTART_US

    def __init__(
        self,
        pulses: Pulses,
        coils: Sequence[Coil],
        period_us: int = 10_000,
        name: str = "",
        now_us: Callable[[], int] = clock_us,
    ) -> None:
        self.name = name or f"valves of {pulses.name}"
        self.period_us = period_us
        self.working = False
        self._pulses = pulses
        self._now_us = now_us  # pokes come between the periods in which silence is counted
        self._coils = list(coils)
        self._asked: tuple[int, ...] = (0,) * len(self._coils)

    def set(self, asked_ua: Sequence[int]) -> None:
        """By the control thread: one current a coil. Poke the device to have them sent at once."""
        self._asked = tuple(asked_ua)

    def close(self) -> None:
        """Nothing is asked for; the pulses' own close ends the currents."""
        self._asked = (0,) * len(self._coils)

    def run(self) -> Steps:
        self.working = True
        due_us = self._now_us()
        while True:
            now_us = self._now_us()
            early = now_us < due_us
            if not early:
                due_us = now_us + self.period_us
            for coil, asked_ua in zip(self._coils, self._asked, strict=True):
                count = coil.measured.take()
                measured_ua = None if count is None else round(count * coil.ua_per_count)
                self._pulses.set_duty(coil.channel, coil.loop.step(asked_ua, measured_ua, early))
            yield max(0, due_us - self._now_us())
