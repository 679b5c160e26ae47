"""Pulses of a PCA9685 (hal/pi/pca9685.py), against an emulated chip."""

import pytest
from adafruit_pca9685 import PCA9685
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.pca9685 import Pca9685
from caudal.hal.pi.pca9685 import Pulses, Scale, prescale, registers
from tests.hal.pi_bench import Bench

clocks = st.integers(23_000_000, 27_000_000)
frequencies = st.floats(40, 400)


@given(frequencies, clocks, st.integers(0, 2500), st.integers(0, 2500))
def test_pulse_is_its_nearest_step_and_a_longer_one_is_never_shorter(frequency_hz, clock_hz, a_us, b_us):
    scale = Scale(frequency_hz, clock_hz)
    assert abs(scale.pulse_us(scale.steps(a_us)) - a_us) <= scale.step_us * 0.500001
    assert (scale.steps(a_us) <= scale.steps(b_us)) == (a_us <= b_us) or scale.steps(a_us) == scale.steps(
        b_us
    )


@given(frequencies, clocks, st.integers(0, 4095))
def test_steps_come_back_from_whole_microseconds_where_these_are_finer(frequency_hz, clock_hz, steps):
    scale = Scale(frequency_hz, clock_hz)
    if scale.step_us > 1:
        assert scale.steps(round(scale.pulse_us(steps))) == steps


@given(frequencies, clocks, st.integers(-10, 10**9))
def test_every_number_gives_a_pulse_that_the_chip_supports(frequency_hz, clock_hz, pulse_us):
    steps = Scale(frequency_hz, clock_hz).steps(pulse_us)
    assert 0 <= steps <= 4095
    on, off = registers(steps)[:2], registers(steps)[2:]
    assert on == b"\x00\x00"
    assert off == (steps.to_bytes(2, "little") if steps else b"\x00\x10")


@given(frequencies, clocks)
def test_adafruits_package_and_the_driver_use_the_same_prescale(frequency_hz, clock_hz):
    class Written(PCA9685):
        mode1_reg = 0
        prescale_reg = 0

        def __init__(self) -> None:
            self.reference_clock_speed = clock_hz

    chip = Written()
    chip.frequency = frequency_hz
    assert chip.prescale_reg == prescale(frequency_hz, clock_hz)


@pytest.mark.parametrize("frequency_hz", [10, 2000])
def test_unsupported_frequency_is_refused(frequency_hz):
    with pytest.raises(ValueError, match="24 to 1526 Hz"):
        prescale(frequency_hz, 25_000_000)


@pytest.mark.parametrize("channels", [[], [3, 3], [16], [-1]])
def test_invalid_channels_are_refused(channels):
    with pytest.raises(ValueError, match="0 to 15"):
        Pulses(Bench().bus, 0x40, 50, 25_000_000, channels)


class Pin:
    """An output-enable pin, wired to a chip; it may be out of order."""

    def __init__(self, chip: Pca9685, broken: bool = False) -> None:
        self.told: list[bool] = []
        self._chip, self._broken = chip, broken
        self.on_set = lambda on: None

    def set(self, on: bool) -> None:
        self.told.append(on)
        if self._broken:
            raise OSError(19, "No such device")
        self._chip.output_enable = on
        self.on_set(on)


class Rig(Bench):
    """A PCA9685 with servos on channels 2, 3 and 6."""

    def __init__(
        self, oscillator_hz: float = 25e6, clock_hz: int = 25_000_000, pin: bool = False, **more
    ) -> None:
        super().__init__()
        self.chip = Pca9685(self.clock, 0x40, oscillator_hz)
        self.add(self.chip)
        self.pin = Pin(self.chip) if pin else None
        self.pulses = Pulses(self.bus, 0x40, 50, clock_hz, [2, 3, 6], self.pin, **more)
        self.use(self.pulses)

    def set(self, *pulses_us: int) -> None:
        self.pulses.set(list(pulses_us))
        self.worker.poke(self.pulses)

    def now(self) -> list[float]:
        pulses_us = self.chip.pulses_us()
        assert not any(pulses_us[k] for k in range(16) if k not in (2, 3, 6))
        return [pulses_us[k] for k in (2, 3, 6)]


def near(*pulses_us: float):
    return pytest.approx(pulses_us, abs=2.45)  # half a step at 50 Hz


def test_outputs_reach_the_chip_at_once_and_all_in_one_message():
    rig = Rig()
    rig.run(20)
    rig.smbus.writes.clear()
    rig.set(1500, 0, 1901)
    rig.run(0.1)
    assert rig.now() == near(1500, 0, 1901)
    assert rig.now()[1] == 0
    outputs = [data for _, data in rig.smbus.writes if len(data) > 1]
    assert len(outputs) == 1 and len(outputs[0]) == 1 + 4 * 5  # channels 2 to 6
    assert rig.pulses.acknowledged.take() == 1


def test_chip_left_running_has_no_pulse_before_the_first_output():
    rig = Rig()
    rig.run(20)
    rig.set(1500, 1500, 1500)
    rig.run(5)
    rig.use(after := Pulses(rig.bus, 0x40, 50, 25_000_000, [2, 3, 6]))  # the process was killed and is back
    assert rig.now() == near(1500, 1500, 1500)
    for _ in range(100):
        rig.run(1)
        assert rig.now() == [0, 0, 0]
    assert after.working


def test_calibrated_clock_gives_true_pulses_on_a_chip_with_4_percent_error():
    for clock_hz, off in ((26_000_000, 0), (25_000_000, 60)):
        rig = Rig(oscillator_hz=26e6, clock_hz=clock_hz)
        rig.set(1500, 0, 0)
        rig.run(20)
        assert abs(rig.now()[0] - (1500 - off)) < 5


@pytest.mark.parametrize("phase_ms", range(0, 50, 7))
@pytest.mark.parametrize("swimming", [True, False])
def test_pulses_are_back_within_100_ms_of_a_brown_out(phase_ms, swimming):
    rig = Rig()
    rig.set(1500, 1600, 1700)
    tick = (lambda: rig.set(1500, 1600, 1700)) if swimming else None
    rig.run(60 + phase_ms, 20, tick)
    rig.chip.power_cycle()
    assert rig.now() == [0, 0, 0]
    rig.run(100, 20, tick)
    assert rig.now() == near(1500, 1600, 1700)
    assert [kind for kind, _, _ in rig.worker.news] == ["device lost", "device back"]


def test_change_of_any_register_is_detected_within_50_ms():
    for register, value in ((0x00, 0x21), (0x01, 0x0C), (0x06 + 4 * 2 + 2, 0x77)):
        rig = Rig()
        rig.set(1500, 1600, 1700)
        rig.run(60)
        rig.bus.write(0x40, bytes((register, value)))
        rig.run(50 + 10)
        assert [kind for kind, _, _ in rig.worker.news] == ["device lost", "device back"], register
        assert rig.now() == near(1500, 1600, 1700)
    rig = Rig()
    rig.set(1500, 1600, 1700)
    rig.run(60)
    for data in (b"\x00\x30", b"\xfe\x50", b"\x00\xa0"):  # PRESCALE is deaf while the chip is awake
        rig.bus.write(0x40, data)
    rig.run(50 + 10)
    assert rig.now() == near(1500, 1600, 1700)


def test_lost_chip_is_set_up_again_with_the_newest_outputs():
    rig = Rig()
    rig.set(1500, 1600, 1700)
    rig.run(60)
    rig.faults.set("nack", 0x40)
    rig.run(500, 20, lambda: rig.set(1100, 1200, 1300))
    assert not rig.pulses.working and "I/O" in rig.reason
    rig.pulses.acknowledged.take()
    rig.run(50)
    assert rig.pulses.acknowledged.take() is None
    rig.chip.power_cycle()
    rig.faults.clear()
    rig.run(130)
    assert rig.now() == near(1100, 1200, 1300) and not rig.reason


def test_single_missed_response_delays_by_a_few_milliseconds():
    rig = Rig()
    rig.set(1500, 1600, 1700)
    rig.run(60)
    rig.faults.set("nack", 0x40)
    rig.set(1510, 1600, 1700)
    rig.run(2)
    rig.faults.clear()
    rig.run(10)
    assert rig.now() == near(1510, 1600, 1700)
    assert [kind for kind, _, _ in rig.worker.news] == ["device lost", "device back"]


def test_worker_detects_a_hung_bus_and_the_pin_ends_the_pulses():
    rig = Rig(pin=True)
    rig.set(1500, 1600, 1700)
    rig.run(60)
    rig.faults.set("hang")
    rig.run(1300)
    assert "timed out" in rig.reason
    assert rig.now() == [0, 0, 0] and rig.pin.told[-1] is False
    rig.faults.clear()
    rig.run(1200)
    assert rig.now() == near(1500, 1600, 1700)


@pytest.mark.parametrize(("bit", "level"), [(0, 1), (5, 0), (2, 1), (6, 1)])
def test_chip_that_does_not_store_registers_gets_no_pulses(bit, level):
    rig = Rig()
    rig.set(1500, 1600, 1700)
    rig.faults.set("stuck", 0x40, bit=bit, level=level)
    rig.run(300)
    assert not rig.pulses.working
    assert rig.reason.startswith("pca9685 at 0x40 does not hold what was written")
    assert rig.now() == [0, 0, 0]


def test_nothing_at_the_address_is_an_error_on_the_bus():
    rig = Rig()
    rig.use(Pulses(rig.bus, 0x41, 50, 25_000_000, [0]))
    rig.run(10)
    assert "I/O" in rig.reason


def test_chip_that_vanishes_before_adafruits_probe_is_named():
    rig = Rig()
    rig.chip.write = lambda data: rig.faults.set(
        "nack", 0x40
    )  # the first write goes through, and is the last
    rig.run(4)
    assert rig.reason == "pca9685 at 0x40 does not answer; check its wiring and address"


def test_pin_enables_pulses_only_after_the_set_up():
    rig = Rig(pin=True)
    rig.pulses.set([1500, 0, 0])
    before = []
    rig.pin.on_set = lambda on: before.append((on, rig.pulses.acknowledged.take()))
    rig.run(20)
    assert before == [(False, None), (True, 1)]
    assert rig.now() == near(1500, 0, 0)


def test_outputs_set_during_the_set_up_are_sent_at_once():
    rig = Rig(pin=True)
    rig.pin.on_set = lambda on: rig.pulses.set([1234, 0, 0]) if on else None
    rig.run(2)
    assert rig.now() == near(1234, 0, 0)


def test_closing_ends_every_pulse_and_the_pins_too():
    rig = Rig(pin=True)
    rig.set(1500, 1600, 1700)
    rig.run(60)
    rig.pulses.close()
    assert rig.pin.told[-1] is False
    rig.chip.output_enable = True
    assert rig.now() == [0, 0, 0]


def test_closing_tries_three_times_and_never_raises():
    rig = Rig()
    rig.pulses = Pulses(rig.bus, 0x40, 50, 25_000_000, [2], Pin(rig.chip, broken=True))
    rig.faults.set("nack")
    rig.smbus.writes.clear()
    rig.pulses.close()
    assert len(rig.smbus.writes) == 3


def test_late_worker_after_closing_sends_nothing_but_off():
    rig = Rig()
    rig.set(1500, 1600, 1700)
    rig.run(60)
    rig.pulses.close()
    rig.run(60)
    assert rig.now() == [0, 0, 0]


def test_duties_and_pulses_share_a_chip_and_return_after_a_brown_out():
    rig = Rig(duty_channels=[9])
    rig.pulses.set([1500, 0, 0])
    rig.pulses.set_duty(9, 1000)  # kept until there is a chip
    rig.run(60)
    step_us = rig.pulses.scale.step_us
    assert rig.chip.pulses_us()[9] == pytest.approx(1000 * step_us)
    rig.pulses.set_duty(9, 2000)
    assert rig.chip.pulses_us()[9] == pytest.approx(2000 * step_us)
    rig.chip.power_cycle()
    rig.run(100)
    assert rig.chip.pulses_us()[9] == pytest.approx(2000 * step_us)
    assert rig.chip.pulses_us()[2] == pytest.approx(1500, abs=2.45)
    rig.pulses.close()
    assert not any(rig.chip.pulses_us())
