"""Valves and their chambers, through currents in microamperes and counts of pressure."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
import swimmer
from softened import CRACK_UA, PA_PER_UA
from swimmer import open_water, truth

from caudal.sim_plant.tables.read import PlantSpec, validate_plant
from caudal.sim_plant.world.world import Body, World

LAG_S = 0.12
VALVE: dict[str, Any] = {
    "kind": "valve",
    "cracking_current_ua": CRACK_UA,
    "pa_per_ua": PA_PER_UA,
    "supply_pa": 0.6e6,
}
GAUGE: dict[str, Any] = {"kind": "pressure", "chamber": "v", "pascals_per_count": 10.0, "rate_hz": 1000.0}


def table(gauge: dict | None = None, step_us: int = 1000, **valve: Any) -> dict[str, Any]:
    body = {"name": "block", "mass_kg": 1.0, "inertia_kg_m2": [0.1, 0.1, 0.1, 0.0, 0.0, 0.0]}
    return {
        "model": "tree", "step_us": step_us, "tree": {"gravity_m_s2": 0.0, "body": [body]},
        "actuator": {"v": {**VALVE, **valve}}, "sensor": {"p": {**GAUGE, **(gauge or {})}},
    }  # fmt: skip


def chamber(
    gauge: dict | None = None, step_us: int = 1000, seed: int = 0, **valve: Any
) -> tuple[World, Body]:
    """One valve before one chamber, with a gauge."""
    spec = msgspec.convert(table(gauge, step_us, **valve), PlantSpec)
    world = World(open_water((0.0, 0.0, 0.0)), seed)
    return world, world.add(spec, actuators=["v"], sensors=["p"], name="one")


def pressure_pa(body: Body) -> float:
    return truth(body)["v_pa"]


def after(world: World, body: Body, current_ua: int, duration_us: int = 1000) -> float:
    body.write([current_ua])
    world.step(duration_us)
    return pressure_pa(body)


def test_valve_gives_pressure_by_its_gain_above_the_cracking_current():
    world, body = chamber()
    for current_ua in (1, 60_000, 119_999, 120_000):
        assert after(world, body, current_ua) == 0.0
    for current_ua in (120_001, 150_000, 200_000):
        assert after(world, body, current_ua) == (current_ua - CRACK_UA) * PA_PER_UA


def test_chamber_pressure_never_exceeds_the_supply():
    world, body = chamber()
    assert after(world, body, CRACK_UA + 119_999) == 0.6e6 - PA_PER_UA
    for current_ua in (CRACK_UA + 120_000, 300_000, 1_000_000):
        assert after(world, body, current_ua) == 0.6e6


def test_valve_pressure_differs_by_the_hysteresis_between_rising_and_falling():
    world, body = chamber(hysteresis_ua=4000)
    currents_ua = list(range(130_000, 200_001, 5000))
    up = np.array([after(world, body, current) for current in currents_ua])
    down = np.array([after(world, body, current) for current in currents_ua[::-1]])[::-1]
    assert up == pytest.approx((np.array(currents_ua) - 2000 - CRACK_UA) * PA_PER_UA)
    assert (down - up)[:-1] == pytest.approx(np.full(len(up) - 1, 4000 * PA_PER_UA))
    # A way to and fro that is smaller than the hysteresis moves nothing.
    held = after(world, body, 160_000)
    for current in (159_000, 156_001, 158_500, 160_000):
        assert after(world, body, current) == held
    assert after(world, body, 161_000) == held + 1000 * PA_PER_UA
    assert after(world, body, 155_000) == held - 1000 * PA_PER_UA


@pytest.mark.parametrize("step_us", [250, 1000, 7000])
def test_chamber_fills_and_empties_with_its_exact_lag_at_any_step(step_us):
    world, body = chamber(lag_s=LAG_S, step_us=step_us)
    body.write([CRACK_UA + 60_000])
    for k in range(1, 11):
        world.step(35_000)
        assert pressure_pa(body) == pytest.approx(-0.3e6 * math.expm1(-0.035 * k / LAG_S), rel=1e-12)
    full = pressure_pa(body)
    body.write([0])  # no current
    for k in range(1, 11):
        world.step(35_000)
        assert pressure_pa(body) == pytest.approx(full * math.exp(-0.035 * k / LAG_S), rel=1e-12)


def test_current_takes_effect_after_the_delay():
    world, body = chamber(delay_s=0.02)
    body.write([CRACK_UA + 60_000])
    world.step(20_000)
    assert pressure_pa(body) == 0.0
    world.step(1000)
    assert pressure_pa(body) == 0.3e6


def test_chamber_empties_without_current_even_within_the_hysteresis():
    world, body = chamber(cracking_current_ua=500, hysteresis_ua=4000, lag_s=0.01)
    assert after(world, body, 60_000, 500_000) == pytest.approx((58_000 - 500) * PA_PER_UA)
    assert after(world, body, 0, 500_000) < 1e-9


def test_stuck_spool_does_not_move_at_any_current():
    world, body = chamber(stuck_from_s=0.5, lag_s=0.01)
    held = after(world, body, 160_000, 500_000)
    for current_ua in (200_000, 130_000, 0):
        assert after(world, body, current_ua, 500_000) == pytest.approx(held, rel=1e-9) and held > 0.19e6


def test_leaking_chamber_settles_at_the_remaining_share():
    world, body = chamber(leak_from_s=1.0, leak_share=0.3, lag_s=LAG_S)
    assert after(world, body, 160_000, 1_000_000) == pytest.approx(0.2e6, rel=1e-3)
    before = pressure_pa(body)
    world.step(120_000)
    assert pressure_pa(body) == pytest.approx(0.14e6 + (before - 0.14e6) * math.exp(-1), rel=1e-12)
    world.step(3_000_000)
    assert pressure_pa(body) == pytest.approx(0.7 * 0.2e6, rel=1e-6)


def test_pressure_sensor_counts_from_its_zero_with_its_noise():
    world, body = chamber({"zero_counts": 400, "pascals_per_count": 25.0})
    counts: list[int | None] = [None]
    body.read(counts)
    assert counts == [400]
    after(world, body, CRACK_UA + 50_003)
    body.read(counts)
    assert counts == [400 + round(50_003 * PA_PER_UA / 25.0)]
    world, body = chamber({"noise_pa": 500.0}, seed=3)
    body.write([CRACK_UA + 60_000])
    read = []
    for _ in range(2000):
        world.step(1000)
        body.read(counts)
        read.append(counts[0] * 10.0)
    assert np.std(read) == pytest.approx(500.0, rel=0.06) and np.mean(read) == pytest.approx(0.3e6, abs=60.0)


def test_counts_repeat_bit_for_bit_with_the_same_currents():
    runs = []
    for _ in range(2):
        world, body = chamber({"noise_pa": 500.0}, lag_s=LAG_S, hysteresis_ua=3000, seed=5)
        rng, counts, rows = np.random.default_rng(0), [None], []
        for _ in range(200):
            body.write([int(rng.integers(0, 250_000))])
            world.step(10_000)
            body.read(counts)
            rows.append(counts[0])
        runs.append(rows)
    assert runs[0] == runs[1] and len(set(runs[0])) > 100


def strouhal_plant() -> dict[str, Any]:
    tables = swimmer.table()
    tables["actuator"]["v"] = VALVE
    return tables


SLIDE = {
    "name": "rod", "mass_kg": 1.0, "inertia_kg_m2": [0.1, 0.1, 0.1, 0.0, 0.0, 0.0], "parent": "block",
    "joint": {"name": "s", "kind": "prismatic", "axis": [1, 0, 0]},
}  # fmt: skip


def reading(sensor: dict[str, Any]) -> dict[str, Any]:
    tables = table()
    tables["tree"]["body"].append(SLIDE)
    tables["sensor"] = {"p": {"rate_hz": 100.0, **sensor}}
    return tables


@pytest.mark.parametrize(
    ("tables", "key", "words"),
    [
        (table({"chamber": "x"}), "sensor.p.chamber", "x is not a valve; choose from v."),
        (strouhal_plant(), "actuator.v", "has no chambers"),
        (reading({"kind": "stroke", "joint": "x", "metres_per_count": 0.001}), "sensor.p.joint", "x is not a joint"),
        (reading({"kind": "joint", "joint": "s", "rad_per_count": 0.001}), "sensor.p.joint", 'of kind "stroke"'),
    ],
)  # fmt: skip
def test_inconsistent_plant_is_refused_with_a_message(tables, key, words):
    found = list(validate_plant(msgspec.convert(tables, PlantSpec)))
    assert found and found[0][0] == key and words in found[0][1] and found[0][1].endswith(".")
