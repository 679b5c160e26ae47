"""A Kalman filter that gives the likelihood of parameters for a run, and its derivatives in the parameters.

The run's true state is its smoothed track plus a small error x, which the equations of motion propagate:

    x' = F x + e + E (change of the parameters) + disturbances,     reading = H x + noise

e is the difference between one step of the model and the track's next node. With x, the filter propagates the
derivatives of x by every parameter, every gyro's bias and every sensor's delay. The innovations of the readings are
white if noise and disturbances have the assumed strengths, so that least squares on the innovations gives the most
likely parameters, and their normal equations give the right covariance.

F and E are evaluated at the filter's previous estimate, not on the track: the track depends on later readings, so that
noise would look like its own cause.
"""

import math
from typing import NamedTuple

import numpy as np

from caudal.sim_plant.base.jit import compiled, inner

Array = np.ndarray


class Linear(NamedTuple):
    """A run linearized about its track: n error states, then a disturbance state per freedom."""

    carry: np.ndarray  # F, (step, n, n)
    miss: np.ndarray  # (step, n, 1 + parameters): e, then E
    push: np.ndarray  # (step, n, freedom): effect of disturbances
    node: np.ndarray  # of every reading, ordered by time: the node before it
    share: np.ndarray  # its share of the step to the next node
    state: np.ndarray  # the error state it measures
    bias: np.ndarray  # the bias in it, or -1
    age: np.ndarray  # the delay in it,
    slope: np.ndarray  # and its effect per second of delay
    off: np.ndarray  # reading minus track
    variance: np.ndarray
    biases: int
    ages: int


class Sums(NamedTuple):
    """Sums over the readings of a run."""

    squares: np.ndarray  # (1 + parameters + biases + delays) square: of the innovations and their derivatives
    log_variance: float  # sum of the logarithms of the innovations' variances
    path: np.ndarray  # (step, n): the error at every node, estimated from the readings up to there


def run_filter(
    linear: Linear, spread: np.ndarray, strength: np.ndarray, memory_s: float, step_s: float
) -> Sums:
    """Runs the filter. Standard deviations: `spread` of the track at its start, `strength` of each disturbance."""
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
def _spread(f: Array, p: Array, n: int, size: int, keep: float, fresh: Array, fp: Array, ft: Array) -> None:
    """p = F p F' + the disturbances of a step. Sums are along rows, so that the processor vectorizes them."""
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
    for i in range(size):  # keep it symmetric despite rounding
        for j in range(i):
            p[i, j] = p[j, i] = 0.5 * (p[i, j] + p[j, i])


@inner
def _advance(f: Array, x: Array, miss: Array, n: int, size: int, keep: float, fx: Array) -> None:
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
    carry: Array, miss: Array, push: Array, node: Array, share: Array, state: Array, bias: Array, age: Array,
    slope: Array, off: Array, variance: Array, biases: int, keep: float, fresh: Array, p: Array, x: Array,
    squares: Array, path: Array, work: Array, line: Array,
) -> float:  # fmt: skip
    """Fills `squares` and `path`; the sum of the logarithms of the innovations' variances."""
    steps, n, columns = miss.shape
    freedoms = push.shape[2]
    size, width = n + freedoms, squares.shape[0]
    f, fp, ft, fx = work[0], work[1], work[2], work[3]
    h, gain, innovation = line[0], line[1], line[2]
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
                innovation[c] = -s * miss[k, seen, c] if c < columns else 0.0
            innovation[0] += off[at]
            if bias[at] >= 0:
                innovation[columns + bias[at]] -= 1.0
            innovation[columns + biases + age[at]] -= slope[at]
            for i in range(size):
                part = h[i]
                if part != 0.0:
                    for j in range(size):
                        gain[j] += part * p[i, j]
                    for c in range(width):
                        innovation[c] -= part * x[i, c]
            total = variance[at]
            for i in range(size):
                total += h[i] * gain[i]
            for c in range(width):
                part = innovation[c] / total
                for d in range(c + 1):
                    squares[c, d] += part * innovation[d]
            for i in range(size):
                part = gain[i] / total
                for c in range(width):
                    x[i, c] += part * innovation[c]
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
