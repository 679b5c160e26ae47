"""Sensors: scale, noise, rate, drop-outs, and a random stream of its own for each sensor."""

from __future__ import annotations

import math

import numpy as np
import pytest
from swimmer import JOINTS, TICK_US, gait, open_water, plant, pulses, sonar, swim, truth, world_of

from caudal.sim_plant.world.world import Body, World

SENSORS = {
    "front": sonar(), "left": sonar(60.0), "nose": {"kind": "bumper", "rate_hz": 100.0},
    "yaw": {"kind": "heading", "rad_per_count": 1e-4, "noise_rad": 0.02, "rate_hz": 50.0},
    "yaw_rate": {
        "kind": "yaw_rate", "rad_s_per_count": 1e-4, "noise_rad_s": 0.01, "bias_rad_s": 0.05,
        "rate_hz": 100.0,
    },
    "surge": {"kind": "surge_acceleration", "m_s2_per_count": 1e-3, "noise_m_s2": 0.02, "rate_hz": 100.0},
    "depth": {
        "kind": "depth", "metres_per_count": 1e-4, "zero_counts": 8000, "noise_m": 0.003, "rate_hz": 20.0,
    },
    "x": {"kind": "position_x", "metres_per_count": 1e-4, "noise_m": 0.005, "rate_hz": 25.0, "dropout_share": 0.1},
    "y": {"kind": "position_y", "metres_per_count": 1e-4, "noise_m": 0.005, "rate_hz": 25.0, "dropout_share": 0.1},
    "target_x": {"kind": "target_x", "metres_per_count": 1e-6, "rate_hz": 25.0},
    "target_y": {"kind": "target_y", "metres_per_count": 1e-6, "rate_hz": 25.0},
    "joint_2": {"kind": "joint", "joint": "tail_2", "rad_per_count": 1e-6, "rate_hz": 100.0},
}  # fmt: skip
NAMES = list(SENSORS)


def read(body: Body) -> dict[str, int | None]:
    counts: list[int | None] = [None] * len(body.sensors)
    body.read(counts)
    return dict(zip(body.sensors, counts, strict=True))


def trio(seed: int, sensors: list[str], count: int = 3) -> tuple[World, list[Body]]:
    start = [{"x_m": 1.0 + i, "y_m": 1.5, "heading_deg": 40.0 * i} for i in range(count)]
    world = World(world_of(length_m=5.0, width_m=3.0, vehicles=count, start=start), seed=seed)
    spec = plant(sensor=SENSORS)
    return world, [world.add(spec, actuators=JOINTS, sensors=sensors, name=f"v{i}") for i in range(count)]


def record(world: World, bodies: list[Body], ticks: int) -> list[list[dict[str, int | None]]]:
    out = []
    for _ in range(ticks):
        for k, body in enumerate(bodies):
            body.write(pulses(gait(world.time_us * 1e-6, 1.5, 0.3 * k)))
        world.step(TICK_US)
        out.append([read(body) for body in bodies])
    return out


def test_counts_repeat_with_the_same_seed_and_differ_with_another():
    first, second, other = (record(*trio(seed, NAMES), 300) for seed in (7, 7, 8))
    assert first == second
    assert first != other


def test_readings_do_not_change_when_another_sensor_is_added():
    every = record(*trio(7, NAMES), 200)
    few = record(*trio(7, ["x", "front"]), 200)
    for a, b in zip(every, few, strict=True):
        for all_of, some_of in zip(a, b, strict=True):
            assert some_of == {name: all_of[name] for name in ("x", "front")}


def test_noise_differs_between_vehicles():
    rows = record(*trio(7, ["depth"]), 200)
    first, second = ([r[k]["depth"] for r in rows if r[k]["depth"] is not None] for k in (0, 1))
    assert len(first) == len(second) == 41 and first != second  # 20 Hz for 2 s, and the one at the start
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.5


def test_world_is_the_same_when_stepped_in_larger_pieces():
    worlds = [trio(3, NAMES) for _ in range(2)]
    for _, bodies in worlds:
        for body in bodies:
            body.write([1600, 1400, 1500, 1550])
    for _ in range(100):
        worlds[0][0].step(10_000)
    worlds[1][0].step(1_000_000)
    for a, b in zip(worlds[0][1], worlds[1][1], strict=True):
        assert a.truth() == b.truth() and read(a) == read(b)


def test_sensor_reads_immediately_and_then_at_its_own_rate():
    world, (body,) = trio(1, ["depth", "yaw", "yaw_rate"], count=1)
    assert None not in read(body).values()
    seen = dict.fromkeys(body.sensors, 0)
    for _ in range(500):
        world.step(TICK_US)
        for name, value in read(body).items():
            seen[name] += value is not None
    assert seen == {"depth": 100, "yaw": 250, "yaw_rate": 500}
    assert set(read(body).values()) == {None}  # nothing new since


@pytest.mark.parametrize("name, scale, deviation", [
    ("yaw", 1e-4, 0.02), ("yaw_rate", 1e-4, 0.01), ("surge", 1e-3, 0.02), ("depth", 1e-4, 0.003),
    ("x", 1e-4, 0.005), ("y", 1e-4, 0.005), ("left", 1e-3, 0.01),
])  # fmt: skip
def test_noise_has_the_given_standard_deviation(name, scale, deviation):
    world, (body,) = trio(5, [name], count=1)
    values = []
    while len(values) < 3000:
        world.step(50_000)
        value = read(body)[name]
        if value is not None:
            values.append(value * scale)
    assert np.std(values) == pytest.approx(deviation, rel=0.06)


def test_readings_drop_out_at_the_given_rate():
    world, (body,) = trio(5, ["x"], count=1)
    seen = 0
    for _ in range(4000):
        world.step(40_000)
        seen += read(body)["x"] is not None
    assert seen / 4000 == pytest.approx(0.9, abs=0.015)


def test_depth_counts_from_its_zero_and_joint_sensor_reads_its_angle():
    world, (body,) = trio(2, ["depth", "joint_2"], count=1)
    depths = []
    for _ in range(400):
        body.write([1500, 1700, 1500, 1500])
        world.step(50_000)
        row = read(body)
        depths.append(row["depth"])
    assert np.mean(depths) == pytest.approx(8000 + 0.5 / 1e-4, abs=5)
    assert row["joint_2"] == pytest.approx(truth(body)["tail_2_rad"] * 1e6, abs=1)


def test_gyro_bias_is_constant_and_of_the_given_size_for_each_seed():
    biases = []
    for seed in range(60):
        world, (body,) = trio(seed, ["yaw_rate"], count=1)
        values = []
        for _ in range(40):
            world.step(10_000)
            values.append(read(body)["yaw_rate"] * 1e-4)
        biases.append(np.mean(values))
    assert np.std(biases) == pytest.approx(0.05, rel=0.3)


def test_heading_is_wrapped_to_plus_or_minus_half_a_turn():
    world = World(open_water())
    spec = plant(sensor={"yaw": {"kind": "heading", "rad_per_count": 1e-4, "rate_hz": 100.0}})
    body = world.add(spec, actuators=JOINTS, sensors=["yaw"], name="one")
    swim(world, body, 1.0, 2.0, 1.0)
    low = high = 0
    for _ in range(600):
        body.write(pulses(gait(world.time_us * 1e-6, 2.0, 1.0)))
        world.step(TICK_US)
        value = read(body)["yaw"]
        low, high = min(low, value), max(high, value)
        heading = truth(body)["heading_rad"]
        assert math.remainder(value * 1e-4 - heading, 2 * math.pi) == pytest.approx(0.0, abs=1e-4)
    assert truth(body)["heading_rad"] > 2 * math.pi
    assert -31416 <= low < -30000 and 30000 < high <= 31416


def test_heading_has_one_count_at_half_a_turn():
    """As in a compass's register, where 180 and -180 degrees are the same number."""
    coarse = {"kind": "heading", "rad_per_count": math.pi / 8, "noise_rad": 0.5, "rate_hz": 100.0}
    world = World(world_of(vehicles=1, start=[{"x_m": 1.0, "y_m": 1.5, "heading_deg": 180.0}]), seed=1)
    body = world.add(plant(sensor={"yaw": coarse}), actuators=JOINTS, sensors=["yaw"])
    seen = set()
    for _ in range(300):
        seen.add(read(body)["yaw"])
        world.step(TICK_US)
    assert {-8, -7, 7} <= seen and 8 not in seen


def test_camera_position_is_distorted_by_the_waves():
    wave = {"kind": "position_x", "metres_per_count": 1e-6, "rate_hz": 100.0,
            "wave_amplitude_m": 0.02, "wave_length_m": 0.8, "wave_hz": 0.5}  # fmt: skip
    world = World(open_water((0.3, 0.0, 0.0)))
    body = world.add(plant(sensor={"x": wave}), actuators=JOINTS, sensors=["x"], name="one")
    for _ in range(100):
        world.step(TICK_US)
        offset = 0.02 * math.sin(2 * math.pi * (0.3 / 0.8 + 0.5 * world.time_us * 1e-6))
        assert read(body)["x"] == pytest.approx((0.3 + offset) * 1e6, abs=1)


@pytest.mark.parametrize("target, at", [
    ({"x_m": 1.0, "y_m": 2.0}, lambda t: (1.0, 2.0)),
    ({"x_m": 1.0, "y_m": 2.0, "path": "circle", "speed_m_s": 0.2, "radius_m": 0.5},
     lambda t: (1 + 0.5 * math.cos(0.4 * t), 2 + 0.5 * math.sin(0.4 * t))),
    ({"x_m": 1.0, "y_m": 2.0, "path": "line", "speed_m_s": 0.5, "length_m": 1.0, "heading_deg": 90.0},
     lambda t: (1.0, 2.0 + 1.0 - abs(1.0 - (0.5 * t) % 2.0))),
])  # fmt: skip
def test_target_sensor_reads_the_position_on_its_path(target, at):
    world = World(world_of(target=target, start=[{"x_m": 0.0, "y_m": 0.0}]))
    body = world.add(plant(sensor=SENSORS), actuators=JOINTS, sensors=["target_x", "target_y"], name="one")
    for _ in range(150):
        world.step(40_000)
        row, (x, y) = read(body), at(world.time_us * 1e-6)
        assert row["target_x"] == pytest.approx(x * 1e6, abs=1)
        assert row["target_y"] == pytest.approx(y * 1e6, abs=1)
        assert world.target_m == pytest.approx((x, y))


def test_target_sensor_has_no_reading_without_a_target():
    world, (body,) = trio(1, ["target_x", "target_y"], count=1)
    for _ in range(20):
        world.step(40_000)
        assert read(body) == {"target_x": None, "target_y": None}
    assert world.target_m is None
