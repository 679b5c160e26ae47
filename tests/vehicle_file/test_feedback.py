"""Feedback of actuators: a wrong key is one sentence, an open one gets its default."""

import pytest

from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_vehicle
from tests.conftest import ROOT

WRONG = [
    (
        "fish",
        "actuator.tail_1.feedback=absent_one",
        "actuator.tail_1.feedback",
        'there is no sensor "absent_one"',
    ),
    ("fish", "actuator.tail_1.feedback=depth", "actuator.tail_1.feedback", 'reads m; name one of unit "rad"'),
    ("fish", "actuator.tail_1.feedback=''", "actuator.tail_1.lag_s", "needs feedback"),
    ("fish", "actuator.tail_1.tolerance_rad=0", "actuator.tail_1.tolerance_rad", "0"),
    ("fish", "actuator.tail_1.detect_s=100", "actuator.tail_1.detect_s", "60"),
    (
        "ray",
        "actuator.left_fin.tolerance_rad=0.1",
        "actuator.left_fin.tolerance_rad",
        "name a sensor in `feedback`",
    ),
    ("rov", "actuator.fore_port.turn_n_s2=[1.0]", "actuator.fore_port.turn_n_s2", "2"),
    ("rov", "actuator.fore_port.feedback=battery", "actuator.fore_port.feedback", 'name one of unit "rev/s"'),
    ("hybrid", "actuator.aft_a.feedback=battery", "actuator.aft_a.feedback", 'name one of unit "Pa"'),
    ("fish", "plant.sensor.tail_1_angle.joint=nose", "plant.sensor.tail_1_angle.joint", "is not a joint"),
    (
        "rov",
        "plant.sensor.fore_port_turns.thruster=nose",
        "plant.sensor.fore_port_turns.thruster",
        "is not a thruster",
    ),
]


@pytest.mark.parametrize("vehicle, override, key, words", WRONG)
def test_wrong_feedback_is_reported_in_one_sentence(capsys, vehicle, override, key, words):
    assert main(["check", vehicle, "--set", override]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and key in said and words in said, said


def test_thruster_with_feedback_needs_turn_n_s2(capsys, tmp_path):
    text = (ROOT / "onboard" / "vehicles" / "rov.toml").read_text()
    (tmp_path / "rov.toml").write_text(text.replace("turn_n_s2 = [0.014, 0.011]\n", "", 1))
    assert main(["check", str(tmp_path / "rov.toml")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "actuator.fore_port.turn_n_s2: is needed" in said


def channel(vehicle: str, name: str, *overrides: str):
    return next(a for a in open_vehicle(vehicle, list(overrides)).settings.actuators if a.name == name)


def test_feedback_keys_get_defaults_only_with_a_feedback_sensor():
    servo = channel("ray", "left_fin", "actuator.left_fin.feedback=caudal_angle")
    assert (servo.lag_s, servo.detect_s) == (0.02, 0.3) and servo.tolerance_rad == pytest.approx(0.16)
    without = channel("ray", "left_fin")
    assert not (without.feedback or without.lag_s or without.detect_s or without.tolerance_rad)
    valve = channel("hybrid", "aft_a")
    assert valve.feedback == valve.pressure == "aft_a_pressure"


def test_failsafe_rules_cover_exactly_the_actuators_with_feedback():
    rules = {v: {r.name: r for r in open_vehicle(v).settings.failsafes} for v in ("ray", "rov", "hybrid")}
    assert rules["ray"]["servo_stalled"].actuators == ["tail_yaw", "caudal", "tail_pitch"]
    assert len(rules["rov"]["thruster_dead"].actuators) == 7 and "servo_stalled" not in rules["rov"]
    assert len(rules["hybrid"]["valve_stuck"].actuators) == 6
    assert len(rules["hybrid"]["thruster_dead"].actuators) == 9
