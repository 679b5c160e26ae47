"""The surface snake swims upright, ahead, back and in turns: closed loop through device units, sensor noise on."""

import numpy as np
import pytest
from swum import swum

FULL: tuple[str, ...] = ()  # as the file has it: all the water's forces
BUOYANT = ("plant.tree.water=buoyant",)
NO_SHELLS = "control.shells=off"
PUBLISHED = ("control.shell.rate_s=0.1", "control.shell.damp_per_s=0")
GAZE = "control.gaze=on"
WRONG_SIGN = "control.shell.damp_per_s=-25"
NO_LAG = ("gait.waves=0", "gait.amplitude_rad=0.1")
HEAVY_LEFT = tuple(f"plant.tree.body.{k}.com_m.1=0.0003" for k in range(3, 9))  # the modules, by 0.3 mm
SHORT = "scenario.shells.duration_s=20.0"
BAND_HZ = (1.20, 1.36, 1.60)


def at(hz: float) -> str:
    return f"gait.frequency_hz={hz}"


def swim(scenario: str, seed: int, *overrides: str) -> dict[str, np.ndarray]:
    return swum("snake", scenario, seed, *overrides)


def max_roll_deg(run: dict[str, np.ndarray], from_s: float = 0.0) -> float:
    return float(np.degrees(np.abs(np.unwrap(run["roll_rad"])))[round(100 * from_s) :].max())


def off_course_deg(run: dict[str, np.ndarray]) -> float:
    """Largest angle between the nose and level, due east: where it looked when it was armed."""
    return float(np.degrees(np.arccos(np.cos(run["heading_rad"]) * np.cos(run["pitch_rad"]))).max())


def mean(column: np.ndarray, from_s: float, to_s: float) -> float:
    return float(column[round(100 * from_s) : round(100 * to_s)].mean())


def turned_deg(run: dict[str, np.ndarray], from_s: float, to_s: float) -> float:
    heading = np.degrees(np.unwrap(run["heading_rad"]))
    return float(heading[round(100 * to_s) - 1] - heading[round(100 * from_s)])


@pytest.mark.parametrize("water", [BUOYANT, FULL], ids=["buoyant", "full"])
@pytest.mark.parametrize("hz", BAND_HZ)
def test_shells_hold_roll_with_and_without_hydrodynamics(hz, water):
    assert max_roll_deg(swim("shells", 0, at(hz), *water)) < 15


@pytest.mark.parametrize("seed", [1, 2])
def test_shells_hold_roll_at_any_noise(seed):
    assert max_roll_deg(swim("shells", seed, at(1.36), *BUOYANT)) < 15


def test_vehicle_capsizes_without_shells_and_hydrodynamics():
    assert max_roll_deg(swim("shells", 0, at(1.36), *BUOYANT, NO_SHELLS)) > 90


@pytest.mark.parametrize("water", [BUOYANT, FULL], ids=["buoyant", "full"])
def test_published_control_law_rolls_more_behind_these_servos(water):
    published, ours = (swim("shells", 0, at(1.36), *water, *law) for law in (PUBLISHED, ()))
    assert max_roll_deg(published) > 2 * max_roll_deg(ours)
    assert published["roll_rad"].std() > 2 * ours["roll_rad"].std()


@pytest.mark.parametrize("water", [BUOYANT, FULL], ids=["buoyant", "full"])
def test_shells_of_the_wrong_sign_capsize_the_vehicle(water):
    assert max_roll_deg(swim("shells", 0, at(1.36), *water, WRONG_SIGN, SHORT)) > 180


@pytest.mark.parametrize("hz", [1.0, 1.36, 2.0])
def test_gaze_holds_the_heading_of_the_head_within_5_degrees(hz):
    held, free = swim("shells", 0, at(hz), GAZE, SHORT), swim("shells", 0, at(hz))
    assert off_course_deg(held) < 5
    assert held["heading_rad"][1000:].std() < 0.65 * free["heading_rad"][1000:].std()


@pytest.mark.parametrize("hz", [1.36, 2.0])
def test_head_rolls_within_5_degrees_at_middle_frequencies_and_above(hz):
    """The neck has no joint for roll: the head rolls as the shells let the body, at 1 Hz by 7 degrees."""
    assert max_roll_deg(swim("shells", 0, at(hz), GAZE, SHORT), from_s=10) < 5


def test_trim_holds_roll_with_modules_heavier_on_one_side():
    trimmed = swim("shells", 0, *HEAVY_LEFT)
    left = swim("shells", 0, *HEAVY_LEFT, "control.shell.trim_per_s=0")
    assert np.degrees(mean(left["roll_rad"], 20, 40)) < -0.8  # to the left
    assert abs(np.degrees(mean(trimmed["roll_rad"], 20, 40))) < 0.25


def test_direction_of_the_wave_sets_the_direction_of_motion():
    ahead, back = swim("shells", 0, at(1.0)), swim("back", 0)
    assert 0.12 < mean(ahead["speed_m_s"], 30, 40) < 0.25
    assert -0.25 < mean(back["speed_m_s"], 30, 40) < -0.12
    assert ahead["x_m"][-1] > 3 and back["x_m"][-1] < -3  # it lies along x


def test_scenario_back_runs_the_wave_from_tail_to_head():
    other = mean(swim("shells", 0, "gait.waves=-1.5")["speed_m_s"], 30, 40)
    assert other == pytest.approx(mean(swim("back", 0)["speed_m_s"], 30, 40), rel=0.02)


def test_vehicle_hardly_moves_without_phase_lag():
    """Beaten in step, the body drifts at a few millimetres a second (and rolls over)."""
    in_step, wave = swim("shells", 0, *NO_LAG), swim("shells", 0, NO_LAG[1])
    assert abs(mean(in_step["speed_m_s"], 20, 40)) < 0.015
    assert mean(wave["speed_m_s"], 30, 40) > 0.025  # as small a wave


def test_speed_grows_with_frequency():
    speeds = [mean(swim("shells", 0, at(hz), *FULL)["speed_m_s"], 30, 40) for hz in BAND_HZ]
    assert (np.diff(speeds) > 0.015).all(), speeds


def test_deflection_turns_to_port_when_positive_and_back_when_negative():
    run = swim("turn", 0)
    assert abs(turned_deg(run, 0, 15)) < 5
    assert turned_deg(run, 15, 35) > 40 and turned_deg(run, 35, 55) < -40
    assert max_roll_deg(run) < 30


def test_look_up_table_and_oscillators_give_the_same_motion():
    chain, table = swim("shells", 0, at(1.0)), swim("shells", 0, "gait.source=table")
    assert mean(table["speed_m_s"], 30, 40) == pytest.approx(mean(chain["speed_m_s"], 30, 40), rel=0.02)
    assert max_roll_deg(table) < 15 and max_roll_deg(chain) < 15


def test_run_replays_to_the_bit_until_a_gain_changes(caudal):
    assert caudal("run", "snake", "--for", 5, "--set", "control.gaze=on", "--log", "a.mcap").returncode == 0
    done = caudal("replay", "a.mcap")
    assert done.returncode == 0 and "identical" in done.stdout
    result = caudal.json("replay", "a.mcap", "--set", "control.shell.damp_per_s=24.0", code=1)
    assert result["identical"] is False
