"""Least squares on the equations of motion: the wrench compared with the wrench of the smoothed motion.

Both sides pass the same low-pass filter, as wide as the widest smoothing: what the smoothing removed from accelerations
is then removed from the wrench too, so that masses are not biased. Rows (freedoms) are weighted by their residuals. If
the inertia is not positive definite, it is fitted again as M = L L'.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import least_squares

from caudal.tools.identify.motion import STEP_S
from caudal.tools.identify.rigid_body_model import Matrices, coefficients, features, matrices, regressor
from caudal.tools.identify.trajectory import Track

EDGE_S = 2.0  # curves are less accurate at their ends


class LeastSquaresFit(NamedTuple):
    """Parameters by least squares."""

    values: dict[str, float]
    residual: np.ndarray  # N or N m in each row, one standard deviation
    constrained: bool  # the inertia had to be fitted as M = L L'


def known_names(base: Matrices, sought: Sequence[str]) -> dict[str, float]:
    """Entries of the vehicle file's model that are not identified, by name."""
    known = {}
    for i in range(6):
        for j in range(6):
            if i <= j and base.inertia[i, j]:
                known[f"m{i + 1}{j + 1}"] = base.inertia[i, j]
            if base.drag[i, j]:
                known[f"d{i + 1}{j + 1}"] = base.drag[i, j]
        if base.quadratic[i]:
            known[f"q{i + 1}{i + 1}"] = base.quadratic[i]
    known |= {"net_weight": base.net_weight_n, "righting": base.righting_n_m, "lead": base.lead_n_m}
    return {name: float(value) for name, value in known.items() if name not in sought}


def equations(
    tracks: Sequence[Track], names: Sequence[str], rows: Sequence[int], base: Matrices
) -> tuple[np.ndarray, np.ndarray]:
    """Y and the wrench, both filtered: (sample, row, parameter) and (sample, row)."""
    known = known_names(base, names)
    s, s_known = coefficients(names, rows), coefficients(list(known), rows)
    ys, wrenches = [], []
    for one in tracks:
        f = features(one.velocity, one.acceleration, one.pose[:, 3], one.pose[:, 4])
        y = regressor(s, f).reshape(len(f), len(rows), -1)
        wrench = _at_nodes(one.motion.wrench)[:, list(rows)]
        if known:
            wrench = wrench - np.einsum("rpf,nf,p->nr", s_known, f, np.array([*known.values()]))
        edge, width = int(EDGE_S / STEP_S), one.width_s / STEP_S
        ys.append(gaussian_filter1d(y, width, axis=0)[edge:-edge])
        wrenches.append(gaussian_filter1d(wrench, width, axis=0)[edge:-edge])
    return np.concatenate(ys), np.concatenate(wrenches)


def _at_nodes(means: np.ndarray) -> np.ndarray:
    return np.vstack([means[:1], 0.5 * (means[1:] + means[:-1]), means[-1:]])


def solve(
    tracks: Sequence[Track], names: Sequence[str], rows: Sequence[int], base: Matrices
) -> LeastSquaresFit:
    """Fits the parameters `names` of the freedoms `rows`; others are as in `base`."""
    y, wrench = equations(tracks, names, rows, base)
    weight = np.ones(len(rows))
    for _ in range(3):
        a = (y * weight[:, None]).reshape(-1, len(names))
        b = (wrench * weight).reshape(-1)
        size = np.linalg.norm(a, axis=0)
        size[size == 0] = 1.0
        x = np.linalg.lstsq(a / size, b, rcond=1e-10)[0] / size
        residual = np.sqrt(np.mean((wrench - y @ x) ** 2, axis=0))
        weight = 1 / np.maximum(residual, 1e-6)
    values = dict(zip(names, x.tolist(), strict=True))
    if is_inertia(matrices(values, base), rows):
        return LeastSquaresFit(values, residual, False)
    values = _with_an_inertia(a, b, names, rows, base, values)
    return LeastSquaresFit(values, residual, True)


def is_inertia(model: Matrices, rows: Sequence[int]) -> bool:
    """Is the inertia of these freedoms positive definite, with a margin?"""
    part = model.inertia[np.ix_(list(rows), list(rows))]
    if (np.diag(part) <= 0).any():
        return False
    size = np.sqrt(np.diag(part))
    return bool(np.linalg.eigvalsh(part / np.outer(size, size)).min() > 1e-4)


def _with_an_inertia(
    a: np.ndarray, b: np.ndarray, names: Sequence[str], rows: Sequence[int], base: Matrices,
    start: dict[str, float],
) -> dict[str, float]:  # fmt: skip
    """Least squares in L of M = L L' and the other parameters, starting at the vehicle file's inertia."""
    q, r = np.linalg.qr(a)
    right = q.T @ b
    index = list(rows)
    pattern = [(i, j) for i in range(len(index)) for j in range(i + 1)]
    pattern = [(i, j) for i, j in pattern if _mass(index[i], index[j]) in names]
    others = [k for k, name in enumerate(names) if name[0] != "m"]
    masses = {_mass(index[i], index[j]): (i, j) for i, j in pattern}
    known = base.inertia[np.ix_(index, index)]

    def fill(x: np.ndarray) -> np.ndarray:
        root = np.zeros((len(index), len(index)))
        for i in range(len(index)):
            root[i, i] = np.sqrt(known[i, i])
        for value, (i, j) in zip(x, pattern, strict=False):
            root[i, j] = np.exp(value) if i == j else value
        inertia = root @ root.T
        theta = np.empty(len(names))
        theta[others] = x[len(pattern) :]
        for k, name in enumerate(names):
            if name in masses:
                theta[k] = inertia[masses[name]]
        return theta

    first = [0.5 * np.log(known[i, i]) if i == j else 0.0 for i, j in pattern]
    found = least_squares(
        lambda x: r @ fill(x) - right,
        [*first, *(start[names[k]] for k in others)],
        x_scale="jac",
        max_nfev=300,
    )
    return dict(zip(names, fill(found.x).tolist(), strict=True))


def _mass(i: int, j: int) -> str:
    return f"m{min(i, j) + 1}{max(i, j) + 1}"
