"""Integer phase, sine and the critically damped lag."""

import math

from caudal.hal.core.fixed_point import ONE
from caudal.onboard.gait.phase import MASK, TURN, Lag, phase_of, sine


def test_the_sine_is_exact_at_the_quarters():
    assert [sine(TURN * k // 4) for k in range(4)] == [0, ONE, 0, -ONE]


def test_the_sine_is_within_2e_4_everywhere():
    worst = 0.0
    for k in range(2000):
        phase = k * TURN // 2000 + 17
        worst = max(worst, abs(sine(phase) / ONE - math.sin(2 * math.pi * phase / TURN)))
    assert worst < 2e-4


def test_a_phase_outside_the_turn_is_the_same_phase():
    for phase in (12345, TURN // 3, TURN - 1):
        assert sine(phase + TURN) == sine(phase)
        assert sine(phase - TURN) == sine(phase)


def test_an_angle_becomes_its_share_of_the_turn():
    assert phase_of(math.pi) == TURN // 2
    assert phase_of(-math.pi / 2) == TURN * 3 // 4
    assert 0 <= phase_of(-1e-12) <= MASK


def run(lag, ticks):
    return [lag.step() for _ in range(ticks)]


def test_a_lag_follows_the_critically_damped_step():
    lag = Lag(12.0, 100)
    lag.target = ONE
    values = run(lag, 100)
    for tick in (10, 20, 50):
        t = tick / 100
        assert abs(values[tick - 1] / ONE - (1 - math.exp(-6 * t) * (1 + 6 * t))) < 0.02


def test_a_lag_reaches_its_target_from_both_sides():
    for start, target in ((0, ONE), (ONE, 0), (-ONE, ONE), (0, 3), (5, -5000)):
        lag = Lag(12.0, 100, start)
        lag.target = target
        run(lag, 400)
        assert abs(lag.value - target) <= 2


def test_a_stilled_lag_is_exactly_zero():
    for start in (1, 100, 9000, ONE):
        lag = Lag(12.0, 100, start)
        lag.target = 0
        run(lag, 400)
        assert lag.value == 0


def test_a_lag_starts_without_a_kick_and_never_overshoots():
    lag = Lag(12.0, 100)
    lag.target = ONE
    values = run(lag, 300)
    assert values[0] < 0.005 * ONE
    assert max(values) <= ONE
    for before, after in zip(values, values[1:]):
        assert after >= before


def test_a_lag_that_jumps_is_there_at_once():
    lag = Lag(12.0, 100)
    lag.jump(700)
    assert lag.value == lag.target == 700
    assert lag.step() == 700
