"""Depth by an MS5837 (hal/pi/ms5837.py): its arithmetic, and the driver against an emulated sensor."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.ms5837 import Ms5837
from caudal.hal.pi.ms5837 import Depth, check_words, compensate, crc4, depth_mm
from caudal.hal.pi.slot import Slot
from tests.hal.pi_bench import Bench, taken

# The examples of the datasheets: coefficients, D1, D2 -> temperature, pressure.
PROM = {
    "30ba": (0, 34982, 36352, 20328, 22354, 26646, 26146),
    "02ba": (0, 46372, 43981, 29059, 27842, 31553, 28165),
}
SURFACE_PA, DENSITY_KG_M3, G_M_S2 = 101_325.0, 997.0, 9.80665

words = st.lists(st.integers(0, 0xFFFF), min_size=7, max_size=7)


def test_datasheets_examples_come_out():
    pressure_mpa, temperature = compensate(PROM["30ba"], 4958179, 6815414, "30ba")
    assert (pressure_mpa // 10_000, temperature) == (39998, 1981)  # 3999.8 mbar, 19.81 degC
    pressure_mpa, temperature = compensate(PROM["02ba"], 6465444, 8077636, "02ba")
    assert (pressure_mpa // 1_000, temperature) == (110002, 2000)  # 1100.02 mbar


def floating(prom, d1, d2, model):
    """The datasheets' formulae in floating point: Pa and 0.01 degC. Only the temperature is whole hundredths there."""
    _, c1, c2, c3, c4, c5, c6 = prom
    dt = d2 - c5 * 256
    temp = 2000 + math.floor(dt * c6 / 2**23)
    ti = offi = sensi = 0.0
    below = temp - 2000
    if model == "02ba":
        off, sens = c2 * 2**17 + c4 * dt / 2**6, c1 * 2**16 + c3 * dt / 2**7
        if temp < 2000:
            ti, offi, sensi = 11 * dt**2 / 2**35, 31 * below**2 / 8, 63 * below**2 / 32
        return (d1 * (sens - sensi) / 2**21 - (off - offi)) / 2**15, temp - ti
    off, sens = c2 * 2**16 + c4 * dt / 2**7, c1 * 2**15 + c3 * dt / 2**8
    if temp < 2000:
        ti, offi, sensi = 3 * dt**2 / 2**33, 1.5 * below**2, 0.625 * below**2
        if temp < -1500:
            offi, sensi = offi + 7 * (temp + 1500) ** 2, sensi + 4 * (temp + 1500) ** 2
    else:
        ti, offi = 2 * dt**2 / 2**37, below**2 / 16
    return (d1 * (sens - sensi) / 2**21 - (off - offi)) / 2**13 * 10, temp - ti


@given(
    st.sampled_from(["30ba", "02ba"]),
    st.integers(3_000_000, 9_000_000),
    st.integers(-30, 90),
    st.integers(0, 99),
)
def test_integers_give_what_the_formulae_give(model, d1, degrees, hundredth):
    prom = PROM[model]
    d2 = prom[5] * 256 + (degrees * 100 + hundredth - 2000) * 2**23 // prom[6]
    pressure_mpa, temperature = compensate(prom, d1, d2, model)
    pressure_pa, hundredths = floating(prom, d1, d2, model)
    assert 0 <= temperature - hundredths < 1  # what is taken off is rounded down
    assert abs(pressure_mpa / 1000 - pressure_pa) < 0.05  # Pa; a millimetre of water is 10


@given(words)
def test_check_sum_is_the_remainder_by_x4_x_1(prom):
    bits = "".join(f"{word:016b}" for word in (prom[0] & 0x0FFF, *prom[1:])) + "0" * 12
    rest = [int(bit) for bit in bits]
    for i in range(len(rest) - 4):
        if rest[i]:
            for k, bit in enumerate((1, 0, 0, 1, 1)):
                rest[i + k] ^= bit
    assert crc4(prom) == int("".join(map(str, rest[-4:])), 2)


@given(words, st.integers(0, 6), st.integers(0, 15))
def test_check_sum_finds_every_single_bit_except_its_own(prom, word, bit):
    changed = list(prom)
    changed[word] ^= 1 << bit
    assert (crc4(changed) == crc4(prom)) == (word == 0 and bit >= 12)


@given(words, st.integers(0, 7), st.integers(0, 1))
def test_check_words_show_every_stuck_bit_that_any_word_shows(prom, bit, level):
    def stuck(word):
        mask = 0x0101 << bit
        return word | mask if level else word & ~mask

    shown = any(stuck(prom[i]) != prom[i] for i in check_words(prom))
    assert shown == any(stuck(word) != word for word in prom)
    assert check_words(prom)[0] == 0


def test_metre_of_water_is_a_metre():
    assert depth_mm(101_325_000, SURFACE_PA, DENSITY_KG_M3, G_M_S2) == 0
    assert depth_mm(round((101_325 + 997 * 9.80665) * 1000), SURFACE_PA, DENSITY_KG_M3, G_M_S2) == 1000
    assert depth_mm(100_000_000, SURFACE_PA, DENSITY_KG_M3, G_M_S2) == -136


class Rig(Bench):
    def __init__(self, model: str = "30ba", period_us: int = 20_000, chip_model: str = "", **chip) -> None:
        super().__init__()
        self.chip = Ms5837(self.clock, 0x76, chip_model or model, **chip)
        self.add(self.chip)
        self.depth, self.temperature = Slot(), Slot()
        water = (SURFACE_PA, DENSITY_KG_M3, G_M_S2)
        self.device = Depth(self.bus, 0x76, model, *water, self.depth, self.temperature, period_us)
        self.use(self.device)

    def dive(self, mm: int, temperature_c: float = 20.0) -> None:
        pressure_pa = SURFACE_PA + mm / 1000 * DENSITY_KG_M3 * G_M_S2
        self.chip.set(pressure_pa=pressure_pa, temperature_c=temperature_c)

    def settle(self) -> tuple[int | None, int | None]:
        """What comes when everything that was under way is through."""
        self.run(60)
        self.depth.take(), self.temperature.take()
        self.run(40)
        return self.depth.take(), self.temperature.take()


@pytest.mark.parametrize(("model", "deepest_mm"), [("30ba", 290_000), ("02ba", 9_000)])
def test_depth_comes_out_to_the_millimetre_at_every_temperature(model, deepest_mm):
    rig = Rig(model)
    for temperature_c in (-10, 0, 12.34, 20, 35):
        for mm in (-50, 0, 1, 777, deepest_mm // 3, deepest_mm):
            rig.dive(mm, temperature_c)
            assert rig.settle() == (mm, round(temperature_c * 100))
    assert not rig.worker.news


def test_depths_come_with_the_period_and_never_faster_than_both_conversions():
    for period_us, least, most in ((50_000, 19, 21), (20_000, 48, 51), (5_000, 45, 56)):
        rig = Rig(period_us=period_us)
        rig.run(100)
        rig.depth.take()
        assert least <= len(taken(rig.depth, rig, 1000)) <= most


def test_sensor_runs_without_slots_for_depth_and_temperature():
    rig = Rig()
    rig.use(Depth(rig.bus, 0x76, "30ba", SURFACE_PA, DENSITY_KG_M3, G_M_S2, None))
    rig.run(100)
    assert not rig.reason


def test_unknown_model_is_refused():
    with pytest.raises(ValueError, match="14ba"):
        Depth(Bench().bus, 0x76, "14ba", SURFACE_PA, DENSITY_KG_M3, G_M_S2, Slot())


@pytest.mark.parametrize(("model", "chip_model"), [("30ba", "02ba"), ("02ba", "30ba")])
def test_other_model_is_detected(model, chip_model):
    rig = Rig(model, chip_model=chip_model)
    rig.run(100)
    assert rig.reason == f"ms5837 at 0x76 is a {chip_model}, not a {model}; correct the vehicle file"
    assert rig.depth.take() is None


def test_prom_that_does_not_fit_its_check_sum_is_named_with_both():
    rig = Rig()
    rig.faults.set("identity", 0x76)
    rig.run(100)
    words = [word ^ 0x2040 for word in rig.chip.prom[:7]]
    assert f"CRC {crc4(words)}, not {words[0] >> 12}" in rig.reason
    assert rig.depth.take() is None


def test_line_that_is_always_high_is_found_at_the_start():
    rig = Rig()
    rig.chip._take = lambda now_us: 0x010101
    rig.run(50)
    assert "responds without a conversion" in rig.reason


def test_prom_that_differs_from_the_first_is_rejected():
    rig = Rig()
    rig.run(50)
    rig.chip.prom = Ms5837(rig.clock, coefficients=(1, 2, 3, 4, 5, 6)).prom
    rig.run(300)
    assert "another PROM" in rig.reason


def test_data_line_that_is_held_low_is_no_sensor():
    rig = Rig()
    rig.chip.prom = (0,) * 8  # its check sum would be right
    rig.run(100)
    assert "empty PROM" in rig.reason


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("model", ["30ba", "02ba"])
def test_stuck_bit_never_gives_a_wrong_depth(bit, level, model):
    rig = Rig(model)
    rig.dive(4321, 11)
    rig.run(100)
    rig.faults.set("stuck", 0x76, bit=bit, level=level)
    rig.depth.take()
    assert set(taken(rig.depth, rig, 400)) <= {4321}
    assert rig.reason
    rig.faults.clear()
    rig.run(250)
    assert rig.settle()[0] == 4321 and not rig.reason


def test_swapped_bytes_never_give_a_depth():
    rig = Rig()
    rig.dive(4321)
    rig.run(100)
    rig.faults.set("swapped", 0x76)
    rig.depth.take()
    assert set(taken(rig.depth, rig, 400)) <= {4321}
    assert rig.reason


def test_slow_sensor_gets_more_time_up_to_a_limit():
    rig = Rig()
    rig.dive(4321, 11)
    rig.faults.set("slow", 0x76, factor=3)
    assert set(taken(rig.depth, rig, 1000)) == {4321} and not rig.reason
    rig.faults.set("slow", 0x76, factor=20)
    rig.run(100)
    rig.depth.take()
    assert taken(rig.depth, rig, 1000) == []
    assert rig.reason == "ms5837 at 0x76 does not finish a conversion; check its supply"


def test_brown_out_in_a_conversion_gives_no_wrong_depth():
    rig = Rig()
    rig.dive(4321, 11)
    rig.run(100)
    for ms in range(0, 30, 3):
        rig.run(ms)
        rig.faults.set("brown-out", 0x76)
        rig.faults.clear()
        assert set(taken(rig.depth, rig, 250)) == {4321}
    rig.faults.set("nack", 0x76)
    rig.run(300)
    assert rig.depth.take() in (None, 4321) and "I/O" in rig.reason
    rig.faults.clear()
    rig.run(200)
    assert rig.settle() == (4321, 1100)


@pytest.mark.parametrize(
    ("model", "pressure_pa", "temperature_c"),
    [
        ("30ba", 3_100_000, 20),
        ("30ba", -2_000, 20),
        ("02ba", 210_000, 20),
        ("02ba", 500, 20),
        ("30ba", 101_325, 90),
    ],
)
def test_outside_the_sensors_range_there_is_no_reading(model, pressure_pa, temperature_c):
    rig = Rig(model)
    rig.dive(0)
    assert rig.settle()[0] == 0
    rig.chip.set(pressure_pa=pressure_pa, temperature_c=temperature_c)
    assert rig.settle() == (None, None)
    assert not rig.reason


def test_missing_paced_sample_delays_the_next_by_one_conversion_at_most():
    rig = Rig(paced=True)
    seen = []

    def tick():
        seen.append(rig.depth.take())
        if len(seen) % 10:
            rig.dive(len(seen))

    rig.run(2000, 20, tick)
    assert len([mm for mm in seen if mm is not None]) >= 85
    assert not rig.worker.news
