"""`caudal deploy pi`: to a mounted card, over ssh, and its error messages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from caudal.tools.cli.main import main
from caudal.tools.deploy.pi_release import Run, read_requirements
from tests.command_line import run
from tests.conftest import ROOT
from tests.deploy.conftest import Card

FISH = ROOT / "onboard" / "vehicles" / "fish.toml"


def deploy(capsys, *words: object, code: int = 0) -> str:
    """The output of the command: its JSON object, or its error."""
    assert main(["deploy", "pi", *map(str, words), "--json"]) == code
    said = capsys.readouterr()
    if code:
        assert said.err.count("\n") == 1, said.err
        return said.err
    return said.out


@pytest.fixture(scope="module")
def deployed(tmp_path_factory) -> tuple[Card, dict]:
    """A card of this machine's architecture with a whole release on it."""
    card = Card(tmp_path_factory.mktemp("deployed") / "card")
    words = ["--root", str(card.root), "fish", "--scenario", "cruise", "--set", "gait.source=table"]
    done = run("deploy", "pi", *words, "--json", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return card, json.loads(done.stdout)


def aboard(card: Card, *words: str) -> subprocess.CompletedProcess:
    """Runs Python as on the vehicle: without any installed package but the release."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    python = os.path.realpath(sys.executable)
    return subprocess.run([python, "-S", *words], cwd=card.root, env=environ, capture_output=True, text=True)


def test_release_checks_its_files_with_nothing_installed_but_python(deployed):
    card, _ = deployed
    etc, program = card.root / "etc/caudal", card.root / "opt/caudal/current/bin/caudal-read"
    done = aboard(card, str(program), str(etc / "vehicle.toml"), "--with", str(etc / "settings.toml"))
    assert done.returncode == 0, done.stderr
    assert "fish is valid" in done.stdout


def test_release_runs_the_vehicle_without_numpy(deployed, tmp_path):
    card, _ = deployed
    log = tmp_path / "run.mcap"
    words = ("run", "etc/caudal/vehicle.toml", "--on", "pi", "--with", "etc/caudal/settings.toml")
    program = str(card.root / "opt/caudal/current/bin/caudal")
    done = aboard(card, program, *words, "--scenario", "cruise", "--for", "1", "--log", str(log), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ticks"] == 100
    assert log.stat().st_size > 0


def test_release_holds_runtime_packages_and_no_simulation(deployed):
    _, said = deployed
    assert {"caudal", "msgspec", "mcap", "zstandard", "pyserial", "smbus2"} <= set(said["packages"])
    assert not {"numpy", "numba", "scipy", "matplotlib", "pytest"} & set(said["packages"])
    assert said["size_bytes"] < 60e6


def test_release_holds_no_path_of_this_machine(deployed):
    card, said = deployed
    release = card.root / "opt/caudal/releases" / said["release"]
    for path in release.rglob("*"):
        if path.is_file():
            assert str(ROOT).encode() not in path.read_bytes(), path


def test_dry_run_makes_the_same_release_and_does_not_change_the_card(deployed, capsys):
    card, said = deployed
    before = card.files()
    words = ("--root", card.root, "fish", "--scenario", "cruise", "--set", "gait.source=table", "--dry-run")
    again = json.loads(deploy(capsys, *words))
    assert (again["done"], again["release"]) == ("dry run", said["release"])
    assert card.files() == before


def test_release_holds_the_options_and_settings_of_the_run(deployed):
    card, _ = deployed
    etc = card.root / "opt/caudal/current/etc"
    assert (etc / "caudal.env").read_text() == "CAUDAL_OPTIONS=--scenario cruise\n"
    assert (etc / "settings.toml").read_text() == 'gait.source = "table"\n'
    assert (etc / "vehicle.toml").read_text() == FISH.read_text()


def test_release_holds_station_links_and_their_packages():
    wanted = Run(
        "one", "", "cruise", [], None, ("udp:0.0.0.0:14550", "serial:/dev/ttyUSB0@57600"), "/var/lib/caudal/k"
    )
    addresses = "--mavlink udp:0.0.0.0:14550 --mavlink serial:/dev/ttyUSB0@57600"
    assert wanted.options() == f"--scenario cruise {addresses} --mavlink-key /var/lib/caudal/k"
    extra = set(read_requirements(stations=True)) - set(read_requirements(stations=False))
    assert len(extra) == 1 and extra.pop().startswith("pymavlink")


def test_deploy_rejects_an_invalid_vehicle_file_before_any_change(card, tmp_path, capsys):
    broken = tmp_path / "broken.toml"
    broken.write_text(FISH.read_text().replace("[pi.pulses]", "[pi.pulses]\naddress = 500", 1))
    before = card.files()
    assert "pi.pulses.address" in deploy(capsys, "--root", card.root, broken, code=2)
    assert card.files() == before


def test_deploy_rejects_an_invalid_calibration_on_the_card_before_any_change(card, capsys):
    calibration = card.root / "var/lib/caudal/calibration.toml"
    calibration.parent.mkdir(parents=True)
    calibration.write_text("[pi.pulses]\nclock_hz = 5\n")
    before = card.files()
    assert "clock_hz" in deploy(capsys, "--root", card.root, "fish", code=2)
    assert card.files() == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--root", "/nowhere", "fish"), "/nowhere is not a mounted image"),
        (("--root", "/", "fish"), "is not a mounted image"),
        (("fish",), "there is no vehicle"),
        ((), "there is no target"),
        (("me@there", "fish", "--root", "CARD"), "are two targets"),
        (("--root", "CARD", "no_such_vehicle"), 'no vehicle "no_such_vehicle"'),
        (("--root", "CARD", "fish", "--scenario", "fly"), 'no scenario "fly"'),
        (("--root", "CARD", "fish", "--set", "rate_hz=50"), "rate_hz (from --set) is not a key"),
        (("--root", "CARD", "fish", "--health"), "leave fish out"),
        (("--root", "CARD", "--back"), "no release before"),
        (("--ssh", "no-such-ssh", "me@there", "fish"), "there is no no-such-ssh here"),
        (("--", "-oProxyCommand=x", "fish"), "is not a host"),
        (("--root", "CARD", "fish", "--mavlink", "can:1"), "there is no such address"),
        (("--root", "CARD", "fish", "--mavlink-key", "/var/lib/caudal/key"), "give an ADDRESS with it"),
        (("--root", "CARD", "fish", "--mavlink", "serial:/dev/my radio@57600"), "has a space in it"),
    ],
)
def test_deploy_prints_one_sentence_when_it_cannot_deploy(card, capsys, words, sentence):
    line = deploy_words(capsys, [str(card.root) if word == "CARD" else word for word in words])
    assert sentence in line


def deploy_words(capsys, words: list[str]) -> str:
    assert main(["deploy", "pi", "--json", *words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return said


@pytest.mark.parametrize(
    ("python", "sentence"),
    [
        (None, "has no usr/bin/python3"),
        (("python3.9", 62), "has Python 3.9"),
        (("python3.11", 40), "64-bit Raspberry Pi OS"),
        (("python3.11", 243), "no wheels of the packages"),
    ],
)
def test_deploy_prints_one_sentence_when_the_card_cannot_run_caudal(card, capsys, python, sentence):
    for path in (card.root / "usr/bin").iterdir():
        path.unlink()
    if python:
        name, machine = python
        (card.root / "usr/bin" / name).write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))
    assert sentence in deploy_words(capsys, ["--root", str(card.root), "fish"])


SSH = """#!/bin/sh
# An ssh that answers the questions about the platform.
{answer}
"""


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("echo 'ssh: connect to host there port 22: Connection refused' >&2; exit 255", "Connection refused"),
        ("printf 'armv7l\\n3 11\\nsystemd\\nroot\\n'", "64-bit Raspberry Pi OS"),
        ("printf 'aarch64\\n3 9\\nsystemd\\nroot\\n'", "has Python 3.9"),
        ("printf 'aarch64\\n0 0\\nsystemd\\nroot\\n'", "has no python3"),
        ("printf 'aarch64\\n3 11\\nnone\\nroot\\n'", "does not run systemd"),
        ("printf 'aarch64\\n3 11\\nsystemd\\npi\\n'", "pi may not use sudo"),
    ],
)
def test_deploy_prints_one_sentence_when_the_computer_cannot_run_caudal(tmp_path, capsys, answer, sentence):
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(answer=answer))
    ssh.chmod(0o755)
    assert sentence in deploy_words(capsys, ["--ssh", str(ssh), "me@there", "fish"])


def test_deploy_sends_a_release_over_ssh_and_returns_its_result(card, tmp_path, capsys):
    ssh = card.ssh(tmp_path / "ssh")
    said = json.loads(deploy(capsys, "--ssh", ssh, "me@there", "fish", "--scenario", "pool"))
    assert (said["target"], said["done"], said["release"]) == ("me@there", "installed", card.current())
    release = Path(card.root / "opt/caudal/current")
    assert (release / "bin/caudal").stat().st_mode & 0o777 == 0o755
    assert (release / "etc/vehicle.toml").read_text() == FISH.read_text()
