"""Valve currents: a PCA9685's duty into a current driver, corrected by the measured current of the coil.

The resistance of a coil rises by a third when it gets warm, and its current at the same duty falls. CPython only.
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
    """Integer PI around the duty computed from `full_scale_ua`. Gains in 1/65536 of a duty step per uA (and step).

    Off after `timeout_steps` steps without a measurement (100 ms at the period of `Valves`), until the next one. Off
    after a current above the limit, until the command is 0: a short circuit is not tried again and again.
    """

    def __init__(self, full_scale_ua: int, kp: int, ki: int, limit_ua: int, timeout_steps: int = 10) -> None:
        if full_scale_ua <= 0 or limit_ua <= 0 or kp < 0 or ki < 0:
            raise ValueError("a current loop has a full scale and a limit above 0, and gains not below 0")
        self.tripped = False
        self._full_scale_ua = full_scale_ua
        self._kp = kp
        self._ki = ki
        self._limit_ua = limit_ua
        self._timeout_steps = timeout_steps
        self._silent = timeout_steps  # no measurement yet
        self._sum = 0
        self._trim = 0

    def step(self, command_ua: int, measured_ua: int | None, early: bool = False) -> int:
        """The duty, 0 to 4095. A step between two periods (`early`) does not count towards the timeout."""
        if measured_ua is not None:
            self._silent = 0
        elif not early:
            self._silent += 1
        if measured_ua is not None and measured_ua > self._limit_ua:
            self.tripped = True
        elif command_ua <= 0:
            self.tripped = False
        if command_ua <= 0 or self.tripped or self._silent >= self._timeout_steps:
            self._sum = self._trim = 0
            return 0
        if measured_ua is not None:
            error_ua = command_ua - measured_ua
            most = _TRIM_MOST * UNIT
            self._sum = min(max(self._sum + self._ki * error_ua, -most), most)
            self._trim = min(max(self._sum + self._kp * error_ua, -most), most) // UNIT
        duty = command_ua * FULL_DUTY // self._full_scale_ua + self._trim
        return min(max(duty, 0), FULL_DUTY)


class Coil(NamedTuple):
    """One valve: the PCA9685's duty channel, its loop, and the measurement of its current."""

    channel: int
    loop: CurrentLoop
    measured: Slot
    ua_per_count: float = 1.0


class Valves:
    """Valves on duty channels of `pulses`; on the same bus."""

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
        self._now_us = now_us  # distinguishes pokes from periods
        self._coils = list(coils)
        self._commands_ua: tuple[int, ...] = (0,) * len(self._coils)

    def set(self, commands_ua: Sequence[int]) -> None:
        """Takes one current per coil; called by the control thread, which then pokes the device."""
        self._commands_ua = tuple(commands_ua)

    def close(self) -> None:
        """Sets all currents to 0; the pulses' own close ends them."""
        self._commands_ua = (0,) * len(self._coils)

    def run(self) -> Steps:
        """Steps the loop of every coil once per period, and at once after a poke."""
        self.working = True
        due_us = self._now_us()
        while True:
            now_us = self._now_us()
            early = now_us < due_us
            if not early:
                due_us = now_us + self.period_us
            for coil, command_ua in zip(self._coils, self._commands_ua, strict=True):
                count = coil.measured.take()
                measured_ua = None if count is None else round(count * coil.ua_per_count)
                self._pulses.set_duty(coil.channel, coil.loop.step(command_ua, measured_ua, early))
            yield max(0, due_us - self._now_us())
