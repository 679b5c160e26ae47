"""The [pi] table: what does not fit is one sentence that names the key."""

import pytest

from caudal.tools.cli.main import main

WRONG = [
    (
        "pi.pulses.frequency_hz=600",
        "pi.pulses.frequency_hz",
        "pulses of tail_1 last up to 2240 us, a period 1667 us",
    ),
    ("pi.pulses.clock_hz=1000", "pi.pulses.clock_hz", "20000000"),
    ("pi.pulses.address=0x28", "pi.chip.imu.address", "0x28 on bus 1 is used by pi.pulses too"),
    ("pi.chip.imu.kind=bno056", "pi.chip.imu.kind", "bno055"),
    ("pi.chip.gauge.model=10ba", "pi.chip.gauge.model", "30ba"),
    ("pi.chip.ring.device=/dev/caudal-sonar", "pi.chip.ring.device", "is used by pi.chip.ahead too"),
    ("pi.chip.ring.fields=10", "pi.sensor.sonar_330", "a line of 10 numbers; give 0 to 9"),
    ("pi.sensor.heading=compass", "pi.sensor.heading", "is not CHIP.VALUE"),
    ("pi.sensor.heading=compass.heading", "pi.sensor.heading", "there is no [pi.chip.compass]"),
    ("pi.sensor.heading=imu.yaw", "pi.sensor.heading", "imu has no yaw; it has heading, roll, pitch"),
    ("pi.sensor.heading=-imu.rate_z", "pi.sensor.turn_rate", "is used by heading too; use each value once"),
    ("pi.sensor.depth=-gauge.depth", "pi.sensor.depth", "only values of an inertial unit can have a sign"),
    ("pi.sensor.bumper=pins.left", "pi.sensor.bumper", "has pins by number"),
    ("pi.sensor.nose=imu.roll", "pi.sensor.nose", "there is no sensor nose"),
    ('pi.absent=["depth"]', "pi.sensor", "sensor depth has a chip and is listed in pi.absent"),
    ('pi.absent=["keel"]', "pi.absent.keel", "there is no sensor keel"),
    ("actuator.tail_1.port=16", "actuator.tail_1.port", "16 is no channel of a PCA9685"),
    (
        "pi.pulses.valves={full_scale_ua=1000000, channel={v=9}, current={}}",
        "pi.pulses.valves.channel.v",
        "no valve",
    ),
]


@pytest.mark.parametrize("override, key, words", WRONG)
def test_what_does_not_fit_is_one_sentence(capsys, override, key, words):
    assert main(["check", "fish", "--set", override]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said[-2] in ".?", said
    assert key in said and words in said, said


def test_sensor_without_a_chip_is_named(capsys, tmp_path):
    from caudal.onboard.vehicles import find

    with open(find("snake")) as file:
        text = file.read()
    (tmp_path / "mine.toml").write_text(text.replace('roll = "imu.pitch"\n', ""))
    assert main(["check", str(tmp_path / "mine.toml")]) == 2
    assert "sensor roll has no chip; add it, or list it in pi.absent" in capsys.readouterr().err
    (tmp_path / "mine.toml").write_text(text.replace("[pi.pulses]\nfrequency_hz = 333\n", ""))
    assert main(["check", str(tmp_path / "mine.toml")]) == 2
    assert "pi has no pulses, which is required" in capsys.readouterr().err
