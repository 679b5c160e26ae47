"""Strict order of aims: what a lower one does is not felt above it, limits come first, and lack goes to the last."""

from __future__ import annotations

import arm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.onboard.chain.barriers import Rows
from caudal.onboard.chain.hierarchy import Hierarchy, SolverError, null_space, quadratic
from caudal.onboard.chain.law import Law, projector

WIDE = np.full(9, 1e6)
NONE = Rows(np.zeros((0, 14)), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=int))
SCALE = np.full(9, 31.3)


def levels(rng: np.random.Generator, sizes=(3, 3, 2), damping=1e-3) -> list:
    return [(rng.normal(size=(size, 14)), rng.normal(size=size), damping) for size in sizes]


def moved(chain, rows, thrust):
    """What the free coordinates' accelerations are in these rows."""
    a = np.linalg.solve(chain.free_mass, chain.free_b @ thrust - chain.free_load)
    return rows[:, chain.free] @ a


def test_in_a_hundred_random_states_no_level_of_the_hierarchy_is_felt_by_those_above_it():
    rng, chain = np.random.default_rng(0), arm.chain()
    worst = 0.0
    for _ in range(100):
        arm.State(rng).update(chain)
        asked, solver = levels(rng), Hierarchy(SCALE)
        alone = [solver.solve(chain, asked[: k + 1], NONE, -WIDE, WIDE) for k in range(3)]
        for k in range(2):
            rows = asked[k][0]
            leaks = np.abs(moved(chain, rows, alone[2]) - moved(chain, rows, alone[k])).max()
            worst = max(worst, leaks / max(1.0, np.abs(asked[k][1]).max()))
    assert worst < 1e-9


def test_in_a_hundred_random_states_no_level_of_the_law_is_felt_by_those_above_it():
    rng, chain = np.random.default_rng(1), arm.chain()
    worst = 0.0
    for _ in range(100):
        arm.State(rng).update(chain)
        inverse = np.linalg.inv(chain.free_mass)
        above = np.zeros((0, 10))
        for rows, _, _ in levels(rng):
            project = projector(above, inverse)
            below = project @ rng.normal(size=10) * 10
            if len(above):
                worst = max(worst, np.abs(above @ inverse @ below).max())
            above = np.concatenate([above, rows[:, chain.free]])
    assert worst < 1e-9


def test_both_solvers_meet_what_can_be_met():
    """Hierarchy within the thrusters' reach; the law in generalised forces, which thrusters cannot all give."""
    rng, chain = np.random.default_rng(2), arm.chain()
    for _ in range(20):
        arm.State(rng).update(chain)
        rows, asked, _ = levels(rng, (3,))[0]
        solver = Hierarchy(SCALE)
        thrust = solver.solve(chain, [(rows, asked, 1e-6)], NONE, -WIDE, WIDE)
        assert np.abs(moved(chain, rows, thrust) - asked).max() < 1e-5 and solver.missed[0] < 1e-5
        law = Law(SCALE)
        inverse = np.linalg.inv(chain.free_mass)
        tau = law.force(chain, inverse, [(rows[:, chain.free], asked)])
        assert np.abs(rows[:, chain.free] @ inverse @ (tau - chain.free_load) - asked).max() < 1e-9


def test_barriers_hold_against_the_first_aim_and_it_comes_as_near_as_they_let_it():
    rng, chain = np.random.default_rng(3), arm.chain()
    for _ in range(50):
        arm.State(rng).update(chain)
        row = rng.normal(size=(1, 14))
        there = moved(chain, row, np.zeros(9))[0]
        wall = Rows(row, np.array([there + 0.1]), np.zeros(1), np.zeros(1), np.zeros(1, dtype=int))
        solver = Hierarchy(SCALE)
        thrust = solver.solve(chain, [(row, np.array([there + 5.0]), 1e-6)], wall, -WIDE, WIDE)
        assert moved(chain, row, thrust)[0] == pytest.approx(there + 0.1, abs=1e-3)
        assert solver.binding[0] and solver.broken == 0.0 and solver.missed[0] == pytest.approx(4.9, abs=1e-2)


def test_what_thrusters_cannot_give_is_taken_from_the_last_aim():
    rng, chain = np.random.default_rng(4), arm.chain()
    for _ in range(30):
        arm.State(rng).update(chain)
        asked = levels(rng, (2, 2, 2))
        first = Hierarchy(SCALE).solve(chain, asked[:1], NONE, -WIDE, WIDE)
        most = 1.05 * np.abs(first).max() * np.ones(9)  # enough for the first, not for all
        solver = Hierarchy(SCALE)
        thrust = solver.solve(chain, asked, NONE, -most, most)
        assert np.abs(thrust).max() <= most[0] * (1 + 1e-9)
        assert solver.missed[0] < 1e-3 and solver.missed[0] <= min(solver.missed[1:]) + 1e-3


def test_barriers_that_contradict_each_other_are_broken_by_as_little_as_can_be_and_that_is_said():
    rng, chain = np.random.default_rng(5), arm.chain()
    arm.State(rng).update(chain)
    row = rng.normal(size=14)
    there = moved(chain, row[None], np.zeros(9))[0]
    both = Rows(
        np.array([row, -row]), np.array([there - 1.0, -there - 1.0]), np.zeros(2), np.zeros(2), np.arange(2)
    )
    solver = Hierarchy(SCALE)
    thrust = solver.solve(chain, levels(rng, (2,)), both, -WIDE, WIDE)
    assert solver.broken > 0.0
    assert moved(chain, row[None], thrust)[0] == pytest.approx(there, abs=1e-3)  # half way


def test_a_program_without_an_answer_is_an_error_with_a_reason():
    apart = np.array([[1.0], [-1.0]])
    assert quadratic(np.eye(1), np.zeros(1), apart, np.full(2, -1.0), np.full(2, -1e30)) == (None, None)
    chain = arm.chain()
    arm.State(np.random.default_rng(6)).update(chain)
    with pytest.raises(SolverError, match="no answer"):
        Hierarchy(SCALE).solve(chain, [(np.full((1, 14), np.nan), np.zeros(1), 0.1)], NONE, -WIDE, WIDE)


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_a_null_space_is_orthonormal_and_not_felt(seed, rows):
    a = np.random.default_rng(seed).normal(size=(rows, 9))
    null = null_space(a)
    assert null.shape == (9, 9 - rows)
    assert np.abs(a @ null).max() < 1e-10 and np.abs(null.T @ null - np.eye(9 - rows)).max() < 1e-12


def test_the_law_lets_go_of_a_limit_only_after_its_aims_have_wanted_away_for_some_ticks():
    rng, chain = np.random.default_rng(7), arm.chain()
    arm.State(rng, still=True).update(chain)
    row = rng.normal(size=(1, 14))
    law = Law(SCALE)
    limit = Rows(row, np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1, dtype=int))
    seen = []
    for asked in [1.0] * 3 + [-1.0] * 20:
        law.solve(chain, [(row, np.array([asked]), 0.01)], limit, -WIDE, WIDE)
        seen.append(bool(law.binding[0]))
    assert seen[:3] == [True] * 3 and sum(seen) == 12 and seen == sorted(seen, reverse=True)
