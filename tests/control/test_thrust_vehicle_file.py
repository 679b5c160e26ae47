"""A file of a vehicle with thrusters: what does not fit is one sentence that names the place and what to do."""

import pytest

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_vehicle

WRONG = {
    "control.model.inertia.0.2=2.0": ["control.model.inertia", "row 3 column 1"],
    "control.model.inertia.0.0=-1.0": ["control.model.inertia", "positive definite"],
    "control.thruster.bow={at_m = [0, 0, 0], axis = [1, 0, 0]}": ["control.thruster.bow", "no actuator"],
    "control.thruster.lift_fore.axis=[0, 0, 0]": ["control.thruster.lift_fore.axis", "no length"],
    "actuator.lift_fore.min_n=0.0": ["control.thruster.lift_fore", "one way only"],
    'scenario.excite.trajectory="loop"': ["scenario.excite.trajectory", "[trajectory.loop]", "excite"],
    "scenario.sticks.rows.0.at_s=99.0": ["scenario.sticks.rows", "must not fall"],
    "scenario.joystick.low=[6.0, 0.9, 0.5]": ["scenario.joystick.low", "below its high"],
    'estimate.roll=""': ["estimate.roll", "wrench"],
    "trajectory.excite.segment_s=[56.0]": ["trajectory.excite.points", "give one each"],
    "trajectory.excite.points.1.0.0=4.0": ["trajectory.excite.points.1", "jumps"],
}


@pytest.mark.parametrize("override", WRONG)
def test_wrong_thruster_table_is_refused_in_one_sentence(override):
    with pytest.raises(VehicleFileError) as error:
        open_vehicle("rov", [override])
    assert all(word in str(error.value) for word in WRONG[override]), str(error.value)


def test_task_of_another_kind_of_control_is_refused():
    with pytest.raises(VehicleFileError, match=r"is not for a control\.kind"):
        open_vehicle("fish", ['scenario.cruise={task = "hold", description = "", duration_s = 1.0}'])


def test_unreadable_settings_file_is_refused_in_one_sentence(tmp_path, capsys):
    words = tmp_path / "words.toml"
    words.write_text("no toml at all")
    for path, expected in ((tmp_path / "none.toml", "No such file"), (words, "is not valid TOML")):
        assert main(["run", "rov", "--with", str(path)]) == 2
        said = capsys.readouterr().err
        assert expected in said and said.count("\n") == 1


def test_settings_file_sets_every_key_in_it(tmp_path, capsys):
    keys = tmp_path / "keys.toml"
    keys.write_text(
        'description = "a \\"deep\\" one"\n[plant]\ndepth_m = 1.2\n[[world.tank.start]]\nx_m = 3.0\ny_m = 1.5\n'
    )
    log = tmp_path / "a.mcap"
    assert main(["run", "rov", "--for", "0.1", "--with", str(keys), "--log", str(log), "--json"]) == 0
    assert main(["replay", str(log)]) == 0
    capsys.readouterr()
    keys.write_text("[plant]\ndepht_m = 1.2\n")
    assert main(["run", "rov", "--with", str(keys)]) == 2
    assert "depht_m" in capsys.readouterr().err
