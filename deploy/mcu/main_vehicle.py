"""main.py of a microcontroller that is the vehicle's own controller: swims on the board's pins.

    vehicle_image   settings of the vehicle file, the scenario, and the board's pins ([mcu])

It arms by its switch ([mcu] arm), or arm_after_s after the start if it has none. Pulses end when the program ends.
"""

import gc
import sys

import machine

from caudal.hal.mcu.build import build_driver, build_input
from caudal.onboard.build import build_loop
from caudal.onboard.core.clock import RealClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caudal.hal.tables.mcu import Mcu
    from caudal.onboard.core.loop import Loop


def load() -> "Any":
    """The image's settings; the module is released, so that the settings can be released later."""
    import vehicle_image

    del sys.modules["vehicle_image"]
    return vehicle_image.IMAGE


class Arming:
    """Arms the loop by a switch, or some time after the start."""

    def __init__(self, mcu: "Mcu", rate_hz: int) -> None:
        self._pin = build_input(mcu.arm, machine) if mcu.arm else None
        self._armed_value = 0 if mcu.arm and mcu.arm.inverted else 1
        self._ticks = int(mcu.arm_after_s * rate_hz)
        self._armed = False

    def step(self, loop: "Loop") -> None:
        """Arms or disarms the loop; once per tick."""
        if self._pin is None:
            self._ticks -= 1
            armed = self._ticks < 0
        else:
            armed = self._pin.value() == self._armed_value
        if armed != self._armed:
            self._armed = armed
            if armed:
                loop.arm()
            else:
                loop.disarm()


def build() -> "tuple[Loop, Arming, Any]":
    """Loop, arming and watchdog; nothing keeps the settings after it."""
    image = load()
    settings, mcu = image.settings, image.mcu
    driver = build_driver(settings, mcu, machine)
    loop = build_loop(settings, settings.scenarios[image.scenario], driver)
    arming = Arming(mcu, settings.rate_hz)
    # last: a watchdog cannot be stopped
    watchdog = machine.WDT(timeout=mcu.watchdog_ms) if mcu.watchdog_ms else None
    return loop, arming, watchdog


def main(ticks: "int | None" = None) -> None:
    """Swims, for a number of ticks if it is given."""
    loop, arming, watchdog = build()
    gc.collect()
    clock = RealClock(loop.period_us)
    try:
        while ticks is None or loop.ticks < ticks:
            late_us = clock.wait()
            arming.step(loop)
            loop.tick(late_us)
            if watchdog:
                watchdog.feed()
    finally:
        loop.board.safe()
        loop.board.close()
        if loop.fault:
            print(loop.fault)


if __name__ == "__main__":
    main()
