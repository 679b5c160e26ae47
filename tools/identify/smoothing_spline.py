"""Smooth curves through noisy readings, with a smoothness estimated from the data.

A curve is a spline of fifth degree whose third derivative is white noise of unknown strength (a Gaussian process). That
strength, and the noise of every sensor, are the most likely ones given the readings; there is nothing to tune. Values
and rates (a compass and its gyro) determine one curve together; a gyro's constant bias is estimated with it, and
missing readings are bridged by their neighbours. A reading far off the curve is left out.

An interpolating spline would take noise for excitation, and give masses that are far too small.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array

from caudal.tools.identify.motion import Readings

KNOT_S = 0.1
DEGREE = 5
ORDER = 3  # of the derivative that is white noise
FAR = 6.0  # standard deviations off the curve: an outlier


class Source(NamedTuple):
    """Readings of a curve's value (derivative 0) or of its rate (1)."""

    readings: Readings
    derivative: int


class Curve(NamedTuple):
    """A smooth curve, with its errors."""

    spline: BSpline
    noise: list[float]  # of each source, one standard deviation
    bias: float  # of the rates
    error: tuple[float, float, float]  # of value, rate and second derivative, one standard deviation
    width_s: float  # of the smoothing
    kept: list[np.ndarray]  # per source, readings that are not outliers

    def at(self, time_s: np.ndarray, derivative: int = 0) -> np.ndarray:
        """The curve or one of its derivatives at these times."""
        values: np.ndarray = self.spline(time_s, nu=derivative)
        return values


def fit_curve(sources: Sequence[Source], start_s: float, end_s: float) -> Curve:
    """The most likely curve; outliers are left out, and the curve is fitted again."""
    kept = [np.ones(len(s.readings.time_s), bool) for s in sources]
    curve = _Problem(sources, kept, start_s, end_s).solve()
    for _ in range(3):
        found = []
        for source, noise in zip(sources, curve.noise, strict=True):
            off = source.readings.value - curve.at(source.readings.time_s, source.derivative)
            found.append(np.abs(off - curve.bias * source.derivative) < FAR * noise)
        if all(np.array_equal(a, b) for a, b in zip(found, kept, strict=True)):
            break
        kept = found
        curve = _Problem(sources, kept, start_s, end_s).solve()
    return curve


class _Problem:
    """The likelihood of readings as a function of log strengths, by banded Cholesky."""

    def __init__(self, sources: Sequence[Source], kept: list[np.ndarray], start_s: float, end_s: float):
        pieces = max(int(np.ceil((end_s - start_s) / KNOT_S)), 4)
        self._knots = start_s + KNOT_S * np.arange(-DEGREE, pieces + DEGREE + 1)
        self._count = pieces + DEGREE
        self._kept = kept
        self._derivatives = [s.derivative for s in sources]
        self._values = [s.readings.value[keep] for s, keep in zip(sources, kept, strict=True)]
        self._design = [
            self._matrix(s.readings.time_s[keep], s.derivative) for s, keep in zip(sources, kept, strict=True)
        ]
        self._grams = [_banded(d.T @ d) for d in self._design]
        self._sums = [d.T @ v for d, v in zip(self._design, self._values, strict=True)]
        n = self._count
        difference = diags_array([-1.0, 3.0, -3.0, 1.0], offsets=[0, 1, 2, 3], shape=(n - ORDER, n)).tocsr()
        self._rough = _banded(difference.T @ difference) / KNOT_S ** (2 * ORDER - 1)

    def _matrix(self, time_s: np.ndarray, derivative: int) -> csr_array:
        """Readings of the curve, or of its rate, from its coefficients."""
        degree, knots = DEGREE - derivative, self._knots[derivative : len(self._knots) - derivative]
        inside = np.clip(time_s, knots[degree], knots[-degree - 1])
        design = csr_array(BSpline.design_matrix(inside, knots, degree))
        if derivative:
            n = self._count
            design = design @ diags_array([-1.0, 1.0], offsets=[0, 1], shape=(n - 1, n)).tocsr() / KNOT_S
        return csr_array(design)

    def _draw(self, logs: np.ndarray) -> tuple[np.ndarray, float, np.ndarray, float, float]:
        """Coefficients, bias, the factor, the first source's noise and -2 log likelihood.

        `logs` are of the strength and of the other sources' noises, all in units of the first source's noise, which
        follows from the residuals.
        """
        rough, weights = np.exp(-2 * logs[0]), np.exp(-2 * np.append(0.0, logs[1:]))
        a = rough * self._rough
        for weight, gram in zip(weights, self._grams, strict=True):
            a = a + weight * gram
        a[-1] *= 1 + 1e-13
        factor = cholesky_banded(a)
        c = cho_solve_banded((factor, False), sum(w * s for w, s in zip(weights, self._sums, strict=True)))
        bias, readings, deviance = 0.0, sum(map(len, self._values)) - ORDER, 0.0
        if 0 in self._derivatives and 1 in self._derivatives:  # with values, a gyro's bias can be estimated
            k = self._derivatives.index(1)
            ones = weights[k] * self._design[k].sum(axis=0)
            solved = cho_solve_banded((factor, False), ones)
            weight_of_bias = weights[k] * len(self._values[k]) - ones @ solved
            bias = (weights[k] * self._values[k].sum() - ones @ c) / weight_of_bias
            c = c - bias * solved
            readings, deviance = readings - 1, np.log(weight_of_bias)
        misfit = rough * (c @ _times(self._rough, c))
        for k, design in enumerate(self._design):
            off = self._values[k] - design @ c - bias * self._derivatives[k]
            misfit += weights[k] * (off @ off)
            deviance -= len(off) * np.log(weights[k])
        deviance += readings * np.log(misfit / readings)
        deviance += 2 * np.log(factor[-1]).sum() + 2 * (self._count - ORDER) * logs[0]
        return c, bias, factor, float(np.sqrt(misfit / readings)), float(deviance)

    def _first_guess(self) -> np.ndarray:
        """Noise from differences of neighbouring readings, strength from a smoothing of half a second."""
        logs = []
        for value in self._values:
            jump = np.diff(value, 3) / np.sqrt(20.0)
            logs.append(np.log(max(1.5 * float(np.median(np.abs(jump))), 1e-6)))
        per_s = len(self._values[0]) / (KNOT_S * self._count)
        return np.array([ORDER * np.log(2.0) - 0.5 * np.log(per_s), *(log - logs[0] for log in logs[1:])])

    def solve(self) -> Curve:
        """The most likely curve."""
        guess = self._first_guess()

        def deviance(logs: np.ndarray) -> float:
            if np.abs(logs - guess).max() > 16:
                return 1e12
            try:
                return self._draw(logs)[4]
            except np.linalg.LinAlgError:
                return 1e12

        simplex = np.vstack([guess, guess + np.diag([1.5] + [0.4] * (len(guess) - 1))])
        options = {"initial_simplex": simplex, "xatol": 0.03, "fatol": 0.05, "maxiter": 100}
        logs = minimize(deviance, guess, method="Nelder-Mead", options=options).x
        c, bias, factor, first, _ = self._draw(logs)
        noise = [first, *(first * float(np.exp(log)) for log in logs[1:])]
        per_s = len(self._values[0]) / (KNOT_S * self._count)
        width_s = float(np.exp(-logs[0] / ORDER) * per_s ** (-0.5 / ORDER))
        spline = BSpline(self._knots, c, DEGREE)
        return Curve(spline, noise, float(bias), self._errors(factor, first), width_s, self._kept)

    def _errors(self, factor: np.ndarray, noise: float) -> tuple[float, float, float]:
        """Posterior standard deviations of value, rate and second derivative, in the middle half of the run."""
        n = self._count
        at = self._knots[DEGREE] + KNOT_S * (np.linspace(0.25, 0.75, 7) * (n - DEGREE)).round()
        values = np.zeros(3)
        for derivative in range(3):
            knots = self._knots[derivative : len(self._knots) - derivative]
            rows = BSpline.design_matrix(at, knots, DEGREE - derivative).toarray()
            for k in range(derivative):
                size = n - derivative + 1 + k
                rows = (
                    rows @ diags_array([-1.0, 1.0], offsets=[0, 1], shape=(size - 1, size)).toarray() / KNOT_S
                )
            answers = cho_solve_banded((factor, False), rows.T)
            values[derivative] = noise * np.sqrt(np.mean(np.sum(rows.T * answers, axis=0)))
        return float(values[0]), float(values[1]), float(values[2])


def _banded(matrix: csr_array) -> np.ndarray:
    """Upper form of scipy's banded solvers, with the spline's bandwidth."""
    matrix = matrix.tocsr()
    n = matrix.shape[0]
    band = np.zeros((DEGREE + 1, n))
    for k in range(DEGREE + 1):
        band[DEGREE - k, k:] = matrix.diagonal(k)
    return band


def _times(band: np.ndarray, c: np.ndarray) -> np.ndarray:
    out: np.ndarray = band[-1] * c
    for k in range(1, DEGREE + 1):
        out[:-k] += band[-1 - k, k:] * c[k:]
        out[k:] += band[-1 - k, k:] * c[:-k]
    return out
