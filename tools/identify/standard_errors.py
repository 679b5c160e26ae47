"""What the data can and cannot tell: standard errors, pairs that go together, parameters nothing moved."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from caudal.tools.identify.least_squares import equations
from caudal.tools.identify.rigid_body_model import Matrices
from caudal.tools.identify.trajectory import Track

TOGETHER = 0.95  # correlation of two parameters that the data cannot tell apart
CLEAR = 5.0  # a velocity must be so many times what its curve may be off


class Found(NamedTuple):
    name: str
    value: float
    error: float  # one standard error
    unit: str


def not_excited(tracks: Sequence[Track], names: Sequence[str]) -> list[str]:
    """Parameters that no motion bears on: the velocity they need drowns in what the curves may be off.

    Noise looks like excitation, and a controller that answers noise stirs a vehicle a little even at rest, so a
    column's size alone says nothing. A mass that a steady motion cannot show has a large error instead.
    """
    moves = [any(_clear(track, freedom) for track in tracks) for freedom in range(6)]
    still = []
    for name in names:
        if name[1:].isdigit():  # weights act at rest too
            i, j = int(name[1]) - 1, int(name[2]) - 1
            # an inertia is felt in either of its two freedoms, a drag in the one that moves
            if not ((moves[i] or moves[j]) if name[0] == "m" else moves[j]):
                still.append(name)
    return still


def _clear(track: Track, freedom: int) -> bool:
    """Does this freedom move far more than its curve may be off?"""
    return float(np.sqrt(np.mean(track.velocity[:, freedom] ** 2))) > CLEAR * track.error(freedom, 1)


def vague(names: Sequence[str], values: np.ndarray, errors: np.ndarray, forces: np.ndarray) -> list[str]:
    """Parameters whose error is as large as what they are measured by: numbers that say nothing.

    On the diagonal that is the parameter itself, off it the two diagonals' mean; of a weight it is the force
    that moved its freedom.
    """
    own = dict(zip(names, np.abs(values), strict=True))
    out = []
    for name, error in zip(names, errors, strict=True):
        kind, places = name[0], name[1:]
        if places.isdigit():
            sizes = [own.get(f"{kind}{digit}{digit}") for digit in places]
            if None in sizes:
                continue
            size = float(np.sqrt(np.prod([s for s in sizes if s is not None])))
        else:
            size = float(forces[2] if name == "net_weight" else forces[4])
        if not error < size / 2:
            out.append(name)
    return out


def together(names: Sequence[str], covariance: np.ndarray) -> list[tuple[str, str, float]]:
    """Pairs of parameters that the data cannot tell apart, the closest first."""
    error = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(error, error)
    pairs = [
        (names[i], names[j], float(correlation[i, j]))
        for i in range(len(names))
        for j in range(i)
        if abs(correlation[i, j]) > TOGETHER
    ]
    return sorted(pairs, key=lambda pair: -abs(pair[2]))


def conditions(
    tracks: Sequence[Track], names: Sequence[str], rows: Sequence[int], base: Matrices
) -> tuple[float, float]:
    """Of the regressor as the runs were swum: raw, and with its columns scaled to unit length."""
    y, _ = equations(tracks, names, rows, base)
    columns = y.reshape(-1, len(names))
    size = np.linalg.norm(columns, axis=0)
    moved = columns[:, size > 0]
    return float(np.linalg.cond(moved)), float(np.linalg.cond(moved / size[size > 0]))
