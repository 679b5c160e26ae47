"""main.py of a microcontroller that is the vehicle's own controller: swims on the board's pins.

    vehicle_image   settings of the vehicle file, the scenario, and the board's pins ([mcu])

It arms by its switch (`mcu.arm`), or `arm_after_s` after the start where it has none. However it ends, pulses end.
"""

import gc
import sys

import machine

from caudal.hal.mcu.build import build_driver, build_input
from caudal.onboard.build import build_loop
from caudal.onboard.core.clock import RealClock


def load():
    """The image's settings; the module is let go, so that they can be."""
    import vehicle_image

    del sys.modules["vehicle_image"]
    return vehicle_image.IMAGE


class Arming:
    """When the vehicle may move: a switch's word, or a while after the start."""

    def __init__(self, mcu, rate_hz):
        self._pin = build_input(mcu["arm"], machine) if mcu["arm"] else None
        self._armed_value = 0 if mcu["arm"] and mcu["arm"]["inverted"] else 1
        self._ticks = int(mcu["arm_after_s"] * rate_hz)
        self._armed = False

    def step(self, loop):
        if self._pin is None:
            self._ticks -= 1
            wanted = self._ticks < 0
        else:
            wanted = self._pin.value() == self._armed_value
        if wanted != self._armed:
            self._armed = wanted
            if wanted:
                loop.arm()
            else:
                loop.disarm()


def build():
    """Loop, arming and watchdog, with the settings they were made from left to the collector."""
    image = load()
    settings, mcu = image["settings"], image["mcu"]
    driver = build_driver(settings, mcu, machine)
    loop = build_loop(settings, settings["scenarios"][image["scenario"]], driver)
    arming = Arming(mcu, settings["rate_hz"])
    # last: it cannot be stopped once it runs
    watchdog = machine.WDT(timeout=mcu["watchdog_ms"]) if mcu["watchdog_ms"] else None
    return loop, arming, watchdog


def main(ticks=None):
    """Swim, for a number of ticks if it is given."""
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
