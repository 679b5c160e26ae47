"""The hybrid's soft joints through the HAL: pressures asked in pascals, valves in microamperes, answers in counts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_q14
from caudal.hal.sim import SimDriver
from caudal.sim_plant.world.world import World
from caudal.tools.config.vehicle import open_vehicle

RATE_HZ = 50
CHAMBERS = [f"{joint}_{chamber}" for joint in ("aft", "fore") for chamber in "abc"]


class Bench:
    """The vehicle in still water, with only its chambers commanded."""

    def __init__(self, *overrides: str) -> None:
        vehicle = open_vehicle("hybrid", list(overrides))
        self.world = World(vehicle.worlds["open"], seed=3)
        names = {
            kind: [channel.name for channel in getattr(vehicle.settings, kind)]
            for kind in ("actuators", "sensors")
        }
        self.body = self.world.add(vehicle.plant, name="one", **names)
        self.world.step(0)
        self.board = build_board(vehicle.settings, SimDriver(self.body), RATE_HZ)

    def hold(self, seconds: float, **pressures_pa: float) -> dict[str, list[float]]:
        """Readings in SI, tick by tick."""
        seen: dict[str, list[float]] = {sensor.name: [] for sensor in self.board.sensors}
        for _ in range(round(seconds * RATE_HZ)):
            self.board.sense()
            commands = [
                None if a.name not in pressures_pa else to_q14(pressures_pa[a.name])
                for a in self.board.actuators
            ]
            self.board.act(commands)
            self.world.step(1_000_000 // RATE_HZ)
            for k, sensor in enumerate(self.board.sensors):
                seen[sensor.name].append(self.board.reading(k) if self.board.age[k] < 5 else math.nan)
        return seen

    def bend_deg(self, seen: dict[str, list[float]], joint: str) -> float:
        """The mean of the last ten seconds."""
        last = slice(-10 * RATE_HZ, None)
        th1, th2 = (np.nanmean(seen[f"{joint}_{part}"][last]) for part in ("th1", "th2"))
        return math.degrees(math.acos(math.cos(th1) * math.cos(th2)))


def test_equal_pressures_of_0_3_mpa_lengthen_a_joint_by_50_mm():
    seen = Bench().hold(20.0, **dict.fromkeys(CHAMBERS, 0.3e6))
    for joint in ("aft", "fore"):
        length_m = [sum(ends) for ends in zip(seen[f"{joint}_d1"], seen[f"{joint}_d2"], strict=True)]
        assert 1e3 * (np.nanmean(length_m[-100:]) - 0.3) == pytest.approx(50.2, abs=0.8)


def test_one_chamber_bends_a_joint_to_88_degrees_and_two_further():
    one, two = Bench(), Bench()
    by_one = one.bend_deg(one.hold(120.0, fore_a=0.3e6), "fore")
    by_two = two.bend_deg(two.hold(120.0, fore_b=0.3e6, fore_c=0.3e6), "fore")
    assert by_one == pytest.approx(88.0, abs=2.0) and by_two > by_one + 2.0


@pytest.mark.parametrize("pressure_pa", [0.05e6, 0.1e6, 0.3e6, 0.5e6])
def test_chamber_pressure_is_within_2_percent_in_half_a_second(pressure_pa):
    """Behind a valve that opens 3 mA off its data sheet and closes 12 mA later, from empty and from above."""
    bench = Bench()
    for start_pa in (0.0, 0.5e6):
        bench.hold(3.0, aft_b=start_pa)
        seen = bench.hold(3.0, aft_b=pressure_pa)["aft_b_pressure"]
        late = np.array(seen[RATE_HZ // 2 :])
        noise_pa = 400.0
        assert np.abs(late - pressure_pa).max() < 0.02 * pressure_pa + 5 * noise_pa
        assert np.abs(late.mean() - pressure_pa) < 0.02 * pressure_pa


def test_two_chambers_are_three_times_as_stiff_at_0_5_as_at_0_1_mpa():
    from caudal.onboard.chain.chamber import Chambers

    chambers = Chambers(open_vehicle("hybrid").settings.control.soft[0])
    soft, stiff = (chambers.rest([p, p, 0.0])[3] for p in (0.1e6, 0.5e6))
    assert stiff / soft == pytest.approx(3.0)


def test_leaking_and_stuck_chambers_show_in_their_pressures():
    bench = Bench("plant.actuator.aft_a.leak_from_s=5.0", "plant.actuator.aft_a.leak_share=0.6",
                  "plant.actuator.fore_c.stuck_from_s=5.0")  # fmt: skip
    bench.hold(6.0, aft_a=0.2e6, fore_c=0.1e6)
    seen = bench.hold(4.0, aft_a=0.2e6, fore_c=0.3e6)
    assert np.mean(seen["aft_a_pressure"][-50:]) < 0.15e6  # the loop may add no more than trim_ua
    assert np.mean(seen["fore_c_pressure"][-50:]) == pytest.approx(0.1e6, rel=0.05)
