"""`caudal new`: a new vehicle file that runs at once."""

import re
import shlex

import pytest

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.tools.config.vehicle import open_vehicle


@pytest.mark.parametrize("like", vehicles.names())
def test_new_vehicle_is_valid_and_runs_by_its_name(caudal, like):
    assert caudal.json("new", "vehicle", "mine", "--like", like)["file"] == "mine.toml"
    assert caudal.json("check", "mine")["sound"]
    run = caudal.json("run", "mine", "--for", 2, "--log", "a.mcap")
    assert run["vehicle"] == "mine" and run["fault"] is None
    original = open_vehicle(like)
    assert caudal.json("check", "mine")["scenarios"] == list(original.settings.scenarios)


@pytest.mark.parametrize("like", vehicles.names())
def test_new_vehicle_lists_the_lines_to_change_first(caudal, like):
    caudal.json("new", "vehicle", "mine", "--like", like)
    lines = (caudal.folder / "mine.toml").read_text().split("\n")
    guide = re.findall(r"(?m)^#   line +(\d+)  ([a-z_.]+):", "\n".join(lines[:12]))
    assert len(guide) >= 4
    for number, key in guide:
        assert key in lines[int(number) - 1]


def test_new_vehicle_holds_all_settings_of_the_original(caudal):
    caudal.json("new", "vehicle", "mine", "--like", "snake")
    mine = VehicleFile.open(str(caudal.folder / "mine.toml"), []).tables
    original = VehicleFile.open(vehicles.find("snake"), []).tables
    for key in ("name", "description"):
        assert mine.pop(key) != original.pop(key)
    assert mine == original


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("Mine",), "is not a valid name"),
        (("../mine",), "is not a valid name"),
        (("fish",), "comes with Caudal"),
        (("mine", "--like", "cod"), 'there is no vehicle "cod"'),
        (("mine", "--output", "there.toml"), "cannot write there.toml/mine.toml"),
        (("there",), "there.toml already exists"),
        (("a" * 300,), "File name too long"),
    ],
)
def test_new_prints_one_sentence_and_overwrites_nothing_when_it_fails(caudal, words, sentence):
    (caudal.folder / "there.toml").write_text("precious")
    done = caudal("new", "vehicle", *words)
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1
    assert (caudal.folder / "there.toml").read_text() == "precious"


def test_new_prints_a_next_command_that_runs(caudal):
    done = caudal("new", "vehicle", "mine", "--output", "my own/ü")
    check = next(line for line in done.stdout.split("\n") if " check " in line)
    assert caudal(*shlex.split(check)[1:]).returncode == 0
