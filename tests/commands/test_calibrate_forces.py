"""`caudal calibrate thruster` and `leak`: bench data for a map, and a probe that reads 0 dry and 1 wet."""

import csv
import json
import math
from pathlib import Path

import pytest

from caudal.hal.core.build import build_sensor_map
from caudal.hal.emulated.pca9685 import pulses_of
from caudal.hal.pi.driver import PiDriver
from caudal.tools.calibrate import thruster
from caudal.tools.calibrate.test_stand import Stand
from caudal.tools.cli.main import main
from caudal.tools.config.pi_vehicle import open_pi_vehicle
from tests.commands.calibrating import ROV

# A thruster


def force_n(pulse_us: float) -> float:
    away = pulse_us - 1500
    return math.copysign(max(abs(away) - 30, 0) ** 1.2 / 30, away)


def test_thruster_calibration_writes_bench_data_for_thrust(room, monkeypatch):
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
    assert all(b > a - 1 for a, b in zip(away, away[1:], strict=False)), "the weakest come first"
    for pulses in room.person.pulses[1:]:  # at every prompt the motor is at neutral
        assert pulses[0] == pytest.approx(1500, abs=1)
    with open(result["written"]) as file:
        rows = list(csv.DictReader(file))
    assert [float(row["pwm_us"]) for row in rows] == sorted(float(row["pwm_us"]) for row in rows)
    assert {float(row["voltage_V"]) for row in rows} == {
        open_pi_vehicle(str(ROV), []).actuator("fore_port").nominal_v
    }
    assert main([*result["next"].split()[1:], "--json"]) == 0


def test_thruster_calibration_repeats_points_and_accepts_kgf(room):
    first = ["", "much", "", "0.5"]  # not a number; again; then a force
    rest = ["", "1"] * 19
    words = ("thruster", "fore_port", "--unit", "kgf", "--seconds", 0.2, "--points", 20, "--write", "b.csv")
    err = room.calibrate(*words, vehicle=ROV, answers=["yes", "", "14,8", "14.8", *first, *rest])
    assert '"much" is not a number' in err and '"14,8" is not a number' in err
    lines = Path("b.csv").read_text().splitlines()
    assert lines[0] == "voltage_V,pwm_us,force_kgf" and len(lines) == 21 and "14.8,1479,0.5" in lines
    room.calibrate(*words, vehicle=ROV, answers=["yes", "", "16", *["", "1"] * 20])
    assert len(Path("b.csv").read_text().splitlines()) == 41  # a second voltage
    err = room.calibrate("thruster", "fore_port", "--write", "b.csv", vehicle=ROV, code=2)
    assert "other columns" in err and room.person.asked == 0


def test_thruster_calibration_asks_for_the_voltage_without_a_sensor(room):
    words = ("--set", "actuator.fore_port.battery=", "--write", "b.csv")
    answers = ["yes", "", "", "12", *["", "1"] * 20]
    room.calibrate(
        "thruster", "fore_port", *words, "--seconds", 0.2, "--points", 20, vehicle=ROV, answers=answers
    )
    assert Path("b.csv").read_text().splitlines()[1].startswith("12.0,")


def test_thruster_calibration_rejects_too_few_points(room):
    from caudal.tools.thrust import bench_data

    assert thruster.FEWEST == bench_data.FEWEST
    assert "20 or more" in room.calibrate("thruster", "fore_port", "--points", 19, vehicle=ROV, code=2)


def test_interrupted_thruster_calibration_ends_with_neutral(room, monkeypatch):
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


@pytest.mark.parametrize(("dry", "wet"), [(200, 2600), (2600, 180)])
def test_leak_calibration_makes_0_dry_and_1_wet(dry, wet, probe_room):
    probe_room.calibrate("leak", "bilge", "--dry", dry, "--wet", wet, answers=["", ""])
    sensor = build_sensor_map(open_pi_vehicle(str(probe_room.file), []).sensor("bilge"))
    assert sensor.to_si(dry) == pytest.approx(0, abs=0.002)
    assert sensor.to_si(wet) == pytest.approx(1, abs=0.002)
    assert probe_room.person.asked == 2 and not any(map(any, probe_room.person.pulses))


def test_leak_calibration_rejects_a_difference_below_the_noise(probe_room):
    before = probe_room.file.read_bytes()
    words = ("leak", "bilge", "--dry", 200, "--noise", 20)
    assert "10 times the noise" in probe_room.calibrate(*words, "--wet", 300, answers=["", ""], code=2)
    assert probe_room.file.read_bytes() == before
    probe_room.calibrate(*words, "--wet", 500, answers=["", ""])


def test_leak_calibration_rejects_counts_outside_the_sensor_range(probe_room):
    narrow = ("--set", "sensor.bilge.high_count=2000")
    assert "widen" in probe_room.calibrate("leak", "bilge", *narrow, answers=["", ""], code=2)


def test_leak_calibration_rejects_a_probe_without_readings(probe_room, monkeypatch):
    monkeypatch.setattr("caudal.hal.emulated.ads1115.Ads1115.read_word", lambda chip, register: 0)
    err = probe_room.calibrate("leak", "bilge", answers=["", ""], code=2)
    assert "gave 0 readings" in err and "analog (ads1115)" in err
