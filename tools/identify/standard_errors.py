"""Uncertainty of the parameters: standard errors, correlated pairs, parameters without excitation."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from caudal.tools.identify.least_squares import equations
from caudal.tools.identify.rigid_body_model import Matrices
from caudal.tools.identify.trajectory import Track

CORRELATED = 0.95  # correlation of two parameters that the data cannot separate
CLEAR = 5.0  # least velocity, as a multiple of its curve's error


class Parameter(NamedTuple):
    """An identified parameter."""

    name: str
    value: float
    error: float  # one standard error
    unit: str


def not_excited(tracks: Sequence[Track], names: Sequence[str]) -> list[str]:
    """Parameters without excitation: the velocity that shows them is within the curves' error.

    Noise looks like excitation, and a controller that responds to noise moves a vehicle a little even at rest, so the
    size of a regressor's column means nothing. A mass that a steady motion cannot show has a large error instead.
    """
    moves = [any(_clear(track, freedom) for track in tracks) for freedom in range(6)]
    still = []
    for name in names:
        if name[1:].isdigit():  # weights show at rest too
            i, j = int(name[1]) - 1, int(name[2]) - 1
            # an inertia shows in both of its freedoms, a drag in the one that moves
            if not ((moves[i] or moves[j]) if name[0] == "m" else moves[j]):
                still.append(name)
    return still


def _clear(track: Track, freedom: int) -> bool:
    """Is the velocity of this freedom far above its curve's error?"""
    return float(np.sqrt(np.mean(track.velocity[:, freedom] ** 2))) > CLEAR * track.error(freedom, 1)


def uncertain(names: Sequence[str], values: np.ndarray, errors: np.ndarray, forces: np.ndarray) -> list[str]:
    """Parameters whose error is above half their scale.

    The scale is the parameter itself on the diagonal, the two diagonals' mean off it, and of a weight the force on its
    freedom.
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


def correlated(names: Sequence[str], covariance: np.ndarray) -> list[tuple[str, str, float]]:
    """Pairs of parameters that the data cannot separate, with their correlation, the highest first."""
    error = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(error, error)
    pairs = [
        (names[i], names[j], float(correlation[i, j]))
        for i in range(len(names))
        for j in range(i)
        if abs(correlation[i, j]) > CORRELATED
    ]
    return sorted(pairs, key=lambda pair: -abs(pair[2]))


def conditions(
    tracks: Sequence[Track], names: Sequence[str], rows: Sequence[int], base: Matrices
) -> tuple[float, float]:
    """Condition numbers of the regressor of the runs: raw, and with columns scaled to unit length."""
    y, _ = equations(tracks, names, rows, base)
    columns = y.reshape(-1, len(names))
    size = np.linalg.norm(columns, axis=0)
    moved = columns[:, size > 0]
    return float(np.linalg.cond(moved)), float(np.linalg.cond(moved / size[size > 0]))
