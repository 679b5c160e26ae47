"""The vehicle with thrusters in its tank: closed loop through pulses and counts, sensor noise on, several seeds."""

from functools import cache

import numpy as np
import pytest

from caudal.tools.config.vehicle import open_vehicle
from caudal.tools.simulate.simulation import Simulation

SEEDS = range(3)
CURRENT = "plant.tree.current_m_s=[0.05,0.02,0]"
STRONG = "plant.tree.current_m_s=[0.2,0.1,0]"
BLIND = tuple(f"plant.sensor.{axis}.{key}" for axis in "xy" for key in ("drop_from_s=20.0", "drop_for_s=5.0"))
ROUGH = (
    "plant.tree.body.0.drag.quadratic=[15,25,30,0.5,0.6,0.5]",
    "plant.tether.drag_n_s_per_m=2",
    "plant.tether.twist_n_m_per_rad=0.1",
)
NAMES = ("x", "y", "depth", "heading")


@cache
def swim(scenario: str, seed: int, seconds: float, *overrides: str) -> dict[str, np.ndarray]:
    """Truth, setpoints and estimates by name, every tick."""
    vehicle = open_vehicle("rov", list(overrides))
    simulation = Simulation(vehicle, scenario, seed)
    body, state = simulation.instances[0].body, simulation.instances[0].loop.state
    rows, nan = [], float("nan")
    simulation.arm()
    for _ in range(round(seconds * 1e6 / simulation.period_us)):
        truth = body.truth()  # of the instant that this tick's readings are of
        simulation.step()
        setpoint, estimate = state.setpoint, state.estimate
        set_pose = [setpoint.x_m, setpoint.y_m, setpoint.depth_m, setpoint.heading_rad]
        pose = [estimate.x_m, estimate.y_m, estimate.depth_m, estimate.heading_rad]
        nis = [getattr(estimate, f"{name}_nis") for name in NAMES]
        marked = [k + 1 for k, off in enumerate(state.not_following) if off]  # at most one thruster
        rows.append([*truth, *(nan if v is None else v for v in (*set_pose, *pose, *nis)), sum(marked)])
    assert simulation.fault is None
    fields = [
        *body.truth_fields,
        *(f"{part}_{name}" for part in ("setpoint", "is", "nis") for name in NAMES),
        "found",
    ]
    run = dict(zip(fields, np.array(rows).T, strict=True))
    assert simulation.world.collisions == 0
    return run


def off_m(run, part, from_s=5.0):
    gaps = [run[f"{part}_{name}"] - run[f"{name}_m"] for name in NAMES[:3]]
    return np.sqrt(sum(gap**2 for gap in gaps))[round(50 * from_s) :]


def off_deg(run, part, from_s=5.0):
    gap = run[f"{part}_heading"] - run["heading_rad"]
    return np.degrees(np.abs(np.angle(np.exp(1j * gap))))[round(50 * from_s) :]


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


@pytest.mark.parametrize("seed", SEEDS)
def test_thruster_vehicle_keeps_station_in_a_current(seed):
    run = swim("station", seed, 40.0, CURRENT)
    assert off_m(run, "setpoint", 10.0).max() < 0.03 and off_deg(run, "setpoint").max() < 1.0
    assert (
        np.degrees(np.abs(run["roll_rad"])).max() < 1.0 and np.degrees(np.abs(run["pitch_rad"])).max() < 1.0
    )


@pytest.mark.parametrize("overrides", [(), ROUGH], ids=["as in the file", "quadratic drag and tether"])
def test_thruster_vehicle_follows_the_excitation(overrides):
    run = swim("excite", 0, 286.0, *overrides)
    assert rms(off_m(run, "setpoint")) < 0.03 and rms(off_deg(run, "setpoint")) < 2.0
    reached = np.ptp(run["x_m"]), np.ptp(run["y_m"]), np.ptp(run["depth_m"])
    assert reached[0] > 3.0 and reached[1] > 1.5 and reached[2] > 0.5  # it did move


@pytest.mark.parametrize("seed", SEEDS)
def test_pose_estimator_has_consistent_innovations(seed):
    run = swim("excite", seed, 120.0)
    for name in NAMES:
        nis = run[f"nis_{name}"]
        assert 0.90 < np.mean(nis[np.isfinite(nis)] < 3.841) < 0.99, name
    assert rms(off_m(run, "is")) < 0.004


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scenario", ["station", "excite"])
def test_position_error_is_below_15_cm_after_5_s_without_camera(scenario, seed):
    run = swim(scenario, seed, 40.0, CURRENT, *BLIND)
    blind = run["nis_x"][round(50 * 20.2) : round(50 * 24.8)]
    assert np.isnan(blind).all()
    assert off_m(run, "is").max() < 0.15 and off_m(run, "setpoint", 10.0).max() < 0.15


LEVEL = ("fore_port", "fore_starboard", "aft_port", "aft_starboard")
LIFTS = ("lift_port", "lift_starboard", "lift_fore")


@pytest.mark.parametrize("current", [CURRENT, STRONG], ids=["weak", "strong"])
@pytest.mark.parametrize("thruster", LEVEL + LIFTS)
def test_dead_thruster_is_found_by_its_rpm_and_position_is_held(thruster, current):
    run = swim("station", 0, 60.0, current, f"plant.actuator.{thruster}.dead_from_s=15.0")
    assert np.abs(run[f"{thruster}_n"][50 * 20 :]).max() < 1e-9
    detect_s = np.argmax(run["found"] > 0) / 50 - 15.0
    print(f"{thruster}: found after {detect_s:.2f} s, {1e3 * off_m(run, 'setpoint', 10.0).max():.0f} mm")
    assert 0.3 < detect_s < 10.0  # it is not known before it has a set-point
    assert run["found"][-1] == 1 + (LEVEL + LIFTS).index(thruster)
    assert off_m(run, "setpoint", 10.0).max() < 0.03 and off_deg(run, "setpoint", 10.0).max() < 4.0
    tilt_deg = np.degrees(np.abs([run["roll_rad"], run["pitch_rad"]])).max()
    assert tilt_deg < (2.0 if thruster in LEVEL else 6.0)  # two lifts hold no attitude, but the depth


def test_thruster_is_used_again_when_it_turns_again():
    vehicle = open_vehicle("rov", [STRONG])
    simulation = Simulation(vehicle, "station", 0)
    loop, body = simulation.instances[0].loop, simulation.instances[0].body
    simulation.arm()
    write = body.write
    for tick in range(50 * 40):
        dead = 50 * 10 <= tick < 50 * 20
        body.write = lambda outputs, dead=dead: write(
            [1500 if dead and i == 2 else o for i, o in enumerate(outputs)]
        )
        simulation.step()
        if tick == 50 * 20 - 1:
            assert loop.state.not_following == [i == 2 for i in range(7)]
    assert not any(loop.state.not_following) and abs(loop.state.commands[2]) > 0


def test_stick_commands_a_speed_and_holds_when_released():
    run = swim("sticks", 0, 40.0)
    at = lambda s: round(50 * s)  # noqa: E731
    assert run["surge_m_s"][at(8.5)] == pytest.approx(0.3, abs=0.03)
    held = slice(at(11.0), at(14.0))
    assert np.ptp(run["x_m"][held]) < 0.03 and np.ptp(run["y_m"][held]) < 0.02
    assert run["yaw_rate_rad_s"][at(21.0)] == pytest.approx(0.5, abs=0.06)
    assert np.ptp(run["depth_m"][: at(21.5)]) < 0.03 < run["depth_m"][at(24.5)] - run["depth_m"][at(21.5)]


def test_simulated_pilot_flies_through_the_tank_without_contact():
    run = swim("joystick", 1, 120.0)
    assert np.ptp(run["x_m"]) > 2.0 and np.ptp(run["y_m"]) > 1.0 and np.ptp(run["depth_m"]) > 0.4
    assert rms(off_m(run, "setpoint")) < 0.05


def test_unknown_position_rests_thrusters_then_surfaces_the_vehicle():
    blind = tuple(f"plant.sensor.x.{key}" for key in ("drop_from_s=0.0", "drop_for_s=8.0"))
    run = swim("station", 0, 6.0, *blind)
    forces = np.array([run[name] for name in run if name.endswith("_n")])
    lifts = np.array([run[name] for name in run if name.startswith("lift_") and name.endswith("_n")])
    assert len(forces) == 7 and not forces[:, :50].any()  # mode_unable has a delay of 1 s
    assert (
        len(lifts) == 3
        and lifts[:, 100:].min() > 7.0
        and np.abs(forces[:, 100:]).sum() == lifts[:, 100:].sum()
    )
