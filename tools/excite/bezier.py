"""Excitation trajectories as control points: Bezier curves that satisfy joins and ends by construction.

x, y, depth and heading are each m segments of order n (Panetsos and Kyriakopoulos eq. 8, 9). All four have the same
equality constraints (eq. 13, 14), so one matrix gives the control points of a freedom from its free variables:

    points = fixed + spread @ free          (m (n + 1), 4) from (m (n + 1) - 3 (m + 1), 4)

and one matrix gives all quantities with limits (eq. 11, 12): low <= rows @ free <= high.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from caudal.tools.excite.tables import FREEDOMS, ExciteTable, values


class Limits(NamedTuple):
    """low <= rows @ free <= high; each row is a control point of pose, velocity or acceleration."""

    rows: csr_array  # (limit, free)
    columns: csr_array  # transposed rows
    low: np.ndarray  # (limit, 4)
    high: np.ndarray
    names: list[str]  # of each row's limit, such as "velocity in segment 2"


class Curve(NamedTuple):
    """The trajectories that a table allows, as functions of free variables, and their samples."""

    table: ExciteTable
    fixed: np.ndarray  # (m (n + 1), 4)
    spread: csr_array  # (m (n + 1), free)
    gather: csr_array  # transposed spread, for gradients
    limits: Limits
    violated: list[str]  # limits that the fixed ends violate
    samples: list[
        np.ndarray
    ]  # of each segment (3, sample, n + 1): pose, velocity, acceleration from its points


def bernstein(order: int, tau: np.ndarray) -> np.ndarray:
    """(time, order + 1): the basis polynomials at normalised times."""
    k = np.arange(order + 1)
    weights = np.array([comb(order, i) for i in k], dtype=float)
    t = tau[:, None]
    return weights * t**k * (1 - t) ** (order - k)


def sampler(order: int, segment_s: float, tau: np.ndarray) -> np.ndarray:
    """(3, time, order + 1): matrices from control points to pose, velocity and acceleration at normalised times."""
    slope, bend = differences(order, segment_s)
    return np.stack(
        (
            bernstein(order, tau),
            bernstein(order - 1, tau) @ slope,
            bernstein(order - 2, tau) @ bend,
        )
    )


def differences(order: int, segment_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Matrices from control points of the pose to those of velocity and of acceleration."""
    first = np.diff(np.eye(order + 1), axis=0) * (order / segment_s)
    second = np.diff(np.eye(order), axis=0) * ((order - 1) / segment_s)
    return first, second @ first


def curve(table: ExciteTable) -> Curve:
    """The trajectories that a table allows."""
    fixed, spread = _eliminated(table)
    limits, violated = _limits(table, fixed, spread)
    return Curve(table, fixed, csr_array(spread), csr_array(spread.T), limits, violated, _samples(table))


def points(shape: Curve, free: np.ndarray) -> np.ndarray:
    """(m, n + 1, 4) control points."""
    control: np.ndarray = shape.fixed + shape.spread @ free
    return control.reshape(len(shape.table.segment_s), -1, 4)


def motion(shape: Curve, control: np.ndarray) -> np.ndarray:
    """(3, sample, 4): pose, velocity and acceleration in the world frame, at the table's samples."""
    return np.concatenate([b @ c for b, c in zip(shape.samples, control, strict=True)], axis=1)


def _samples(table: ExciteTable) -> list[np.ndarray]:
    """Samples every sample_s; one at a join belongs to the segment before it."""
    ends = np.concatenate(([0.0], np.cumsum(table.segment_s)))
    count = int(ends[-1] / table.sample_s + 1e-9) + 1
    times = np.minimum(np.arange(count) * table.sample_s, ends[-1])
    found = []
    for k, segment_s in enumerate(table.segment_s):
        after = times > ends[k] + 1e-9 if k else times >= 0.0
        inside = times[after & (times <= ends[k + 1] + 1e-9)]
        tau = np.clip((inside - ends[k]) / segment_s, 0.0, 1.0)
        found.append(sampler(table.order, segment_s, tau))
    return found


def _eliminated(table: ExciteTable) -> tuple[np.ndarray, np.ndarray]:
    """Fixed points and spread: three points at each end are at rest, three after a join follow from three before."""
    n, m = table.order, len(table.segment_s)
    count = m * (n + 1)
    bound = set(range(3)) | set(range(count - 3, count))
    for j in range(1, m):
        bound |= {j * (n + 1) + i for i in range(3)}
    left = [k for k in range(count) if k not in bound]
    spread = np.zeros((count, len(left)))
    spread[left, range(len(left))] = 1.0
    fixed = np.zeros((count, 4))
    fixed[:3] = values(table.start)
    fixed[-3:] = values(table.end)
    for j in range(1, m):
        ratio = table.segment_s[j] / table.segment_s[j - 1]
        a, b, c = (j * (n + 1) - i for i in (1, 2, 3))  # the last points before the join
        for array in (fixed, spread):
            here = j * (n + 1)
            array[here] = array[a]
            array[here + 1] = array[a] + ratio * (array[a] - array[b])
            bend = ratio**2 * (array[a] - 2 * array[b] + array[c])
            array[here + 2] = bend + 2 * array[here + 1] - array[here]
    return fixed, spread


def _limits(table: ExciteTable, fixed: np.ndarray, spread: np.ndarray) -> tuple[Limits, list[str]]:
    n = table.order
    rows, base, low, high, names = [], [], [], [], []
    for j, segment_s in enumerate(table.segment_s):
        here = slice(j * (n + 1), (j + 1) * (n + 1))
        slope, bend = differences(n, segment_s)
        for kind, matrix in (("pose", np.eye(n + 1)), ("velocity", slope), ("acceleration", bend)):
            least, most = table.bounds(kind, j)
            rows.append(matrix @ spread[here])
            base.append(matrix @ fixed[here])
            low.append(np.tile(least, (len(matrix), 1)))
            high.append(np.tile(most, (len(matrix), 1)))
            names += [f"{kind} in segment {j + 1}"] * len(matrix)
    a, b = np.concatenate(rows), np.concatenate(base)
    lower, upper = np.concatenate(low), np.concatenate(high)
    moves = np.abs(a).max(axis=1) > 0
    violated = [
        f"{FREEDOMS[d]}, {names[k]}"
        for k in np.flatnonzero(~moves)
        for d in range(4)
        if not lower[k, d] - 1e-12 <= b[k, d] <= upper[k, d] + 1e-12
    ]
    kept = [name for name, move in zip(names, moves, strict=True) if move]
    held = a[moves]
    return Limits(csr_array(held), csr_array(held.T), (lower - b)[moves], (upper - b)[moves], kept), violated
