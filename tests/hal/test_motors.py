"""Motors of a vehicle file: measured once, used by many thrusters, every curve checked."""

import pytest

from caudal.hal.core.build import build_map
from caudal.hal.tables import channels
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError

MOTOR = """
[motor.m]
description = "a made-up motor"
use = "table"
polynomial = [{ battery_v = 12.0, dead_low_us = 1480, dead_high_us = 1520, forward = [10.0], reverse = [5.0] }]
table = [
  { battery_v = 12.0, pulses_us = [1100, 1480, 1520, 1900], forces_n = [-20.0, 0.0, 0.0, 40.0] },
  { battery_v = 16.0, pulses_us = [1100, 1480, 1520, 1900], forces_n = [-30.0, 0.0, 0.0, 60.0], rms_n = 0.02 },
]
"""
THRUSTER = """
[actuator.{name}]
map = "thruster"
port = {port}
low_us = {low_us}
high_us = 1900
nominal_v = 12.0
motor = "m"
min_n = -9.0
max_n = 9.0
slew_n_s = 9.0
"""


def read(motor: str = MOTOR, low_us: int = 1100, count: int = 2):
    thrusters = "".join(
        THRUSTER.format(name=f"jet_{k}", port=k, low_us=low_us if k else 1100) for k in range(count)
    )
    return channels.read(VehicleFile.parse(motor + thrusters, "mine.toml")).actuators


def test_every_thruster_on_a_motor_gets_its_curves():
    for settings in read(count=7):
        assert build_map(settings).force_n(1900) == 40.0


def test_thruster_uses_the_curves_that_its_motor_names():
    settings = read(MOTOR.replace('use = "table"', 'use = "polynomial"'))[0]
    assert build_map(settings).force_n(1620) == 10.0
    assert build_map(read()[0]).force_n(1620) != 10.0


def test_curves_in_use_are_without_fit_errors():
    assert all(curve.rms_n is None for curve in read()[0].curve)


@pytest.mark.parametrize(
    "old, new, words",
    [
        # though not in use
        ("forward = [10.0]", "forward = [10.0, -9.0]", "motor.m.polynomial.0: thrust falls"),
        ("0.0, 60.0]", "70.0, 60.0]", "motor.m.table.1.forces_n"),
        (
            "[1100, 1480, 1520, 1900], forces_n = [-30",
            "[1100, 1480, 1900], forces_n = [-30",
            "table.1.pulses_us",
        ),
        ("0.0, 0.0, 40.0", "0.0, 1.0, 40.0", "actuator.jet_0.neutral_us: motor.m.table.0 pushes"),
        ("battery_v = 16.0", "battery_v = 12.0", "motor.m.table: battery_v must grow"),
        ('use = "table"', 'use = "spline"', "motor.m.use"),
        ('use = "table"', "", "motor.m has no use"),
        ("[motor.m]", "[motor.n]", "actuator.jet_0.motor: there is no [motor.m]; there is n"),
    ],
)
def test_unusable_motor_is_refused(old, new, words):
    assert old in MOTOR
    with pytest.raises(VehicleFileError) as refused:
        read(MOTOR.replace(old, new, 1))
    assert words in str(refused.value)


def test_each_thrusters_own_range_of_pulses_is_checked():
    falls_below_1000 = MOTOR.replace("reverse = [5.0]", "reverse = [5.0, 0.0, -0.07]")
    read(falls_below_1000)
    with pytest.raises(VehicleFileError, match=r"motor\.m\.polynomial\.0: .* actuator\.jet_1"):
        read(falls_below_1000, low_us=900)
