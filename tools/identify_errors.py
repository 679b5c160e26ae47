"""What the data can and cannot tell: standard errors, pairs that go together, parameters nothing moved."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tools.identify_squares import equations
from tools.identify_track import Track
from tools.motion_model import Matrices

TOGETHER = 0.95  # correlation of two parameters that the data cannot tell apart
CLEAR = 2.0  # a motion must be so many times what its curve may be off


class Found(NamedTuple):
    name: str
    value: float
    error: float  # one standard error
    unit: str


def not_excited(
    tracks: Sequence[Track], names: Sequence[str], rows: Sequence[int], base: Matrices
) -> list[str]:
    """Parameters that no motion in the runs bears on: their accelerations or velocities drown in the smoothing's error.

    Noise looks like excitation, so a column's size alone says nothing.
    """
    moving = {kind: _clear(tracks, kind) for kind in ("velocity", "acceleration")}
    still = []
    for name in names:
        kind, places = name[0], name[1:]
        if not places.isdigit():
            continue  # weights act at rest too
        freedoms = [int(digit) - 1 for digit in places]
        if kind == "m":
            moved = any(moving["acceleration"][j] for j in freedoms if len(set(freedoms)) == 1)
            moved = moved or (len(set(freedoms)) == 2 and any(moving["acceleration"][j] for j in freedoms))
        else:
            moved = moving["velocity"][freedoms[1]]
        if not moved:
            still.append(name)
    return still


def _clear(tracks: Sequence[Track], kind: str) -> list[bool]:
    """Per freedom: does it move more than its curve may be off?"""
    derivative = 1 if kind == "velocity" else 2
    curves = ("x", "y", "z", "roll", "pitch", "heading")
    out = []
    for freedom in range(6):
        clear = False
        for one in tracks:
            names = ("x", "y") if freedom < 2 else (curves[freedom],)  # surge and sway share them as it turns
            known = [one.curves[n].error[derivative] for n in names if n in one.curves]
            size = float(np.sqrt(np.mean(getattr(one, kind)[:, freedom] ** 2)))
            clear = clear or (bool(known) and size > CLEAR * max(known))
        out.append(clear)
    return out


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


def condition(tracks: Sequence[Track], names: Sequence[str], rows: Sequence[int], base: Matrices) -> float:
    """Of the regressor with its columns scaled to unit length, as the runs were swum."""
    y, _ = equations(tracks, names, rows, base)
    columns = y.reshape(-1, len(names))
    size = np.linalg.norm(columns, axis=0)
    return float(np.linalg.cond(columns[:, size > 0] / size[size > 0]))
