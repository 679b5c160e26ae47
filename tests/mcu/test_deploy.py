"""`caudal deploy mcu` as its user meets it: onto a board by mpremote, and a sentence where that cannot be."""

import os
import subprocess

import pytest

from caudal.tools.cli.main import main
from caudal.tools.hil.pty import open_line
from tests.conftest import ROOT
from tests.mcu.conftest import BOARD, BOARD_PATH, on_board
from tests.waiting import LIMIT_S


def test_mpremote_copies_an_image_to_a_board_that_then_runs_it(caudal, image, micropython):
    flash = caudal.folder / "flash"
    (flash / "lib" / "caudal" / "onboard").mkdir(parents=True)
    (flash / "lib" / "caudal" / "onboard" / "build.py").write_text("left from another time")
    master, slave = open_line()
    board = subprocess.Popen(
        [micropython, str(ROOT / "tests" / "mcu" / "raw_repl.py")],
        stdin=master,
        stdout=master,
        cwd=flash,
        env={**os.environ, "MICROPYPATH": BOARD_PATH},
    )
    try:
        words = ("deploy", "mcu", os.ttyname(slave), "fish", "--scenario", "cruise", "--bench")
        sent = caudal.json(*words)
        assert board.wait(timeout=LIMIT_S) == 0  # reset is the end of it
    finally:
        board.kill()
        os.close(master)
        os.close(slave)
    expected = image("fish", "cruise", "--bench")
    files = {str(path.relative_to(expected)) for path in expected.rglob("*") if path.is_file()}
    assert set(sent["sizes_bytes"]) == files
    for name in files:
        assert (flash / name).read_bytes() == (expected / name).read_bytes(), name
    assert not (
        flash / "lib" / "caudal" / "onboard" / "build.py"
    ).exists()  # a board would have loaded it instead
    script = str(ROOT / "tests" / "mcu" / "image_ticks.py")
    assert on_board(micropython, flash, script, "50").stdout.strip().endswith("None")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("tail_1 = 2, ", ""), "mcu.pulse: actuator tail_1 has no pin"),
        (("tail_1 = 2", "tail_9 = 2"), "there is no actuator tail_9"),
        (("tail_2 = 3", "tail_2 = 2"), "pin 2 is used by mcu.pulse.tail_1 too"),
        (('depth = { on = "adc", pin = 26 }', ""), "sensor depth has no pin or bus"),
        (
            ('absent = ["x"', 'absent = ["depth", "x"'),
            "sensor depth has a pin or bus and is listed in mcu.absent",
        ),
        (("i2c = { id = 0, scl = 21, sda = 20 }", ""), "needs [mcu.i2c]"),
        (("pulse_hz = 50", "pulse_hz = 500"), "mcu.pulse_hz is 500"),
        (("fields = 13", "fields = 12"), "mcu.sensor.infrared"),
        (("id = 1, tx = 4", "id = 0, tx = 4"), "mcu.line.id: 0 is the UART of mcu.bench too"),
        (("pulse_hz = 50", "puls_hz = 50"), "did you mean pulse_hz"),
    ],
)
def test_board_file_that_does_not_fit_is_one_sentence(tmp_path, capsys, change, sentence):
    text = BOARD.read_text()
    assert change[0] in text
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace(*change))
    assert main(["deploy", "mcu", "-", "fish", "--board", str(mine), "--dry-run", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "mine.toml" in said and sentence in said


def test_deploy_prints_one_sentence_when_it_cannot_deploy_to_a_board(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for words, sentence in (
        (("/dev/nowhere", "fish", "--bench"), "there is no port /dev/nowhere"),
        (("-", "fish", "--dry-run", "out"), "give --board FILE"),
        (("-", "fish", "--bench", "--dry-run", "full"), "full is not empty"),
        (("-", "fish", "--scenario", "flight", "--bench", "--dry-run", "out"), 'no scenario "flight"'),
    ):
        assert main(["deploy", "mcu", *words]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and sentence in said, said


def test_deploy_names_the_packages_that_are_missing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    folder = tmp_path / "out"
    assert (
        main(["deploy", "mcu", "-", "fish", "--scenario", "cruise", "--bench", "--dry-run", str(folder)]) == 0
    )
    assert "caudal[mcu]" in capsys.readouterr().err
    assert (folder / "lib" / "caudal" / "onboard" / "build.py").exists()  # source does it too, with more heap
    assert main(["deploy", "mcu", "/dev/null", "fish", "--bench"]) == 2
    said = capsys.readouterr().err
    assert "this needs mpremote; pip install 'caudal[mcu]'" in said


def test_vehicle_file_may_hold_its_pins_and_is_checked_for_them(tmp_path, capsys):
    text = (ROOT / "onboard" / "vehicles" / "fish.toml").read_text()
    sound, wrong = tmp_path / "sound.toml", tmp_path / "wrong.toml"
    sound.write_text(text + "\n" + BOARD.read_text())
    assert main(["check", str(sound)]) == 0
    wrong.write_text(text + "\n" + BOARD.read_text().replace("tail_1 = 2", "tail_1 = -2"))
    assert main(["check", str(wrong)]) == 2
    assert "mcu.pulse.tail_1" in capsys.readouterr().err
