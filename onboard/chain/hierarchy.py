"""Aims in strict order of priority, as far as limits allow: a cascade of small quadratic programs. Needs numpy, daqp.

    level k:   least |A_k u - b_k|   with   low <= u <= high,   G u <= g,   and what the levels before have reached

Each level moves in the null space of those before it, so none can spoil what stands above it: their A u stays as it
is to rounding. Barriers (G, g) come first of all. If they cannot all be held within the actuators' limits they are
broken by as little as can be, and `broken` says by how much; then the aims degrade from the last one up, and `missed`
says how much each is short of. A level is damped where it is nearly singular, by its own `damping`. What is no number
raises SolverError: the loop goes safe with that reason.
"""

import daqp
import numpy as np

LEAST = 1e-4  # of the inputs' own scale: which of many equal answers, the smallest
RANK = 1e-6  # of a level's largest singular value
FREE = -1e30
SOLVED = 1
EASES = (1e-6, 1e-5, 1e-4, 1e-3)  # of the inputs' scale, by which limits give: see _least
PATIENCE: tuple = ({}, {"eps_prox": 1e-3})


class SolverError(ArithmeticError):
    pass


class Hierarchy:
    """`solve` gives the inputs; `scale` is what counts as one of each."""

    def __init__(self, scale):
        self._scale = np.array(scale, dtype=float)
        self.broken = 0.0
        self.missed = []
        self.binding = np.zeros(0, dtype=bool)

    def solve(self, chain, levels, barriers, low, high):
        """Thrusts within low and high, for levels of (J, a, damping) and barriers of accelerations."""
        moved = np.linalg.solve(chain.free_mass, np.column_stack([chain.free_b, -chain.free_load]))
        by_inputs, there = moved[:, :-1] * self._scale, moved[:, -1]
        programs = []
        for rows, asked, damping in levels:
            rows = rows[:, chain.free]
            programs.append((rows @ by_inputs, asked - rows @ there, damping))
        rows = barriers.g[:, chain.free]
        limits = rows @ by_inputs, barriers.most - rows @ there
        return self.cascade(programs, limits, low / self._scale, high / self._scale) * self._scale

    def cascade(self, levels, barriers, low, high):
        """The same in shares of the inputs' scale: levels of (A, b, damping), barriers (G, g)."""
        self.broken = 0.0
        size = len(low)
        at = np.clip(np.zeros(size), low, high)
        rows, most, near = _near(barriers[0], barriers[1], low, high)
        if len(rows) and (rows @ at > most).any():
            at, most = self._inside(at, rows, most, low, high)
        kept = np.eye(size)
        self.missed = []
        self.binding = np.zeros(len(near), dtype=bool)
        for a, b, damping in [*levels, (np.eye(size), np.zeros(size), LEAST)]:
            if kept.shape[1]:
                ours = a @ kept
                step, pressed = _least(ours, b - a @ at, kept, at, rows, most, low, high, damping)
                at = at + kept @ step
                kept = kept @ null_space(ours)
                self.binding[near] |= pressed > 1e-9
            self.missed.append(float(np.linalg.norm(b - a @ at)))
        self.missed.pop()
        return np.clip(at, low, high)

    def _inside(self, at, rows, most, low, high):
        """(a point within limits and barriers, barriers moved out by as little as can be where they cannot be held)."""
        size, count = len(at), len(rows)
        upper, lower = np.concatenate([high, most]), np.concatenate([low, np.full(count, FREE)])
        near, _ = quadratic(np.eye(size), -at, np.concatenate([np.eye(size), rows]), upper, lower)
        if near is not None:
            return near, np.maximum(most, rows @ near)
        # least |slack|, then least move: one program with the slack dear
        h = np.diag(np.concatenate([np.full(size, 1e-6), np.ones(count)]))
        f = np.concatenate([-1e-6 * at, np.zeros(count)])
        c = np.concatenate([np.eye(size + count), np.hstack([rows, -np.eye(count)])])
        lower = np.concatenate([low, np.zeros(count), np.full(count, FREE)])
        # A wild reading asks for more than thousands of times what there is, and the solver loses itself: then barriers
        # ask for no more than the inputs could ever do for each.
        for asked in (most, np.maximum(most, np.minimum(rows * low, rows * high).sum(axis=1))):
            both, _ = quadratic(h, f, c, np.concatenate([high, np.full(count, -FREE), asked]), lower)
            if both is not None:
                slack = np.maximum(rows @ both[:size] - most, 0.0)
                self.broken = float(slack.max())
                return both[:size], most + slack
        raise SolverError("barriers that cannot be held have no answer")


def _near(rows, most, low, high):
    """Barriers that the inputs could break at all, their rows made one long, and which they are."""
    size = np.sqrt((rows * rows).sum(axis=1)) + 1e-12
    rows, most = rows / size[:, None], most / size
    near = np.maximum(rows * low, rows * high).sum(axis=1) > most
    return rows[near], most[near], near


def _least(a, b, kept, at, rows, most, low, high, damping):
    """(step in the kept directions that brings a step nearest to b, multipliers of the barriers)."""
    h = a.T @ a
    h.flat[:: len(h) + 1] += damping * damping
    # No step at all is within all limits; rounding of the level before must not say otherwise. And where many limits
    # meet in one point the solver may see a contradiction that is none: then all of them give way a little more.
    upper = np.maximum(np.concatenate([high - at, most - rows @ at]), 0.0)
    lower = np.concatenate([np.minimum(low - at, 0.0), np.full(len(rows), FREE)])
    limits = np.concatenate([kept, rows @ kept])
    for ease in EASES:
        step, pressed = quadratic(h, -(a.T @ b), limits, upper + ease, lower - ease)
        if step is not None:
            return step, pressed[len(at) :]
    if not np.isfinite(b).all() or not np.isfinite(h).all():
        raise SolverError("a level of the hierarchy has no answer")
    # Numbers so far apart that the solver loses itself, after a wild reading: this tick goes without the level.
    return np.zeros(len(h)), np.zeros(len(rows))


def quadratic(h, f, rows, upper, lower):
    """(x, multipliers) of the least x h x / 2 + f x with lower <= rows x <= upper; (None, None) if there is none."""
    sense = np.zeros(len(upper), dtype=np.int32)
    if not np.isfinite(f).all():
        return None, None
    for slow_notice in PATIENCE:
        x, _, flag, info = daqp.solve(h, f, rows, upper, lower, sense, **slow_notice)
        if flag == SOLVED:
            return x, np.abs(info["lam"])
    return None, None


def null_space(a):
    """Orthonormal directions that a does not feel."""
    _, sizes, ways = np.linalg.svd(a)
    rank = int((sizes > max(RANK * sizes[0], 1e-12)).sum()) if len(sizes) else 0
    return ways[rank:].T
