"""The electric ray swims, turns and dives: closed loop through device units, sensor noise on."""

import numpy as np
import pytest
from swum import swum

SEEDS = range(3)
SOFT = "plant.actuator.tail_yaw.stiffness_n_m_rad=8.0"
UNJUDGED = "actuator.tail_yaw.tolerance_rad=3.0"  # otherwise the monitor finds a tail with such an error
NO_LAG = "gait.waves=0.0"
# [scenario.speeds]: the last beats of each row.
FREQUENCIES_HZ = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
SETTLED_S = ((52, 60), (82, 90), (102, 110), (122, 130), (142, 150), (162, 170))


def swim(scenario: str, seed: int, *overrides: str) -> dict[str, np.ndarray]:
    return swum("ray", scenario, seed, *overrides)


def mean(column: np.ndarray, from_s: float, to_s: float) -> float:
    return float(column[round(100 * from_s) : round(100 * to_s)].mean())


def turned_deg(run: dict[str, np.ndarray], from_s: float, to_s: float) -> float:
    heading = np.degrees(np.unwrap(run["heading_rad"]))
    return float(heading[round(100 * to_s) - 1] - heading[round(100 * from_s)])


def swing_rad(run: dict[str, np.ndarray], from_s: float, to_s: float) -> float:
    return float(np.ptp(run["tail_yaw_rad"][100 * round(from_s) : 100 * round(to_s)]) / 2)


def test_speed_grows_with_frequency_with_a_stiff_servo():
    run = swim("speeds", 0)
    speeds = np.array([mean(run["speed_m_s"], *span) for span in SETTLED_S])
    assert (np.diff(speeds) > 0.02).all(), speeds
    assert speeds[0] >= 0.05 and speeds[-1] <= 0.6, speeds
    swings = [swing_rad(run, *span) for span in SETTLED_S]
    assert min(swings) > 0.45  # the tail reaches its commands


def test_soft_servo_is_fastest_at_1_to_1_5_hz_then_goes_backward():
    run = swim("speeds", 0, SOFT, UNJUDGED)
    speeds = np.array([mean(run["speed_m_s"], *span) for span in SETTLED_S])
    assert FREQUENCIES_HZ[int(speeds.argmax())] in (1.0, 1.5), speeds
    assert speeds[-1] < -0.03, speeds
    swings = np.array([swing_rad(run, *span) for span in SETTLED_S])
    assert (np.diff(swings[1:]) < 0).all() and swings[-1] < 0.8 * swings[1]  # the tail falls short


@pytest.mark.parametrize("seed", SEEDS)
def test_direction_of_the_wave_sets_the_direction_of_motion(seed):
    assert mean(swim("cruise", seed)["speed_m_s"], 30, 40) > 0.2
    assert mean(swim("back", seed)["speed_m_s"], 30, 40) < -0.05
    assert abs(mean(swim("cruise", seed, NO_LAG)["speed_m_s"], 30, 40)) < 0.02


@pytest.mark.parametrize("seed", SEEDS)
def test_vehicle_cruises_straight_level_and_at_its_depth(seed):
    run = swim("cruise", seed)
    assert abs(turned_deg(run, 30, 40)) < 2
    assert np.degrees(np.abs(run["roll_rad"][1000:])).max() < 3
    assert np.degrees(np.abs(run["pitch_rad"][2000:])).max() < 5
    assert np.abs(run["depth_m"] - 1.0).max() < 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_tail_offset_makes_a_full_turn_within_30_s_and_1_5_m(seed):
    run = swim("turn", seed)
    assert turned_deg(run, 15, 45) > 360
    rate_rad_s = np.radians(turned_deg(run, 35, 55)) / 20
    assert mean(run["way_m_s"], 35, 55) / rate_rad_s < 1.5
    assert np.abs(run["depth_m"] - 1.0).max() < 0.15


def test_tail_offset_to_the_other_side_turns_the_other_way():
    run = swim("turn", 0, "scenario.turn.rows.1.deflection_deg=-45.0")
    assert turned_deg(run, 15, 45) < -360


@pytest.mark.parametrize("seed", SEEDS)
def test_pelvic_fin_turns_the_vehicle_to_its_own_side(seed):
    run = swim("turn_fins", seed)
    port, starboard = turned_deg(run, 35, 45), turned_deg(run, 65, 75)
    assert port > 30 and starboard == pytest.approx(-port, rel=0.1)
    assert np.degrees(np.abs(run["roll_rad"])).max() < 30  # it banks, and does not roll over


@pytest.mark.parametrize("seed", SEEDS)
def test_tail_pitch_dives_half_a_metre_and_returns(seed):
    run = swim("dive", seed)
    depth_m = run["depth_m"]
    assert np.abs(depth_m[4500:5500] - 1.5).max() < 0.04 and np.abs(depth_m[8000:] - 1.0).max() < 0.02
    assert depth_m.max() < 1.6 and depth_m.min() > 0.9
    pitch_deg = np.degrees(run["pitch_rad"])
    assert (
        pitch_deg[2000:3500].max() > 8 and pitch_deg[5500:7000].min() < -8
    )  # down by the nose, up by the nose


def test_tail_pitch_of_the_wrong_direction_does_not_dive():
    """The dive test can fail: the controller's sign matters."""
    wrong = swim("dive", 0, "control.dive.direction=1")
    assert wrong["depth_m"][2000:5500].max() < 1.3


def test_run_replays_to_the_bit(caudal):
    assert caudal("run", "ray", "--for", 5, "--log", "a.mcap").returncode == 0
    done = caudal("replay", "a.mcap")
    assert done.returncode == 0 and "identical" in done.stdout
