"""A Kalman filter that tells how well parameters explain a run, and where they should go.

The run's true state is its smoothed track plus a small error x, which the equations of motion carry from node to node:

    x' = F x + e + E (change of the parameters) + pushes,     reading = H x + noise

e is where one step of the model misses the track's next node. The filter runs on all of this at once: beside x it
carries what x would change by with every parameter, every gyro's bias and every sensor's age. What a reading adds to
what was expected of it (its innovation) is white if noise and pushes are what they are said to be, so least squares
on the innovations give the likeliest parameters, and their normal equations an honest covariance.

F and E are taken where the filter was the last time, not on the track: the track knows what came later, and so would
mistake noise for its cause.
"""

import math
from typing import NamedTuple

import numpy as np

from caudal.sim_plant.base.jit import compiled, inner


class Linear(NamedTuple):
    """A run made linear about its track, for n error states, then as many push states as freedoms."""

    carry: np.ndarray  # F, (step, n, n)
    miss: np.ndarray  # (step, n, 1 + parameters): e, then E
    push: np.ndarray  # (step, n, freedom)
    node: np.ndarray  # of every reading, in time's order: the node before it
    share: np.ndarray  # of the step to the next one
    state: np.ndarray  # which error state it shows
    bias: np.ndarray  # which bias is in it, or -1
    age: np.ndarray  # which age,
    slope: np.ndarray  # and what a second of it does
    off: np.ndarray  # reading less track
    variance: np.ndarray
    biases: int
    ages: int


class Sums(NamedTuple):
    squares: np.ndarray  # (1 + parameters + biases + ages) square: of the innovations and their derivatives
    log_variance: float  # sum of the logarithms of the innovations' variances
    path: np.ndarray  # (step, n): the error as known at every node from what came up to there


def run_filter(
    linear: Linear, spread: np.ndarray, strength: np.ndarray, memory_s: float, step_s: float
) -> Sums:
    """`spread` is what the track may be off at its start; `strength` that of each freedom's push, one deviation."""
    steps, n, columns = linear.miss.shape
    freedoms = linear.push.shape[2]
    size, width = n + freedoms, columns + linear.biases + linear.ages
    keep = math.exp(-step_s / memory_s)
    covariance = np.diag(np.concatenate([spread**2, strength**2]))
    squares, path = np.zeros((width, width)), np.zeros((steps, n))
    log_variance = _filter(
        *linear[:-1], keep, strength**2 * (1 - keep**2), covariance, np.zeros((size, width)), squares, path,
        np.zeros((4, size, max(size, width))), np.zeros((3, max(size, width))),
    )  # fmt: skip
    return Sums(squares, log_variance, path)


@inner
def _spread(f, p, n, size, keep, fresh, fp, ft):
    """p = F p F' + what the pushes add in a step. Sums run along rows: a processor then does several at once."""
    for i in range(n):
        for j in range(size):
            fp[i, j] = 0.0
            ft[j, i] = f[i, j]
        for m in range(size):
            share = f[i, m]
            for j in range(size):
                fp[i, j] += share * p[m, j]
    for i in range(n, size):
        for j in range(size):
            fp[i, j] = keep * p[i, j]
    for i in range(size):
        for j in range(n):
            p[i, j] = 0.0
        for m in range(size):
            share = fp[i, m]
            for j in range(n):
                p[i, j] += share * ft[m, j]
        for j in range(n, size):
            p[i, j] = fp[i, j] * keep
    for i in range(n, size):
        p[i, i] += fresh[i - n]
    for i in range(size):  # rounding must not make it lopsided
        for j in range(i):
            p[i, j] = p[j, i] = 0.5 * (p[i, j] + p[j, i])


@inner
def _advance(f, x, miss, n, size, keep, fx):
    """x = F x + e in every column."""
    width, columns = x.shape[1], miss.shape[1]
    for i in range(n):
        for c in range(width):
            fx[i, c] = miss[i, c] if c < columns else 0.0
        for j in range(size):
            share = f[i, j]
            for c in range(width):
                fx[i, c] += share * x[j, c]
    for i in range(n):
        for c in range(width):
            x[i, c] = fx[i, c]
    for i in range(n, size):
        for c in range(width):
            x[i, c] *= keep


@compiled
def _filter(
    carry, miss, push, node, share, state, bias, age, slope, off, variance, biases, keep, fresh, p, x, squares,
    path, work, line,
):  # fmt: skip
    steps, n, columns = miss.shape
    freedoms = push.shape[2]
    size, width = n + freedoms, squares.shape[0]
    f, fp, ft, fx = work[0], work[1], work[2], work[3]
    h, gain, news = line[0], line[1], line[2]
    log_variance = 0.0
    at = 0
    for k in range(steps):
        for i in range(n):
            for j in range(n):
                f[i, j] = carry[k, i, j]
            for j in range(freedoms):
                f[i, n + j] = push[k, i, j]
        while at < len(node) and node[at] == k:
            s, seen = share[at], state[at]
            # the error between two nodes: (1 - s) x + s (F x + e)
            for j in range(size):
                h[j] = s * f[seen, j]
                gain[j] = 0.0
            h[seen] += 1.0 - s
            for c in range(width):
                news[c] = -s * miss[k, seen, c] if c < columns else 0.0
            news[0] += off[at]
            if bias[at] >= 0:
                news[columns + bias[at]] -= 1.0
            news[columns + biases + age[at]] -= slope[at]
            for i in range(size):
                part = h[i]
                if part != 0.0:
                    for j in range(size):
                        gain[j] += part * p[i, j]
                    for c in range(width):
                        news[c] -= part * x[i, c]
            total = variance[at]
            for i in range(size):
                total += h[i] * gain[i]
            for c in range(width):
                part = news[c] / total
                for d in range(c + 1):
                    squares[c, d] += part * news[d]
            for i in range(size):
                part = gain[i] / total
                for c in range(width):
                    x[i, c] += part * news[c]
                for j in range(size):
                    p[i, j] -= part * gain[j]
            log_variance += math.log(total)
            at += 1
        for i in range(n):
            path[k, i] = x[i, 0]
        _advance(f, x, miss[k], n, size, keep, fx)
        _spread(f, p, n, size, keep, fresh, fp, ft)
    for c in range(width):
        for d in range(c):
            squares[d, c] = squares[c, d]
    return log_variance
