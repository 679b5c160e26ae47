"""`caudal calibrate`: however it ends, pulses end and nothing is written."""

import os
import pty
import signal
import sys
from pathlib import Path

import pytest

from caudal.hal.emulated.chip import Nack
from caudal.hal.emulated.pca9685 import Pca9685, pulses_of
from caudal.hal.emulated.smbus import EmulatedSMBus
from caudal.hal.pi.build import Parts
from caudal.hal.pi.worker import clock_us
from caudal.tools.calibrate import test_stand
from tests.commands.calibrating import FISH_TEXT, ROV_TEXT
from tests.conftest import ROOT

WHOLE = {
    "clock": (FISH_TEXT, ["yes", "1424", "1500"]),
    "servo tail_1 --spread 60": (FISH_TEXT, ["yes", "+10", "", "5", "-5", "yes", "-20", "", "+20", ""]),
    "thruster fore_port --seconds 0.2 --points 20": (ROV_TEXT, ["yes", "", "", *["", "1"] * 20]),
    "leak bilge": (FISH_TEXT, ["", ""]),
}


def interrupt(_) -> str:
    raise KeyboardInterrupt


def hang_up(_) -> str:
    os.kill(os.getpid(), signal.SIGHUP)
    raise AssertionError("a closed terminal changed nothing")


@pytest.mark.parametrize("what", WHOLE)
@pytest.mark.parametrize(("ending", "code"), [(None, 2), (interrupt, 130), (hang_up, 130)])
def test_interrupted_calibration_ends_pulses_and_writes_nothing(what, ending, code, probe_room):
    room, (text, answers) = probe_room, WHOLE[what]
    if text == ROV_TEXT:
        room.file.write_text(text)
    before = room.file.read_bytes()
    for asked in range(min(len(answers), 10)):  # a motor's pulses are all alike
        if ending is hang_up and asked == 0:
            continue  # no pulses yet: the signal ends the process
        room.registers.unlink(missing_ok=True)
        until = [*answers[:asked], *([ending] if ending else [])]
        err = room.calibrate(*what.split(), answers=until, code=code)
        assert room.person.asked == asked + 1
        assert "Traceback" not in err
        assert room.file.read_bytes() == before
        assert {path.name for path in room.file.parent.iterdir()} <= {"vehicle.toml", "registers"}
    room.calibrate(*what.split(), answers=answers)  # with all answers, it is written
    assert room.file.read_bytes() != before or Path("runs").exists()


@pytest.mark.parametrize("answer", ["no", "", "y", "YES"])
def test_calibration_moves_nothing_when_the_answer_is_not_yes(answer, room):
    for what in ("clock", "servo tail_1"):
        assert "nothing was moved" in room.calibrate(*what.split(), answers=[answer, "yes"], code=2)
        assert not room.registers.exists()


def test_calibration_ignores_suspend_and_restores_signal_handlers(room):
    def stop(_) -> str:
        os.kill(os.getpid(), signal.SIGTSTP)  # Ctrl-Z
        return ""

    numbers = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)
    before = [signal.getsignal(number) for number in numbers]
    room.calibrate("servo", "tail_1", answers=["yes", stop, "-27", "27", ""])
    assert [signal.getsignal(number) for number in numbers] == before


@pytest.mark.parametrize("function", ["__exit__", "_close_bus", "_send", "_held"])
def test_signal_while_pulses_are_written_still_ends_them(function, room):
    """A signal while pulses are written or ended is stored, and nothing is written to the file."""
    sent = []

    def trace(frame, event, _) -> None:
        in_stand = frame.f_code.co_filename == test_stand.__file__
        if event == "call" and in_stand and frame.f_code.co_name == function and len(sent) < 4:
            sent.append(function)
            os.kill(os.getpid(), (signal.SIGHUP, signal.SIGINT)[len(sent) % 2])

    before = sys.gettrace()  # coverage's
    sys.settrace(trace)
    try:
        room.calibrate("servo", "tail_1", answers=["yes", "+7", "", "-27", "27", ""], code=130)
    finally:
        sys.settrace(before)
    assert sent and room.file.read_text() == FISH_TEXT


def test_closed_terminal_ends_the_pulses(room):
    command = ["calibrate", "servo", str(room.file), "tail_1", "--on", f"emulated:{room.registers}"]
    child, terminal = pty.fork()
    if not child:
        os.environ["PYTHONPATH"] = str(ROOT / "src")
        os.execv(sys.executable, [sys.executable, "-m", "caudal.tools.cli.main", *command])
    said = b""
    for until, answer in ((b"yes to continue", b"yes\n"), (b"straight", b"")):
        while until not in said:
            said += os.read(terminal, 1000)
        os.write(terminal, answer)
    assert pulses_of(room.registers)[0] > 0
    os.close(terminal)
    os.waitpid(child, 0)
    assert not any(pulses_of(room.registers)) and room.file.read_text() == FISH_TEXT


# On the computer's own bus: the drivers in their threads, the chip in real time


def test_calibration_runs_the_drivers_in_threads_on_a_computer(room, monkeypatch):
    chip = Pca9685(clock_us, 0x40, 26.3e6)
    seen = []

    def see(_) -> str:
        seen.append(chip.pulses_us())
        return f"{seen[-1][0]:.1f}"

    monkeypatch.setattr(Parts, "smbus", lambda parts, number: EmulatedSMBus({0x40: chip}, lambda us: None))
    room.calibrate("clock", "--on", "pi", answers=["yes", see, see])
    assert room.changed["pi.pulses.clock_hz"] == pytest.approx(26.3e6, rel=1e-4)
    assert seen[0][0] == pytest.approx(1425.6, abs=0.1) and seen[1][0] == pytest.approx(1500, abs=0.8)
    assert not any(chip.pulses_us())


def test_calibration_prints_one_sentence_when_the_chip_is_missing(room, monkeypatch):
    def nobody(parts, number):
        raise Nack

    monkeypatch.setattr(Parts, "smbus", nobody)
    monkeypatch.setattr(test_stand, "PATIENCE_S", 0.3)
    err = room.calibrate("servo", "tail_1", "--on", "pi", answers=["yes", ""], code=2)
    assert "no pulse for tail_1: pulses (pca9685 at 0x40): Remote I/O error; see caudal probe" in err
    assert room.person.asked == 1


def test_calibration_notices_another_program_on_the_chip(room, monkeypatch):
    class Fought(Pca9685):
        """Another writes full stop to all channels whenever this one writes."""

        def write(self, data: bytes) -> None:
            super().write(data)
            if len(data) > 2:
                super().write(bytes((0xFD, 0x10)))

    monkeypatch.setattr("caudal.hal.emulated.wiring.Pca9685", Fought)
    err = room.calibrate("servo", "tail_1", answers=["yes", ""], code=2)
    assert "no pulse for tail_1" in err
    assert room.file.read_text() == FISH_TEXT
