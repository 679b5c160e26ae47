"""Running straight in numbers: gains against an oracle, trims against the model, and what the loop is worth."""

from __future__ import annotations

import arm
import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are

from caudal.onboard.chain.riccati import NoGain, correction, feedback, transition, worth
from caudal.onboard.chain.run import thrust_rows


@pytest.fixture(scope="module")
def straight():
    return arm.controller("speed-astern").aims[0]._straight


def drawn(seed: int, size: int = 6, wide: int = 2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(size, size)), rng.normal(size=(size, wide))


@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_the_matrix_exponential(seed):
    a, b = drawn(seed)
    f, g = transition(20 * a, b, 0.1)
    both = np.zeros((8, 8))
    both[:6, :6], both[:6, 6:] = 20 * a, b
    whole = expm(0.1 * both)
    assert f == pytest.approx(whole[:6, :6], rel=1e-8, abs=1e-8 * np.abs(whole).max())
    assert g == pytest.approx(whole[:6, 6:], rel=1e-8, abs=1e-8 * np.abs(whole).max())


@pytest.mark.parametrize("seed", range(5))
def test_riccatis_equation_has_the_answer_that_scipy_finds_and_unstable_systems_come_to_rest(seed):
    f, g = drawn(seed)
    q, r = np.eye(6), np.diag([0.5, 2.0])
    assert worth(f, g, q, r) == pytest.approx(solve_discrete_are(f, g, q, r), rel=1e-6)
    assert np.abs(np.linalg.eigvals(f)).max() > 1.0
    assert np.abs(np.linalg.eigvals(f - g @ feedback(f, g, q, r))).max() < 1.0
    seen = correction(f, g.T, q, r)
    assert np.abs(np.linalg.eigvals(f - f @ seen @ g.T)).max() < 1.0


def test_what_no_input_reaches_has_no_gain_and_says_so():
    f, g = np.diag([1.5, 0.5]), np.array([[0.0], [1.0]])
    with pytest.raises(NoGain, match="no answer"):
        feedback(f, g, np.eye(2), np.eye(1))


@pytest.mark.parametrize("speed", [-2.35, -1.2, -0.4, 0.0])
def test_a_trim_goes_on_as_it_is(straight, speed):
    trim = straight.trimmed(speed, 0.0)
    state, thrust, rests = trim[:20], trim[20:29], trim[29:]
    change = straight.flow.at(state, thrust, rests)
    assert change[0] == pytest.approx(speed, abs=1e-3)
    assert np.abs(change[1:]).max() < 1e-6
    assert np.abs(state[3:10]).max() < 0.03  # milliradians across the flow
    assert np.all(thrust > -21.0) and np.abs(rests).max() < 0.5


def loop_of(straight, speed, late_ticks=0, push_share=1.0):
    """The closed loop about a speed, one tick of it: plant, thrusters' lags, filter and feedback."""
    trim = straight.trimmed(speed, 0.0)
    a, b = straight.linear(trim[:20], trim[20:29], trim[29:])
    steer = np.hstack([np.zeros((9, 1)), straight.at(speed, straight.steer)])
    see = np.vstack([straight.at(speed, straight.see), np.zeros((9, 13))])
    reading = np.hstack([straight.reading(), np.zeros((13, 9))])
    lags = np.diag(1 / straight._thrusters.lags_s)

    def tick(share):
        both = np.block([[a, share * b], [np.zeros((9, 20)), -lags]])
        return transition(both, np.vstack([np.zeros((20, 9)), lags]), 0.02)

    (f, g), (f_believed, g_believed) = tick(push_share), tick(1.0)
    size = 58 + 9 * late_ticks
    told = np.zeros((9, size))
    told[:, 29:58] = -steer
    acts = told if not late_ticks else np.eye(size)[-9:]
    is_next = g @ acts
    is_next[:, :29] += f
    expected = g_believed @ told
    expected[:, 29:58] += f_believed
    waits = np.vstack([told, np.eye(size)[58:-9]])[: 9 * late_ticks]
    return np.vstack([is_next, expected + see @ reading @ (is_next - expected), waits])


@pytest.mark.parametrize("speed", [-2.33, -1.8, -1.0, -0.3])
@pytest.mark.parametrize("late, share", [(0, 1.0), (1, 1.0), (0, 0.9), (0, 1.1)])
def test_the_loop_is_stable_with_lags_and_filter_a_tick_late_and_with_thrust_a_tenth_off(
    straight, speed, late, share
):
    """Without it nothing of it is: modules turn across the flow."""
    sizes = np.sort(np.abs(np.linalg.eigvals(loop_of(straight, speed, late, share))))
    assert sizes[-1] == pytest.approx(1.0, abs=1e-6)  # the way gone, which nobody steers
    assert sizes[-2] < 0.9995
    trim = straight.trimmed(speed, 0.0)
    alone, _ = straight.linear(trim[:20], trim[20:29], trim[29:])
    assert np.linalg.eigvals(alone).real.max() > 0.3 * abs(speed)


def test_rows_of_thrusts_see_each_thruster_by_itself():
    chain, rng = arm.chain(), np.random.default_rng(3)
    for _ in range(20):
        arm.State(rng).update(chain)
        rows, there = thrust_rows(chain)
        thrust = rng.normal(0.0, 10.0, 9)
        pushed = np.linalg.solve(chain.free_mass, chain.free_b @ thrust - chain.free_load)
        assert rows[:, chain.free] @ pushed - there == pytest.approx(thrust, abs=1e-8)
