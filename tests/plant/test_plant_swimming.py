"""The Strouhal model, driven through the servos as a controller would: pulses of whole us at 100 Hz."""

from __future__ import annotations

import math

import numpy as np
import pytest
from swimmer import (
    BEAT_RAD,
    JET,
    JOINTS,
    LINKS_M,
    MODEL_BEAT_M,
    NEUTRAL_US,
    TICK_US,
    gait,
    open_water,
    plant,
    pulses,
    swim,
    table,
    truth,
)

from caudal.sim_plant.water.strouhal import measured_tail_beat_m
from caudal.sim_plant.world.world import Body, World

SPEEDS = {0.5: 0.100, 1.0: 0.199, 2.0: 0.399, 3.0: 0.598}  # m/s
TIME_CONSTANTS_S = {0.5: 5.9, 1.0: 3.7, 2.0: 2.3, 3.0: 1.7}  # m U / (2 drag) at the top speed U
TURN_RATES = {10: 23.9, 30: 68.8, 45: 97.2, 60: 119.0}  # deg/s at 2 Hz


def alone(**changes) -> tuple[World, Body]:
    world = World(open_water())
    return world, world.add(plant(**changes), actuators=JOINTS, sensors=[], name="one")


def drag_n(u_m_s: float) -> float:
    reynolds = u_m_s * 0.26 / 1.12e-6
    return 0.5 * (1.328 * reynolds**-0.5 + 0.074 * reynolds**-0.2) * 0.055 * 1000 * u_m_s**2


def rise_s(f_hz: float) -> float:
    """Time from rest to 63.2 % of the top speed, by an integration of the model in this file."""
    top, u, t, dt = f_hz * MODEL_BEAT_M / 0.3, 0.0, 0.0, 1e-3
    thrust = drag_n(top)
    while u < 0.632 * top:
        u += dt * (thrust - (drag_n(u) if u > 0 else 0.0)) / 0.60
        t += dt
    return t


@pytest.mark.parametrize("f_hz", SPEEDS)
def test_speed_matches_the_beat_frequency_within_one_percent(f_hz):
    world, body = alone()
    run = swim(world, body, 12 * TIME_CONSTANTS_S[f_hz], f_hz)
    last_beats = run[-round(200 / f_hz) :]
    assert np.mean([r["speed_m_s"] for r in last_beats]) == pytest.approx(SPEEDS[f_hz], rel=0.01)
    assert np.mean([r["tail_beat_hz"] for r in last_beats]) == pytest.approx(f_hz, rel=0.001)
    assert np.mean([r["tail_beat_m"] for r in last_beats]) == pytest.approx(MODEL_BEAT_M, rel=0.01)


@pytest.mark.parametrize("f_hz", SPEEDS)
def test_speed_rises_as_in_the_model_with_a_delay_of_at_most_one_beat(f_hz):
    world, body = alone()
    run = swim(world, body, rise_s(f_hz) + 1.5 / f_hz, f_hz)
    top = f_hz * MODEL_BEAT_M / 0.3
    reached_s = next(i for i, r in enumerate(run) if r["speed_m_s"] >= 0.632 * top) * TICK_US * 1e-6
    assert rise_s(f_hz) <= reached_s <= rise_s(f_hz) + 1 / f_hz
    thrust_n = np.mean([r["thrust_n"] for r in run[-round(100 / f_hz) :]])
    # The list above has two digits: the model's own value must round to it, and the plant must be near it.
    constant_s = 0.60 * top / (2 * drag_n(top))
    assert round(constant_s, 1) == TIME_CONSTANTS_S[f_hz]
    assert 0.60 * top / (2 * thrust_n) == pytest.approx(constant_s, rel=0.02)


@pytest.mark.parametrize("deflection_deg", TURN_RATES)
@pytest.mark.parametrize("side", [1, -1])
def test_vehicle_turns_to_the_side_of_the_deflected_tail_at_the_models_rate(deflection_deg, side):
    world, body = alone()
    run = swim(world, body, 6.0, 2.0, side * math.radians(deflection_deg))
    rate = math.degrees(run[-1]["heading_rad"] - run[-301]["heading_rad"]) / 3.0
    assert rate == pytest.approx(side * TURN_RATES[deflection_deg], rel=0.01)
    rates = np.degrees([r["yaw_rate_rad_s"] for r in run[-301:]])
    assert np.ptp(rates) < 0.01 * abs(rate)  # no ripple of the beat


def test_deflection_is_measured_within_half_a_beat_and_does_not_hide_the_beat():
    world, body = alone()
    swim(world, body, 5.0, 2.0)
    before = truth(body)["heading_rad"]
    run = swim(world, body, 2.0, 2.0, 0.5)
    lost_s = 2.0 - (run[-1]["heading_rad"] - before) / (1.2 * 2.0 * math.sin(0.5))
    assert 0.0 < lost_s < 0.25
    assert all(r["tail_beat_hz"] == pytest.approx(2.0, rel=0.02) for r in run)


def test_vehicle_swims_backwards_with_a_reversed_wave_and_stays_with_a_standing_one():
    speeds = []
    for way in ("backward", "standing"):
        world, body = alone()
        for _ in range(3000):
            t_s = world.time_us * 1e-6
            standing = 0.2 * math.sin(2 * math.pi * 2 * t_s)
            body.write(pulses(gait(-t_s, 2.0) if way == "backward" else [standing] * 4))
            world.step(TICK_US)
        speeds.append(truth(body)["speed_m_s"])
    assert speeds[0] == pytest.approx(-SPEEDS[2.0], rel=0.01)
    assert abs(speeds[1]) < 0.02


def test_beat_ends_within_half_a_beat_when_the_tail_stops_anywhere():
    for moment_s in np.linspace(4.0, 4.5, 11):
        world, body = alone()
        swim(world, body, float(moment_s), 2.0, 0.5)
        before = truth(body)["heading_rad"]
        held = pulses(gait(world.time_us * 1e-6, 2.0, 0.5))
        for _ in range(100):
            body.write(held)
            world.step(TICK_US)
        after = truth(body)
        assert after["tail_beat_hz"] == 0.0 and after["thrust_n"] == 0.0 and after["yaw_rate_rad_s"] == 0.0
        assert after["heading_rad"] - before < 0.5 * 1.2 * math.sin(0.5)


def test_speed_never_grows_with_a_still_tail():
    world, body = alone()
    swim(world, body, 4.0, 2.0, 0.3)
    body.write([NEUTRAL_US] * 4)
    world.step(500_000)
    speed = truth(body)["speed_m_s"]
    assert speed > 0.1
    for _ in range(500):
        world.step(20_000)
        now = truth(body)["speed_m_s"]
        assert 0.0 <= now <= speed
        speed = now


def test_vehicle_stays_exactly_where_it_is_without_pulses():
    world, body = alone()
    before = body.truth()
    world.step(5_000_000)
    assert body.truth() == before


def test_path_is_mirrored_when_the_tail_is_mirrored():
    world = World(open_water((0.0, 2.0, 20.0), (0.0, -2.0, -20.0)))
    left = world.add(plant(), actuators=JOINTS, sensors=[], name="left")
    right = world.add(plant(), actuators=JOINTS, sensors=[], name="right")
    for _ in range(800):
        t_s = world.time_us * 1e-6
        deflection = 0.4 * math.sin(0.9 * t_s) + 0.2
        left.write(pulses(gait(t_s, 1.7, deflection)))
        right.write(pulses(gait(t_s, 1.7, deflection, mirror=-1.0)))
        world.step(TICK_US)
        a, b = truth(left), truth(right)
        assert a["x_m"] == pytest.approx(b["x_m"], abs=1e-12)
        assert a["y_m"] == pytest.approx(-b["y_m"], abs=1e-12)
        assert a["heading_rad"] == pytest.approx(-b["heading_rad"], abs=1e-12)
    assert math.hypot(a["x_m"], a["y_m"] - 2.0) > 0.5


def test_error_halves_when_the_step_is_halved():
    ends = {}
    for step_us in (4000, 2000, 1000, 500, 125):
        world, body = alone(step_us=step_us)
        swim(world, body, 6.0, 2.0, 0.3)
        end = truth(body)
        ends[step_us] = np.array([end["x_m"], end["y_m"], end["heading_rad"]])
    # Against the finest: gaps of neighbours are uneven, since counting a beat is an event.
    errors = {step_us: np.abs(end - ends[125]).max() for step_us, end in ends.items()}
    assert errors[4000] > errors[2000] > errors[1000] > errors[500]
    assert errors[500] < errors[4000] / 4
    assert errors[2000] < 0.003


def test_tail_beat_scale_turns_the_measured_beat_into_the_models_beat():
    # The bent tail's tip stands at 0.255 to 0.258 m of 0.26 and swings 58.4 mm; its fundamental is 57.9 mm.
    assert MODEL_BEAT_M / measured_tail_beat_m(LINKS_M, BEAT_RAD) == pytest.approx(1.032, abs=0.0005)


def test_tail_of_one_joint_pushes_forward():
    servo = table()["actuator"]["tail_1"]
    spec = plant(
        link=[{"joint": "tail_1", "length_m": 0.2}], actuator={"tail_1": servo}, deflection_joints=["tail_1"]
    )
    world = World(open_water())
    body = world.add(spec, actuators=["tail_1"], sensors=[], name="one")
    for _ in range(1500):
        body.write(pulses([0.2 * math.sin(2 * math.pi * 1.5 * world.time_us * 1e-6)]))
        world.step(TICK_US)
    now = truth(body)
    assert now["tail_beat_hz"] == pytest.approx(1.5, rel=0.01)
    assert now["tail_beat_m"] == pytest.approx(1.032 * 2 * 0.2 * math.sin(0.2), rel=0.02)
    assert now["speed_m_s"] > 0.2


def test_thruster_accelerates_along_the_heading_until_drag_balances_it():
    world = World(open_water((0.0, 0.0, 90.0)))
    spec = plant(**JET)
    body = world.add(spec, actuators=["jet"], sensors=[], name="one")
    body.write([1520])
    world.step(1_000_000)
    assert truth(body)["speed_m_s"] == 0.0
    body.write([1550])
    world.step(60_000_000)
    end = truth(body)
    assert drag_n(end["speed_m_s"]) == pytest.approx(0.05, rel=1e-3)
    assert end["y_m"] > 1.0 and abs(end["x_m"]) < 1e-9
    body.write([0])
    world.step(2_000_000)
    assert truth(body)["speed_m_s"] < end["speed_m_s"]
