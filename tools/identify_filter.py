"""A Kalman filter that tells how well parameters explain a run, and where they should go.

The run's true state is its smoothed track plus a small error x, which the equations of motion carry from node to node:

    x' = F x + e + E (change of the parameters) + pushes,     reading = H x + noise

e is where one step of the model misses the track's next node. The filter runs on all of this at once:
beside x it carries what x would change by with every parameter and gyro bias. What each reading then adds to what was
expected of it (its innovation) is white if noise and pushes are what they are said to be, so least squares on the
innovations are the likeliest parameters, and their normal equations an honest covariance.

F and E are taken where the filter was the last time, not on the track: the track knows what came later, and so would
mistake noise for its cause.
"""

import math
from typing import NamedTuple

import numpy as np

from sim_plant.compiled import compiled


class Linear(NamedTuple):
    """A run made linear about its track, for n error states, then as many push states as freedoms."""

    carry: np.ndarray  # F, (step, n, n)
    miss: np.ndarray  # (step, n, 1 + parameters): e, then E
    push: np.ndarray  # (step, n, freedom)
    node: np.ndarray  # of every reading, in time's order: the node before it
    share: np.ndarray  # of the step to the next one
    state: np.ndarray  # which error state it shows
    gyro: np.ndarray  # whose bias is in it, or -1
    off: np.ndarray  # reading less track
    variance: np.ndarray
    gyros: int


class Sums(NamedTuple):
    squares: np.ndarray  # (1 + parameters + biases) square: of the innovations and their derivatives
    log_variance: float  # sum of the logarithms of the innovations' variances
    path: np.ndarray  # (step, n): the error as known at every node from what came up to there


def run_filter(
    linear: Linear, spread: np.ndarray, strength: np.ndarray, memory_s: float, step_s: float
) -> Sums:
    """`spread` is what the track may be off at its start; `strength` that of each freedom's push, one deviation."""
    steps, n, columns = linear.miss.shape
    freedoms = linear.push.shape[2]
    size, width = n + freedoms, columns + linear.gyros
    keep = math.exp(-step_s / memory_s)
    covariance = np.diag(np.concatenate([spread**2, strength**2]))
    squares, path = np.zeros((width, width)), np.zeros((steps, n))
    log_variance = _filter(
        linear.carry, linear.miss, linear.push, linear.node, linear.share, linear.state, linear.gyro,
        linear.off, linear.variance, keep, strength**2 * (1 - keep**2), covariance, np.zeros((size, width)),
        squares, path, np.zeros((3, size, max(size, width))), np.zeros((3, max(size, width))),
    )  # fmt: skip
    return Sums(squares, log_variance, path)


@compiled
def _filter(
    carry, miss, push, node, share, state, gyro, off, variance, keep, fresh, p, x, squares, path, work, line
):
    steps, n, columns = miss.shape
    freedoms = push.shape[2]
    size, width = n + freedoms, squares.shape[0]
    f, fp, fx = work[0], work[1], work[2]
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
            h[seen] += 1.0 - s
            total = variance[at]
            for i in range(size):
                gain[i] = 0.0
                for j in range(size):
                    gain[i] += p[i, j] * h[j]
            for i in range(size):
                total += h[i] * gain[i]
            for c in range(width):
                expected = 0.0
                for i in range(size):
                    expected += h[i] * x[i, c]
                if c < columns:
                    expected += s * miss[k, seen, c]
                elif gyro[at] == c - columns:
                    expected += 1.0
                news[c] = -expected
            news[0] += off[at]
            for c in range(width):
                for d in range(c + 1):
                    squares[c, d] += news[c] * news[d] / total
            for i in range(size):
                ratio = gain[i] / total
                for c in range(width):
                    x[i, c] += ratio * news[c]
                for j in range(size):
                    p[i, j] -= ratio * gain[j]
            log_variance += math.log(total)
            at += 1
        for i in range(n):
            path[k, i] = x[i, 0]
            for c in range(width):
                total = miss[k, i, c] if c < columns else 0.0
                for j in range(size):
                    total += f[i, j] * x[j, c]
                fx[i, c] = total
            for j in range(size):
                total = 0.0
                for m in range(size):
                    total += f[i, m] * p[m, j]
                fp[i, j] = total
        for i in range(n, size):
            for c in range(width):
                fx[i, c] = keep * x[i, c]
            for j in range(size):
                fp[i, j] = keep * p[i, j]
        for i in range(size):
            for c in range(width):
                x[i, c] = fx[i, c]
            for j in range(n):
                total = 0.0
                for m in range(size):
                    total += fp[i, m] * f[j, m]
                p[i, j] = total
            for j in range(n, size):
                p[i, j] = fp[i, j] * keep
            if i >= n:
                p[i, i] += fresh[i - n]
        for i in range(size):  # rounding must not make it lopsided
            for j in range(i):
                p[i, j] = p[j, i] = 0.5 * (p[i, j] + p[j, i])
    for c in range(width):
        for d in range(c):
            squares[d, c] = squares[c, d]
    return log_variance
