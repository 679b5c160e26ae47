"""An emulated PCA9685 gives the pulses that the real one would, driven by Adafruit's package and byte by byte."""

import struct
import subprocess
import sys
from pathlib import Path

import adafruit_pca9685
import pytest
from chip_bench import Bench
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.pca9685 import Pca9685, open_registers, pulses_of

STEP_50_HZ_US = 122 / 25  # prescale 121


@pytest.fixture
def bench(monkeypatch) -> Bench:
    bench = Bench()
    bench.put_time_into(monkeypatch, adafruit_pca9685)
    return bench


def awake(bench: Bench, **options) -> Pca9685:
    """A chip at about 50 Hz, awake, with auto-increment, all channels off."""
    chip = bench.add(Pca9685, **options)
    bench.bus.write(chip.address, b"\xfe\x79")
    bench.bus.write(chip.address, b"\x00\x21")
    return chip


def put(bench: Bench, channel: int, on: int, off: int, address: int = 0x40) -> None:
    bench.bus.write(address, bytes([6 + 4 * channel]) + struct.pack("<HH", on, off))


def mode1(bench: Bench) -> int:
    return bench.bus.write_read(0x40, b"\x00", 1)[0]


@pytest.mark.parametrize(
    ("asked_hz", "prescale", "true_hz", "step_us"), [(50, 121, 50.03, 4.88), (333, 17, 339.08, 0.72)]
)
def test_adafruits_frequency_and_duty_come_out_as_pulses(bench, asked_hz, prescale, true_hz, step_us):
    chip = bench.add(Pca9685)
    pca = adafruit_pca9685.PCA9685(bench.bus)
    pca.frequency = asked_hz
    assert bench.bus.write_read(0x40, b"\xfe", 1)[0] == prescale
    assert pca.frequency == pytest.approx(true_hz, abs=0.005)
    for channel in range(16):
        pca.channels[channel].duty_cycle = (100 + channel) << 4
    assert chip.pulses_us() == pytest.approx([(100 + channel) * step_us for channel in range(16)], rel=1e-9)
    assert pca.channels[3].duty_cycle == 103 << 4


def test_adafruits_full_on_and_full_off(bench):
    chip = bench.add(Pca9685)
    pca = adafruit_pca9685.PCA9685(bench.bus)
    pca.frequency = 50
    pca.channels[0].duty_cycle = 0xFFFF
    pca.channels[1].duty_cycle = 0x8000
    pca.channels[1].duty_cycle = 0
    assert chip.pulses_us()[:2] == [pytest.approx(4096 * STEP_50_HZ_US), 0.0]


def test_fast_oscillator_shortens_the_pulses(bench):
    chip = bench.add(Pca9685, oscillator_hz=26.3e6)
    pca = adafruit_pca9685.PCA9685(bench.bus)  # which assumes 25 MHz
    pca.frequency = 50
    pca.channels[0].duty_cycle = round(1500 / STEP_50_HZ_US) << 4
    assert round(chip.pulses_us()[0]) == 1424
    pca = adafruit_pca9685.PCA9685(bench.bus, reference_clock_speed=26_300_000)
    pca.frequency = 50
    pca.channels[0].duty_cycle = round(1500 * 26.3 / 128) << 4
    assert chip.pulses_us()[0] == pytest.approx(1500, abs=2.5)


def test_at_power_on_it_sleeps_and_every_channel_is_off(bench):
    chip = bench.add(Pca9685)
    registers = b"".join(bench.bus.write_read(0x40, bytes([k]), 1) for k in range(10))
    assert registers.hex() == "1104" + "e2e4e8e0" + "00000010"
    assert bench.bus.write_read(0x40, b"\xfe", 1) == b"\x1e"
    bench.bus.write(0x40, b"\x00\x00")
    assert chip.pulses_us() == [0.0] * 16


@given(st.integers(0, 4095), st.integers(0, 4095), st.integers(3, 255))
def test_pulse_lasts_from_on_to_off_even_into_the_next_period(on, off, prescale):
    bench = Bench()
    chip = bench.add(Pca9685)
    bench.bus.write(0x40, bytes([0xFE, prescale]))
    bench.bus.write(0x40, b"\x00\x21")
    put(bench, 5, on, off)
    high = sum((on <= step < off) if on <= off else (step >= on or step < off) for step in range(4096))
    assert chip.pulses_us()[5] == pytest.approx(high * (prescale + 1) / 25)


def test_full_off_wins_over_full_on(bench):
    chip = awake(bench)
    put(bench, 0, 0x1000, 0x0100)
    assert chip.pulses_us()[0] == pytest.approx(4096 * STEP_50_HZ_US)
    put(bench, 0, 0x1000, 0x1100)
    assert chip.pulses_us()[0] == 0.0


def test_prescaler_is_read_only_while_the_chip_is_awake(bench):
    awake(bench)
    bench.bus.write(0x40, b"\xfe\x10")
    assert bench.bus.write_read(0x40, b"\xfe", 1) == b"\x79"
    bench.bus.write(0x40, b"\x00\x31")
    bench.bus.write(0x40, b"\xfe\x01")
    assert bench.bus.write_read(0x40, b"\xfe", 1) == b"\x03"  # the least it can do


def test_after_a_sleep_outputs_pause_until_restart_is_written(bench):
    chip = awake(bench)
    put(bench, 0, 0, 300)
    bench.bus.write(0x40, b"\x00\x31")
    assert mode1(bench) == 0xB1 and chip.pulses_us()[0] == 0.0
    bench.bus.write(0x40, b"\x00\xa1")  # awake and restart at once: the oscillator does not run yet
    assert mode1(bench) == 0xA1 and chip.pulses_us()[0] == 0.0
    bench.bus.write(0x40, b"\x00\xa1")
    assert mode1(bench) == 0x21 and chip.pulses_us()[0] == pytest.approx(300 * STEP_50_HZ_US)


def test_new_led_register_ends_the_pause_too(bench):
    chip = awake(bench)
    put(bench, 0, 0, 300)
    bench.bus.write(0x40, b"\x00\x31")
    bench.bus.write(0x40, b"\x00\x21")
    put(bench, 1, 0, 400)
    assert mode1(bench) == 0x21
    assert chip.pulses_us()[:2] == pytest.approx([300 * STEP_50_HZ_US, 400 * STEP_50_HZ_US])


def test_with_change_on_acknowledge_only_a_whole_channel_ends_the_pause(bench):
    awake(bench)
    put(bench, 0, 0, 300)
    bench.bus.write(0x40, b"\x01\x0c")
    bench.bus.write(0x40, b"\x00\x31")
    bench.bus.write(0x40, b"\x00\x21")
    bench.bus.write(0x40, b"\x06\x00\x00")
    assert mode1(bench) == 0xA1
    put(bench, 0, 0, 300)
    assert mode1(bench) == 0x21


def test_orderly_shutdown_before_the_sleep_leaves_nothing_to_restart(bench):
    awake(bench)
    put(bench, 0, 0, 300)
    bench.bus.write(0x40, b"\xfd\x10")
    bench.bus.write(0x40, b"\x00\x31")
    assert mode1(bench) == 0x31


def test_all_call_address_reaches_every_chip_that_listens(bench):
    left, right = awake(bench), awake(bench, address=0x41)
    bench.bus.write(0x70, bytes([0xFA]) + struct.pack("<HH", 0, 300))
    assert left.pulses_us() == right.pulses_us() == pytest.approx([300 * STEP_50_HZ_US] * 16)
    bench.bus.write(0x41, b"\x00\x20")  # no longer listens to it
    bench.bus.write(0x70, b"\xfd\x10")
    assert left.pulses_us() == [0.0] * 16
    assert right.pulses_us() == pytest.approx([300 * STEP_50_HZ_US] * 16)
    bench.bus.write(0x40, b"\x00\x20")
    with pytest.raises(OSError):
        bench.bus.write(0x70, b"\xfd\x10")


def test_all_call_address_and_sub_addresses_can_be_moved(bench):
    chip = awake(bench)
    bench.bus.write(0x40, b"\x05\xd0")
    bench.bus.write(0x40, b"\x03\xd4")
    bench.bus.write(0x40, b"\x00\x25")  # all-call and the second sub-address
    bench.bus.write(0x68, bytes([6]) + struct.pack("<HH", 0, 100))
    bench.bus.write(0x6A, bytes([10]) + struct.pack("<HH", 0, 200))
    assert chip.pulses_us()[:2] == pytest.approx([100 * STEP_50_HZ_US, 200 * STEP_50_HZ_US])
    with pytest.raises(OSError):
        bench.bus.write(0x71, b"\x00")  # the first, where it was at power-on, but not enabled


def test_without_auto_increment_every_byte_goes_to_the_same_register(bench):
    bench.add(Pca9685)
    bench.bus.write(0x40, b"\x08\x01\x02\x03")
    assert bench.bus.write_read(0x40, b"\x08", 2) == b"\x03\x03"
    assert bench.bus.write_read(0x40, b"\x09", 1) == b"\x10"


def test_auto_increment_rolls_over_after_the_last_channel(bench):
    awake(bench)
    assert bench.bus.write_read(0x40, b"\x45", 3) == b"\x10\x21\x04"
    assert bench.bus.write_read(0x40, b"\xfe", 3) == b"\x79\x21\x04"
    with pytest.raises(OSError):
        bench.bus.write(0x40, b"\x46\x00")  # reserved


def test_registers_for_all_channels_read_as_zero(bench):
    awake(bench)
    bench.bus.write(0x40, bytes([0xFA]) + struct.pack("<HH", 10, 300))
    assert bench.bus.write_read(0x40, b"\xfa", 4) == bytes(4)
    assert struct.unpack("<HH", bench.bus.write_read(0x40, b"\x42", 4)) == (10, 300)


def test_output_enable_pin_stops_pulses_and_keeps_registers(bench):
    chip = awake(bench)
    put(bench, 0, 0, 300)
    chip.output_enable = False
    assert chip.pulses_us() == [0.0] * 16
    chip.output_enable = True
    assert chip.pulses_us()[0] == pytest.approx(300 * STEP_50_HZ_US)


def test_inverted_outputs_are_high_for_the_rest_of_the_period(bench):
    chip = awake(bench)
    put(bench, 0, 0, 300)
    bench.bus.write(0x40, b"\x01\x14")
    assert chip.pulses_us()[0] == pytest.approx(3796 * STEP_50_HZ_US)


def test_external_clock_stays_until_power_is_lost(bench):
    chip = awake(bench, external_hz=50e6)
    put(bench, 0, 0, 300)
    bench.bus.write(0x40, b"\x00\x61")  # awake: not taken
    assert chip.pulses_us()[0] == pytest.approx(300 * STEP_50_HZ_US)
    for mode in (b"\x31", b"\x71", b"\x21", b"\xa1"):
        bench.bus.write(0x40, b"\x00" + mode)
    assert mode1(bench) == 0x61
    assert chip.pulses_us()[0] == pytest.approx(150 * STEP_50_HZ_US)
    bench.faults.set("brown-out", 0x40)
    assert mode1(bench) == 0x11


def test_brown_out_stops_every_pulse(bench):
    chip = awake(bench)
    put(bench, 0, 0, 300)
    bench.faults.set("brown-out")
    bench.bus.write(0x40, b"\x00\x21")
    assert chip.pulses_us() == [0.0] * 16


SWIMS_AND_IS_KILLED = """
import os, signal, sys
from caudal.hal.emulated.pca9685 import Pca9685, open_registers
chip = Pca9685(lambda: 0, oscillator_hz=26.3e6, registers=open_registers(sys.argv[1]))
for message in (b"\\xfe\\x79", b"\\x00\\x21", b"\\x06\\x00\\x00\\x33\\x01"):
    chip.write(message)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_chip_keeps_its_pulses_when_its_process_is_killed(tmp_path: Path, bench):
    file = tmp_path / "pca9685.registers"
    done = subprocess.run(
        [sys.executable, "-c", SWIMS_AND_IS_KILLED, str(file)], cwd=Path(__file__).parents[2]
    )
    assert done.returncode == -9
    assert pulses_of(file) == pytest.approx([307 * 122 / 26.3] + [0.0] * 15)
    chip = bench.add(Pca9685, oscillator_hz=26.3e6, registers=open_registers(file))
    assert chip.pulses_us() == pulses_of(file)  # the next process finds it running
    chip.output_enable = False
    assert pulses_of(file) == Pca9685(bench.clock, registers=open_registers(file)).pulses_us() == [0.0] * 16


def test_register_buffer_needs_its_size():
    with pytest.raises(ValueError, match="not 10"):
        Pca9685(lambda: 0, registers=bytearray(10))
