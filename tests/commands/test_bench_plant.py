"""`caudal bench plant`: figures of the tree engine and of other engines; speed itself is not tested."""

import json
import sys

import pytest

from caudal.tools.bench import plant
from caudal.tools.cli.main import main

SNAKE = "snake"


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    monkeypatch.setattr(plant, "RUNS", 2)
    monkeypatch.setattr(plant, "STEPS", 50)


def test_bench_plant_gives_every_figure_and_its_ratio_to_both_engines(capsys):
    assert main(["bench", "plant", SNAKE, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["snake"]
    for kind in ("", "_dry", "_buoyant", "_full"):
        assert result[f"cpu_s_per_s{kind}"] > 0
    for ours, theirs, ratio in (
        ("cpu_s_per_s_full", "mujoco_rk4_cpu_s_per_s", "ratio_to_mujoco_rk4"),
        ("forward_dynamics_us", "pinocchio_aba_us", "ratio_to_pinocchio_aba"),
    ):
        assert result[ratio] == pytest.approx(result[ours] / result[theirs]) and result[ratio] > 0


def test_bench_plant_prints_what_each_engine_leaves_out(capsys):
    assert main(["bench", "plant", SNAKE]) == 0
    said = capsys.readouterr().out
    assert "ratio_to_mujoco_rk4" in said and "no buoyancy" in said and "no water" in said


def test_bench_plant_times_ours_when_the_others_are_not_installed(capsys, monkeypatch):
    for name in ("mujoco", "pinocchio"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(plant, "_installed", lambda package: False)
    assert main(["bench", "plant", SNAKE]) == 0
    said = capsys.readouterr().out
    assert "mujoco is not installed; pip install 'caudal[test]'" in said and "cpu_s_per_s_full" in said


def test_bench_plant_rejects_a_vehicle_without_a_tree(capsys, tmp_path):
    path = tmp_path / "none.toml"
    path.write_text('name = "none"\n')
    assert main(["bench", "plant", str(path)]) == 2
    said = capsys.readouterr().err
    assert "plant.tree" in said and said.count("\n") == 1


def test_bench_measures_the_loop_by_default(caudal):
    result = caudal.json("bench", "fish", "--for", 1)
    assert (
        result.keys() == caudal.json("bench", "loop", "fish", "--for", 1).keys()
        and result["vehicle"] == "fish"
    )
    assert caudal("bench", "fish", "fish").returncode == 2
