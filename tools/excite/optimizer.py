"""Optimizes a trajectory inside its limits, with a log barrier and L-BFGS in the barrier's metric.

L-BFGS starts every step from the exact inverse of the barrier's second derivative (instead of a multiple of the
identity), so that steps are long far from limits and short near them, whatever the units. A limit couples only
neighbouring control points, so that the inverse is a banded solve. The barrier's weight falls from stage to stage while
the eigenvalues are smoothed less. Every iterate is within all limits.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded, solve_banded

from caudal.tools.excite.bezier import Limits
from caudal.tools.excite.objective import Objective

# The barrier's first weight: a high one leads most starts to the same optimum, a low one keeps their variety.
FIRST = (3e-2, 1e-1, 1e-2)  # used in turn by the starts
FALL, LAST = 0.2, 4e-7  # factor of the weight from stage to stage, and its last value
PAIRS = 20  # that L-BFGS keeps
STEPS = 150  # at most, in a stage
ENOUGH = 1e-5  # a stage ends after a step that gains less


class Found(NamedTuple):
    """A local optimum."""

    free: np.ndarray
    value: float
    evaluations: int


class Metric:
    """The barrier's second derivative, as one banded matrix for all four freedoms."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        rows, count = limits.rows, limits.rows.shape[1]
        held = (abs(limits.columns) @ abs(rows)).tocoo()
        self._width = int(np.abs(held.row - held.col).max())
        self._products = [
            (rows[:, : count - k].multiply(rows[:, k:])).T.tocsr() for k in range(self._width + 1)
        ]
        self._band = np.zeros((self._width + 1, 4, count))
        self._factor = self._band

    def at(self, free: np.ndarray, weight: float) -> None:
        """Computes the second derivative of `weight` times the barrier at this point."""
        limits = self._limits
        at = limits.rows @ free
        curved = weight * ((at - limits.low) ** -2 + (limits.high - at) ** -2)
        for k, product in enumerate(self._products):
            self._band[k, :, : product.shape[0]] = (product @ curved).T
        flat = self._band.reshape(self._width + 1, -1)
        self._factor = cholesky_banded(flat, lower=True, check_finite=False)

    def solve(self, slope: np.ndarray) -> np.ndarray:
        """The inverse of the second derivative times a gradient."""
        flat: np.ndarray = cho_solve_banded((self._factor, True), slope.T.ravel(), check_finite=False)
        return flat.reshape(4, -1).T

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """A random step, longer in directions that are farther from limits."""
        factor, width = self._factor, self._width
        upper = np.zeros_like(factor)
        for k in range(width + 1):
            upper[width - k, k:] = factor[k, : factor.shape[1] - k]
        step: np.ndarray = solve_banded(
            (0, width), upper, random.normal(size=factor.shape[1]), check_finite=False
        )
        return step.reshape(4, -1).T


def barrier(limits: Limits, free: np.ndarray) -> tuple[float, np.ndarray]:
    """Minus the sum of the logs of the distances from all limits, and its gradient; infinite outside."""
    at = limits.rows @ free
    below, above = at - limits.low, limits.high - at
    if below.min() <= 0 or above.min() <= 0:
        return np.inf, free
    return -float(np.log(below * above).sum()), limits.columns @ (1 / above - 1 / below)


def room(limits: Limits, free: np.ndarray, step: np.ndarray) -> float:
    """The number of such steps to the first limit."""
    at, by = limits.rows @ free, limits.rows @ step
    left = np.where(by > 0, limits.high - at, at - limits.low)
    return float((left / np.maximum(np.abs(by), 1e-300)).min())


def search(objective: Objective, free: np.ndarray, first: float) -> Found:
    """A local optimum from a start strictly inside the limits; `first` is the barrier's first weight."""
    count, weight = 0, first
    while True:
        power = min(max(8.0 * (1e-3 / weight) ** 0.5, 8.0), 256.0)
        free, used = _stage(objective, free, weight, power)
        count += used
        if weight <= LAST:
            return Found(free, objective(free)[0], count)
        weight = max(weight * FALL, LAST)


def _stage(objective: Objective, free: np.ndarray, weight: float, power: float) -> tuple[np.ndarray, int]:
    limits = objective.shape.limits

    def merit(at: np.ndarray) -> tuple[float, np.ndarray]:
        wall, push = barrier(limits, at)
        if wall == np.inf:
            return np.inf, at
        value, slope = objective(at, power)
        return value + weight * wall, slope + weight * push

    metric = Metric(limits)
    pairs: list[tuple[np.ndarray, np.ndarray, float]] = []
    value, slope = merit(free)
    used = 1
    for step in range(STEPS):
        metric.at(free, weight)
        way = -_two_loops(pairs, slope, metric)
        fall = float(np.vdot(way, slope))
        if fall > -1e-12:
            break
        length = min(1.0, 0.95 * room(limits, free, way))
        while True:
            new = free + length * way
            new_value, new_slope = merit(new)
            used += 1
            if new_value <= value + 1e-4 * length * fall:
                break
            length *= 0.4
            if length < 1e-8:
                return free, used
        moved, turned = new - free, new_slope - slope
        along = float(np.vdot(moved, turned))
        if along > 1e-10 * np.linalg.norm(moved) * np.linalg.norm(turned):  # only where it curves upwards
            pairs = [*pairs[1 - PAIRS :], (moved, turned, 1.0 / along)]
        gained = value - new_value
        free, value, slope = new, new_value, new_slope
        if gained < ENOUGH and step > 10:
            break
    return free, used


def _two_loops(
    pairs: list[tuple[np.ndarray, np.ndarray, float]], slope: np.ndarray, metric: Metric
) -> np.ndarray:
    """L-BFGS: the inverse second derivative from the pairs, times the gradient."""
    q = slope.copy()
    shares = []
    for moved, turned, inverse in reversed(pairs):
        share = inverse * np.vdot(moved, q)
        q -= share * turned
        shares.append(share)
    q = metric.solve(q)
    for (moved, turned, inverse), share in zip(pairs, reversed(shares), strict=True):
        q += (share - inverse * np.vdot(turned, q)) * moved
    return q
