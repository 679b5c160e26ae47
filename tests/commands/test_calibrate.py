"""`caudal calibrate clock` and `servo`: measurements become settings of the vehicle."""

import json
import math
import os
from pathlib import Path

import pytest

from caudal.hal.core.build import build_map
from caudal.hal.core.fixed_point import to_q14
from caudal.hal.pi.driver import PiDriver
from caudal.hal.pi.pca9685 import Scale
from caudal.tools.calibrate import test_stand
from caudal.tools.calibrate.test_stand import Stand
from caudal.tools.cli.main import main
from caudal.tools.config.pi_vehicle import open_pi_vehicle
from tests.commands.calibrating import FISH_TEXT, ROV, TRUTH, flat


def angle_of(pulse_us: float, zero_us=1537.0, us_per_rad=-580.0) -> float:
    """A joint as it is built, in degrees; its servo is mounted the other way around."""
    return math.degrees((pulse_us - zero_us) / us_per_rad)


def straighten(pulses: list[float]) -> str:
    """Nudges until the joint is straight, to a third of a degree."""
    off = angle_of(pulses[0])
    return "" if abs(off) < 0.3 else f"{max(-100, min(100, round(off * 10.1))):+d}"


def read_angle(pulses: list[float]) -> str:
    return f"{angle_of(pulses[0]):.2f}"


# The clock


@pytest.mark.parametrize("frequency_hz", [50, 333])
def test_clock_calibration_makes_pulses_right_to_one_step(room, frequency_hz):
    at = (*TRUTH, "--set", f"pi.pulses.frequency_hz={frequency_hz}")
    err = room.calibrate("clock", *at, "--measure")
    before_us, after_us = (float(line.split()[1]) for line in err.splitlines() if line.startswith("measured"))
    assert before_us == pytest.approx(1424, abs=2)
    assert room.changed == {"pi.pulses.clock_hz": pytest.approx(26.3e6, rel=1e-6)}
    step_us = Scale(frequency_hz, room.changed["pi.pulses.clock_hz"]).step_us
    assert abs(after_us - 1500) <= step_us
    vehicle = open_pi_vehicle(str(room.file), [word for word in at if word != "--set"])
    with Stand(vehicle, "emulated") as stand:  # with the new value the pulse itself is right
        stand.pulse("tail_3", 1800)
        assert abs(stand.emulated_pulse_us("tail_3") - 1800) <= step_us


def test_clock_calibration_works_with_a_coarse_oscilloscope(room):
    see = lambda pulses: str(4 * round(pulses[0] / 4))  # noqa: E731
    room.calibrate("clock", *TRUTH, "--set", "pi.pulses.frequency_hz=50", answers=["yes", see, see, see, see])
    assert room.changed["pi.pulses.clock_hz"] == pytest.approx(26.3e6, rel=0.005)


def test_clock_calibration_changes_nothing_when_the_clock_is_right(room):
    room.calibrate("clock", "--measure")
    assert room.file.read_text() == FISH_TEXT
    assert "nothing" in room.out


def test_clock_calibration_asks_again_after_an_impossible_measurement(room):
    err = room.calibrate("clock", *TRUTH, answers=["yes", "1,424", "x", "9999", "1100", "1425.6", "1500"])
    assert "use a point, not a comma" in err and '"9999" is not a number' in err
    assert "pi.pulses.clock_hz" in err and "30000000" in err  # the vehicle file's message for 34 MHz
    assert room.changed["pi.pulses.clock_hz"] == pytest.approx(26.3e6, rel=1e-3)


def test_clock_calibration_writes_nothing_when_measurements_never_agree(room):
    err = room.calibrate("clock", answers=["yes", *["1450", "1550"] * 5], code=2)
    assert "nothing was written" in err and room.file.read_text() == FISH_TEXT


def test_clock_calibration_pulses_nothing_with_measured(room):
    room.calibrate("clock", "--measured", 1425.58, "--json")
    result = json.loads(room.out)
    assert result["keys"]["pi.pulses.clock_hz"]["old"] == 25_000_000
    assert room.changed == {"pi.pulses.clock_hz": pytest.approx(26.3e6, rel=1e-3)}
    assert room.person.asked == 0 and not room.registers.exists()


def test_clock_calibration_pulses_only_the_chosen_channel(room):
    room.calibrate("clock", *TRUTH, "--actuator", "tail_4", answers=["yes", "1424", "1500"])
    during = room.person.pulses[1]
    assert during[3] == pytest.approx(1425.6, abs=0.5) and sum(pulse > 0 for pulse in during) == 1


def test_clock_calibration_warns_that_a_motor_may_turn(room):
    err = room.calibrate("clock", "--output", "c.toml", vehicle=ROV, answers=["no"], code=2)
    assert "MOTOR MAY TURN" in err and "nothing was moved" in err


# Where it goes


def test_calibration_changes_only_its_lines_of_the_vehicle_file(room):
    room.calibrate("servo", "tail_2", answers=["yes", "+12", "", "27", "-27", ""])
    old, new = FISH_TEXT.splitlines(), room.file.read_text().splitlines()
    assert len(old) == len(new)
    lines = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(lines) == 1
    assert lines[0][1] == lines[0][0].replace(" }", ", trim_us = 12, direction = -1 }")


def test_output_file_is_created_then_extended_and_read(room):
    for _ in range(2):  # the second time the clock is right, because the file is read
        room.calibrate("clock", *TRUTH, "--measure", "--output", "found/c.toml", vehicle="fish")
    first = Path("found/c.toml").read_text()
    room.calibrate("servo", "tail_1", "--output", "found/c.toml", vehicle="fish",
                   answers=["yes", "+8", "", "-27", "27", ""])  # fmt: skip
    assert Path("found/c.toml").read_text().startswith(first)
    assert flat(Path("found/c.toml").read_text()) == {
        "pi.pulses.clock_hz": pytest.approx(26.3e6, rel=1e-6),
        "actuator.tail_1.trim_us": 8,
    }
    assert main(["check", "fish", "--with", "found/c.toml"]) == 0
    assert os.stat("found/c.toml").st_mode & 0o777 == 0o644  # the vehicle's own user reads it


def test_empty_output_file_is_extended(room):
    Path("c.toml").touch()
    room.calibrate("clock", *TRUTH, "--measure", "--output", "c.toml", vehicle="fish")
    assert flat(Path("c.toml").read_text()).keys() == {"pi.pulses.clock_hz"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "--output FILE"),
        (("--output", "."), "cannot be written"),
        (("--output", "broken.toml"), "not valid TOML"),
        (("--output", "other.toml"), "actuator.tail_9"),
    ],
)
def test_calibration_rejects_a_bad_output_file_before_anything_moves(words, says, room):
    Path("broken.toml").write_text("a = \n")
    Path("other.toml").write_text("[actuator.tail_9]\ntrim_us = 3\n")
    err = room.calibrate("servo", "tail_1", *words, vehicle="fish", answers=["yes"], code=2)
    assert says in err and room.person.asked == 0


# A servo


def test_servo_calibration_finds_trim_scale_and_direction(room):
    answers = ["yes", straighten, straighten, read_angle, read_angle, ""]
    room.calibrate("servo", "tail_1", answers=answers)
    found = {key.split(".")[-1]: value for key, value in room.changed.items()}
    assert found["trim_us"] == pytest.approx(37, abs=4)
    assert found["us_per_rad"] == pytest.approx(580, rel=0.01)
    assert found["direction"] == -1
    servo = build_map(open_pi_vehicle(str(room.file), []).actuator("tail_1"))
    for degrees in (-40, 0, 25):  # the vehicle's map compared with the joint
        assert angle_of(servo.to_device(to_q14(math.radians(degrees)))) == pytest.approx(degrees, abs=0.6)


def test_servo_calibration_pulses_only_its_servo_and_only_after_yes(room):
    room.calibrate("servo", "tail_3", answers=["yes", "", "27", "-27", ""])
    assert not any(room.person.pulses[0])
    for pulses in room.person.pulses[1:]:
        assert [k for k, pulse in enumerate(pulses) if pulse] == [2]
    at = [round(pulses[2]) for pulses in room.person.pulses[1:]]
    assert at == [pytest.approx(us, abs=1) for us in (1500, 1200, 1800, 1500)]


def test_servo_calibration_moves_the_servo_slowly(room, monkeypatch):
    sent = []
    write = PiDriver.write
    monkeypatch.setattr(
        PiDriver, "write", lambda driver, outputs: (sent.append(outputs[0]), write(driver, outputs))
    )
    room.calibrate("servo", "tail_1", answers=["yes", "-60", "", "27", "-27", "yes", "-50", "", "+50", ""])
    assert max(abs(b - a) for a, b in zip(sent, sent[1:], strict=False)) <= test_stand.RAMP_US
    assert min(sent) == 1500 - 60 - 300 - 50 and max(sent) == 1500 - 60 + 300 + 50


def test_servo_calibration_finds_end_stops_by_small_nudges(room):
    ends = ["yes", "-80", "-50", "-30", "", "+50", "0", "+20", ""]
    err = room.calibrate("servo", "tail_1", answers=["yes", "", "-27", "27", *ends])
    assert '"-80" is not a nudge' in err and '"0" is not a nudge' in err
    assert room.changed == {"actuator.tail_1.low_us": 1120, "actuator.tail_1.high_us": 1870}
    assert "cannot be reached" in err  # 1.1 rad, which the file allows the joint


def test_servo_calibration_asks_again_after_values_out_of_range(room):
    nudges = ["+100"] * 4 + ["straight", "+1", ""]  # 300 us of trim are allowed
    angles = ["3", "-3", "27", "12", "190", "-20", "20"]  # 5700 us a radian; one side only; no angle
    err = room.calibrate("servo", "tail_1", answers=["yes", *nudges, *angles, ""])
    assert "actuator.tail_1.trim_us is 400" in err and "--set" not in err
    assert '"straight" is not a nudge' in err
    assert "actuator.tail_1.us_per_rad" in err
    assert "not on both sides" in err
    assert '"190" is not a number' in err
    assert room.changed["actuator.tail_1.trim_us"] == 300


def test_servo_calibration_never_sends_a_pulse_outside_the_end_stops(room):
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
def test_calibration_prints_one_sentence_and_changes_nothing_when_it_fails(words, says, room):
    err = room.calibrate(*words, answers=["yes", "", "", ""], code=2)
    assert says in err.splitlines()[-1] and "Traceback" not in err
    assert room.file.read_text() == FISH_TEXT
