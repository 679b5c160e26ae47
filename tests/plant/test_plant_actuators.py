"""Servos and thrusters alone: rate, delay, resolution, end stop, no pulse."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from swimmer import JOINTS, US_PER_RAD, open_water, table, truth

from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.world.world import Body, World


def one_servo(**servo) -> tuple[World, Body]:
    keys = table()
    keys["actuator"]["tail_1"].update(servo)
    world = World(open_water())
    return world, world.add(msgspec.convert(keys, PlantSpec), actuators=JOINTS, sensors=[], name="one")


def angle(body: Body) -> float:
    return truth(body)["tail_1_rad"]


def test_servo_turns_at_its_rate_after_the_delay():
    world, body = one_servo(lag_s=0.0, rate_rad_s=10.0, delay_s=0.008)
    body.write([2000, 1500, 1500, 1500])
    goal = 500 / US_PER_RAD
    for ms in range(1, 120):
        world.step(1000)
        assert angle(body) == pytest.approx(min(max(ms - 8, 0) * 0.01, goal), abs=1e-12)


def test_servo_approaches_its_goal_with_its_lag_and_within_its_rate():
    world, body = one_servo(lag_s=0.01, rate_rad_s=10.0, delay_s=0.0)
    body.write([2000, 1500, 1500, 1500])
    goal, near, before = 500 / US_PER_RAD, 0.1, 0.0
    full_s = (goal - near) / 10.0
    for ms in range(1, 200):
        world.step(1000)
        t_s = ms * 1e-3
        expected = 10.0 * t_s if t_s < full_s else goal - near * math.exp(-(t_s - full_s) / 0.01)
        assert angle(body) == pytest.approx(expected, abs=1e-12)
        assert angle(body) - before <= 10.0 * 1e-3 + 1e-12
        before = angle(body)


def test_pulse_takes_effect_at_its_own_time_within_a_step():
    world, body = one_servo(lag_s=0.0, rate_rad_s=10.0, delay_s=0.0033)
    body.write([2000, 1500, 1500, 1500])
    world.step(10_000)
    assert angle(body) == pytest.approx(0.0067 * 10.0, abs=1e-12)


def test_pulses_take_effect_in_order_when_written_during_the_delay():
    world, body = one_servo(lag_s=0.0, rate_rad_s=1000.0, delay_s=0.05)
    seen = []
    for k in range(12):
        body.write([1500 + 10 * k, 1500, 1500, 1500])
        world.step(10_000)
        seen.append(round(angle(body) * US_PER_RAD))
    assert seen == [0] * 5 + [0, 10, 20, 30, 40, 50, 60]


@settings(max_examples=50, deadline=None)
@given(
    pulse_us=st.integers(500, 2500),
    resolution_us=st.sampled_from([0.0, 1.0, 4.0, 7.0]),
    side=st.sampled_from([1, -1]),
)
def test_servo_stops_on_its_own_resolution_within_its_end_stops(pulse_us, resolution_us, side):
    world, body = one_servo(lag_s=0.0, resolution_us=resolution_us, direction=side, travel_rad=0.8)
    body.write([pulse_us, 1500, 1500, 1500])
    world.step(500_000)
    found_us = angle(body) * US_PER_RAD
    wanted_us = side * (pulse_us - 1500)
    limit_us = 0.8 * US_PER_RAD
    assert abs(found_us) <= limit_us + 1e-6
    if abs(wanted_us) < limit_us - 7:
        assert abs(found_us - wanted_us) <= resolution_us / 2 + 1e-6
        if resolution_us:
            assert found_us / resolution_us == pytest.approx(round(found_us / resolution_us), abs=1e-6)
    elif abs(wanted_us) > limit_us + 7:
        assert found_us == pytest.approx(math.copysign(limit_us, wanted_us))


def test_servo_stays_where_it_is_without_a_pulse():
    world, body = one_servo(lag_s=0.0, rate_rad_s=5.0, delay_s=0.0)
    body.write([2000, 1500, 1500, 1500])
    world.step(50_000)
    held = angle(body)
    body.write([0, 0, 0, 0])
    world.step(1_000_000)
    assert angle(body) == held == pytest.approx(0.25)
    body.write([1500, 1500, 1500, 1500])
    world.step(1_000_000)
    assert angle(body) == 0.0


def test_servo_never_moves_when_it_is_not_named():
    world = World(open_water())
    body = world.add(msgspec.convert(table(), PlantSpec), actuators=["tail_3"], sensors=[], name="one")
    body.write([1800])
    world.step(500_000)
    now = truth(body)
    assert now["tail_3_rad"] == pytest.approx(300 / US_PER_RAD)
    assert now["tail_1_rad"] == now["tail_2_rad"] == now["tail_4_rad"] == 0.0


@pytest.mark.parametrize("step_us", [500, 2000, 5000])
def test_servo_angle_does_not_depend_on_the_step(step_us):
    keys = table(step_us=step_us)
    world = World(open_water())
    body = world.add(msgspec.convert(keys, PlantSpec), actuators=JOINTS, sensors=[], name="one")
    reference = World(open_water())
    finest = reference.add(
        msgspec.convert(table(step_us=100), PlantSpec), actuators=JOINTS, sensors=[], name="two"
    )
    for k in range(40):
        pulse_us = 1500 + round(300 * math.sin(0.3 * k))
        for w, b in ((world, body), (reference, finest)):
            b.write([pulse_us, 1500, 1500, 1500])
            w.step(10_000)
        assert angle(body) == pytest.approx(angle(finest), abs=1e-9)


@pytest.mark.parametrize("wrong, words", [
    ([1500] * 3, "3 pulses for 4 actuators"),
    ([1500.5] * 4, "whole microseconds"),
    ([-1, 0, 0, 0], "write 0 for no pulse"),
])  # fmt: skip
def test_impossible_pulses_are_refused_with_a_message(wrong, words):
    _, body = one_servo()
    with pytest.raises(ValueError, match=words):
        body.write(wrong)
