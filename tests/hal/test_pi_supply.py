"""Voltages and currents: ADS1115 and INA219 (hal/pi/ads1115.py, ina219.py), against emulated chips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.ads1115 import Ads1115
from caudal.hal.emulated.ina219 import Ina219
from caudal.hal.pi.ads1115 import GAINS, Adc, Input, count_of
from caudal.hal.pi.ina219 import Power
from caudal.hal.pi.slot import Slot
from tests.hal.pi_bench import Bench, taken


@given(st.integers(-32767, 32766), st.sampled_from(sorted(GAINS)), st.integers(1, 5000))
def test_count_is_the_nearest_to_the_voltage(raw, full_scale_v, uv_per_count):
    count = count_of(raw, full_scale_v, uv_per_count)
    assert abs(raw * full_scale_v * 1e6 / 32768 - count * uv_per_count) <= uv_per_count / 2 * 1.000001


def test_ends_of_the_scale_are_no_reading():
    assert count_of(32767, 4.096, 1000) is None
    assert count_of(-32768, 4.096, 1000) is None


class AdcRig(Bench):
    def __init__(self, rate: int = 860, **chip) -> None:
        super().__init__()
        self.chip = Ads1115(self.clock, 0x48, **chip)
        self.add(self.chip)
        self.slots = [Slot() for _ in range(4)]
        inputs = [Input(k, 4.096, 1000, self.slots[k], 20_000 * (k + 1)) for k in range(4)]
        self.use(Adc(self.bus, 0x48, inputs, rate))
        for k in range(4):
            self.chip.set(k, 500_000 + 100_000 * k)

    def take(self) -> list[int | None]:
        return [slot.take() for slot in self.slots]


def test_each_input_is_read_as_itself_with_its_own_period():
    rig = AdcRig()
    numbers = [0] * 4

    def tick():
        for k, count in enumerate(rig.take()):
            assert count in (None, 500 + 100 * k)
            numbers[k] += count is not None

    rig.run(1200, tick=tick)
    assert numbers[0] == pytest.approx(60, abs=2)
    assert [round(numbers[0] / n) for n in numbers] == [1, 2, 3, 4]


@given(st.integers(0, 4000))
def test_count_that_was_set_comes_out(millivolts):
    rig = AdcRig()
    rig.chip.set(0, millivolts * 1000)
    rig.run(30)
    assert rig.take()[0] == millivolts


def test_saturated_input_has_no_reading_and_the_others_go_on():
    rig = AdcRig()
    rig.chip.set(1, 4_200_000)
    rig.run(100)
    assert rig.take() == [500, None, 700, 800]


@pytest.mark.parametrize(
    ("inputs", "rate", "said"),
    [
        ([Input(4, 4.096, 1000, Slot(), 20_000)], 860, "not input 4"),
        ([Input(0, 5.0, 1000, Slot(), 20_000)], 860, "at 5.0 V"),
        ([Input(0, 4.096, 1000, Slot(), 20_000)], 1000, "not at 1000"),
        ([], 860, "one input or more"),
    ],
)
def test_unsupported_inputs_and_rates_are_refused(inputs, rate, said):
    with pytest.raises(ValueError, match=said):
        Adc(Bench().bus, 0x48, inputs, rate)


def test_slow_converter_gets_more_time_and_an_endless_one_is_named():
    rig = AdcRig()
    rig.faults.set("slow", 0x48, factor=10)
    rig.run(200)
    assert rig.take() == [500, 600, 700, 800]
    rig.faults.set("slow", 0x48, factor=1000)
    rig.run(300)
    assert rig.reason == "ads1115 at 0x48 does not finish a conversion; check its supply"


def test_brown_out_of_the_converter_gives_no_wrong_reading_whenever_it_comes():
    rig = AdcRig()
    rig.run(50)
    for _ in range(40):
        rig.run(1.3)
        rig.take()
        rig.faults.set("brown-out", 0x48)
        rig.faults.clear()
        assert set(taken(rig.slots[0], rig, 250)) == {500}


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("level", [0, 1])
def test_stuck_bit_never_gives_a_wrong_voltage(bit, level):
    rig = AdcRig()
    rig.run(50)
    rig.take()
    rig.faults.set("stuck", 0x48, bit=bit, level=level)
    assert set(taken(rig.slots[0], rig, 100)) <= {500}
    assert rig.reason
    rig.faults.clear()
    rig.run(200)
    assert rig.take() == [500, 600, 700, 800]


class PowerRig(Bench):
    def __init__(self, shunt_ohm: float = 0.1, **chip) -> None:
        super().__init__()
        self.chip = Ina219(self.clock, 0x41, **chip)
        self.add(self.chip)
        self.voltage, self.current = Slot(), Slot()
        self.device = Power(self.bus, 0x41, shunt_ohm, self.voltage, self.current, 20_000)
        self.use(self.device)

    def fresh(self) -> tuple[int | None, int | None]:
        self.run(50)
        self.voltage.take(), self.current.take()
        self.run(50)
        return self.voltage.take(), self.current.take()


@given(st.integers(0, 6500), st.integers(-3199, 3199))
def test_voltage_and_current_come_out_as_they_are(voltage, milliamperes):
    rig = PowerRig()
    rig.chip.set(bus_mv=4 * voltage, shunt_uv=100 * milliamperes)
    assert rig.fresh() == (voltage, milliamperes)


def test_supply_may_have_only_one_slot():
    rig = PowerRig()
    rig.chip.set(bus_mv=12_000, shunt_uv=1000)
    rig.use(
        Power(rig.bus, 0x41, 0.1, None, rig.current, 20_000),
        Power(rig.bus, 0x41, 0.1, rig.voltage, None, 20_000),
    )
    rig.run(300)
    assert (rig.voltage.take(), rig.current.take()) == (3000, 10)


def test_shunt_without_resistance_is_refused():
    with pytest.raises(ValueError, match="0 ohm"):
        Power(Bench().bus, 0x41, 0, Slot(), Slot(), 20_000)


def test_shunt_at_its_limit_has_a_voltage_but_no_current():
    rig = PowerRig()
    rig.chip.set(bus_mv=12_000, shunt_uv=330_000)
    assert rig.fresh() == (3000, None)


def test_sums_that_overflow_in_the_chip_are_no_reading():
    rig = PowerRig()
    rig.chip.set(bus_mv=12_000, shunt_uv=1000)
    rig.run(100)
    rig.chip.read_word, read_word = (lambda r: read_word(r) | (r == 2)), rig.chip.read_word
    assert rig.fresh() == (None, None) and not rig.reason


def test_conversion_counts_once():
    rig = PowerRig(paced=True)
    seen = []

    def tick():
        seen.append(rig.voltage.take())
        if len(seen) % 5 == 0:
            rig.chip.set(bus_mv=4 * len(seen), shunt_uv=0)

    rig.run(1000, 20, tick)
    assert [count for count in seen if count is not None] == [5, 10, 15, 20, 25, 30, 35, 40, 45]


def test_other_chip_and_one_that_lost_its_settings_are_named():
    rig = PowerRig()
    rig.chip.set(bus_mv=12_000, shunt_uv=1000)
    rig.run(100)
    rig.faults.set("brown-out", 0x41)
    rig.faults.clear()
    rig.voltage.take()
    rig.run(50)
    assert rig.voltage.take() is None
    assert rig.reason.startswith("ina219 at 0x41 holds 0x399f in register 0 where 0x3ddf should be")
    rig.run(150)
    assert rig.fresh() == (3000, 10) and not rig.reason
    rig.use(Power(rig.bus, 0x48, 0.1, rig.voltage, rig.current, 20_000))
    rig.chips[0x48] = Ads1115(rig.clock, 0x48)
    rig.run(50)
    assert "where 0x399f should be" in rig.reason


@pytest.mark.parametrize("bus_mv", [7400, 11_100, 12_000, 14_800, 16_000])
def test_swapped_bytes_that_hide_a_finished_conversion_are_named_too(bus_mv):
    rig = PowerRig()
    rig.chip.set(bus_mv=bus_mv, shunt_uv=1000)
    rig.run(100)
    assert rig.fresh()[0] == bus_mv // 4
    rig.faults.set("swapped", 0x41)
    rig.run(100)
    assert "ina219" in rig.reason


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("level", [0, 1])
def test_stuck_bit_never_gives_a_wrong_current(bit, level):
    rig = PowerRig()
    rig.chip.set(bus_mv=12_344, shunt_uv=1230)
    rig.run(100)
    rig.voltage.take(), rig.current.take()
    rig.faults.set("stuck", 0x41, bit=bit, level=level)
    rig.run(100)
    assert (rig.voltage.take(), rig.current.take()) == (None, None)
    rig.faults.clear()
    rig.run(200)
    assert rig.fresh() == (3086, 12)
