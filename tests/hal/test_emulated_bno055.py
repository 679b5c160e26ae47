"""An emulated BNO055 looks to Adafruit's package, and to its registers' readers, like the chip."""

import math
import struct

import adafruit_bno055
import pytest
from chip_bench import Bench
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.bno055 import Bno055

NDOF, IMU, CONFIG = b"\x3d\x0c", b"\x3d\x08", b"\x3d\x00"


@pytest.fixture
def bench(monkeypatch) -> Bench:
    bench = Bench()
    bench.put_time_into(monkeypatch, adafruit_bno055)
    return bench


def read(bench: Bench, register: int, count: int = 1) -> bytes:
    return bench.bus.write_read(0x28, bytes([register]), count)


def running(mode: bytes = NDOF, **counts: int) -> Bench:
    bench = Bench()
    bench.add(Bno055).set(**counts)
    bench.bus.write(0x28, mode)
    bench.wait(7_000)
    return bench


def test_adafruits_package_reads_what_was_set(bench):
    chip = bench.add(Bno055)
    sensor = adafruit_bno055.BNO055_I2C(bench.bus)
    assert bench.now_us > 700_000  # it waited for the reset, and the chip came back
    chip.set(heading=16 * 271, roll=-16 * 12, pitch=16 * 33 + 8, rate_x=160, rate_y=-320, rate_z=16)
    chip.set(acc_x=12, acc_y=-34, acc_z=981, mag_x=160, mag_y=-320, mag_z=-640)
    chip.set(lin_x=1, lin_y=-2, lin_z=3, grav_x=-4, grav_y=5, grav_z=980, quat_w=1 << 14)
    assert sensor.mode == adafruit_bno055.NDOF_MODE
    assert sensor.euler == (271.0, -12.0, 33.5)
    assert sensor.gyro == pytest.approx([math.radians(10), math.radians(-20), math.radians(1)])
    assert sensor.acceleration == pytest.approx([0.12, -0.34, 9.81])
    assert sensor.magnetic == (10.0, -20.0, -40.0)
    assert sensor.linear_acceleration == pytest.approx([0.01, -0.02, 0.03])
    assert sensor.gravity == pytest.approx([-0.04, 0.05, 9.8])
    assert sensor.quaternion == (1.0, 0.0, 0.0, 0.0)
    assert sensor.temperature == 20
    assert sensor.calibrated


def test_adafruits_package_refuses_another_chip(bench):
    bench.add(Bno055)
    bench.faults.set("identity", 0x28)
    with pytest.raises(RuntimeError, match="bad chip id"):
        adafruit_bno055.BNO055_I2C(bench.bus)


def test_adafruits_package_maps_the_axes_and_switches_ranges(bench):
    chip = bench.add(Bno055)
    sensor = adafruit_bno055.BNO055_I2C(bench.bus)
    chip.set(acc_x=100, acc_y=200, acc_z=300)
    sensor.axis_remap = (1, 0, 2, 0, 1, 0)  # X takes Y, Y takes X turned round
    bench.wait(20_000)
    assert sensor.axis_remap == (1, 0, 2, 0, 1, 0)
    assert sensor.acceleration == pytest.approx([2.0, -1.0, 3.0])
    sensor.accel_range = adafruit_bno055.ACCEL_16G
    assert sensor.accel_range == adafruit_bno055.ACCEL_16G  # a register of the second page
    sensor.use_external_crystal = True
    assert sensor.external_crystal
    sensor.offsets_gyroscope = (1, -2, 3)
    assert sensor.offsets_gyroscope == (1, -2, 3)


def test_adafruits_package_sees_only_the_sensors_that_a_mode_has_on(bench):
    chip = bench.add(Bno055)
    sensor = adafruit_bno055.BNO055_I2C(bench.bus)
    chip.set(heading=160, rate_x=160, acc_x=100, mag_x=16)
    sensor.mode = adafruit_bno055.ACCGYRO_MODE
    firsts = b"".join(read(bench, register, 2) for register in (0x08, 0x0E, 0x14, 0x1A))
    assert struct.unpack("<4h", firsts) == (100, 0, 160, 0)
    assert read(bench, 0x39) == b"\x06"  # runs without fusion


@given(
    st.integers(-2880, 2880), st.integers(-1440, 1440), st.integers(-2880, 2880), st.integers(-32768, 32767)
)
def test_counts_come_out_of_the_registers_as_they_were_set(heading, roll, pitch, rate):
    bench = running(heading=heading, roll=roll, pitch=pitch, rate_z=rate)
    seen = struct.unpack("<4h", read(bench, 0x18, 8))
    assert seen == (rate, heading % 5760, roll, pitch)


def test_identity_and_power_on_values():
    bench = Bench()
    bench.add(Bno055)
    assert read(bench, 0, 4).hex() == "a0fb320f"
    assert read(bench, 0x3B) == b"\x80"
    assert read(bench, 0x3D)[0] & 0x0F == 0
    assert read(bench, 0x41, 2) == b"\x24\x00"


def test_in_config_mode_all_data_is_zero():
    bench = running(heading=100, acc_z=981)
    assert any(read(bench, 0x08, 45))
    bench.bus.write(0x28, CONFIG)
    bench.wait(19_000)
    assert not any(read(bench, 0x08, 46))
    assert read(bench, 0x39) == b"\x00"


def test_data_are_valid_7_ms_after_a_change_of_mode():
    bench = Bench()
    bench.add(Bno055).set(heading=100)
    bench.bus.write(0x28, NDOF)
    bench.wait(6_500)
    assert not any(read(bench, 0x1A, 2)) and read(bench, 0x39) == b"\x00"
    bench.wait(500)
    assert read(bench, 0x1A, 2) == b"\x64\x00" and read(bench, 0x39) == b"\x05"


def test_settings_are_read_only_outside_config_mode():
    bench = running()
    bench.bus.write(0x28, b"\x3b\x00")
    assert read(bench, 0x3B) == b"\x80"
    bench.bus.write(0x28, CONFIG)
    bench.wait(18_500)
    bench.bus.write(0x28, b"\x3b\x00")
    assert read(bench, 0x3B) == b"\x80"
    bench.wait(500)
    bench.bus.write(0x28, b"\x3b\x00")
    assert read(bench, 0x3B) == b"\x00"


def test_operating_mode_does_not_change_without_config_mode():
    bench = running(NDOF)
    bench.bus.write(0x28, IMU)
    assert read(bench, 0x3D) == b"\x0c"


def test_reset_takes_650_ms_and_ends_in_config_mode():
    bench = running(heading=100)
    bench.bus.write(0x28, b"\x3f\x20")
    for _ in range(13):
        with pytest.raises(OSError) as refused:
            read(bench, 0)
        assert refused.value.errno == 121
        bench.wait(50_000)
    assert read(bench, 0, 4).hex() == "a0fb320f"
    assert read(bench, 0x3D)[0] & 0x0F == 0 and not any(read(bench, 0x1A, 6))


def test_chip_responds_without_data_after_a_brown_out():
    bench = running(heading=100)
    bench.faults.set("brown-out", 0x28)
    with pytest.raises(OSError):
        read(bench, 0)
    bench.wait(400_000)
    assert read(bench, 0, 4).hex() == "a0fb320f"
    assert not any(read(bench, 0x1A, 6))


def test_other_units_are_converted():
    bench = Bench()
    bench.add(Bno055).set(heading=16 * 180, rate_x=16 * 90, acc_z=981)
    bench.bus.write(0x28, b"\x3b\x17")
    bench.bus.write(0x28, NDOF)
    bench.wait(7_000)
    assert struct.unpack("<h", read(bench, 0x0C, 2))[0] == 1000  # mg
    assert struct.unpack("<h", read(bench, 0x14, 2))[0] == round(900 * math.pi / 2)  # 1/900 rad/s
    assert struct.unpack("<h", read(bench, 0x1A, 2))[0] == round(900 * math.pi)
    assert read(bench, 0x34)[0] == 34  # 68 degF in steps of 2


def test_invalid_axis_map_does_not_change_the_old_one():
    bench = Bench()
    bench.add(Bno055)
    bench.bus.write(0x28, b"\x41\x00")  # every axis from X
    assert read(bench, 0x41) == b"\x24"


def test_chip_error_shows_in_status_and_code():
    bench = running()
    bench.chips[0x28].error = 3
    assert read(bench, 0x39, 2) == b"\x01\x03"


def test_data_do_not_change_in_suspend_mode():
    bench = Bench()
    chip = bench.add(Bno055)
    bench.bus.write(0x28, b"\x3e\x02")
    bench.bus.write(0x28, NDOF)
    bench.wait(7_000)
    chip.set(heading=100)
    assert not any(read(bench, 0x1A, 2))


def test_unknown_value_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="has no yaw; it has acc_x"):
        Bench().add(Bno055).set(yaw=1)
