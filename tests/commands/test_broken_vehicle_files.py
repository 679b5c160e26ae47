"""A broken vehicle file gets one sentence that says where and what, exit code 2, and never a traceback."""

import re
import subprocess
import sys

import pytest

from tests.conftest import EEL, ROOT

FISH = (ROOT / "onboard" / "vehicles" / "fish.toml").read_text()


def swapped(old: str, new: str) -> bytes:
    assert old in FISH
    return FISH.replace(old, new, 1).encode()


BROKEN = {
    "wrong type": (swapped("rate_hz = 100\n", 'rate_hz = "fast"\n'), ["loop.rate_hz", "fast", "1 to 2000"]),
    "missing key": (swapped("wavelength_m = 0.45\n", ""), ["gait", "wavelength_m", "required"]),
    "misspelt key": (swapped("wavelength_m = 0.45", "wavelenght_m = 0.45"), ["wavelenght_m", "wavelength_m"]),
    "out of range": (
        swapped("us_per_rad = 636.6", "us_per_rad = 6366.0"),
        ["tail_1.us_per_rad", "6366", "2000"],
    ),
    "duplicate channel": (swapped("port = 1, us_per_rad", "port = 0, us_per_rad"), ["tail_2.port", "tail_1"]),
    "duplicate table": (FISH.encode() + b"\n[gait]\nrows = 3\n", ["gait", "line"]),
    "unknown map": (swapped('map = "servo"', 'map = "sevo"'), ["tail_1.map", "sevo", "servo"]),
    "bad unit": (swapped("low_us = 760", "low_ms = 760"), ["low_ms", "low_us"]),
    "unknown unit": (swapped('unit = "rad/s"', 'unit = "furlong"'), ["turn_rate.unit", "furlong"]),
    "truncated": (FISH.encode()[:5000], ["line"]),
    "not UTF-8": (FISH.encode().replace(b"fish", b"\xff\xfe\xff", 1), ["UTF-8"]),
    "empty": (b"", ["empty"]),
    "unknown joint": (swapped('joints = ["tail_1"', 'joints = ["tial_1"'), ["gait.joints.0", "tial_1"]),
    "rates that do not fit": (
        swapped("guidance_rate_hz = 10", "guidance_rate_hz = 7"),
        ["loop", "100 and 7"],
    ),
    "no such world": (swapped('world = "pool"', 'world = "pond"'), ["scenario.pool.world", "pond"]),
    "no plant for a sensor": (swapped("bumper = { kind", "bump = { kind"), ["sensor.bumper", "plant"]),
    "not a number": (swapped("mass_kg = 0.60", "mass_kg = nan"), ["mass_kg"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_vehicle_file_gets_one_sentence(caudal, name):
    content, words = BROKEN[name]
    (caudal.folder / "mine.toml").write_bytes(content)
    check_one_sentence(caudal("check", "mine.toml"), ["mine.toml", *words])


def check_one_sentence(done, words):
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and "Traceback" not in done.stderr, done.stderr
    for word in words:
        assert word in lines[0], lines[0]


def test_a_folder_is_no_vehicle_file(caudal):
    (caudal.folder / "mine.toml").mkdir()
    check_one_sentence(caudal("check", "mine.toml"), ["mine.toml", "folder"])


AS_NOBODY = """
import contextlib, io, os, sys
from caudal.tools.cli.main import main
with contextlib.redirect_stderr(io.StringIO()):
    main(["check", "none.toml"])  # imports all that it needs
if os.geteuid() == 0:  # root may read anything: become another user
    os.setuid(65534)
sys.exit(main(["check", "mine.toml"]))
"""


def test_a_file_one_may_not_read_is_named(caudal):
    path = caudal.folder / "mine.toml"
    path.write_text(FISH)
    path.chmod(0)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY], cwd=caudal.folder, capture_output=True, text=True
    )
    check_one_sentence(done, ["mine.toml", "may not be read"])


def test_a_file_that_does_not_exist_is_named(caudal):
    check_one_sentence(caudal("check", "yours.toml"), ["yours.toml", "does not exist"])


def test_an_unknown_vehicle_names_those_there_are(caudal):
    check_one_sentence(caudal("run", "shark"), ["shark", "fish"])


def test_an_unknown_scenario_names_those_there_are(caudal):
    check_one_sentence(caudal("run", "fish", "--scenario", "ocean"), ["ocean", "pool", "cruise"])


@pytest.mark.parametrize(
    "setting", ["gait.source=magic", "gait.sorce=table", "nonsense", "loop.rate_hz=0", "=3"]
)
def test_a_wrong_setting_on_the_command_line_says_so(caudal, setting):
    check_one_sentence(caudal("run", "fish", "--set", setting), ["--set"])


@pytest.mark.parametrize(
    "words", [["--for", "-3"], ["--for", "x"], ["--seed", "-1"], ["--on", "mars"], ["--nope"]]
)
def test_a_wrong_argument_says_so(caudal, words):
    done = caudal("run", "fish", *words)
    check_one_sentence(done, ["caudal run --help", words[0]])


@pytest.mark.parametrize("command", ["replay", "report"])
def test_what_is_no_log_is_called_so(caudal, command):
    (caudal.folder / "a.mcap").write_bytes(b"no log at all")
    (caudal.folder / "empty.mcap").write_bytes(b"")
    for name in ("a.mcap", "empty.mcap", "absent.mcap", "."):
        check_one_sentence(caudal(command, name), [name])


def test_every_command_explains_itself(caudal):
    done = caudal("--help")
    commands = re.findall(r"^    (\w+) ", done.stdout, re.M)
    assert {"list", "run", "check", "gait", "replay", "compare", "report", "bench"} <= set(commands)
    for command in commands:
        assert "usage: caudal" in caudal(command, "--help").stdout


EEL_TOML = EEL.read_text()


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("dead_low_us = 1470", "dead_low_us = 1510", ["jet", "neutral"]),
        ("low_us = 1100", "low_us = 1600", ["jet", "neutral_us"]),
        ("forward = [0.1, 0.01]", "forward = [0.1, -0.2]", ["motor.pump.polynomial.0", "jet", "falls"]),
        ("battery_v = 10.0", "battery_v = 15.0", ["motor.pump.polynomial", "battery_v"]),
        ('use = "polynomial"', 'use = "table"', ["motor.pump.use", "motor.pump.table"]),
        ("dead_low_us = 1470", "dead_low_us = 1530", ["motor.pump.polynomial.0.dead_low_us"]),
        ('motor = "pump"', 'motor = "pmup"', ["jet.motor", "pmup", "pump"]),
        ('battery = "battery"', 'battery = "pack"', ["jet.battery", "pack"]),
        ("min_n = -0.3", "min_n = 0.5", ["jet.min_n", "0.4"]),
        ("safe_n = 0.0", "safe_n = 9.0", ["jet.safe_n", "9.0"]),
        ("si_per_count = 0.004", "si_per_count = 0.0", ["battery.si_per_count"]),
        ("low_count = 1, ", "low_count = 4095, ", ["battery.low_count"]),
        ("hold = { jet", "hold = { jte", ["rows.2.hold", "jte"]),
        ("at_s = 10.0", "at_s = 30.0", ["rows", "at_s"]),
        ('sensors = ["compass"', 'sensors = ["compas"', ["blind.sensors", "compas"]),
        ('map = "thruster", port = 7', 'map = "valve", port = 7', ["jet"]),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(caudal, old, new, words):
    assert old in EEL_TOML
    (caudal.folder / "mine.toml").write_text(EEL_TOML.replace(old, new, 1))
    check_one_sentence(caudal("check", "mine.toml"), ["mine.toml", *words])
