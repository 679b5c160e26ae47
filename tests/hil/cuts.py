"""The wire cut at random instants, in the middle of an exchange too: when each end is safe, and how it goes on.

python tests/hil/cuts.py [VEHICLE SCENARIO]     20 cuts each of 0.5, 2 and 10 s, in lockstep and free (8 minutes)
"""

import random
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from caudal.tools.config.vehicle import open_vehicle
from caudal.tools.hil.fixture import Wire
from caudal.tools.hil.remote_vehicle import LINK_TIMEOUT_TICKS
from tests.waiting import wait_for

LENGTHS_S = (0.5, 2.0, 10.0)
CONTROLLER_TICKS = 20  # the controller's link timeout here; `caudal run --on hil:PORT` has 200


@dataclass
class Cut:
    """What became of one; ticks count from the first that got no answer."""

    plant_safe_ticks: int
    controller_safe_ticks: int | None  # None: after the last tick of the cut; it goes by the clock
    back_ticks: int  # from the mending on until pulses went out again
    step_to_limit: float  # the largest change of an output against what its slew allows in a tick


class Cutter:
    """A bench whose wire is cut and mended; lockstep's waits are short, as simulated time stands still in them."""

    def __init__(self, vehicle: str, scenario: str, free: bool, seed: int) -> None:
        settings = open_vehicle(vehicle).settings
        self._rate_hz = settings.rate_hz
        self._limits_us = [slew_us_a_tick(actuator, self._rate_hz) for actuator in settings.actuators]
        self._random = random.Random(seed)
        self._free = free
        link_timeout_ms = CONTROLLER_TICKS * 1000 // self._rate_hz
        self.wire = Wire(
            vehicle,
            scenario,
            seed,
            free=free,
            gone_s=0.0,
            link_timeout_ms=link_timeout_ms,
        )
        self._swim_until_pulsing()

    def cut(self, length_s: float) -> Cut:
        wire, controller = self.wire, self.wire.controller
        wire.swim(self._random.uniform(0.3, 1.5))
        exchange_s = 1 / self._rate_hz if self._free else 1e-3
        threading.Timer(self._random.uniform(0, exchange_s), wire.cut).start()
        while not wire.line.cut:
            wire.swim(1 / self._rate_hz)
        sent = wire.outputs
        first = max(k for k, outputs in enumerate(sent) if any(outputs))
        plant_safe = controller_safe = None
        for tick in range(round(length_s * self._rate_hz)):
            if plant_safe is None and not any(sent[-1]):
                plant_safe = tick
            if controller_safe is None and controller.timed_out and not any(controller.loop.board.outputs):
                controller_safe = tick
            wire.swim(1 / self._rate_hz)
            if plant_safe is None and any(sent[-1]):
                first = len(sent) - 1
        wait_for(lambda: controller.timed_out and not any(controller.loop.board.outputs), "link timeout")
        wire.clear()
        mended = len(sent)
        back = self._swim_until_pulsing()
        wire.swim(1.0)
        assert plant_safe is not None, "the plant never let go"
        return Cut(plant_safe, controller_safe, back, self._largest_step(sent[first], sent[mended:]))

    def _swim_until_pulsing(self) -> int:
        """Ticks that it takes, however busy the machine is."""
        before = len(self.wire.outputs)

        def pulsing() -> bool:
            self.wire.swim(1 / self._rate_hz)
            return any(self.wire.outputs[-1])

        wait_for(pulsing, "pulses")
        return len(self.wire.outputs) - before - 1

    def _largest_step(self, last: list[int], outputs: list[list[int]]) -> float:
        """From what was sent last before the cut on; ticks without pulses are no steps."""
        largest = 0.0
        for later in outputs:
            if any(later):
                steps = [abs(b - a) / limit for a, b, limit in zip(last, later, self._limits_us, strict=True)]
                largest = max(largest, *steps)
                last = later
        return largest

    def close(self) -> None:
        self.wire.close()


def slew_us_a_tick(actuator: dict, rate_hz: int) -> float:
    """Of a servo; a pulse is a whole number of microseconds, so one more is no breach."""
    return actuator.slew_rad_s * actuator.us_per_rad / rate_hz + 1


def campaign(vehicle: str, scenario: str, free: bool, length_s: float, count: int, seed: int) -> list[Cut]:
    cutter = Cutter(vehicle, scenario, free, seed)
    try:
        return [cutter.cut(length_s) for _ in range(count)]
    finally:
        cutter.close()


def most(ticks: list[int | None]) -> int | str:
    known = [count for count in ticks if count is not None]
    return max(known) if len(known) == len(ticks) else f"never in {len(ticks) - len(known)}"


if __name__ == "__main__":
    vehicle, scenario = sys.argv[1:3] if len(sys.argv) > 2 else ("fish", "cruise")
    print(
        f"{vehicle} {scenario}; timeouts: plant {LINK_TIMEOUT_TICKS} ticks free, controller {CONTROLLER_TICKS} ticks"
    )
    for free in (False, True):
        for length_s in LENGTHS_S:
            cuts = campaign(vehicle, scenario, free, length_s, 20, seed=round(10 * length_s))
            controller = [cut.controller_safe_ticks for cut in cuts]
            print(
                f"{'free' if free else 'lockstep':>9} {length_s:4} s x {len(cuts)}: safe after at most "
                f"{max(cut.plant_safe_ticks for cut in cuts)} ticks (plant), {most(controller)} (controller); "
                f"pulses back after {max(cut.back_ticks for cut in cuts)}; "
                f"largest step {max(cut.step_to_limit for cut in cuts):.2f} of the slew limit",
                flush=True,
            )
