"""Tasks in strict order of priority, as far as limits allow: a cascade of small quadratic programs. Needs numpy, daqp.

    level k:   least |A_k u - b_k|   with   low <= u <= high,   G u <= g,   and what the levels before have reached

Each level moves in the null space of those before it, so it cannot disturb them: their A u stays the same to rounding.
Barriers (G, g) come before all tasks. If they cannot all be held within the actuators' limits, they are violated by as
little as possible, and `violation` says by how much. Then tasks degrade from the last one up, and `missed` says by how
much each falls short. Each level is damped where it is nearly singular, by its own `damping`. A NaN or an infinite
value raises SolverError: the loop goes safe with that reason.
"""

from collections.abc import Sequence
from typing import Any

import daqp
import numpy as np

from caudal.onboard.chain.arrays import Flags, Floats, solved
from caudal.onboard.chain.barriers import BarrierRows
from caudal.onboard.chain.model import ChainModel

Level = tuple[Floats, Floats, float]  # J or A, a or b, damping

LEAST = 1e-4  # of the inputs' own scale: chooses the smallest of many equal answers
RANK = 1e-6  # of a level's largest singular value
FREE = -1e30
SOLVED = 1
RELAXATIONS = (1e-6, 1e-5, 1e-4, 1e-3)  # of the inputs' scale, by which limits are relaxed: see _solve_level
ATTEMPTS: tuple[dict[str, Any], ...] = ({}, {"eps_prox": 1e-3})  # settings of daqp, tried in order


class SolverError(ArithmeticError):
    """No thrusts can be computed."""


class HierarchicalSolver:
    """Solves levels in strict order; `scale` is the unit of each input."""

    def __init__(self, scale: Floats) -> None:
        self._scale: Floats = np.array(scale, dtype=float)
        self.violation = 0.0
        self.missed: list[float] = []
        self.binding: Flags = np.zeros(0, dtype=bool)

    def solve(
        self, chain: ChainModel, levels: Sequence[Level], barriers: BarrierRows, low: Floats, high: Floats
    ) -> Floats:
        """Thrusts within low and high, for levels of (J, a, damping) and barriers of accelerations."""
        moved = solved(chain.free_mass, np.column_stack([chain.free_b, -chain.free_load]))
        by_inputs, drift = moved[:, :-1] * self._scale, moved[:, -1]
        programs = []
        for rows, demand, damping in levels:
            rows = rows[:, chain.free]
            programs.append((rows @ by_inputs, demand - rows @ drift, damping))
        rows = barriers.g[:, chain.free]
        limits = rows @ by_inputs, barriers.limit - rows @ drift
        return self.cascade(programs, limits, low / self._scale, high / self._scale) * self._scale

    def cascade(
        self, levels: Sequence[Level], barriers: tuple[Floats, Floats], low: Floats, high: Floats
    ) -> Floats:
        """The same in shares of the inputs' scale: levels of (A, b, damping), barriers (G, g)."""
        self.violation = 0.0
        size = len(low)
        at = np.clip(np.zeros(size), low, high)
        rows, limit, near = _reachable(barriers[0], barriers[1], low, high)
        if len(rows) and (rows @ at > limit).any():
            at, limit = self._feasible(at, rows, limit, low, high)
        kept = np.eye(size)
        self.missed = []
        self.binding = np.zeros(len(near), dtype=bool)
        for a, b, damping in [*levels, (np.eye(size), np.zeros(size), LEAST)]:
            if kept.shape[1]:
                projected = a @ kept
                step, pressed = _solve_level(projected, b - a @ at, kept, at, rows, limit, low, high, damping)
                at = at + kept @ step
                kept = kept @ null_space(projected)
                self.binding[near] |= pressed > 1e-9
            self.missed.append(float(np.linalg.norm(b - a @ at)))
        self.missed.pop()
        return np.clip(at, low, high)

    def _feasible(
        self, at: Floats, rows: Floats, limit: Floats, low: Floats, high: Floats
    ) -> tuple[Floats, Floats]:
        """(a point within limits and barriers, barriers moved out by as little as possible where they cannot hold)."""
        size, count = len(at), len(rows)
        upper, lower = np.concatenate([high, limit]), np.concatenate([low, np.full(count, FREE)])
        near, _ = solve_qp(np.eye(size), -at, np.concatenate([np.eye(size), rows]), upper, lower)
        if near is not None:
            return near, np.maximum(limit, rows @ near)
        # least |slack|, then least move: one program in which slack is expensive
        h = np.diag(np.concatenate([np.full(size, 1e-6), np.ones(count)]))
        f = np.concatenate([-1e-6 * at, np.zeros(count)])
        c = np.concatenate([np.eye(size + count), np.hstack([rows, -np.eye(count)])])
        lower = np.concatenate([low, np.zeros(count), np.full(count, FREE)])
        # A wild reading demands thousands of times what the inputs can give, and the solver fails to converge: then
        # barriers demand no more than the inputs can do for each.
        for bound in (limit, np.maximum(limit, np.minimum(rows * low, rows * high).sum(axis=1))):
            both, _ = solve_qp(h, f, c, np.concatenate([high, np.full(count, -FREE), bound]), lower)
            if both is not None:
                slack = np.maximum(rows @ both[:size] - limit, 0.0)
                self.violation = float(slack.max())
                return both[:size], limit + slack
        raise SolverError("barriers that cannot be held have no answer")


def _reachable(rows: Floats, limit: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Flags]:
    """Barriers that the inputs could violate at all, with rows of length one, and which they are."""
    size = np.sqrt((rows * rows).sum(axis=1)) + 1e-12
    rows, limit = rows / size[:, None], limit / size
    near = np.maximum(rows * low, rows * high).sum(axis=1) > limit
    return rows[near], limit[near], near


def _solve_level(
    a: Floats,
    b: Floats,
    kept: Floats,
    at: Floats,
    rows: Floats,
    limit: Floats,
    low: Floats,
    high: Floats,
    damping: float,
) -> tuple[Floats, Floats]:
    """(step in the kept directions whose A step is nearest to b, multipliers of the barriers)."""
    h = a.T @ a
    h.flat[:: len(h) + 1] += damping * damping
    # A step of 0 is within all limits; rounding of the level before must not make it infeasible. And where many limits
    # meet in one point the solver may find them infeasible although they are not: then all are relaxed a little more.
    upper = np.maximum(np.concatenate([high - at, limit - rows @ at]), 0.0)
    lower = np.concatenate([np.minimum(low - at, 0.0), np.full(len(rows), FREE)])
    limits = np.concatenate([kept, rows @ kept])
    for relaxation in RELAXATIONS:
        step, pressed = solve_qp(h, -(a.T @ b), limits, upper + relaxation, lower - relaxation)
        if step is not None and pressed is not None:
            return step, pressed[len(at) :]
    if not np.isfinite(b).all() or not np.isfinite(h).all():
        raise SolverError("a level of the hierarchy has no answer")
    # After a wild reading numbers are so far apart that the solver does not converge: this tick skips the level.
    return np.zeros(len(h)), np.zeros(len(rows))


def solve_qp(
    h: Floats, f: Floats, rows: Floats, upper: Floats, lower: Floats
) -> tuple[Floats, Floats] | tuple[None, None]:
    """(x, multipliers) of the least x h x / 2 + f x with lower <= rows x <= upper; (None, None) if there is none."""
    sense = np.zeros(len(upper), dtype=np.int32)
    if not np.isfinite(f).all():
        return None, None
    for options in ATTEMPTS:
        x, _, flag, info = daqp.solve(h, f, rows, upper, lower, sense, **options)
        if flag == SOLVED:
            return x, np.abs(info["lam"])
    return None, None


def null_space(a: Floats) -> Floats:
    """Orthonormal directions that a maps to 0, as columns."""
    _, sizes, directions = np.linalg.svd(a)
    rank = int((sizes > max(RANK * sizes[0], 1e-12)).sum()) if len(sizes) else 0
    return directions[rank:].T
