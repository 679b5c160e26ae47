"""Emulated ADS1115 and INA219 measure what is set, in their own time, by Adafruit's packages and by registers."""

import adafruit_ads1x15.ads1x15 as ads1x15
import pytest
from adafruit_ads1x15.ads1115 import ADS1115
from adafruit_ads1x15.analog_in import AnalogIn
from adafruit_ina219 import INA219 as AdafruitIna219
from adafruit_ina219 import ADCResolution, BusVoltageRange, Gain, Mode
from chip_bench import Bench
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.ads1115 import FULL_SCALE_UV, RATES_HZ, Ads1115
from caudal.hal.emulated.ina219 import Ina219


@pytest.fixture
def bench(monkeypatch) -> Bench:
    bench = Bench()
    bench.put_time_into(monkeypatch, ads1x15)
    return bench


def word(bench: Bench, register: int, address: int = 0x48) -> int:
    return int.from_bytes(bench.bus.write_read(address, bytes([register]), 2), "big")


def configure(bench: Bench, config: int, address: int = 0x48) -> None:
    register = 1 if address == 0x48 else 0
    bench.bus.write(address, bytes([register]) + config.to_bytes(2, "big"))


def idle(bench: Bench) -> bool:
    return bool(word(bench, 1) & 0x8000)


# ADS1115


def test_adafruits_package_reads_every_input(bench):
    chip = bench.add(Ads1115)
    ads = ADS1115(bench.bus)  # gain 1: 4.096 V, 125 uV a count
    for k in range(4):
        chip.set(k, 1_000_000 + 125 * k)
    assert [AnalogIn(ads, k).value for k in range(4)] == [8000, 8001, 8002, 8003]
    assert AnalogIn(ads, 2).voltage == pytest.approx(1.00025)


@pytest.mark.parametrize(
    ("pins", "microvolts"), [((0, 1), -250_000), ((0, 3), 750_000), ((1, 3), 1e6), ((2, 3), 5e5)]
)
def test_adafruits_package_reads_differences(bench, pins, microvolts):
    chip = bench.add(Ads1115)
    for k, level in enumerate((1_000_000, 1_250_000, 750_000, 250_000)):
        chip.set(k, level)
    assert AnalogIn(ADS1115(bench.bus, gain=2), *pins).voltage == pytest.approx(microvolts / 1e6)


@pytest.mark.parametrize("gain", [2 / 3, 1, 2, 4, 8, 16])
def test_adafruits_gains_give_the_same_voltage(bench, gain):
    chip = bench.add(Ads1115)
    chip.set(0, 187_500)
    assert AnalogIn(ADS1115(bench.bus, gain=gain), 0).voltage == pytest.approx(0.1875, abs=0.0001)


def test_adafruits_continuous_mode_follows_the_input(bench):
    chip = bench.add(Ads1115)
    # In continuous mode the package (3.0.5) keeps the input that is in the register, whichever is requested.
    configure(bench, 0x4383)
    bench.wait(10_000)
    chip.set(0, 500_000)
    pin = AnalogIn(ADS1115(bench.bus, mode=ads1x15.Mode.CONTINUOUS), 0)
    assert pin.value == 4000
    chip.set(0, 600_000)
    bench.wait(20_000)
    assert pin.value == 4800


@given(st.integers(-7_000_000, 7_000_000), st.integers(0, 5))
def test_code_is_the_nearest_and_ends_at_full_scale(microvolts, pga):
    bench = Bench()
    bench.add(Ads1115).set(1, microvolts)
    configure(bench, 0x8000 | 5 << 12 | pga << 9 | 0x01E3)
    bench.wait(1_200)
    code = (word(bench, 0) ^ 0x8000) - 0x8000
    exact = microvolts * 32768 / FULL_SCALE_UV[pga]
    assert abs(code - min(max(exact, -32768), 32767)) <= 0.5


@pytest.mark.parametrize("rate", range(8))
def test_conversion_time_follows_the_data_rate(rate):
    bench = Bench()
    bench.add(Ads1115).set(0, 1_000_000)
    configure(bench, 0xC383 & ~0xE0 | rate << 5)
    bench.wait(1_000_000 // RATES_HZ[rate] - 200)
    assert not idle(bench) and word(bench, 0) == 0
    bench.wait(200)
    assert idle(bench) and word(bench, 0) == 8000


def test_chip_is_idle_with_datasheet_values_at_power_on():
    bench = Bench()
    bench.add(Ads1115)
    assert [word(bench, k) for k in range(4)] == [0, 0x8583, 0x8000, 0x7FFF]


def test_start_during_a_conversion_is_ignored():
    bench = Bench()
    chip = bench.add(Ads1115)
    chip.set(0, 1_000_000)
    chip.set(1, 500_000)
    configure(bench, 0xC383)
    bench.wait(4_000)
    configure(bench, 0xD383)
    bench.wait(4_000)
    assert idle(bench) and word(bench, 0) == 8000


def test_result_is_of_the_time_of_conversion():
    bench = Bench()
    chip = bench.add(Ads1115)
    chip.set(0, 1_000_000)
    configure(bench, 0xC383)
    bench.wait(10_000)
    chip.set(0, 0)
    assert word(bench, 0) == 8000


def test_thresholds_are_writable_and_the_result_is_read_only():
    bench = Bench()
    bench.add(Ads1115)
    bench.bus.write(0x48, b"\x02\x12\x34")
    bench.bus.write(0x48, b"\x03\x56\x78")
    bench.bus.write(0x48, b"\x00\x11\x11")
    assert [word(bench, k) for k in (0, 2, 3)] == [0, 0x1234, 0x5678]


def test_brown_out_ends_continuous_conversion():
    bench = Bench()
    bench.add(Ads1115).set(0, 1_000_000)
    configure(bench, 0x4283)
    bench.wait(10_000)
    assert not idle(bench) and word(bench, 0) == 8000
    bench.faults.set("brown-out", 0x48)
    assert word(bench, 1) == 0x8583 and word(bench, 0) == 0


def test_paced_input_waits_for_its_sample():
    bench = Bench()
    chip = bench.add(Ads1115, paced={0})
    configure(bench, 0xC383)
    bench.wait(50_000)
    assert not idle(bench)
    chip.set(1, 250_000)
    assert not idle(bench)
    chip.set(0, 1_000_000)
    chip.set(0, 2_000_000)  # the newest counts
    assert idle(bench) and word(bench, 0) == 16000
    configure(bench, 0xD383)
    bench.wait(8_000)
    assert idle(bench) and word(bench, 0) == 2000
    configure(bench, 0xC383)
    bench.wait(8_000)
    assert not idle(bench)


# INA219


def test_adafruits_package_reads_voltage_current_and_power(bench):
    chip = bench.add(Ina219)
    ina = AdafruitIna219(bench.bus)  # 32 V, 2 A, 0.1 Ohm, 0.1 mA a count
    chip.set(bus_mv=14_800, shunt_uv=123_400)
    bench.wait(2_000)
    assert ina.bus_voltage == pytest.approx(14.8)
    assert ina.shunt_voltage == pytest.approx(0.1234)
    assert ina.current == pytest.approx(1234.0)
    assert ina.power == pytest.approx(14.8 * 1.234, abs=0.002)
    assert not ina.overflow
    chip.set(shunt_uv=-50_000)
    bench.wait(2_000)
    assert ina.current == pytest.approx(-500.0)


def test_adafruits_ranges_clip(bench):
    chip = bench.add(Ina219)
    ina = AdafruitIna219(bench.bus)
    chip.set(bus_mv=20_000, shunt_uv=200_000)
    ina.gain = Gain.DIV_4_160MV
    ina.bus_voltage_range = BusVoltageRange.RANGE_16V
    bench.wait(2_000)
    assert (ina.shunt_voltage, ina.bus_voltage) == (pytest.approx(0.16), pytest.approx(16.0))


def test_adafruits_reset_clears_the_calibration(bench):
    chip = bench.add(Ina219)
    ina = AdafruitIna219(bench.bus)
    chip.set(bus_mv=12_000, shunt_uv=100_000)
    bench.wait(2_000)
    assert ina.raw_current == 10_000
    ina.reset = 1
    bench.wait(2_000)
    assert ina.raw_current == 0 and word(bench, 0, 0x40) == 0x399F and word(bench, 5, 0x40) == 0


def test_adafruits_triggered_mode_measures_once_per_trigger(bench):
    chip = bench.add(Ina219)
    ina = AdafruitIna219(bench.bus)
    chip.set(bus_mv=12_000)
    ina.bus_adc_resolution = ADCResolution.ADCRES_12BIT_128S
    ina.mode = Mode.SANDBVOLT_TRIGGERED
    bench.wait(68_000)
    assert not ina.conversion_ready
    bench.wait(700)
    assert ina.conversion_ready and ina.bus_voltage == pytest.approx(12.0)
    chip.set(bus_mv=11_000)
    bench.wait(200_000)
    assert ina.bus_voltage == pytest.approx(12.0)
    ina.mode = Mode.POWERDOWN
    assert ina.conversion_ready  # powering down leaves what there is


def test_ready_bit_is_cleared_by_reading_power_until_the_next_conversion(bench):
    bench.add(Ina219).set(bus_mv=12_000)
    bench.wait(2_000)
    assert word(bench, 2, 0x40) & 2
    word(bench, 3, 0x40)
    assert not word(bench, 2, 0x40) & 2
    bench.wait(1_100)
    assert word(bench, 2, 0x40) & 2


def test_current_past_its_register_is_marked(bench):
    chip = bench.add(Ina219)
    bench.bus.write(0x40, b"\x05\xff\xff")
    assert word(bench, 5, 0x40) == 0xFFFE  # its lowest bit is always 0
    chip.set(bus_mv=12_000, shunt_uv=300_000)
    bench.wait(2_000)
    assert word(bench, 2, 0x40) & 1


@given(st.integers(0, 8000), st.integers(-32000, 32000))
def test_counts_come_out_of_the_registers_as_they_were_set(volts, shunt):
    bench = Bench()
    bench.add(Ina219).set(bus_mv=4 * volts, shunt_uv=10 * shunt)
    bench.wait(2_000)
    assert word(bench, 2, 0x40) >> 3 == volts
    assert (word(bench, 1, 0x40) ^ 0x8000) - 0x8000 == shunt


def test_paced_monitor_is_ready_once_per_sample(bench):
    chip = bench.add(Ina219, paced=True)
    bench.wait(5_000)
    assert not word(bench, 2, 0x40) & 2
    chip.set(bus_mv=12_000)
    assert word(bench, 2, 0x40) == 3000 << 3 | 2
    word(bench, 3, 0x40)
    bench.wait(50_000)
    assert not word(bench, 2, 0x40) & 2


def test_unknown_register_reads_as_zero(bench):
    bench.add(Ina219)
    assert word(bench, 9, 0x40) == 0
