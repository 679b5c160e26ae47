"""The vehicles' scenarios, closed-loop on the plant, through device units and with sensor noise on."""

import pytest

from caudal.tools.config.vehicle import open_vehicle
from caudal.tools.simulate.simulation import Simulation
from tests.conftest import EEL

SEEDS = range(20)
BLIND = ["guidance.weights.near=0", "guidance.weights.touch=0"]  # sees, and does not care


def test_speed_and_turn_rate_are_within_1_percent_of_published_curves(caudal):
    result = caudal.json("run", "fish", "--scenario", "figures")
    assert len(result["speeds"]) == len(result["turn_rates"]) == 4
    assert result["speed_error_max"] <= 0.01, result["speeds"]
    assert result["turn_rate_error_max"] <= 0.01, result["turn_rates"]


def test_look_up_table_follows_the_published_curves_too(caudal):
    result = caudal.json("run", "fish", "--scenario", "figures", "--set", "gait.source=table")
    assert result["speed_error_max"] <= 0.01, result["speeds"]
    assert result["turn_rate_error_max"] <= 0.01, result["turn_rates"]


@pytest.mark.parametrize("seed", SEEDS)
def test_three_vehicles_among_two_cylinders_touch_nothing(seed):
    simulation = swim("fish", "pool", seed, seconds=60)
    assert len(simulation.instances) == 3 and len(simulation.world.spec.cylinders) == 2
    assert simulation.world.collisions == 0
    for instance in simulation.instances:
        assert instance.speed_sum_m_s / instance.samples >= 0.15


def swim(vehicle, scenario, seed, seconds, overrides=()):
    """A run without a recording, the mean speed summed up on the way."""
    simulation = Simulation(open_vehicle(str(vehicle), list(overrides)), scenario, seed)
    for instance in simulation.instances:
        instance.speed_sum_m_s, instance.samples = 0.0, 0
    simulation.arm()
    for tick in range(round(seconds * 1e6 / simulation.period_us)):
        simulation.step()
        if tick % 10 == 0:
            for instance in simulation.instances:
                instance.speed_sum_m_s += instance.body.truth()[instance.body.truth_fields.index("speed_m_s")]
                instance.samples += 1
    assert simulation.fault is None
    return simulation


@pytest.mark.parametrize("seed", range(3))
def test_track_and_pursue_scenarios_meet_their_errors(caudal, seed):
    tracked = caudal.json("run", "fish", "--scenario", "track", "--seed", seed)
    assert tracked["track_error_rms_m"] <= 0.02 and tracked["collisions"] == 0
    pursued = caudal.json("run", "fish", "--scenario", "pursue", "--seed", seed)
    assert pursued["pursuit_error_rms_m"] <= 0.03 and pursued["collisions"] == 0


def test_same_vehicle_collides_without_guidance():
    """The pool test can fail: a controller that looks at nothing hits a wall."""
    simulation = swim("fish", "pool", 0, 60, overrides=BLIND)
    assert simulation.world.collisions > 0


def test_vehicle_does_not_move_before_arming():
    simulation = Simulation(open_vehicle("fish"), "pool", 0)
    before = [instance.body.truth() for instance in simulation.instances]
    for _ in range(300):
        simulation.step()
    for instance, was in zip(simulation.instances, before, strict=True):
        assert instance.loop.board.outputs == [0, 0, 0, 0, 0]
        assert instance.body.truth() == was


def test_bumper_makes_the_vehicle_back_off():
    """Head-on at a wall and blind: it touches, reverses its wave, and comes away from the wall."""
    start = "world.lone.start=[{ x_m = 3.6, y_m = 1.5, heading_deg = 0.0 }]"
    simulation = Simulation(open_vehicle("fish", [start, *BLIND, "scenario.pool.world=lone"]), "pool", 0)
    simulation.arm()
    instance = simulation.instances[0]
    touched, slowest_m_s = False, 1.0
    for _ in range(1200):
        simulation.step()
        touched = touched or instance.body.collisions > 0
        if touched:
            slowest_m_s = min(slowest_m_s, instance.body.truth()[4])
    assert touched and slowest_m_s < -0.02


@pytest.mark.parametrize("scenario", ["pool", "cruise"])
def test_another_vehicle_file_runs_records_and_replays(caudal, scenario):
    assert caudal("check", EEL).returncode == 0
    result = caudal.json("run", EEL, "--scenario", scenario, "--log", "eel.mcap")
    assert result["simulated_s"] == 30 and result["collisions"] == 0 and result["mean_speed_m_s"] > 0.15
    done = caudal("replay", "eel.mcap")
    assert done.returncode == 0 and "identical: 6000 ticks, 18000 commands" in done.stdout


def test_thruster_of_another_vehicle_file_moves_it(caudal):
    pushed = caudal.json("run", EEL, "--scenario", "cruise")
    alone = caudal.json("run", EEL, "--scenario", "cruise", "--set", "scenario.cruise.rows.2.hold={jet=0.0}")
    assert pushed["vehicles"][0]["top_speed_m_s"] > 1.2 * alone["vehicles"][0]["top_speed_m_s"]
