"""Runs a vehicle's controller against made-up readings, on MicroPython and CPython alike.

    micropython tests/mcu/lockstep.py FOLDER TICKS

FOLDER holds vehicle_image.py, a board's settings. Prints a checksum of the device outputs of all ticks, how many were
not zero, a checksum of the bits of the setpoint and of the estimate, in how many ticks the setpoint was a turn, and
the fault if there was one.
"""

import struct
import sys

HERE = __file__.rsplit("/", 1)[0] if "/" in __file__ else "."
sys.path.insert(0, HERE + "/../../src")

from caudal.onboard.build import build_loop  # noqa: E402

VITAL = (
    "heading",
    "turn_rate",
    "roll",
    "roll_rate",
)  # seldom absent, or failsafe rules would stop the vehicle all the time
STEADY = (
    "leak",
    "battery",
    "housing_temperature",
    "housing_pressure",
)  # constant, or they would end the run early


class MadeUpDriver:
    """Counts that wander between each sensor's ends, some absent, from an integer generator."""

    def __init__(self, sensors, seed):
        self._seed = seed
        self._low = [s.low_count for s in sensors]
        self._span = [s.high_count - s.low_count for s in sensors]
        self._gap = [40 if s.name in VITAL else 4 for s in sensors]
        self._at = [span // 2 if span > 10000 else self._next(span + 1) for span in self._span]
        self._steady = [s.name in STEADY for s in sensors]
        self._sweeps = [s.name.endswith(("_angle", "_turns")) for s in sensors]
        self._tick = 0
        self.sum = 0
        self.moved = 0

    def _next(self, below):
        self._seed = (self._seed * 1103515245 + 12345) & 0x7FFFFFFF
        return (self._seed >> 8) % below

    def read(self, counts):
        i = 0
        self._tick += 1
        while i < len(counts):
            if self._sweeps[i]:  # an actuator's feedback: now and then as it should be, mostly not
                counts[i] = self._low[i] + self._tick * (7 + i) % self._span[i]
                i += 1
                continue
            step = self._span[i] // 64 + 1 if self._span[i] < 10000 else 30
            at = self._at[i] + self._next(2 * step + 1) - step
            if self._steady[i]:
                at = self._span[i] // 2
            elif self._span[i] == 1:  # a switch, such as a bumper: touched now and then
                at = 0 if self._next(2000) else 1
            self._at[i] = min(max(at, 0), self._span[i])
            counts[i] = None if self._next(self._gap[i]) == 0 else self._low[i] + self._at[i]
            i += 1

    def write(self, outputs):
        for output in outputs:
            self.sum = (self.sum * 31 + output) & 0x3FFFFFFF
            if output:
                self.moved += 1

    def close(self):
        self.write([0])


def run(folder, ticks):
    sys.path.insert(0, folder)
    from vehicle_image import IMAGE

    settings = IMAGE.settings
    driver = MadeUpDriver(settings.sensors, 20)
    loop = build_loop(settings, settings.scenarios[IMAGE.scenario], driver)
    loop.arm()
    bits = 0
    turns = 0
    want = loop.state.setpoint
    for _ in range(ticks):
        loop.tick()
        believed = loop.state.estimate
        floats = struct.pack(
            "<ddddd",
            want.turn_rate_rad_s,
            want.deflection_rad,
            believed.heading_rad or 0.0,
            believed.speed_m_s or 0.0,
            believed.depth_m or 0.0,
        )
        for byte in floats:
            bits = (bits * 31 + byte) & 0x3FFFFFFF
        if want.turn_rate_rad_s or want.deflection_rad:
            turns += 1
    print(f"checksum {driver.sum} moved {driver.moved} bits {bits} turns {turns} fault {loop.fault}")


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]))
