"""Trials of the plant alone: the snake's results by the command line, messages, and energy that only falls."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.sim_plant.tables.tree import TreeSpec
from caudal.sim_plant.tables.trial import Start, Trial
from caudal.sim_plant.tree import trial
from caudal.sim_plant.tree.model import Model, read
from caudal.tools.cli.main import main

VEHICLES = ["fish", "snake", "ray"]
RISE = 1e-6  # of a run's largest excess of energy: rounding and the integrator's own error


def test_energy_trial_conserves_energy_in_a_frozen_shape(caudal):
    result = caudal.json("run", "snake", "--scenario", "energy")
    assert result["simulated_s"] == 10 and result["energy_error"] <= 1e-8
    assert result["max_roll_deg"] > 4.5  # it did roll


def test_momentum_trial_keeps_the_centre_of_mass_without_water_and_weight(caudal):
    result = caudal.json("run", "snake", "--scenario", "momentum")
    assert result["simulated_s"] == 20 and result["com_drift_m"] <= 1e-10


@pytest.mark.parametrize("amplitude_rad, hz", [(0.0, 1.015), (0.25, 1.398)])
def test_roll_trial_rolls_at_the_known_frequency(caudal, amplitude_rad, hz):
    bend = f"trial.roll.motion.amplitude_rad={amplitude_rad}"
    result = caudal.json("run", "snake", "--scenario", "roll", "--set", bend)
    assert result["roll_hz"] == pytest.approx(hz, abs=0.005)


@pytest.mark.parametrize("hz, deviation_deg", [(1.0, 7.3), (2.0, 7.9), (3.0, 3.5)])
def test_undulate_trial_rolls_by_the_known_amount(caudal, hz, deviation_deg):
    beat = f"trial.undulate.motion.frequency_hz={hz}"
    result = caudal.json("run", "snake", "--scenario", "undulate", "--set", beat)
    assert result["roll_std_deg"] == pytest.approx(deviation_deg, abs=0.3)
    assert result["max_roll_deg"] < 90


def test_travel_trial_capsizes_at_the_files_frequency_and_travels(caudal):
    assert caudal.json("run", "snake", "--scenario", "undulate")["max_roll_deg"] > 90
    ahead = caudal.json("run", "snake", "--scenario", "travel")
    back = caudal.json(
        "run", "snake", "--scenario", "travel", "--set", "trial.travel.motion.frequency_hz=-1.0"
    )
    assert ahead["speed_m_s"] > 0.1 and back["speed_m_s"] < -0.1 and ahead["distance_m"] > 1.5


def test_trial_log_opens_and_holds_its_states(caudal):
    from caudal.onboard.log.reader import Log

    caudal.json("run", "snake", "--scenario", "energy", "--for", 1, "--log", "a.mcap")
    log = Log(caudal.folder / "a.mcap")
    states = log.topics["/snake/trial"]
    assert log.complete and log.run["on"] == "trial" and len(states) == 101
    parts = np.array([states.column(part) for part in ("q_w", "q_x", "q_y", "q_z")])
    assert np.linalg.norm(parts, axis=0) == pytest.approx(np.ones(101), abs=1e-9)
    assert states.column("q3")[0] == pytest.approx(
        0.25 * np.exp(0.039) * np.cos(2 * np.pi * 1.5 * 0.39 / 1.24)
    )


WRONG = [
    ("motion.joints.0=q9", "energy.motion.joints", "q9 is not a driven joint; choose from q0"),
    (
        "motion.joint_positions_m=[0.1]",
        "energy.motion.joint_positions_m",
        "1 places for 6 joints; give one each",
    ),
    ("start.joints={ q9 = 1.0 }", "energy.start.joints", "there is no joint q9; choose from q0"),
    ("water=none", "energy.start.afloat", "nothing floats without gravity and water; do not turn them off"),
    (
        "gravity=false",
        "energy.start.afloat",
        "nothing floats without gravity and water; do not turn them off",
    ),
    ("motion.kind=wobble", "energy.motion", "wobble"),
    ("step_s=0", "energy.step_s", ""),
    ("tempo=1", "energy", "tempo"),
]


@pytest.mark.parametrize("change, key, words", WRONG)
def test_inconsistent_trial_is_refused_with_one_sentence(capsys, change, key, words):
    assert main(["run", "snake", "--scenario", "energy", "--set", f"trial.energy.{change}"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.endswith(".\n")
    assert f"trial.{key}" in said.err and words in said.err, said.err


def test_trial_is_refused_when_named_like_a_scenario(capsys):
    twin = "trial.shells={ description = 'x', duration_s = 1.0 }"
    assert main(["check", "snake", "--set", twin]) == 2
    assert "a scenario has this name too; rename one of them" in capsys.readouterr().err


def test_trial_refuses_hil_and_real_time(capsys):
    for option in (["--realtime"], ["--on", "hil:/dev/null"]):
        assert main(["run", "snake", "--scenario", "energy", *option]) == 2
        assert "energy is a trial of the plant alone" in capsys.readouterr().err


def yielding(vehicle: str) -> TreeSpec:
    """A vehicle that comes with the project, every joint of it free to move."""
    tree = read(VehicleFile.open(vehicles.find(vehicle)))
    freed = [replace(b, joint=replace(b.joint, mode="free")) if b.joint else b for b in tree.body]
    return replace(tree, body=freed)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_energy_never_grows_in_still_water_from_a_bent_and_tilted_start(vehicle, seed):
    tree, rng = yielding(vehicle), np.random.default_rng(seed)
    names = [body.joint.name for body in tree.body if body.joint]
    bent = dict(zip(names, rng.uniform(-0.4, 0.4, len(names)).tolist(), strict=True))
    roll_deg, pitch_deg = rng.uniform(-20, 20, 2).tolist()
    start = Start(depth_m=1.0, roll_deg=roll_deg, pitch_deg=pitch_deg, joints=bent)
    figures = trial.run(
        tree, Trial(description="let go", duration_s=3.0, step_s=0.0005, start=start), vehicle
    )
    assert figures["energy_gain"] < RISE
    assert figures["energy_error"] > 1000 * RISE  # the water took some


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_energy_never_grows_in_still_water_after_a_kick(vehicle, seed):
    model, rng = Model(yielding(vehicle)), np.random.default_rng(seed)
    x = model.state()
    x[2] = -1.0
    x[7:10], x[10:13] = rng.uniform(-0.5, 0.5, 3), rng.uniform(-1, 1, 3)
    for name in model.joints:
        x[model.qd[name]] = rng.uniform(-2, 2)
    states = model.rollout(x, 4000, 0.0005, every=20)
    energies = np.array([model.energy(state) for state in states])
    excess = np.ptp(energies)
    assert (np.diff(energies) < RISE * excess).all(), np.diff(energies).max() / excess
    assert energies[0] - energies[-1] > 0.5 * excess
