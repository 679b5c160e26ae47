"""A bus with emulated chips on it, in time that only the bus and the test make pass."""

import types

from caudal.hal.emulated.smbus import EmulatedSMBus
from caudal.hal.pi.bus import I2cBus


class Bench:
    def __init__(self) -> None:
        self.now_us = 0
        self.chips = {}
        self.smbus = EmulatedSMBus(self.chips, self.wait)
        self.faults = self.smbus.faults
        self.bus = I2cBus(lambda: self.smbus, "bench")

    def clock(self) -> int:
        return self.now_us

    def wait(self, us: int) -> None:
        self.now_us += us

    def add(self, kind, **options):
        chip = kind(self.clock, **options)
        self.chips[chip.address] = chip
        return chip

    def put_time_into(self, monkeypatch, module) -> None:
        """A package's own sleeps pass simulated time."""
        fake = types.SimpleNamespace(
            sleep=lambda s: self.wait(round(s * 1e6)), monotonic=lambda: self.now_us / 1e6
        )
        monkeypatch.setattr(module, "time", fake)
