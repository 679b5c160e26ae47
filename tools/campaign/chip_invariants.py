"""What holds on emulated chips, besides tools/campaign/invariants.py, while one of them has one of its own faults.

readings    what the board gets is what the sensor counted within the last second, or nothing
noticed     readings of a broken chip are absent while it lasts (slow ones late), and the log says why
recovers    readings come again, and pulses; none of its devices stays lost
"""

from collections import deque
from typing import Any

from caudal.tools.campaign.invariants import Broken
from caudal.tools.faults.kinds import Fault
from caudal.tools.simulate.emulated_run import OnChips, chips_of

RECOVERY_S = 4.0  # of run behind a fault's end: a hung bus takes 1.02 s more, an inertial unit's reset 0.65 s
NOTICE_S = 0.3  # readings that were on their way, and a conversion
BACK_TICKS_S = 0.1  # outputs after a brown-out
HIDDEN = {  # what a kind cannot do to a chip: it has nothing of the sort
    "identity": ("pca9685", "ads1115", "ina219"),
    "slow": ("pca9685", "bno055", "ina219"),
}


def hides(vehicle: Any, kind: str, target: str) -> bool:
    """Has the chip nothing that this kind could befall."""
    chips = {"pulses": "pca9685"} | {name: chip["kind"] for name, chip in chips_of(vehicle)["chip"].items()}
    return chips.get(target, "") in HIDDEN.get(kind, ())


class ChipPromises:
    def __init__(self, vehicle: Any, instance: OnChips, fault: Fault) -> None:
        pi = chips_of(vehicle)
        self._swimmer = instance
        self._fault = fault
        self._rate_hz = vehicle.settings["rate_hz"]
        self.broken: list[Broken] = []
        self.reason = ""
        self.pulses_back_s = 0.0
        names = [sensor["name"] for sensor in vehicle.settings["sensors"]]
        hit = {
            name
            for name, chip in pi["chip"].items()
            if name == fault.target or (fault.target == "bus" and chip.get("bus") == pi["pulses"]["bus"])
        }
        able = {name for name in hit if not hides(vehicle, fault.kind.name, name)}
        self._hit = [i for i, name in enumerate(names) if pi["sensor"].get(name, {}).get("chip") in able]
        self._names = names
        self._counted: list[deque] = [deque([None], maxlen=self._rate_hz) for _ in names]  # the last second's
        self._seen_s = [0.0] * len(names)
        self._absent = False
        self._off_s = 0.0

    def check(self, tick: int) -> None:
        now_s = tick / self._rate_hz
        loop, driver = self._swimmer.loop, self._swimmer.driver
        for i, (count, truth) in enumerate(zip(loop.board.counts, driver.truth, strict=True)):
            if truth is not None:
                self._counted[i].append(truth)
            if count is None:
                continue
            if (
                count not in self._counted[i] and len(self._counted[i]) > 1
            ):  # a chip that was never fed holds zeros
                self._say("readings", tick, f"{self._names[i]} read {count}, which was never counted")
            if i in self._hit and self._lasting(now_s) and self._fault.kind.name != "slow":  # slow, but right
                self._say("noticed", tick, f"{self._names[i]} had a reading while its chip was broken")
            self._seen_s[i] = now_s
        board = loop.board
        self._absent |= any(board.age[i] > board.sensors[i].max_age for i in self._hit)
        news = self._swimmer.take_news()
        self.reason = self.reason or (news[0] if news else "")
        pairs = zip(driver.pulses_us, loop.board.outputs, strict=True)
        if now_s >= self._fault.at_s and any(abs(a - b) > driver.step_us for a, b in pairs):
            self._off_s = now_s

    def _lasting(self, now_s: float) -> bool:
        """Is the fault on for long enough to have been noticed."""
        return self._fault.at_s + NOTICE_S < now_s < self._fault.until_s

    def judge(self, ticks: int) -> None:
        """At the end of a run; one that ends too early shows no recovery."""
        fault, end_s = self._fault, ticks / self._rate_hz
        if not self.reason and (self._absent or self._off_s):
            self._say(
                "noticed", ticks, "readings were absent, or pulses others than asked, and nothing says why"
            )
        self.pulses_back_s = max(0.0, self._off_s + 1 / self._rate_hz - fault.at_s) if self._off_s else 0.0
        if end_s < fault.until_s + RECOVERY_S:
            return
        late = [self._names[i] for i in self._hit if end_s - self._seen_s[i] > 1.0]
        if late:
            self._say("recovers", ticks, f"no readings again of {', '.join(late)}")
        if self._swimmer.driver.lost:
            self._say("recovers", ticks, f"still lost: {', '.join(self._swimmer.driver.lost)}")
        if fault.kind.name == "brown-out" and self.pulses_back_s > BACK_TICKS_S:
            self._say("recovers", ticks, f"pulses came back after {self.pulses_back_s:.2f} s")

    def _say(self, promise: str, tick: int, what: str) -> None:
        if not any(broken.invariant == promise for broken in self.broken):
            self.broken.append(Broken(promise, tick, what))
