"""Invariants on emulated chips, in addition to tools/campaign/invariants.py, while one chip has a fault of its own.

readings    the board gets what the sensor counted within the last second, or nothing
noticed     readings of a faulty chip are absent while it lasts (slow ones late), and the log gives the reason
recovers    readings and pulses come back, and no device stays lost
"""

from collections import deque

from caudal.hal.tables.pi import OnBus
from caudal.hal.tables.types import tag_of
from caudal.tools.campaign.invariants import Violations
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.faults.kinds import Fault
from caudal.tools.simulate.emulated_run import chips_of
from caudal.tools.simulate.simulation import SimSession

RECOVERY_S = 4.0  # of run after a fault's end: a hung bus takes 1.02 s more, an inertial unit's reset 0.65 s
NOTICE_S = 0.3  # readings that were on their way, and a conversion
BACK_S = 0.1  # until pulses are back after a brown-out
IMMUNE = {  # chips that a kind has no effect on
    "identity": ("pca9685", "ads1115", "ina219"),
    "slow": ("pca9685", "bno055", "ina219"),
}


def immune(vehicle: Vehicle, kind: str, target: str) -> bool:
    """Has this kind of fault no effect on this chip?"""
    chips = {"pulses": "pca9685"} | {name: tag_of(chip) for name, chip in chips_of(vehicle).chip.items()}
    return chips.get(target, "") in IMMUNE.get(kind, ())


class ChipInvariants:
    """Checks a vehicle on emulated chips while one of them is faulty."""

    def __init__(self, vehicle: Vehicle, instance: SimSession, fault: Fault) -> None:
        pi = chips_of(vehicle)
        assert instance.driver, "it runs on emulated chips"
        self._instance = instance
        self._driver = instance.driver
        self._fault = fault
        self._rate_hz: int = vehicle.settings.rate_hz
        self.violations = Violations()
        self.reason = ""
        self.pulses_back_s = 0.0
        names = [sensor.name for sensor in vehicle.settings.sensors]
        hit = {
            name
            for name, chip in pi.chip.items()
            if name == fault.target
            or (fault.target == "bus" and isinstance(chip, OnBus) and chip.bus == pi.pulses.bus)
        }
        able = {name for name in hit if not immune(vehicle, fault.kind.name, name)}
        self._hit = [i for i, name in enumerate(names) if (r := pi.readings.get(name)) and r.chip in able]
        self._names = names
        # the last second's
        self._counted: list[deque[int | None]] = [deque([None], maxlen=self._rate_hz) for _ in names]
        self._seen_s = [0.0] * len(names)
        self._absent = False
        self._off_s = 0.0

    def check(self, tick: int) -> None:
        """Checks a tick that the loop has just done."""
        now_s = tick / self._rate_hz
        board, driver, add = self._instance.loop.board, self._driver, self.violations.add
        for i, (count, truth) in enumerate(zip(board.counts, driver.truth, strict=True)):
            if truth is not None:
                self._counted[i].append(truth)
            if count is None:
                continue
            # a chip that has not measured yet holds zeros
            if count not in self._counted[i] and len(self._counted[i]) > 1:
                add("readings", tick, f"{self._names[i]} read {count}, which was never counted")
            if i in self._hit and self._lasting(now_s) and self._fault.kind.name != "slow":  # slow, but right
                add("noticed", tick, f"{self._names[i]} had a reading while its chip was faulty")
            self._seen_s[i] = now_s
        self._absent |= any(board.age[i] > board.sensors[i].max_age for i in self._hit)
        self.reason = self.reason or (self._instance.device_events or [""])[0]
        pairs = zip(driver.pulses_us, board.outputs, strict=True)
        if now_s >= self._fault.at_s and any(abs(a - b) > driver.step_us for a, b in pairs):
            self._off_s = now_s

    def _lasting(self, now_s: float) -> bool:
        """Has the fault been on for long enough to be noticed?"""
        return self._fault.at_s + NOTICE_S < now_s < self._fault.until_s

    def finish(self, ticks: int) -> None:
        """Checks the recovery at the end of a run, unless the run ended too early for one."""
        fault, end_s, add = self._fault, ticks / self._rate_hz, self.violations.add
        if not self.reason and (self._absent or self._off_s):
            add("noticed", ticks, "readings were absent or pulses wrong, but no device event gives a reason")
        self.pulses_back_s = max(0.0, self._off_s + 1 / self._rate_hz - fault.at_s) if self._off_s else 0.0
        if end_s < fault.until_s + RECOVERY_S:
            return
        late = [self._names[i] for i in self._hit if end_s - self._seen_s[i] > 1.0]
        if late:
            add("recovers", ticks, f"no more readings of {', '.join(late)}")
        if self._driver.lost:
            add("recovers", ticks, f"still lost: {', '.join(self._driver.lost)}")
        if fault.kind.name == "brown-out" and self.pulses_back_s > BACK_S:
            add("recovers", ticks, f"pulses came back after {self.pulses_back_s:.2f} s")
