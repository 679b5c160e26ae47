"""Objectives of an excitation trajectory, and their gradients in its control points.

All objectives are functions of Y'Y of the vehicle's regressor (identify/rigid_body_model.py, four freedoms, linear
drag), each row weighted by its expected noise. Row r of the regressor is S[r] @ features, so

    Y'Y = sum over r of  weight[r] S[r] (F F') S[r]'

needs only the features' Gram matrix, and a gradient in Y'Y is propagated back through F to the curves.

    cond      log of the condition number of Y in SI units, all rows with equal weight
    scaled    the same with every column scaled to unit length, plus a little of d: alone it does not depend on the
              size of motions, and the barrier would make them as small as possible
    d         D-optimality: the mean log of the standard errors along the axes of the parameters' error ellipsoid,
              -log det(Y'Y) / (2 parameters)
"""

from typing import NamedTuple

import numpy as np

from caudal.tools.excite.bezier import Curve, motion, points
from caudal.tools.identify import rigid_body_model as model

OBJECTIVES = ("cond", "scaled", "d")
LITTLE = 0.1  # of d in scaled
NAMES = model.LEVEL_SETS["linear"]
_ALL = model.coefficients(NAMES, model.LEVEL)
# features of level motion, without roll and pitch, that S uses
_PAIRS = [
    (i, j)
    for k, (i, j) in enumerate(model.PRODUCTS)
    if i in model.LEVEL and j in model.LEVEL and _ALL[:, :, model.PRODUCT + k].any()
]
LEFT = [model.LEVEL.index(i) for i, _ in _PAIRS]
RIGHT = [model.LEVEL.index(j) for _, j in _PAIRS]
USED = [
    *(model.ACCELERATION + k for k in model.LEVEL),
    *(model.VELOCITY + k for k in model.LEVEL),
    *(model.PRODUCT + model.PRODUCTS.index(pair) for pair in _PAIRS),
    model.UPRIGHT,
]
S = np.ascontiguousarray(_ALL[:, :, USED])


class Quality(NamedTuple):
    """A trajectory's figures for all objectives."""

    condition_number: float
    scaled_condition_number: float
    log_det: float  # of Y'Y weighted by the rows' noise
    rms_heave_acc: float


class Objective:
    """Value and gradient in the free points; `power` smooths the extreme eigenvalues, None is exact."""

    def __init__(self, shape: Curve, kind: str, noise: np.ndarray | None = None) -> None:
        self.shape, self.kind = shape, kind
        self.weights = np.ones(4) if noise is None or kind != "d" else 1.0 / np.square(noise)
        self._turned = np.ascontiguousarray(S.transpose(0, 2, 1)) * self.weights[:, None, None]
        # (n + 1, 3 samples): times of a segment side by side, so that each freedom is one long row
        self._bases = [np.ascontiguousarray(b.reshape(-1, b.shape[2]).T) for b in shape.samples]
        self._counts = [b.shape[1] for b in shape.samples]
        self._starts = np.concatenate(([0], np.cumsum(self._counts)))
        self._moved = np.empty((4, 3, self._starts[-1]))
        self._f = np.empty((len(USED), self._starts[-1]))
        self._f[-1] = 1.0

    def __call__(self, free: np.ndarray, power: float | None = None) -> tuple[float, np.ndarray]:
        information = self.information(free)
        value, slope = objective_of(information, self.kind, power)
        back = (self._turned @ slope @ S).sum(axis=0)
        return value, self._back(2.0 * back @ self._f)

    def information(self, free: np.ndarray) -> np.ndarray:
        """Y'Y with weighted rows."""
        control = points(self.shape, free)
        moved = self._moved
        for k, (basis, count) in enumerate(zip(self._bases, self._counts, strict=True)):
            at = slice(self._starts[k], self._starts[k + 1])
            moved[:, :, at] = (control[k].T @ basis).reshape(4, 3, count)
        (_, dx, ddx), (_, dy, ddy), (_, dz, ddz), (psi, r, dr) = moved
        self._c, self._s = c, s = np.cos(psi), np.sin(psi)
        f = self._f
        np.add(c * dx, s * dy, out=f[4])
        np.subtract(c * dy, s * dx, out=f[5])
        np.negative(dz, out=f[6])
        f[7] = r
        np.add(c * ddx + s * ddy, r * f[5], out=f[0])
        np.subtract(c * ddy - s * ddx, r * f[4], out=f[1])
        np.negative(ddz, out=f[2])
        f[3] = dr
        v = f[4:8]
        for k, (i, j) in enumerate(zip(LEFT, RIGHT, strict=True)):
            np.multiply(v[i], v[j], out=f[8 + k])
        information: np.ndarray = (S @ (f @ f.T) @ self._turned).sum(axis=0)
        return information

    def _back(self, df: np.ndarray) -> np.ndarray:
        """The gradient in the free control points from that in the features."""
        f, c, s = self._f, self._c, self._s
        v = f[4:8]
        (_, dx, ddx), (_, dy, ddy) = self._moved[0], self._moved[1]
        r = v[3]
        dv = df[4:8]
        for k, (i, j) in enumerate(zip(LEFT, RIGHT, strict=True)):
            dv[i] += df[8 + k] * v[j]
            dv[j] += df[8 + k] * v[i]
        au, av = df[0], df[1]
        dv[0] -= av * r
        dv[1] += au * r
        dv[3] += au * v[1] - av * v[0]
        out = np.empty_like(self._moved)
        out[0, 0] = out[1, 0] = out[2, 0] = 0.0
        out[0, 1] = c * dv[0] - s * dv[1]
        out[1, 1] = s * dv[0] + c * dv[1]
        out[2, 1] = -dv[2]
        out[3, 1] = dv[3]
        out[0, 2] = c * au - s * av
        out[1, 2] = s * au + c * av
        out[2, 2] = -df[2]
        out[3, 2] = df[3]
        # a change of heading rotates velocity and acceleration in the base frame the other way
        turned = ddx * out[1, 2] - ddy * out[0, 2] + dx * out[1, 1] - dy * out[0, 1]
        out[3, 0] = -turned
        control = np.empty((len(self._bases), len(self._bases[0]), 4))
        for k, basis in enumerate(self._bases):
            at = slice(self._starts[k], self._starts[k + 1])
            control[k] = basis @ out[:, :, at].reshape(4, -1).T
        gradient: np.ndarray = self.shape.gather @ control.reshape(-1, 4)
        return gradient


def objective_of(information: np.ndarray, kind: str, power: float | None = None) -> tuple[float, np.ndarray]:
    """The objective of Y'Y (less is better), and its derivative by each entry."""
    if kind == "d":
        count = len(information)
        return -np.linalg.slogdet(information)[1] / (2 * count), -np.linalg.inv(information) / (2 * count)
    if kind == "cond":
        return _log_condition(information, power)
    (value, slope), (volume, grows) = (
        _log_scaled_condition(information, power),
        objective_of(information, "d"),
    )
    return value + LITTLE * volume, slope + LITTLE * grows


def _log_scaled_condition(information: np.ndarray, power: float | None) -> tuple[float, np.ndarray]:
    length = np.sqrt(np.diag(information))
    scaled = information / np.outer(length, length)
    value, slope = _log_condition(scaled, power)
    through_length = np.sum(slope * scaled, axis=1) / length**2
    return value, slope / np.outer(length, length) - np.diag(through_length)


def _log_condition(matrix: np.ndarray, power: float | None) -> tuple[float, np.ndarray]:
    """Half the log of largest over smallest eigenvalue; smoothed by `power` norms."""
    found, vectors = np.linalg.eigh(matrix)
    found = np.maximum(found, 1e-15 * found[-1])
    slope = np.zeros(len(found))
    if power is None:
        slope[0], slope[-1] = -0.5 / found[0], 0.5 / found[-1]
        return 0.5 * np.log(found[-1] / found[0]), (vectors * slope) @ vectors.T
    high, low = (found / found[-1]) ** power, (found[0] / found) ** power
    slope = 0.5 * (high / high.sum() - low / low.sum()) / found
    value = 0.5 * np.log(found[-1] / found[0]) + 0.5 * np.log(high.sum() * low.sum()) / power
    return value, (vectors * slope) @ vectors.T


def quality(shape: Curve, free: np.ndarray, noise: np.ndarray | None = None) -> Quality:
    """The figures of a trajectory."""
    raw = Objective(shape, "cond").information(free)
    weighted = Objective(shape, "d", noise).information(free)
    heave = motion(shape, points(shape, free))[2, :, 2]
    return Quality(
        float(np.exp(objective_of(raw, "cond")[0])),
        float(np.exp(_log_scaled_condition(raw, None)[0])),
        float(np.linalg.slogdet(weighted)[1]),
        float(np.sqrt(np.mean(heave**2))),
    )
