"""A vehicle to calibrate, emulated chips, and a person at the terminal."""

import tomllib
from pathlib import Path

from caudal.hal.emulated.pca9685 import pulses_of
from caudal.tools.cli.main import main
from caudal.tools.common.options import leaves
from tests.conftest import ROOT

VEHICLES = ROOT / "onboard" / "vehicles"
ROV = VEHICLES / "rov.toml"
# The part of a file that a vehicle's own computer reads: all but the plant and its worlds, which are at the end.
FISH_TEXT, ROV_TEXT = (
    (VEHICLES / f"{name}.toml").read_text().partition("\n[world.")[0] + "\n" for name in ("fish", "rov")
)
TRUTH = ("--set", "pi.emulated={oscillator_hz=26.3e6}")
LEAK = """\
[sensor.bilge]
map = "linear"
port = 40
unit = "1"
si_per_count = 1.0  # not known yet
low_count = -100
high_count = 5000
max_age_s = 1.0

"""


class Person:
    """A person at the terminal: gives the answers in turn (texts, or functions of the pulses), then the input ends."""

    def __init__(self, registers: Path) -> None:
        self.answers: list = []
        self.asked = 0
        self.pulses: list[list[float]] = []  # at every question
        self._registers = registers

    def readline(self) -> str:
        self.pulses.append(pulses_of(self._registers) if self._registers.exists() else [0.0] * 16)
        self.asked += 1
        if not self.answers:
            return ""
        answer = self.answers.pop(0)
        return (answer if isinstance(answer, str) else answer(self.pulses[-1])) + "\n"


class Room:
    """A vehicle file, emulated chips, and a person."""

    def __init__(self, folder: Path, capsys, person: Person) -> None:
        self.file = folder / "vehicle.toml"
        self.file.write_text(FISH_TEXT)
        self.registers = folder / "registers"
        self.person = person
        self._capsys = capsys

    def calibrate(self, kind: str, *words: object, answers=(), code: int = 0, vehicle=None) -> str:
        """Runs a calibration; its stderr. stdout is in `out`."""
        self.person.answers = list(answers)
        self.person.asked, self.person.pulses = 0, []
        command = ["calibrate", kind, str(vehicle or self.file), *map(str, words)]
        if "--on" not in command:
            command += ["--on", f"emulated:{self.registers}"]
        done = main(command)
        self.out, err = self._capsys.readouterr()
        assert done == code, err
        if self.registers.exists():
            assert not any(pulses_of(self.registers)), "there are still pulses"
        return err

    @property
    def changed(self) -> dict:
        """Keys of the vehicle file that have changed."""
        before = flat(FISH_TEXT)
        return {key: value for key, value in flat(self.file.read_text()).items() if before.get(key) != value}


def flat(text: str) -> dict:
    return dict(leaves(tomllib.loads(text)))
