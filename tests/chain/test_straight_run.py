"""Gains for running straight: against scipy, trims against the model, and stability of the closed loop."""

from __future__ import annotations

import arm
import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are

from caudal.onboard.chain.arrays import Floats
from caudal.onboard.chain.gain_schedule import GainSchedule
from caudal.onboard.chain.riccati import NoGainError, correction, cost_matrix, feedback, transition
from caudal.onboard.chain.straight_run import thrust_rows


@pytest.fixture(scope="module")
def schedule() -> GainSchedule:
    return arm.controller("speed-astern").tasks[0]._schedule


def random_system(seed: int, size: int = 6, wide: int = 2) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(size, size)), rng.normal(size=(size, wide))


@pytest.mark.parametrize("seed", range(5))
def test_transition_is_the_matrix_exponential(seed):
    a, b = random_system(seed)
    f, g = transition(20 * a, b, 0.1)
    both = np.zeros((8, 8))
    both[:6, :6], both[:6, 6:] = 20 * a, b
    whole = expm(0.1 * both)
    assert f == pytest.approx(whole[:6, :6], rel=1e-8, abs=1e-8 * np.abs(whole).max())
    assert g == pytest.approx(whole[:6, 6:], rel=1e-8, abs=1e-8 * np.abs(whole).max())


@pytest.mark.parametrize("seed", range(5))
def test_riccati_solution_is_scipys_and_stabilises_unstable_systems(seed):
    f, g = random_system(seed)
    q, r = np.eye(6), np.diag([0.5, 2.0])
    assert cost_matrix(f, g, q, r) == pytest.approx(solve_discrete_are(f, g, q, r), rel=1e-6)
    assert np.abs(np.linalg.eigvals(f)).max() > 1.0
    assert np.abs(np.linalg.eigvals(f - g @ feedback(f, g, q, r))).max() < 1.0
    gain = correction(f, g.T, q, r)
    assert np.abs(np.linalg.eigvals(f - f @ gain @ g.T)).max() < 1.0


def test_uncontrollable_unstable_state_has_no_gain_and_raises_an_error():
    f, g = np.diag([1.5, 0.5]), np.array([[0.0], [1.0]])
    with pytest.raises(NoGainError, match="no answer"):
        feedback(f, g, np.eye(2), np.eye(1))


@pytest.mark.parametrize("speed", [-2.35, -1.2, -0.4, 0.0])
def test_trim_is_steady(schedule, speed):
    trim = schedule.trimmed(speed, 0.0)
    state, thrust, rests = trim[:20], trim[20:29], trim[29:]
    rates = schedule.dynamics.rates(state, thrust, rests)
    assert rates[0] == pytest.approx(speed, abs=1e-3)
    assert np.abs(rates[1:]).max() < 1e-6
    assert np.abs(state[3:10]).max() < 0.03  # milliradians across the flow
    assert np.all(thrust > -21.0) and np.abs(rests).max() < 0.5


def closed_loop(
    schedule: GainSchedule, speed: float, late_ticks: int = 0, thrust_share: float = 1.0
) -> Floats:
    """The closed loop about a speed, one tick of it: plant, thrusters' lags, filter and feedback."""
    trim = schedule.trimmed(speed, 0.0)
    a, b = schedule.linear(trim[:20], trim[20:29], trim[29:])
    steer = np.hstack([np.zeros((9, 1)), schedule.at(speed, schedule.feedback)])
    correct = np.vstack([schedule.at(speed, schedule.correction), np.zeros((9, 13))])
    reading = np.hstack([schedule.reading(), np.zeros((13, 9))])
    lags = np.diag(1 / schedule._thrusters.lags_s)

    def tick(share: float) -> tuple[Floats, Floats]:
        both = np.block([[a, share * b], [np.zeros((9, 20)), -lags]])
        return transition(both, np.vstack([np.zeros((20, 9)), lags]), 0.02)

    (f, g), (f_model, g_model) = tick(thrust_share), tick(1.0)
    size = 58 + 9 * late_ticks
    command = np.zeros((9, size))
    command[:, 29:58] = -steer
    acts = command if not late_ticks else np.eye(size)[-9:]
    is_next = g @ acts
    is_next[:, :29] += f
    expected = g_model @ command
    expected[:, 29:58] += f_model
    waits = np.vstack([command, np.eye(size)[58:-9]])[: 9 * late_ticks]
    return np.vstack([is_next, expected + correct @ reading @ (is_next - expected), waits])


@pytest.mark.parametrize("speed", [-2.33, -1.8, -1.0, -0.3])
@pytest.mark.parametrize("late, share", [(0, 1.0), (1, 1.0), (0, 0.9), (0, 1.1)])
def test_closed_loop_is_stable_a_tick_late_and_with_thrust_a_tenth_off(schedule, speed, late, share):
    """The open loop is unstable: modules turn across the flow."""
    sizes = np.sort(np.abs(np.linalg.eigvals(closed_loop(schedule, speed, late, share))))
    assert sizes[-1] == pytest.approx(1.0, abs=1e-6)  # the distance ahead, which is not controlled
    assert sizes[-2] < 0.9995
    trim = schedule.trimmed(speed, 0.0)
    alone, _ = schedule.linear(trim[:20], trim[20:29], trim[29:])
    assert np.linalg.eigvals(alone).real.max() > 0.3 * abs(speed)


def test_thrust_rows_see_each_thruster_alone():
    chain, rng = arm.chain(), np.random.default_rng(3)
    for _ in range(20):
        arm.State(rng).update(chain)
        rows, drift = thrust_rows(chain)
        thrust = rng.normal(0.0, 10.0, 9)
        accelerations = np.linalg.solve(chain.free_mass, chain.free_b @ thrust - chain.free_load)
        assert rows[:, chain.free] @ accelerations - drift == pytest.approx(thrust, abs=1e-8)
