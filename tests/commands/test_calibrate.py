"""`caudal calibrate`: what a person measures becomes what the vehicle goes by; pulses end however it ends."""

import csv
import json
import math
import os
import pty
import signal
import sys
import tomllib
from pathlib import Path

import pytest

from hal.build import build_map, build_sensor_map
from hal.emulated.chip import Nack
from hal.emulated.pca9685 import Pca9685, pulses_of
from hal.emulated.smbus import EmulatedSMBus
from hal.fixed import fixed
from hal.pi.build import Parts
from hal.pi.driver import PiDriver
from hal.pi.pca9685 import Scale
from hal.pi.worker import clock_us
from tests.conftest import ROOT
from tools import calibrate_stand, calibrate_thruster
from tools.calibrate_stand import Stand
from tools.cli import main
from tools.options import leaves
from tools.pi_vehicle import open_pi_vehicle

VEHICLES = ROOT / "onboard" / "vehicles"
ROV = VEHICLES / "rov.toml"
# What a vehicle's own computer reads of its file: all but the plant and its worlds, which stand at the end.
FISH_TEXT, ROV_TEXT = (
    (VEHICLES / f"{name}.toml").read_text().partition("\n[world.")[0] + "\n" for name in ("fish", "rov")
)
TRUTH = ("--set", "pi.emulated={oscillator_hz=26.3e6}")
LEAK = """\
[sensor.bilge]
map = "linear"
port = 40
unit = "1"
per_count = 1.0  # not known yet
low_count = -100
high_count = 5000
max_age_s = 1.0

"""


class Person:
    """Sits at the terminal: answers in turn (texts, or functions that are given the pulses), then leaves."""

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
    """A vehicle file of its own, emulated chips, and a person."""

    def __init__(self, folder: Path, capsys, person: Person) -> None:
        self.file = folder / "vehicle.toml"
        self.file.write_text(FISH_TEXT)
        self.registers = folder / "registers"
        self.person = person
        self._capsys = capsys

    def calibrate(self, kind: str, *words: object, answers=(), code: int = 0, vehicle=None) -> str:
        """stderr; stdout is in `out`."""
        self.person.answers = list(answers)
        self.person.asked, self.person.pulses = 0, []
        command = ["calibrate", kind, str(vehicle or self.file), *map(str, words)]
        if "--on" not in command:
            command += ["--on", f"emulated:{self.registers}"]
        done = main(command)
        self.out, err = self._capsys.readouterr()
        assert done == code, err
        if self.registers.exists():
            assert not any(pulses_of(self.registers)), "pulses went on"
        return err

    @property
    def changed(self) -> dict:
        """Keys of the vehicle file that are not as they were."""
        before = flat(FISH_TEXT)
        return {key: value for key, value in flat(self.file.read_text()).items() if before.get(key) != value}


def flat(text: str) -> dict:
    return dict(leaves(tomllib.loads(text)))


@pytest.fixture
def room(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    person = Person(tmp_path / "registers")
    monkeypatch.setattr("sys.stdin", person)
    return Room(tmp_path, capsys, person)


def angle_of(pulse_us: float, zero_us=1537.0, us_per_rad=-580.0) -> float:
    """A joint as it is built, in degrees; its servo is mounted the other way round."""
    return math.degrees((pulse_us - zero_us) / us_per_rad)


def straighten(pulses: list[float]) -> str:
    """Nudges until the joint looks straight, to a third of a degree."""
    off = angle_of(pulses[0])
    return "" if abs(off) < 0.3 else f"{max(-100, min(100, round(off * 10.1))):+d}"


def read_angle(pulses: list[float]) -> str:
    return f"{angle_of(pulses[0]):.2f}"


# The clock


@pytest.mark.parametrize("frequency_hz", [50, 333])
def test_a_clock_that_is_off_is_found_and_pulses_are_right_to_a_step_afterwards(room, frequency_hz):
    at = (*TRUTH, "--set", f"pi.pulses.frequency_hz={frequency_hz}")
    err = room.calibrate("clock", *at, "--measure")
    before_us, after_us = (float(line.split()[1]) for line in err.splitlines() if line.startswith("measured"))
    assert before_us == pytest.approx(1424, abs=2)
    assert room.changed == {"pi.pulses.clock_hz": pytest.approx(26.3e6, rel=1e-6)}
    step_us = Scale(frequency_hz, room.changed["pi.pulses.clock_hz"]).step_us
    assert abs(after_us - 1500) <= step_us
    vehicle = open_pi_vehicle(str(room.file), [word for word in at if word != "--set"])
    with Stand(vehicle, "emulated") as stand:  # what the file says now moves the pulse itself
        stand.pulse("tail_3", 1800)
        assert abs(stand.emulated_pulse_us("tail_3") - 1800) <= step_us


def test_a_person_whose_oscilloscope_shows_every_fourth_microsecond_gets_there_too(room):
    see = lambda pulses: str(4 * round(pulses[0] / 4))  # noqa: E731
    room.calibrate("clock", *TRUTH, "--set", "pi.pulses.frequency_hz=50", answers=["yes", see, see, see, see])
    assert room.changed["pi.pulses.clock_hz"] == pytest.approx(26.3e6, rel=0.005)


def test_a_clock_that_is_right_is_left_alone(room):
    room.calibrate("clock", "--measure")
    assert room.file.read_text() == FISH_TEXT
    assert "nothing" in room.out


def test_what_no_oscillator_can_have_is_refused_and_asked_for_again(room):
    err = room.calibrate("clock", *TRUTH, answers=["yes", "1,424", "x", "9999", "1100", "1425.6", "1500"])
    assert "a point, not a comma" in err and '"9999" is no number' in err
    assert "pi.pulses.clock_hz" in err and "30000000" in err  # the vehicle file's own sentence on 34 MHz
    assert room.changed["pi.pulses.clock_hz"] == pytest.approx(26.3e6, rel=1e-3)


def test_measurements_that_never_fit_end_it_with_nothing_written(room):
    err = room.calibrate("clock", answers=["yes", *["1450", "1550"] * 5], code=2)
    assert "nothing was written" in err and room.file.read_text() == FISH_TEXT


def test_a_script_gives_its_measurement_and_nothing_is_pulsed(room):
    room.calibrate("clock", "--measured", 1425.58, "--json")
    result = json.loads(room.out)
    assert result["keys"]["pi.pulses.clock_hz"]["old"] == 25_000_000
    assert room.changed == {"pi.pulses.clock_hz": pytest.approx(26.3e6, rel=1e-3)}
    assert room.person.asked == 0 and not room.registers.exists()


def test_the_clock_can_be_measured_on_any_pulsed_channel(room):
    room.calibrate("clock", *TRUTH, "--actuator", "tail_4", answers=["yes", "1424", "1500"])
    during = room.person.pulses[1]
    assert during[3] == pytest.approx(1425.6, abs=0.5) and sum(pulse > 0 for pulse in during) == 1


def test_before_a_motor_is_pulsed_its_owner_hears_that_it_may_turn(room):
    err = room.calibrate("clock", "--into", "c.toml", vehicle=ROV, answers=["no"], code=2)
    assert "MOTOR MAY TURN" in err and "nothing was moved" in err


# Where it goes


def test_comments_and_layout_stay_and_only_the_changed_line_changes(room):
    room.calibrate("servo", "tail_2", answers=["yes", "+12", "", "27", "-27", ""])
    old, new = FISH_TEXT.splitlines(), room.file.read_text().splitlines()
    assert len(old) == len(new)
    lines = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(lines) == 1
    assert lines[0][1] == lines[0][0].replace(" }", ", trim_us = 12, direction = -1 }")


def test_a_file_of_its_own_is_made_amended_and_counts_from_then_on(room):
    for _ in range(2):  # the second time the clock is right, by the file
        room.calibrate("clock", *TRUTH, "--measure", "--into", "found/c.toml", vehicle="fish")
    first = Path("found/c.toml").read_text()
    room.calibrate("servo", "tail_1", "--into", "found/c.toml", vehicle="fish",
                   answers=["yes", "+8", "", "-27", "27", ""])  # fmt: skip
    assert Path("found/c.toml").read_text().startswith(first)
    assert flat(Path("found/c.toml").read_text()) == {
        "pi.pulses.clock_hz": pytest.approx(26.3e6, rel=1e-6),
        "actuator.tail_1.trim_us": 8,
    }
    assert main(["check", "fish", "--with", "found/c.toml"]) == 0
    assert os.stat("found/c.toml").st_mode & 0o777 == 0o644  # the vehicle's own user reads it


def test_an_empty_file_as_deployment_leaves_it_is_amended(room):
    Path("c.toml").touch()
    room.calibrate("clock", *TRUTH, "--measure", "--into", "c.toml", vehicle="fish")
    assert flat(Path("c.toml").read_text()).keys() == {"pi.pulses.clock_hz"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "--into FILE"),
        (("--into", "."), "no place for a file"),
        (("--into", "broken.toml"), "no TOML"),
        (("--into", "other.toml"), "actuator.tail_9"),
    ],
)
def test_a_place_that_cannot_take_it_is_refused_before_anything_moves(words, says, room):
    Path("broken.toml").write_text("a = \n")
    Path("other.toml").write_text("[actuator.tail_9]\ntrim_us = 3\n")
    err = room.calibrate("servo", "tail_1", *words, vehicle="fish", answers=["yes"], code=2)
    assert says in err and room.person.asked == 0


# A servo


def test_a_joint_is_found_as_it_is_built(room):
    answers = ["yes", straighten, straighten, read_angle, read_angle, ""]
    room.calibrate("servo", "tail_1", answers=answers)
    found = {key.split(".")[-1]: value for key, value in room.changed.items()}
    assert found["trim_us"] == pytest.approx(37, abs=4)
    assert found["us_per_rad"] == pytest.approx(580, rel=0.01)
    assert found["direction"] == -1
    servo = build_map(open_pi_vehicle(str(room.file), []).actuator("tail_1"))
    for degrees in (-40, 0, 25):  # the map, as the vehicle will use it, against the joint
        assert angle_of(servo.to_device(fixed(math.radians(degrees)))) == pytest.approx(degrees, abs=0.6)


def test_nothing_but_the_one_servo_is_ever_pulsed_and_not_before_yes(room):
    room.calibrate("servo", "tail_3", answers=["yes", "", "27", "-27", ""])
    assert not any(room.person.pulses[0])
    for pulses in room.person.pulses[1:]:
        assert [k for k, pulse in enumerate(pulses) if pulse] == [2]
    at = [round(pulses[2]) for pulses in room.person.pulses[1:]]
    assert at == [pytest.approx(us, abs=1) for us in (1500, 1200, 1800, 1500)]


def test_a_servo_never_jumps_once_it_has_a_pulse(room, monkeypatch):
    sent = []
    write = PiDriver.write
    monkeypatch.setattr(
        PiDriver, "write", lambda driver, outputs: (sent.append(outputs[0]), write(driver, outputs))
    )
    room.calibrate("servo", "tail_1", answers=["yes", "-60", "", "27", "-27", "yes", "-50", "", "+50", ""])
    assert max(abs(b - a) for a, b in zip(sent, sent[1:], strict=False)) <= calibrate_stand.RAMP_US
    assert min(sent) == 1500 - 60 - 300 - 50 and max(sent) == 1500 - 60 + 300 + 50


def test_end_stops_are_found_by_small_nudges(room):
    ends = ["yes", "-80", "-50", "-30", "", "+50", "0", "+20", ""]
    err = room.calibrate("servo", "tail_1", answers=["yes", "", "-27", "27", *ends])
    assert '"-80" is no nudge' in err and '"0" is no nudge' in err
    assert room.changed == {"actuator.tail_1.low_us": 1120, "actuator.tail_1.high_us": 1870}
    assert "cannot be reached" in err  # 1.1 rad, which the file allows the joint


def test_values_that_the_vehicle_file_refuses_are_said_and_asked_for_again(room):
    nudges = ["+100"] * 4 + ["straight", "+1", ""]  # 300 us of trim are allowed
    angles = ["3", "-3", "27", "12", "190", "-20", "20"]  # 5700 us a radian; one side only; no angle
    err = room.calibrate("servo", "tail_1", answers=["yes", *nudges, *angles, ""])
    assert "actuator.tail_1.trim_us is 400" in err and "--set" not in err
    assert '"straight" is no nudge' in err
    assert "actuator.tail_1.us_per_rad" in err
    assert "not to both sides" in err
    assert '"190" is no number' in err
    assert room.changed["actuator.tail_1.trim_us"] == 300


def test_a_pulse_outside_the_end_stops_is_never_sent_while_straightening(room):
    narrow = ("--set", "actuator.tail_1.low_us=1450", "--set", "actuator.tail_1.high_us=1600")
    err = room.calibrate("servo", "tail_1", *narrow, answers=["yes", "-60", "", "-4", "4", ""])
    assert "outside low_us to high_us, 1450 to 1600" in err and "only 50 us to each side" in err
    for pulses in room.person.pulses[1:]:
        assert 1449 <= pulses[0] <= 1601


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("servo", "no_such"), "no actuator no_such; it has tail_1"),
        (("thruster", "tail_1"), "tail_1 is a servo, not a thruster"),
        (("leak", "infrared"), 'unit = "1"'),
        (("leak", "bumper"), "on a gpio"),
        (("leak", "fin"), "has no sensor fin"),
        (("clock", "--measure", "--on", "pi"), "--on emulated"),
        (("clock", "--actuator", "fin"), "no actuator fin"),
        (("clock", "--measured", "300"), "pi.pulses.clock_hz"),
        (
            ("servo", "tail_1", "--spread", "30", "--set", "actuator.tail_1.high_us=1510"),
            "10 us from an end stop",
        ),
        (
            ("clock", "--set", "pi.pulses.frequency_hz=24", "--set", "pi.pulses.clock_hz=30000000"),
            "cannot pulse",
        ),
    ],
)
def test_what_cannot_be_calibrated_is_one_sentence_and_the_file_stays(words, says, room):
    err = room.calibrate(*words, answers=["yes", "", "", ""], code=2)
    assert says in err.splitlines()[-1] and "Traceback" not in err
    assert room.file.read_text() == FISH_TEXT


# A thruster


def force_n(pulse_us: float) -> float:
    away = pulse_us - 1500
    return math.copysign(max(abs(away) - 30, 0) ** 1.2 / 30, away)


def test_bench_data_of_a_thruster_becomes_a_map(room, monkeypatch):
    pushes, waited = [], []
    wait = Stand.wait

    def watched(stand, seconds: float) -> None:
        wait(stand, seconds)
        pushes.append(stand.emulated_pulse_us("fore_port")) if seconds == 1.5 else None
        waited.append(seconds)

    monkeypatch.setattr(Stand, "wait", watched)
    answers = ["yes", "", "", *["", lambda pulses: f"{force_n(pushes[-1]):.3f}"] * 25]
    room.calibrate("thruster", "fore_port", "--seconds", 1.5, "--json", vehicle=ROV, answers=answers)
    result = json.loads(room.out)
    assert result["points"] == len(pushes) == 25 and max(waited) == 1.5
    away = [abs(us - 1500) for us in pushes]
    assert all(b > a - 1 for a, b in zip(away, away[1:], strict=False)), "the mildest come first"
    for pulses in room.person.pulses[1:]:  # whenever a person is asked, it rests
        assert pulses[0] == pytest.approx(1500, abs=1)
    with open(result["written"]) as file:
        rows = list(csv.DictReader(file))
    assert [float(row["pwm_us"]) for row in rows] == sorted(float(row["pwm_us"]) for row in rows)
    assert {float(row["voltage_V"]) for row in rows} == {
        open_pi_vehicle(str(ROV), []).actuator("fore_port")["nominal_v"]
    }
    assert main([*result["next"].split()[1:], "--json"]) == 0


def test_forces_can_be_typed_wrong_repeated_and_in_kgf(room):
    first = ["", "much", "", "0.5"]  # no number; once more; then a force
    rest = ["", "1"] * 19
    words = ("thruster", "fore_port", "--unit", "kgf", "--seconds", 0.2, "--points", 20, "--write", "b.csv")
    err = room.calibrate(*words, vehicle=ROV, answers=["yes", "", "14,8", "14.8", *first, *rest])
    assert '"much" is no number' in err and '"14,8" is no number' in err
    lines = Path("b.csv").read_text().splitlines()
    assert lines[0] == "voltage_V,pwm_us,force_kgf" and len(lines) == 21 and "14.8,1479,0.5" in lines
    room.calibrate(*words, vehicle=ROV, answers=["yes", "", "16", *["", "1"] * 20])
    assert len(Path("b.csv").read_text().splitlines()) == 41  # a second voltage
    err = room.calibrate("thruster", "fore_port", "--write", "b.csv", vehicle=ROV, code=2)
    assert "other columns" in err and room.person.asked == 0


def test_the_voltage_is_typed_where_no_sensor_reads_it(room):
    words = ("--set", "actuator.fore_port.battery=", "--write", "b.csv")
    answers = ["yes", "", "", "12", *["", "1"] * 20]
    room.calibrate(
        "thruster", "fore_port", *words, "--seconds", 0.2, "--points", 20, vehicle=ROV, answers=answers
    )
    assert Path("b.csv").read_text().splitlines()[1].startswith("12.0,")


def test_fewer_points_than_a_map_needs_are_refused(room):
    from tools import thrust_data

    assert calibrate_thruster.FEWEST == thrust_data.FEWEST
    assert "20 or more" in room.calibrate("thruster", "fore_port", "--points", 19, vehicle=ROV, code=2)


def test_a_motor_gets_its_neutral_before_its_pulses_end(room, monkeypatch):
    last = []
    close = PiDriver.close

    def closed(driver) -> None:
        last.append(pulses_of(room.registers)[0])
        close(driver)

    monkeypatch.setattr(PiDriver, "close", closed)
    wait = Stand.wait

    def interrupted(stand, seconds: float) -> None:
        if seconds == 4.0 and abs(stand.emulated_pulse_us("fore_port") - 1500) > 20:
            raise KeyboardInterrupt
        wait(stand, seconds)

    monkeypatch.setattr(Stand, "wait", interrupted)
    room.calibrate("thruster", "fore_port", vehicle=ROV, answers=["yes", "", "", "", "0", ""], code=130)
    assert last == [pytest.approx(1500, abs=1)]
    assert not Path("runs").exists()


# A leak probe


@pytest.fixture
def probe_room(room):
    text = room.file.read_text().replace("[pi.pulses]\n", f"{LEAK}[pi.pulses]\n")
    room.file.write_text(text.replace("[pi.sensor]\n", '[pi.sensor]\nbilge = "analog.a3"\n'))
    return room


@pytest.mark.parametrize(("dry", "wet"), [(200, 2600), (2600, 180)])
def test_a_probe_reads_0_dry_and_1_wet_afterwards(dry, wet, probe_room):
    probe_room.calibrate("leak", "bilge", "--dry", dry, "--wet", wet, answers=["", ""])
    sensor = build_sensor_map(open_pi_vehicle(str(probe_room.file), []).sensor("bilge"))
    assert sensor.to_si(dry) == pytest.approx(0, abs=0.002)
    assert sensor.to_si(wet) == pytest.approx(1, abs=0.002)
    assert probe_room.person.asked == 2 and not any(map(any, probe_room.person.pulses))


def test_dry_and_wet_that_noise_could_confuse_are_refused(probe_room):
    before = probe_room.file.read_bytes()
    words = ("leak", "bilge", "--dry", 200, "--noise", 20)
    assert "10 times the noise" in probe_room.calibrate(*words, "--wet", 300, answers=["", ""], code=2)
    assert probe_room.file.read_bytes() == before
    probe_room.calibrate(*words, "--wet", 500, answers=["", ""])


def test_a_wet_probe_that_would_read_as_nothing_is_refused(probe_room):
    narrow = ("--set", "sensor.bilge.high_count=2000")
    assert "widen" in probe_room.calibrate("leak", "bilge", *narrow, answers=["", ""], code=2)


def test_a_probe_that_does_not_read_is_refused(probe_room, monkeypatch):
    monkeypatch.setattr("hal.emulated.ads1115.Ads1115.read_word", lambda chip, register: 0)
    err = probe_room.calibrate("leak", "bilge", answers=["", ""], code=2)
    assert "gave 0 readings" in err and "analog (ads1115)" in err


# However it ends

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
    raise AssertionError("a lost terminal changed nothing")


@pytest.mark.parametrize("what", WHOLE)
@pytest.mark.parametrize(("ending", "code"), [(None, 2), (interrupt, 130), (hang_up, 130)])
def test_whenever_a_person_goes_away_pulses_end_and_nothing_is_written(what, ending, code, probe_room):
    room, (text, answers) = probe_room, WHOLE[what]
    if text == ROV_TEXT:
        room.file.write_text(text)
    before = room.file.read_bytes()
    for asked in range(min(len(answers), 10)):  # a motor's pulses are all alike
        if ending is hang_up and asked == 0:
            continue  # nothing is pulsed yet, and the terminal's end ends the process
        room.registers.unlink(missing_ok=True)
        until = [*answers[:asked], *([ending] if ending else [])]
        err = room.calibrate(*what.split(), answers=until, code=code)
        assert room.person.asked == asked + 1
        assert "Traceback" not in err
        assert room.file.read_bytes() == before
        assert {path.name for path in room.file.parent.iterdir()} <= {"vehicle.toml", "registers"}
    room.calibrate(*what.split(), answers=answers)  # and if they stay, it is written
    assert room.file.read_bytes() != before or Path("runs").exists()


@pytest.mark.parametrize("answer", ["no", "", "y", "YES"])
def test_only_yes_is_yes(answer, room):
    for what in ("clock", "servo tail_1"):
        assert "nothing was moved" in room.calibrate(*what.split(), answers=[answer, "yes"], code=2)
        assert not room.registers.exists()


def test_it_cannot_be_put_to_sleep_and_signals_are_as_before_afterwards(room):
    def stop(_) -> str:
        os.kill(os.getpid(), signal.SIGTSTP)  # Ctrl-Z
        return ""

    numbers = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)
    before = [signal.getsignal(number) for number in numbers]
    room.calibrate("servo", "tail_1", answers=["yes", stop, "-27", "27", ""])
    assert [signal.getsignal(number) for number in numbers] == before


@pytest.mark.parametrize("function", ["__exit__", "_close_bus", "_send", "_held"])
def test_a_signal_at_the_worst_moment_still_ends_the_pulses(function, room):
    """While pulses are being sent or ended, whoever goes away: it is remembered, and nothing is written."""
    sent = []

    def trace(frame, event, _) -> None:
        in_stand = frame.f_code.co_filename == calibrate_stand.__file__
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


def test_a_terminal_that_is_closed_ends_the_pulses(room):
    command = ["calibrate", "servo", str(room.file), "tail_1", "--on", f"emulated:{room.registers}"]
    child, terminal = pty.fork()
    if not child:
        os.environ["PYTHONPATH"] = str(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "tools.cli", *command])
    said = b""
    for until, answer in ((b"yes to go on", b"yes\n"), (b"straight", b"")):
        while until not in said:
            said += os.read(terminal, 1000)
        os.write(terminal, answer)
    assert pulses_of(room.registers)[0] > 0
    os.close(terminal)
    os.waitpid(child, 0)
    assert not any(pulses_of(room.registers)) and room.file.read_text() == FISH_TEXT


# On the computer's own bus: the drivers in their threads, the chip by the clock


def test_on_a_computer_the_drivers_run_by_themselves(room, monkeypatch):
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


def test_a_chip_that_is_not_there_is_a_sentence(room, monkeypatch):
    def nobody(parts, number):
        raise Nack

    monkeypatch.setattr(Parts, "smbus", nobody)
    monkeypatch.setattr(calibrate_stand, "PATIENCE_S", 0.3)
    err = room.calibrate("servo", "tail_1", "--on", "pi", answers=["yes", ""], code=2)
    assert "no pulse for tail_1: pulses (pca9685 at 0x40): Remote I/O error; see caudal probe" in err
    assert room.person.asked == 1


def test_another_program_on_the_same_chip_is_noticed(room, monkeypatch):
    class Fought(Pca9685):
        """Another writes full stop to all channels whenever this one writes."""

        def write(self, data: bytes) -> None:
            super().write(data)
            if len(data) > 2:
                super().write(bytes((0xFD, 0x10)))

    monkeypatch.setattr("hal.emulated.wiring.Pca9685", Fought)
    err = room.calibrate("servo", "tail_1", answers=["yes", ""], code=2)
    assert "no pulse for tail_1" in err
    assert room.file.read_text() == FISH_TEXT
