"""`caudal identify`: from a log to a model with standard errors, its file, and error messages."""

import json
import tomllib

import pytest

from caudal.tools.cli.main import main
from tests.conftest import ROOT

ROV = ROOT / "onboard" / "vehicles" / "rov.toml"


def run(folder, name, vehicle, *words):
    log = folder / f"{name}.mcap"
    assert main(["run", str(vehicle), "--log", str(log), "--json", *map(str, words)]) == 0
    return log


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("identify")


@pytest.fixture(scope="module")
def exact(folder):
    """The vehicle with the plant's own thrust curves as its map, so that only noise remains."""
    text = ROV.read_text()
    curves = tomllib.loads(text)["plant"]["motor"]["t200"]["curve"]
    keys = ("battery_v", "pulses_us", "forces_n")
    tables = ["[[motor.t200.table]]\n" + "".join(f"{k} = {curve[k]}\n" for k in keys) for curve in curves]
    begin, end = text.index("[[motor.t200.table]]"), text.index("[excite]")
    path = folder / "exact.toml"
    path.write_text(text[:begin] + "\n".join(tables) + "\n" + text[end:])
    return path


@pytest.fixture(scope="module")
def log(folder, exact):
    return run(folder, "excite", exact, "--scenario", "excite", "--seed", 1)


@pytest.fixture(scope="module")
def unseen(folder, exact):
    return run(folder, "joystick", exact, "--scenario", "joystick", "--for", 100, "--seed", 2)


@pytest.fixture(scope="module")
def identified(folder, exact, log, unseen):
    """The command's JSON, and the file it wrote."""
    import contextlib
    import io

    said, file = io.StringIO(), folder / "model.toml"
    with contextlib.redirect_stdout(said):
        words = ["identify", str(exact), str(log), "--on", str(unseen), "--write", str(file), "--json"]
        assert main(words) == 0
    return json.loads(said.getvalue()), file


def refusal(capsys, *words):
    """The error message of a rejected command."""
    capsys.readouterr()
    assert main(["identify", *map(str, words)]) == 2
    lines = capsys.readouterr().err.strip().split("\n")
    return lines[-1]


@pytest.mark.long
def test_excitation_run_gives_the_inertia_and_drag_of_the_plant(identified):
    found = {one["name"]: one["value"] for one in identified[0]["parameters"]}
    truth = {"m11": 28.0, "m22": 40.0, "m33": 48.0, "m66": 1.6}
    assert all(found[name] == pytest.approx(value, rel=0.03) for name, value in truth.items()), found
    truth = {"d11": 20.0, "d22": 32.0, "d33": 40.0, "d66": 2.0}
    assert all(found[name] == pytest.approx(value, rel=0.02) for name, value in truth.items()), found
    assert found["m26"] == pytest.approx(0.9, rel=0.2) and found["net_weight"] == pytest.approx(
        -2.0, abs=0.05
    )


def test_every_parameter_has_an_error_and_a_unit(identified):
    parameters = {one["name"]: one for one in identified[0]["parameters"]}
    assert len(parameters) == 23 and all(one["standard_error"] > 0 for one in parameters.values())
    assert parameters["m26"]["unit"] == "kg m" and parameters["d66"]["unit"] == "N m s/rad"


def test_model_predicts_another_run(identified):
    worst = identified[0]["r2_unseen_worst"]
    assert list(worst) == ["surge", "sway", "heave", "yaw"] and min(worst.values()) > 0.98, worst


def test_written_file_is_a_model_for_a_run(identified, exact, folder):
    result, file = identified
    model = tomllib.loads(file.read_text())["control"]["model"]
    m11 = next(one for one in result["parameters"] if one["name"] == "m11")
    assert model["inertia"][0][0] == pytest.approx(m11["value"], rel=1e-5)
    assert model["inertia"][3][3] == 0.9 and model["righting_n_m"] == 4.0  # not identified, so not changed
    assert "excite.mcap" in file.read_text() and f"m11 {m11['value']:.6g} +- " in file.read_text()
    assert (folder / "model.svg").read_text().startswith("<?xml")
    run(folder, "with", exact, "--scenario", "station", "--for", 2, "--with", file)


def test_write_changes_only_the_model_of_a_vehicle_file(exact, log, folder, capsys):
    own = folder / "own.toml"
    before = exact.read_text()
    own.write_text(before)
    assert main(["identify", str(own), str(log), "--write", str(own)]) == 0
    said = capsys.readouterr().out
    assert "m11" in said and "+-" in said and "R2 of excite.mcap" in said
    after = own.read_text()
    head, tail = before.index("[control.model]"), before.index("\n\n[control.thruster]")
    assert after[:head] == before[:head]
    assert after[after.index("\n\n[control.thruster]") :] == before[tail:]
    assert main(["check", str(own)]) == 0


# Refusals -----------------------------------------------------------------------------------------------------


def test_run_at_rest_is_rejected_with_the_parameters_it_cannot_show(exact, folder, capsys):
    still = run(folder, "still", exact, "--scenario", "station", "--for", 40)
    said = refusal(capsys, exact, still)
    assert "no excitation" in said and "m11, m22, m33, m66" in said and "caudal excite" in said


def test_short_run_is_rejected(exact, folder, capsys):
    short = run(folder, "short", exact, "--scenario", "station", "--for", 5)
    assert "is 5 s long; at least 20 s" in refusal(capsys, exact, short)


def test_log_without_position_is_rejected(exact, folder, capsys):
    blind = [f"--set=plant.sensor.{axis}.dropout_share=0.999" for axis in "xy"]
    log = run(folder, "blind", exact, "--scenario", "station", "--for", 25, *blind)
    assert "records no position" in refusal(capsys, exact, log)


def test_missing_log_is_rejected(exact, folder, capsys):
    assert "There is no log" in refusal(capsys, exact, folder / "none.mcap")


def test_logs_of_different_vehicles_are_rejected(exact, folder, log, capsys):
    other = run(folder, "fish", "fish", "--for", 21)
    assert "is a log of fish, not of rov" in refusal(capsys, exact, log, other)


def test_vehicle_without_a_model_is_rejected(log, capsys):
    assert "has no [control.model]" in refusal(capsys, "fish", log)


def test_log_without_thrusters_is_rejected(folder, capsys):
    other = run(folder, "tail", "fish", "--for", 21)
    text = (ROOT / "onboard" / "vehicles" / "fish.toml").read_text()
    model = ROV.read_text()
    model = model[model.index("[control.model]") : model.index("[control.thruster]")]
    (folder / "fish.toml").write_text(f"{text}\n{model}")
    assert "records no thrusters" in refusal(capsys, folder / "fish.toml", other)


def test_write_does_not_change_a_file_of_another_kind_or_vehicle(exact, log, folder, capsys):
    notes = folder / "notes.toml"
    notes.write_text('about = "my notes"\n')
    assert "has no [control.model] to replace" in refusal(capsys, exact, log, "--write", notes)
    assert notes.read_text() == 'about = "my notes"\n'
    assert "a file of fish, not of rov" in refusal(
        capsys, exact, log, "--write", ROOT / "onboard/vehicles/fish.toml"
    )
