"""Valve currents (hal/pi/valve.py): the current loop on a simulated coil, and on an emulated PCA9685."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.pca9685 import Pca9685
from caudal.hal.pi.pca9685 import Pulses
from caudal.hal.pi.slot import Slot
from caudal.hal.pi.valve import FULL_DUTY, Coil, CurrentLoop, Valves
from tests.hal.pi_bench import Bench

FULL_UA = 500_000
LIMIT_UA = 600_000


def loop() -> CurrentLoop:
    return CurrentLoop(FULL_UA, kp=150, ki=150, limit_ua=LIMIT_UA)


def driven(loop: CurrentLoop, asked_ua: int, gain: float, steps: int, current_ua: float = 0.0) -> float:
    """The current of a coil whose driver gives `gain` of its nominal current, with a lag of about a step."""
    for _ in range(steps):
        duty = loop.step(asked_ua, round(current_ua))
        assert 0 <= duty <= FULL_DUTY
        current_ua += 0.6 * (duty / FULL_DUTY * FULL_UA * gain - current_ua)
    return current_ua


@given(st.integers(20_000, 400_000), st.floats(0.8, 1.3))
def test_current_meets_its_command_for_any_coil(asked_ua, gain):
    step_ua = FULL_UA / FULL_DUTY * gain
    reached = driven(loop(), asked_ua, gain, 400)
    promised = asked_ua * gain
    trimmed = FULL_UA * gain / 3
    if abs(promised - asked_ua) < trimmed - step_ua:
        assert abs(reached - asked_ua) <= 2 * step_ua


@given(st.integers(-10, 10**6), st.lists(st.one_of(st.none(), st.integers(-(10**6), 10**7)), max_size=40))
def test_every_measurement_gives_a_valid_duty(asked_ua, measured):
    control = loop()
    for measured_ua in measured:
        duty = control.step(asked_ua, measured_ua)
        assert 0 <= duty <= FULL_DUTY
        assert duty == 0 or (asked_ua > 0 and not control.tripped)


def test_current_is_0_before_the_first_and_100_ms_after_the_last_measurement():
    control = loop()
    assert control.step(200_000, None) == 0
    assert control.step(200_000, 0) > 0
    duties = [control.step(200_000, None) for _ in range(12)]
    assert all(duties[:9]) and not any(duties[9:])
    assert control.step(200_000, 0) > 0


def test_steps_between_two_periods_do_not_count_towards_the_timeout():
    control = loop()
    control.step(200_000, 0)
    assert all(control.step(200_000, None, early=True) for _ in range(50))


def test_short_circuit_is_off_until_the_command_is_0():
    control = loop()
    assert control.step(200_000, 190_000) > 0
    assert control.step(200_000, LIMIT_UA + 1) == 0
    assert [control.step(200_000, 0) for _ in range(20)] == [0] * 20
    assert control.tripped
    assert control.step(0, 0) == 0
    assert control.step(200_000, 0) > 0


@pytest.mark.parametrize("wrong", [(0, 1, 1, 1), (1, -1, 1, 1), (1, 1, -1, 1), (1, 1, 1, 0)])
def test_loop_without_a_scale_is_refused(wrong):
    with pytest.raises(ValueError, match="full scale"):
        CurrentLoop(*wrong)


class Rig(Bench):
    """Two valves and a servo on one PCA9685; coils follow their duty with a gain."""

    def __init__(self) -> None:
        super().__init__()
        self.chip = Pca9685(self.clock, 0x40)
        self.add(self.chip)
        self.pulses = Pulses(self.bus, 0x40, 200, 25_000_000, [0], duty_channels=[4, 5])
        self.slots = [Slot(), Slot()]
        self.valves = Valves(
            self.pulses, [Coil(4 + k, loop(), self.slots[k], 1000.0) for k in range(2)], now_us=self.clock
        )
        self.use(self.pulses, self.valves)
        self.measured = True

    def duty(self, channel: int) -> float:
        return self.chip.pulses_us()[channel] / (4096 * self.pulses.scale.step_us)

    def tick(self) -> None:
        for k, gain in enumerate((0.8, 1.2)):
            if self.measured:
                self.slots[k].put(round(self.duty(4 + k) * FULL_UA * gain / 1000))

    def ask(self, *asked_ua: int) -> None:
        self.valves.set(list(asked_ua))
        self.worker.poke(self.valves)


def test_valves_and_servos_share_a_chip_and_each_coil_gets_its_current():
    rig = Rig()
    rig.pulses.set([1500])
    rig.run(20)
    rig.ask(200_000, 100_000)
    rig.run(3000, 5, rig.tick)
    for k, (asked_ua, gain) in enumerate(((200_000, 0.8), (100_000, 1.2))):
        assert rig.duty(4 + k) * FULL_UA * gain == pytest.approx(asked_ua, abs=1500)  # it is measured in mA
    assert rig.chip.pulses_us()[0] == pytest.approx(1500, abs=1)


def test_currents_end_within_110_ms_without_measurements():
    rig = Rig()
    rig.run(20)
    rig.ask(200_000, 100_000)
    rig.run(300, 5, rig.tick)
    rig.measured = False

    def ask():
        rig.ask(200_000, 100_000)

    rig.run(80, 20, ask)
    assert rig.duty(4) > 0
    rig.run(40, 20, ask)
    assert rig.duty(4) == rig.duty(5) == 0


def test_closing_ends_the_currents():
    rig = Rig()
    rig.run(20)
    rig.ask(200_000, 100_000)
    rig.run(100, 5, rig.tick)
    assert rig.duty(4) > 0
    rig.valves.close()
    rig.run(15, 5, rig.tick)
    assert rig.duty(4) == rig.duty(5) == 0
