"""Ticks of a deployed image on made-up readings: what a heap is large enough for. MicroPython.

    cd IMAGE && micropython -X heapsize=96k .../tests/mcu/image_ticks.py TICKS

Modules and settings are the image's own; only the driver is made up. Prints a checksum of all outputs.
"""

import sys

sys.path[:0] = [".", "lib"]

from caudal.onboard.build import build_loop  # noqa: E402  (from the path just set)


class Driver:
    """Counts that go to and fro in the middle of each sensor's range."""

    def __init__(self, sensors):
        self._middle = []
        self._swing = []
        for s in sensors:
            low, high = (s.low_count, s.high_count) if s.map == "linear" else (s.counts[0], s.counts[-1])
            self._middle.append((low + high) // 2)
            self._swing.append(min((high - low) // 8, 200))
        self._tick = 0
        self.sum = 0

    def read(self, counts):
        self._tick += 1
        part = self._tick % 64 - 32
        i = 0
        while i < len(counts):
            counts[i] = self._middle[i] + self._swing[i] * part // 32
            i += 1

    def write(self, outputs):
        for output in outputs:
            self.sum = (self.sum * 31 + output) & 0x3FFFFFFF


def main(ticks):
    import vehicle_image

    del sys.modules["vehicle_image"]
    image = vehicle_image.IMAGE
    settings = image.settings
    driver = Driver(settings.sensors)
    loop = build_loop(settings, settings.scenarios[image.scenario], driver)
    loop.arm()
    for _ in range(ticks):
        loop.tick()
    print(driver.sum, loop.fault)


main(int(sys.argv[1]))
