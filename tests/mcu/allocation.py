"""How many bytes of heap each part of a tick takes, by gc.mem_alloc with the collector off. MicroPython only.

    micropython tests/mcu/allocation.py FOLDER

FOLDER holds vehicle_image.py, a board's settings. Prints lines of part and bytes per tick: sense, each stage that runs
every tick, monitor, limiter, act, and `tick`, a whole one between two ticks of guidance. `thousand` is the sum over a
thousand ticks from 2 s on, with guidance, and with readings all over their ranges, some absent. The driver here
allocates nothing.
"""

import gc
import sys

HERE = __file__.rsplit("/", 1)[0] if "/" in __file__ else "."
sys.path.insert(0, HERE + "/../../src")

from caudal.onboard.build import build_loop  # noqa: E402

TICKS = 90


class StillDriver:
    def __init__(self, sensors):
        self._counts = [s.low_count // 2 + s.high_count // 2 for s in sensors]
        self._low = [s.low_count for s in sensors]
        # over their whole range, except those that would make the vehicle surface
        steady = ("leak", "battery", "housing_temperature", "housing_pressure")
        self._span = [0 if s.name in steady else s.high_count - s.low_count + 1 for s in sensors]
        self.moving = False
        self._tick = 0

    def read(self, counts):
        self._tick += 1
        i = 0
        while i < len(counts):
            counts[i] = self._counts[i]
            if self.moving and self._span[i]:
                # each at its own rate, sometimes absent
                counts[i] = self._low[i] + (self._tick * (97 + 2 * i)) % self._span[i]
                if (self._tick + i) % 40 == 0:
                    counts[i] = None
            i += 1

    def write(self, outputs):
        pass


def bytes_per_call(call, argument, times=TICKS):
    """Mean over many calls."""
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    i = 0
    while i < times:
        call(argument)
        i += 1
    taken = gc.mem_alloc() - before
    gc.enable()
    return taken / times


def nothing(argument):
    pass


def half(argument):
    """A float, which must show in the measurement."""
    return argument / 2


def run(folder):
    sys.path.insert(0, folder)
    from vehicle_image import IMAGE

    settings = IMAGE.settings
    driver = StillDriver(settings.sensors)
    loop = build_loop(settings, settings.scenarios[IMAGE.scenario], driver)
    loop.arm()
    for _ in range(201):  # gait settled, next guidance tick nine ticks away
        loop.tick()
    state = loop.state
    driver.moving = True
    print("thousand", bytes_per_call(loop.tick, 0, 1000) * 1000)
    assert loop.fault is None and state.commands_applied, loop.fault
    driver.moving = False
    while loop.ticks % 10 != 1:
        loop.tick()
    print("nothing", bytes_per_call(nothing, None))
    print("float", bytes_per_call(half, 3))
    sense = loop.board.sense
    print("sense", bytes_per_call(lambda _: sense(), None))
    for stage in loop.estimators + loop.stages:
        if stage.every == 1:
            print(stage.name, bytes_per_call(stage.step, state))
    print("monitor", bytes_per_call(loop.monitor.step, state))
    print("limiter", bytes_per_call(loop.limiter.step, state))
    print("act", bytes_per_call(loop.board.act, state.outputs))
    loop.stages = [stage for stage in loop.stages if stage.every == 1]
    print("tick", bytes_per_call(loop.tick, 0))


if __name__ == "__main__":
    run(sys.argv[1])
