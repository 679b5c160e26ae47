"""Strict priority of tasks: lower levels do not disturb higher ones, limits come first, the last level falls short."""

from __future__ import annotations

import arm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.onboard.chain.arrays import Floats
from caudal.onboard.chain.barriers import BarrierRows
from caudal.onboard.chain.hierarchy import HierarchicalSolver, Level, SolverError, null_space, solve_qp
from caudal.onboard.chain.model import ChainModel
from caudal.onboard.chain.null_space_projection import NullSpaceProjection, projector

WIDE = np.full(9, 1e6)
NONE = BarrierRows(np.zeros((0, 14)), np.zeros(0), np.zeros(0), np.zeros(0, dtype=int))
SCALE = np.full(9, 31.3)


def random_levels(rng: np.random.Generator, sizes: tuple[int, ...] = (3, 3, 2)) -> list[Level]:
    return [(rng.normal(size=(size, 14)), rng.normal(size=size), 1e-3) for size in sizes]


def accelerations(chain: ChainModel, rows: Floats, thrust: Floats) -> Floats:
    """Accelerations of the free coordinates in these rows."""
    a = np.linalg.solve(chain.free_mass, chain.free_b @ thrust - chain.free_load)
    return rows[:, chain.free] @ a


def test_lower_levels_of_the_hierarchy_do_not_disturb_higher_ones():
    rng, chain = np.random.default_rng(0), arm.chain()
    worst = 0.0
    for _ in range(100):
        arm.State(rng).update(chain)
        levels, solver = random_levels(rng), HierarchicalSolver(SCALE)
        alone = [solver.solve(chain, levels[: k + 1], NONE, -WIDE, WIDE) for k in range(3)]
        for k in range(2):
            rows = levels[k][0]
            both = accelerations(chain, rows, alone[2]), accelerations(chain, rows, alone[k])
            worst = max(worst, np.abs(both[0] - both[1]).max() / max(1.0, np.abs(levels[k][1]).max()))
    assert worst < 1e-9


def test_lower_levels_of_the_projection_do_not_disturb_higher_ones():
    rng, chain = np.random.default_rng(1), arm.chain()
    worst = 0.0
    for _ in range(100):
        arm.State(rng).update(chain)
        inverse = np.linalg.inv(chain.free_mass)
        above = np.zeros((0, 10))
        for rows, _, _ in random_levels(rng):
            project = projector(above, inverse)
            below = project @ rng.normal(size=10) * 10
            if len(above):
                worst = max(worst, np.abs(above @ inverse @ below).max())
            above = np.concatenate([above, rows[:, chain.free]])
    assert worst < 1e-9


def test_both_solvers_meet_a_feasible_demand():
    """The hierarchy by thrusts; the projection by generalised forces, not all of which thrusters can give."""
    rng, chain = np.random.default_rng(2), arm.chain()
    for _ in range(20):
        arm.State(rng).update(chain)
        rows, demand, _ = random_levels(rng, (3,))[0]
        solver = HierarchicalSolver(SCALE)
        thrust = solver.solve(chain, [(rows, demand, 1e-6)], NONE, -WIDE, WIDE)
        assert np.abs(accelerations(chain, rows, thrust) - demand).max() < 1e-5 and solver.missed[0] < 1e-5
        inverse = np.linalg.inv(chain.free_mass)
        tau = NullSpaceProjection(SCALE).force(chain, inverse, [(rows[:, chain.free], demand)])
        assert np.abs(rows[:, chain.free] @ inverse @ (tau - chain.free_load) - demand).max() < 1e-9


def test_barrier_holds_and_the_first_task_comes_as_near_as_it_allows():
    rng, chain = np.random.default_rng(3), arm.chain()
    for _ in range(50):
        arm.State(rng).update(chain)
        row = rng.normal(size=(1, 14))
        drift = accelerations(chain, row, np.zeros(9))[0]
        wall = BarrierRows(row, np.array([drift + 0.1]), np.zeros(1), np.zeros(1, dtype=int))
        solver = HierarchicalSolver(SCALE)
        thrust = solver.solve(chain, [(row, np.array([drift + 5.0]), 1e-6)], wall, -WIDE, WIDE)
        assert accelerations(chain, row, thrust)[0] == pytest.approx(drift + 0.1, abs=1e-3)
        assert solver.binding[0] and solver.violation == 0.0
        assert solver.missed[0] == pytest.approx(4.9, abs=1e-2)


def test_last_task_falls_short_when_thrust_is_limited():
    rng, chain = np.random.default_rng(4), arm.chain()
    for _ in range(30):
        arm.State(rng).update(chain)
        levels = random_levels(rng, (2, 2, 2))
        first = HierarchicalSolver(SCALE).solve(chain, levels[:1], NONE, -WIDE, WIDE)
        most = 1.05 * np.abs(first).max() * np.ones(9)  # enough for the first, not for all
        solver = HierarchicalSolver(SCALE)
        thrust = solver.solve(chain, levels, NONE, -most, most)
        assert np.abs(thrust).max() <= most[0] * (1 + 1e-9)
        assert solver.missed[0] < 1e-3 and solver.missed[0] <= min(solver.missed[1:]) + 1e-3


def test_contradicting_barriers_are_violated_by_as_little_as_possible():
    rng, chain = np.random.default_rng(5), arm.chain()
    arm.State(rng).update(chain)
    row = rng.normal(size=14)
    drift = accelerations(chain, row[None], np.zeros(9))[0]
    limits = np.array([drift - 1.0, -drift - 1.0])
    both = BarrierRows(np.array([row, -row]), limits, np.zeros(2), np.arange(2))
    solver = HierarchicalSolver(SCALE)
    thrust = solver.solve(chain, random_levels(rng, (2,)), both, -WIDE, WIDE)
    assert solver.violation > 0.0
    assert accelerations(chain, row[None], thrust)[0] == pytest.approx(drift, abs=1e-3)  # half way


def test_infeasible_program_raises_an_error_with_a_reason():
    apart = np.array([[1.0], [-1.0]])
    assert solve_qp(np.eye(1), np.zeros(1), apart, np.full(2, -1.0), np.full(2, -1e30)) == (None, None)
    chain = arm.chain()
    arm.State(np.random.default_rng(6)).update(chain)
    level = np.full((1, 14), np.nan), np.zeros(1), 0.1
    with pytest.raises(SolverError, match="no answer"):
        HierarchicalSolver(SCALE).solve(chain, [level], NONE, -WIDE, WIDE)


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_null_space_is_orthonormal_and_maps_to_zero(seed, rows):
    a = np.random.default_rng(seed).normal(size=(rows, 9))
    null = null_space(a)
    assert null.shape == (9, 9 - rows)
    assert np.abs(a @ null).max() < 1e-10 and np.abs(null.T @ null - np.eye(9 - rows)).max() < 1e-12


def test_projection_deactivates_a_limit_only_after_some_ticks_without_need():
    rng, chain = np.random.default_rng(7), arm.chain()
    arm.State(rng, still=True).update(chain)
    row = rng.normal(size=(1, 14))
    solver = NullSpaceProjection(SCALE)
    limit = BarrierRows(row, np.zeros(1), np.zeros(1), np.zeros(1, dtype=int))
    active = []
    for demand in [1.0] * 3 + [-1.0] * 20:
        solver.solve(chain, [(row, np.array([demand]), 0.01)], limit, -WIDE, WIDE)
        active.append(bool(solver.binding[0]))
    assert active[:3] == [True] * 3 and sum(active) == 12 and active == sorted(active, reverse=True)
