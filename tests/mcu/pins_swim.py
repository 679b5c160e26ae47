"""Runs a deployed image on the fake machine's pins, and prints the pulses of the machine. MicroPython.

    cd IMAGE && MICROPYPATH=.../fake_machine micropython .../tests/mcu/pins_swim.py TICKS

Readings stand still. The clock is the test's own, so that a busy machine makes no tick late.
"""

import json
import sys

sys.path[:0] = [".", "lib"]

import machine  # noqa: E402  (from the path just set)

from caudal.onboard.core import clock  # noqa: E402


class Clock:
    def __init__(self, period_us):
        self._ticks = 0

    def wait(self):
        self._ticks += 1
        machine.levels[15] = 1 if self._ticks <= 50 else 0  # the arming switch closes in tick 51
        return 0


clock.RealClock = Clock
for register, byte in ((0x1A, 0x10), (0x1B, 0xFF), (0x18, 0x05), (0x19, 0x00), (0x28, 0x00), (0x29, 0x00)):
    machine.registers[(0x28, register)] = byte
machine.levels[26] = 350
machine.line = b"3000,3000,3000,3000,3000,3000,3000,3000,3000,3000,3000,3000,\n"

import main  # noqa: E402 (it takes the clock that stands there by now)

main.main(int(sys.argv[1]))
print(
    json.dumps(
        {"pulses_ns": machine.pulses_ns, "written": [list(w[:2]) + list(w[2]) for w in machine.written]}
    )
)
