"""An emulated MS5837 gives back, through the datasheets' own arithmetic, the pressure that was set."""

import pytest
from chip_bench import Bench
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.ms5837 import EXAMPLE, Ms5837, crc4, make_prom, remainder

D1_4096, D2_4096, ADC = b"\x48", b"\x58", b"\x00"


def by_the_datasheet(model: str, c: tuple, d1: int, d2: int, second: bool = True) -> tuple[float, int]:
    """Pressure in Pa and temperature in 0.01 degC; c[1] to c[6]. Temperatures are whole, as the tables have them."""
    dt = d2 - c[5] * 2**8
    temp = 2000 + dt * c[6] // 2**23
    t = off2 = sens2 = 0.0
    if model == "30ba":
        off, sens = c[2] * 2**16 + c[4] * dt / 2**7, c[1] * 2**15 + c[3] * dt / 2**8
        if temp < 2000:
            t, off2, sens2 = 3 * dt**2 // 2**33, 3 * (temp - 2000) ** 2 / 2, 5 * (temp - 2000) ** 2 / 2**3
            if temp < -1500:
                off2, sens2 = off2 + 7 * (temp + 1500) ** 2, sens2 + 4 * (temp + 1500) ** 2
        else:
            t, off2 = 2 * dt**2 // 2**37, (temp - 2000) ** 2 / 2**4
        scale, unit_pa = 2**13, 10
    else:
        off, sens = c[2] * 2**17 + c[4] * dt / 2**6, c[1] * 2**16 + c[3] * dt / 2**7
        if temp < 2000:
            t, off2, sens2 = (
                11 * dt**2 // 2**35,
                31 * (temp - 2000) ** 2 / 2**3,
                63 * (temp - 2000) ** 2 / 2**5,
            )
        scale, unit_pa = 2**15, 1
    if not second:
        t = off2 = sens2 = 0
    return (d1 * (sens - sens2) / 2**21 - (off - off2)) / scale * unit_pa, temp - int(t)


def words(bench: Bench) -> tuple[int, ...]:
    return tuple(
        int.from_bytes(bench.bus.write_read(0x76, bytes([0xA0 + 2 * k]), 2), "big") for k in range(8)
    )


def adc(bench: Bench) -> int:
    return int.from_bytes(bench.bus.write_read(0x76, ADC, 3), "big")


def convert(bench: Bench, command: bytes) -> int:
    bench.bus.write(0x76, command)
    bench.wait(9_040)
    return adc(bench)


def measured(bench: Bench, model: str) -> tuple[float, int]:
    d2, d1 = convert(bench, D2_4096), convert(bench, D1_4096)
    return by_the_datasheet(model, words(bench), d1, d2)


def test_arithmetic_matches_the_datasheets_examples():
    deep = (0, 34982, 36352, 20328, 22354, 26646, 26146)
    pressure_pa, temperature = by_the_datasheet("30ba", deep, 4958179, 6815414, second=False)
    assert (int(pressure_pa / 10), temperature) == (39998, 1981)  # 3999.8 mbar, 19.81 degC
    # So near 20 degC the second order is 0.01 Pa: the printed example holds for both sequences.
    assert by_the_datasheet("30ba", deep, 4958179, 6815414)[0] == pytest.approx(pressure_pa, abs=0.02)
    shallow = (0, 46372, 43981, 29059, 27842, 31553, 28165)
    pressure_pa, temperature = by_the_datasheet("02ba", shallow, 6465444, 8077636)
    assert (int(pressure_pa), temperature) == (110002, 2000)  # 1100.02 mbar, 20.00 degC


def test_chip_has_the_examples_counts_at_the_examples_pressure():
    bench = Bench()
    chip = bench.add(Ms5837)
    chip.set(pressure_pa=399_984.0, temperature_c=19.81)
    d2 = convert(bench, D2_4096)
    assert (
        6815414 - 320 < d2 <= 6815414
    )  # a hundredth of a degree is 320 counts, and the least of them is chosen
    assert convert(bench, D1_4096) == pytest.approx(4958179, abs=10)


@given(st.floats(0, 3e6), st.integers(-1000, 4000))
def test_30_bar_model_gives_back_its_pressure_within_1_pa(pressure_pa, hundredths):
    bench = Bench()
    bench.add(Ms5837).set(pressure_pa=pressure_pa, temperature_c=hundredths / 100)
    back_pa, temperature = measured(bench, "30ba")
    assert back_pa == pytest.approx(pressure_pa, abs=1.0)
    assert temperature == hundredths


@given(st.floats(0, 4e5), st.integers(-1000, 4000))
def test_2_bar_model_gives_back_its_pressure_within_1_pa(pressure_pa, hundredths):
    bench = Bench()
    bench.add(Ms5837, model="02ba").set(pressure_pa=pressure_pa, temperature_c=hundredths / 100)
    back_pa, temperature = measured(bench, "02ba")
    assert back_pa == pytest.approx(pressure_pa, abs=1.0)
    assert temperature == hundredths


def test_very_low_temperatures_have_their_own_terms():
    bench = Bench()
    bench.add(Ms5837).set(pressure_pa=5e5, temperature_c=-22.0)
    assert measured(bench, "30ba") == (pytest.approx(5e5, abs=1.0), -2200)


def test_pressure_is_clipped_at_the_range_of_the_converter():
    bench = Bench()
    bench.add(Ms5837, model="02ba").set(pressure_pa=3e6)
    assert convert(bench, D1_4096) == 2**24 - 1


def test_check_sum_is_that_of_the_makers_example():
    # AN520's coefficients, whose check sum is 0xB.
    assert remainder((0x3132, 0x3334, 0x3536, 0x3738, 0x3940, 0x4142, 0x4344, 0x4500)) == 0xB


@given(st.tuples(*[st.integers(0, 0xFFFF)] * 6), st.integers(0, 111))
def test_check_sum_is_the_datasheets_and_finds_every_single_bit(coefficients, bit):
    prom = make_prom(0x1A << 5, coefficients)
    register = 0
    for k in range(14):  # the datasheet's C, byte by byte
        word = prom[k // 2] & 0x0FFF if k < 2 else prom[k // 2]
        register ^= word & 0xFF if k % 2 else word >> 8
        for _ in range(8):
            register = (register << 1 ^ 0x3000 if register & 0x8000 else register << 1) & 0xFFFF
    for _ in range(16):
        register = (register << 1 ^ 0x3000 if register & 0x8000 else register << 1) & 0xFFFF
    assert prom[0] >> 12 == register >> 12 == crc4(prom)
    broken = list(prom)
    broken[bit // 16] ^= 1 << bit % 16
    assert broken[0] >> 12 != crc4(tuple(broken))


@pytest.mark.parametrize("model", EXAMPLE)
def test_prom_over_the_bus_passes_its_check_sum_and_names_the_product(model):
    bench = Bench()
    chip = bench.add(Ms5837, model=model)
    assert words(bench) == chip.prom
    assert chip.prom[0] >> 12 == crc4(chip.prom)
    assert chip.prom[0] >> 5 & 0x7F == {"30ba": 0x1A, "02ba": 0x15}[model]


@pytest.mark.parametrize(
    ("command", "lasts_us"),
    [
        (0x40, 600),
        (0x42, 1170),
        (0x44, 2280),
        (0x46, 4540),
        (0x48, 9040),
        (0x4A, 18080),
        (0x50, 600),
        (0x5A, 18080),
    ],
)
def test_result_is_ready_after_its_time_and_is_read_once(command, lasts_us):
    chip = Bench().add(Ms5837)
    now = [0]
    chip.clock = lambda: now[0]
    chip.write(bytes([command]))
    now[0] = lasts_us
    chip.write(ADC)
    assert any(chip.read(3))
    chip.write(ADC)
    assert not any(chip.read(3))


def test_reading_during_a_conversion_gives_0_and_a_wrong_result():
    bench = Bench()
    bench.add(Ms5837)
    right = convert(bench, D1_4096)
    bench.bus.write(0x76, D1_4096)
    bench.wait(8_000)
    assert adc(bench) == 0
    bench.wait(2_000)
    assert adc(bench) not in (0, right)
    assert convert(bench, D1_4096) == right


def test_second_command_during_a_conversion_gives_a_wrong_result():
    bench = Bench()
    bench.add(Ms5837)
    right = convert(bench, D1_4096)
    bench.bus.write(0x76, D2_4096)
    assert convert(bench, D1_4096) not in (0, right)


def test_result_is_of_the_end_of_its_conversion():
    bench = Bench()
    chip = bench.add(Ms5837)
    before = convert(bench, D1_4096)
    bench.bus.write(0x76, D1_4096)
    bench.wait(10_000)
    chip.set(pressure_pa=2e5)
    assert adc(bench) == before
    assert convert(bench, D1_4096) > before


def test_without_a_conversion_the_adc_gives_0():
    bench = Bench()
    bench.add(Ms5837)
    assert adc(bench) == 0


def test_chip_does_not_acknowledge_while_it_loads_its_prom():
    bench = Bench()
    bench.add(Ms5837)
    bench.bus.write(0x76, b"\x1e")
    with pytest.raises(OSError):
        bench.bus.write_read(0x76, b"\xa0", 2)
    bench.wait(2_800)
    assert words(bench)[1] == 34982


def test_brown_out_ends_the_conversion_in_progress():
    bench = Bench()
    bench.add(Ms5837)
    bench.bus.write(0x76, D1_4096)
    bench.faults.set("brown-out", 0x76)
    bench.wait(10_000)
    assert adc(bench) == 0


def test_paced_sensor_waits_for_a_new_sample_without_a_wrong_result():
    bench = Bench()
    chip = bench.add(Ms5837, paced=True)
    convert(bench, D2_4096)  # the temperature is not paced
    bench.bus.write(0x76, D1_4096)
    bench.wait(50_000)
    assert adc(bench) == adc(bench) == 0
    chip.set(pressure_pa=123_456.0)
    d1 = adc(bench)
    assert by_the_datasheet("30ba", words(bench), d1, convert(bench, D2_4096))[0] == pytest.approx(
        123_456, abs=1
    )
    assert convert(bench, D1_4096) == 0


def test_paced_pressure_is_exact_with_the_drivers_temperature():
    bench = Bench()
    chip = bench.add(Ms5837, paced=True)
    chip.set(pressure_pa=2e5, temperature_c=12.0)
    d2 = convert(bench, D2_4096)
    chip.set(pressure_pa=2.5e5, temperature_c=13.0)
    d1 = convert(bench, D1_4096)
    assert by_the_datasheet("30ba", words(bench), d1, d2)[0] == pytest.approx(2.5e5, abs=1.0)
