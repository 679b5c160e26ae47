"""Trees of bodies in a world, through pulses and counts: servos, attitude sensors, walls, divergence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from swimmer import gait, open_water, plant, pulses, truth, world_of

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.log.reader import Log
from caudal.sim_plant.tables.read import PlantSpec, read
from caudal.sim_plant.world.world import Body, World

US_PER_RAD = 636.6
SURFACE_JOINTS = ["q0", "q3", "q4", "q5", "q6", "q7", "r2", "r3", "r4", "r5", "r6", "r7"]
IMU = ["heading", "pitch", "roll", "turn_rate", "pitch_rate", "roll_rate"]
TAIL = ["tail_1", "tail_2", "tail_3", "tail_4"]
SUNK = [
    "plant.afloat=false",
    "plant.depth_m=0.02",
    "plant.tree.body.4.com_m.1=0.004",
]  # it heaves, rolls, pitches


def spec_of(vehicle: str, *overrides: str) -> PlantSpec:
    return read(VehicleFile.open(vehicles.find(vehicle), list(overrides)))


def alone(
    spec: PlantSpec, actuators: list[str], sensors: list[str] | None = None, seed: int = 0
) -> tuple[World, Body]:
    world = World(open_water((0.3, -0.2, 40.0)), seed)
    return world, world.add(spec, actuators=actuators, sensors=sensors or [], name="one")


def servo(*more: str) -> tuple[World, Body]:
    """One joint of the surface swimmer, behind a servo of 20 ms lag, 5 ms delay."""
    return alone(spec_of("snake", *(f"plant.actuator.q5.{change}" for change in more)), ["q5"])


def angle_rate(world: World, body: Body, joint: str = "q5") -> tuple[float, float]:
    x, model = body.state(), world.models[0]
    return float(x[model.q[joint]][0]), float(x[model.qd[joint]][0])


def moved(step_us: int, goal_us: int, until_ms: int) -> np.ndarray:
    """(ms, 2): angle and rate a millisecond after the other, from the pulse on."""
    spec = spec_of("snake", f"plant.step_us={step_us}")
    world, body = alone(spec, ["q5"])
    body.write([1500 + goal_us])
    rows = [angle_rate(world, body)]
    for _ in range(until_ms):
        world.step(1000)
        rows.append(angle_rate(world, body))
    return np.array(rows)


def test_joint_follows_critically_damped_after_its_servos_delay():
    goal_rad, w, t = 64 / US_PER_RAD, 2 / 0.02, 1e-3 * (np.arange(101) - 5)
    exact = np.where(t > 0, goal_rad * (1 - (1 + w * t) * np.exp(-w * t)), 0.0)
    errors = []
    for step_us in (1000, 500, 250):
        angle = moved(step_us, 64, 100)[:, 0]
        assert (angle[:6] == 0).all()
        errors.append(np.abs(angle - exact).max())
    assert errors[0] < 0.01 * goal_rad
    assert errors[0] > 3 * errors[1] > 9 * errors[2]  # second order


def test_joint_stays_within_its_servos_rate_and_its_rate_never_jumps():
    runs = {step_us: moved(step_us, 64, 60)[:, 1] for step_us in (1000, 250)}
    for rate in runs.values():
        assert np.abs(np.diff(rate)).max() <= (2 / 0.02) ** 2 * 64 / US_PER_RAD * 1e-3 * 1.001
    world, body = servo("rate_rad_s=3.0")
    body.write([2000])
    rates = []
    for _ in range(400):
        world.step(1000)
        rates.append(angle_rate(world, body)[1])
    assert max(rates) == pytest.approx(3.0, abs=1e-12) and rates.count(max(rates)) > 200
    assert angle_rate(world, body)[0] == pytest.approx(500 / US_PER_RAD, abs=1e-5)


def test_joint_lags_a_ramp_by_its_servos_lag_and_delay():
    world, body = servo("rate_rad_s=30.0")
    behind = []
    for ms in range(400):
        body.write([1500 + ms])  # 1 us a millisecond is 1.571 rad/s
        world.step(1000)
        behind.append(ms / US_PER_RAD - angle_rate(world, body)[0])
    # A pulse holds for a millisecond, after which the joint is read: the lag less that.
    assert np.mean(behind[200:]) * US_PER_RAD == pytest.approx(20 + 5 - 1, abs=0.6)


def test_driven_joint_runs_down_and_stays_without_a_pulse():
    world, body = servo()
    body.write([1800])
    world.step(30_000)
    body.write([0])
    world.step(300_000)
    angle, rate = angle_rate(world, body)
    assert 0.1 < angle < 300 / US_PER_RAD and abs(rate) < 1e-9
    world.step(1_000_000)
    assert angle_rate(world, body)[0] == pytest.approx(angle, abs=1e-9)


def test_joint_never_moves_when_its_servo_is_not_named():
    world, body = servo()
    body.write([1800])
    world.step(500_000)
    now = truth(body)
    assert now["q5_rad"] > 0.4 and now["q4_rad"] == now["q1_rad"] == now["r3_rad"] == 0.0


def beaten(tail_us: int) -> np.ndarray:
    """Angle of the tail's torque joint while the fin behind it beats; tail_us 0 is no pulse."""
    world, body = alone(spec_of("ray"), ["tail_yaw", "caudal"])
    angles = []
    for tick in range(400):
        body.write([tail_us, 1500 + round(300 * math.sin(2 * math.pi * 0.015 * tick))])
        world.step(10_000)
        angles.append(angle_rate(world, body, "tail_yaw")[0])
    return np.array(angles)


def test_torque_joint_is_held_by_a_pulse_and_trails_without_one():
    held, limp = beaten(1500), beaten(0)
    assert np.abs(held).max() < 0.04 and np.ptp(limp[200:]) > 5 * np.ptp(held[200:])


def test_torque_joint_goes_to_its_goal_and_returns_to_rest_without_a_pulse():
    world, body = alone(spec_of("ray"), ["tail_yaw", "caudal"])
    body.write([1800, 1500])
    world.step(1_500_000)
    assert angle_rate(world, body, "tail_yaw")[0] == pytest.approx(300 / US_PER_RAD, abs=0.03)
    body.write([0, 1500])
    world.step(8_000_000)
    assert abs(angle_rate(world, body, "tail_yaw")[0]) < 0.1  # by the joint's own weak spring


def quiet(sensor: str) -> list[str]:
    key = "noise_rad" if sensor in ("heading", "pitch", "roll") else "noise_rad_s"
    still = [f"plant.sensor.{sensor}.{key}=0"]
    return still if key == "noise_rad" else [*still, f"plant.sensor.{sensor}.bias_rad_s=0"]


def read_all(body: Body) -> dict[str, int | None]:
    counts: list[int | None] = [None] * len(body.sensors)
    body.read(counts)
    return dict(zip(body.sensors, counts, strict=True))


def test_attitude_sensors_count_the_state():
    world, body = alone(spec_of("snake", *SUNK, *(o for s in IMU for o in quiet(s))), SURFACE_JOINTS, IMU)
    si_per_count, spread = 0.00109083078, dict.fromkeys(IMU, 0)
    for tick in range(300):
        body.write([1500 + round(120 * math.sin(0.09 * tick + k)) for k in range(len(SURFACE_JOINTS))])
        world.step(10_000)
        w, x, y, z = body.state()[3:7]
        rates = body.state()[10:13]
        real = {
            "heading": math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
            "pitch": math.asin(2 * (w * y - z * x)),
            "roll": math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
            "roll_rate": rates[0], "pitch_rate": rates[1], "turn_rate": rates[2],
        }  # fmt: skip
        for name, count in read_all(body).items():
            assert abs(count - real[name] / si_per_count) <= 0.5 + 1e-6, name
            spread[name] = max(spread[name], abs(count))
    assert min(spread.values()) > 15  # each did move


def test_attitude_noise_has_the_given_deviation_and_gyros_a_constant_bias():
    world, body = alone(spec_of("snake"), [], IMU)
    rows = []
    for _ in range(3000):
        world.step(10_000)
        rows.append([count * 0.00109083078 for count in read_all(body).values()])
    read_out = np.array(rows)
    assert read_out.std(axis=0) == pytest.approx(np.full(6, 0.01), rel=0.06)
    biases = []
    for seed in range(40):
        world, body = alone(spec_of("snake", "plant.sensor.roll_rate.noise_rad_s=0"), [], ["roll_rate"], seed)
        world.step(10_000)
        biases.append(read_all(body)["roll_rate"] * 0.00109083078)
    assert np.std(biases) == pytest.approx(0.005, rel=0.35)


def counted(seed: int) -> list[dict[str, int | None]]:
    world = World(open_water((0, 0, 0), (3, 1, 90)), seed)
    spec, rows = spec_of("snake", *SUNK), []
    bodies = [world.add(spec, actuators=SURFACE_JOINTS, sensors=IMU, name=f"v{k}") for k in range(2)]
    for tick in range(100):
        for body in bodies:
            body.write([1500 + round(100 * math.sin(0.08 * tick + k)) for k in range(len(SURFACE_JOINTS))])
        world.step(10_000)
        rows += [read_all(body) for body in bodies]
    return rows


def test_counts_repeat_bit_for_bit_with_the_same_seed_only():
    first, again, other = counted(7), counted(7), counted(8)
    assert first == again and first != other
    assert first[0::2] != first[1::2]  # the two have noise of their own


def test_world_refuses_vehicles_of_two_models_with_a_message():
    for first, second in ((spec_of("snake"), plant()), (plant(), spec_of("snake"))):
        world = World(open_water((0, 0, 0), (3, 0, 0)))
        world.add(first, actuators=[], sensors=[], name="one")
        with pytest.raises(
            ValueError, match=r"^two: a world holds vehicles of one plant.model; .* of its own[.]$"
        ):
            world.add(second, actuators=[], sensors=[], name="two")
        assert len(world.bodies) == 1
        world.step(10_000)


def test_tree_floats_when_it_starts_afloat():
    world, body = alone(spec_of("snake"), [])
    start, model = body.state(), world.models[0]
    weight_n = 9.81 * sum(b.mass_kg for b in model.spec.body)
    assert np.abs(model.forward_dynamics(start)[:6]).max() < 1e-7 * weight_n
    world.step(3_000_000)
    assert np.abs(body.state() - start).max() < 1e-6
    world, sunk = alone(spec_of("snake", "plant.afloat=false", "plant.depth_m=0.02"), [])
    world.step(100_000)
    assert sunk.state()[2] > -0.019  # it rises


@pytest.mark.parametrize("water", ["full", "buoyant"])
def test_world_steps_a_tree_as_its_model_does_while_servos_hold_still(water):
    spec = spec_of("snake", *SUNK, f"plant.tree.water={water}")
    world, body = alone(spec, SURFACE_JOINTS)
    model, start = world.models[0], body.state()
    for _ in range(100):
        body.write([1500] * len(SURFACE_JOINTS))
        world.step(10_000)
    motion = np.zeros((2001, 3, len(model.driven)))
    end = model.rollout(start, 1000, 0.001, driven=motion)[-1]
    assert np.abs(end - start)[:13].max() > 0.01  # it heaves and rolls
    assert np.abs(body.state() - end).max() <= 1e-12


def test_truth_holds_the_base_the_centre_of_mass_and_every_joint():
    world, body = alone(spec_of("fish", "plant.model=tree"), TAIL)
    for _ in range(200):
        body.write(pulses(gait(world.time_us * 1e-6, 2.0, 0.4)))
        world.step(10_000)
    model, now, x = world.models[0], truth(body), body.state()
    way = (model.centre_of_mass(model.step(x, None, 1e-6)) - model.centre_of_mass(x)) / 1e-6
    assert list(now)[:7] == [
        "x_m",
        "y_m",
        "depth_m",
        "heading_rad",
        "speed_m_s",
        "yaw_rate_rad_s",
        "clearance_m",
    ]
    assert list(now)[7:11] == ["roll_rad", "pitch_rad", "climb_m_s", "way_m_s"]
    along_and_about = ["surge_m_s", "sway_m_s", "heave_m_s", "roll_rate_rad_s", "pitch_rate_rad_s"]
    assert list(now)[11:16] == along_and_about and list(now.values())[11:16] == x[7:12].tolist()
    assert list(now)[16:] == [f"{joint}_rad" for joint in model.joints]
    assert (now["x_m"], now["y_m"], now["depth_m"]) == (x[0], x[1], -x[2]) and now["yaw_rate_rad_s"] == x[12]
    ahead = np.array([math.cos(now["heading_rad"]), math.sin(now["heading_rad"]), 0.0])
    assert now["speed_m_s"] == pytest.approx(way @ ahead, abs=1e-5) and now["speed_m_s"] > 0.05
    assert now["way_m_s"] == pytest.approx(math.hypot(way[0], way[1]), abs=1e-5)
    assert now["climb_m_s"] == pytest.approx(way[2], abs=1e-5)
    assert now["tail_3_rad"] == x[model.q["tail_3"]][0] and math.isinf(now["clearance_m"])


def test_tree_stops_at_a_wall_and_never_overlaps_it():
    start = [{"x_m": 1.5, "y_m": 0.75, "heading_deg": 20.0}]
    world = World(world_of(length_m=2.0, width_m=1.5, start=start))
    body = world.add(spec_of("fish", "plant.model=tree"), actuators=TAIL, sensors=["bumper"], name="one")
    fastest_m_s, pressed, felt = 0.0, [], 0
    for _ in range(800):
        body.write(pulses(gait(world.time_us * 1e-6, 2.0)))
        world.step(10_000)
        corners = body.hull_m.reshape(-1, 2)
        assert (corners >= 0).all() and (corners <= [2.0, 1.5]).all()
        felt += read_all(body)["bumper"] or 0
        w, x, y, z = body.state()[3:7]
        east = np.array([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)])
        into_m_s = float(east @ body.state()[7:10])
        if 2.0 - corners[:, 0].max() < 1e-6:  # moved back in the last step
            pressed.append(into_m_s)
        elif body.collisions == 0:
            fastest_m_s = max(fastest_m_s, into_m_s)
    assert fastest_m_s > 0.1 and body.collisions > 0 and len(pressed) > 10 and felt > 0
    # Gone, except for what its tail gives it again within a step.
    assert max(pressed) < 0.05 * fastest_m_s
    assert world.collisions == body.collisions


def test_trees_never_overlap_and_a_touch_counts_once():
    start = [{"x_m": 0.6, "y_m": 0.75}, {"x_m": 1.4, "y_m": 0.76, "heading_deg": 180.0}]
    world = World(world_of(length_m=2.0, width_m=1.5, start=start, vehicles=2))
    spec = spec_of("fish", "plant.model=tree")
    bodies = [world.add(spec, actuators=TAIL, sensors=[], name=f"v{k}") for k in range(2)]
    while world.collisions == 0 and world.time_us < 10_000_000:
        for body in bodies:
            body.write(pulses(gait(world.time_us * 1e-6, 2.0)))
        world.step(10_000)
        assert bodies[0].clearance_m >= 0.0
    assert world.collisions == bodies[0].collisions == bodies[1].collisions == 1


DIVERGING = "plant.tree.body.0.drag.linear=[1e4, 1e4, 1e4, 0, 0, 0]"


def test_diverged_plant_stops_the_run_with_a_message_and_a_complete_log(caudal):
    done = caudal("run", "snake", "--for", 3, "--set", DIVERGING, "--log", "a.mcap")
    assert done.returncode == 2 and done.stdout == ""
    said = [line for line in done.stderr.splitlines() if line.startswith("caudal: ")]
    assert len(said) == 1 and "Traceback" not in done.stderr
    assert "snake_1: diverged 0." in said[0] and " s into the run, at body head; take a step" in said[0]
    assert "softer springs, dampers and drag" in said[0] and said[0].endswith(
        "The log up to there is a.mcap."
    )
    log = Log(caudal.folder / "a.mcap")
    assert log.complete and len(log.topics["/snake_1/truth"]) > 0
    for field in log.topics["/snake_1/truth"].fields:
        assert not np.isnan(np.array(log.topics["/snake_1/truth"].column(field), dtype=float)).any(), field


def test_plant_does_not_diverge_with_a_finer_step(caudal):
    fine = ["--set", "plant.step_us=100"]
    done = caudal("run", "snake", "--for", 1, "--set", DIVERGING, *fine, "--log", "a.mcap")
    assert done.returncode == 0, done.stderr
