"""The most likely parameters given all readings of all runs (the prediction-error method).

Nothing is differentiated or smoothed: the curves of tools/identify/trajectory.py serve only to linearize the equations.
In each freedom there is also an unknown acceleration (a tether, eddies, an inexact map), a random disturbance with a
memory, whose strength is estimated from the readings. Without it, closed-loop data would mislead: the controller
responds to every disturbance, and its response would be taken for the cause. Each sensor's delay is estimated too,
because a delay looks like a mass: what responds later seems heavier.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from caudal.tools.identify.kalman import Linear, run_filter
from caudal.tools.identify.least_squares import is_inertia
from caudal.tools.identify.linearize import LinearizedRun
from caudal.tools.identify.motion import STEP_S
from caudal.tools.identify.rigid_body_model import LEVEL, Matrices, matrices
from caudal.tools.identify.shooting import pack
from caudal.tools.identify.trajectory import Track

ROUNDS = 15
CONVERGED = 0.05  # of a standard error
NUDGE = 1e-6  # perturbation, of a parameter's scale
AGE_S = 0.01  # prior standard deviation of delays, which matters for poor data
WEAKEST, STRONGEST = 2e-4, 1.0  # limits of disturbances, m/s2 or rad/s2
QUICK_S, SLOW_S = 0.1, 30.0  # limits of their memory


class Disturbances(NamedTuple):
    """The unknown accelerations."""

    strength: np.ndarray  # of each freedom: m/s2 or rad/s2, one standard deviation
    memory_s: float


class Fit(NamedTuple):
    """The most likely parameters."""

    values: dict[str, float]
    covariance: np.ndarray  # in the order of the values
    disturbances: Disturbances
    converged: bool


class NormalEquations(NamedTuple):
    """NormalEquations equations of the parameters over all runs, and -2 log likelihood."""

    a: np.ndarray
    g: np.ndarray
    deviance: float


class ParameterSearch:
    """Fits parameters to several runs at once."""

    def __init__(
        self, tracks: Sequence[Track], names: Sequence[str], rows: Sequence[int], base: Matrices
    ) -> None:
        self.names, self.rows, self.base = list(names), list(rows), base
        self.level = tuple(rows) == LEVEL
        self.runs = [LinearizedRun(track, self.level) for track in tracks]
        self.disturbances = Disturbances(np.full(len(rows), 3e-3), 1.0)

    def model(self, theta: np.ndarray) -> Matrices:
        """The model with these parameters."""
        return matrices(dict(zip(self.names, theta.tolist(), strict=True)), self.base)

    def fit(self, start: dict[str, float]) -> Fit:
        """Gauss-Newton steps with step-size control, from a start."""
        theta = np.array([start[name] for name in self.names])
        self.disturbances = self._likeliest(self._linear(theta))
        linear, now = self._at(theta)
        converged = False
        for done in range(1, ROUNDS + 1):
            covariance, step = _solved(now)
            error = np.sqrt(np.diag(covariance))
            converged = done > 2 and bool(np.all(np.abs(step) < CONVERGED * error))
            if converged:
                break
            share = 1.0
            while not self._helps(theta + share * step, now, share * float(step @ now.g)):
                share /= 2
                if share < 1e-3:
                    break
            theta = theta + share * step
            linear, now = self._at(theta)
            if done in (1, 3):
                self.disturbances = self._likeliest(linear)
                linear, now = self._at(theta)
        values = dict(zip(self.names, theta.tolist(), strict=True))
        return Fit(values, covariance, self.disturbances, converged)

    def _at(self, theta: np.ndarray) -> tuple[list[Linear], NormalEquations]:
        """Linearized about the filter's path with these parameters, and the normal equations."""
        self._normal(self._linear(theta), self.disturbances, follow=True)
        linear = self._linear(theta)
        return linear, self._normal(linear, self.disturbances)

    def _helps(self, theta: np.ndarray, now: NormalEquations, hoped: float) -> bool:
        """Is the inertia valid, and the likelihood not worse than expected?"""
        if not is_inertia(self.model(theta), self.rows):
            return False
        then = self._normal(self._linear(theta), self.disturbances).deviance
        return bool(np.isfinite(then)) and then < now.deviance + 0.5 * abs(hoped) + 1.0

    def _linear(self, theta: np.ndarray) -> list[Linear]:
        nudge = NUDGE * np.maximum(np.abs(theta), scales(self.names, theta))
        models = np.array([pack(self.model(t), self.level) for t in [theta, *(theta + np.diag(nudge))]])
        return [run.linear(models, nudge) for run in self.runs]

    def _normal(
        self, linear: list[Linear], disturbances: Disturbances, follow: bool = False
    ) -> NormalEquations:
        count = linear[0].miss.shape[2] - 1
        a, g, deviance = np.zeros((count, count)), np.zeros(count), 0.0
        for run, one in zip(self.runs, linear, strict=True):
            sums = run_filter(one, run.spread, disturbances.strength, disturbances.memory_s, STEP_S)
            squares = sums.squares
            if follow:
                run.path = sums.path
            deviance += sums.log_variance
            # each run has its own biases and delays; delays have a prior
            last = slice(1 + count, None)
            inner, cross = squares[last, last].copy(), squares[last, : 1 + count]
            late = np.arange(one.biases, one.biases + one.ages)
            inner[late, late] += 1 / AGE_S**2
            solved = np.linalg.solve(inner, cross)
            squares = squares[: 1 + count, : 1 + count] - cross.T @ solved
            deviance += float(np.linalg.slogdet(inner)[1])
            if follow:
                run.aside = -solved[:, 0]
            deviance += float(squares[0, 0])
            a += squares[1:, 1:]
            g -= squares[1:, 0]
        return NormalEquations(a, g, deviance)

    def _likeliest(self, linear: list[Linear]) -> Disturbances:
        """The most likely strengths and memory of the disturbances, with the present parameters."""
        bare = [one._replace(miss=np.ascontiguousarray(one.miss[:, :, :1])) for one in linear]

        def deviance(logs: np.ndarray) -> float:
            found = self._normal(bare, Disturbances(np.exp(logs[:-1]), float(np.exp(logs[-1])))).deviance
            return found if np.isfinite(found) else 1e12

        limits = [(np.log(WEAKEST), np.log(STRONGEST))] * len(self.rows) + [(np.log(QUICK_S), np.log(SLOW_S))]
        start = np.log(
            np.append(np.clip(self.disturbances.strength, 2 * WEAKEST, None), self.disturbances.memory_s)
        )
        options = {"maxiter": 15, "ftol": 1e-7, "eps": 1e-3, "maxls": 10}
        found = minimize(deviance, start, method="L-BFGS-B", bounds=limits, options=options).x
        return Disturbances(np.exp(found[:-1]), float(np.exp(found[-1])))


def _solved(normal: NormalEquations) -> tuple[np.ndarray, np.ndarray]:
    size = np.sqrt(np.maximum(np.diag(normal.a), 1e-300))
    covariance = np.linalg.pinv(normal.a / np.outer(size, size), rcond=1e-12, hermitian=True) / np.outer(
        size, size
    )
    return covariance, covariance @ normal.g


def scales(names: Sequence[str], theta: np.ndarray) -> np.ndarray:
    """Each parameter's scale: its size on the diagonal, the mean of its two diagonals off it."""
    own = {name: abs(float(value)) for name, value in zip(names, theta, strict=True)}
    out = []
    for name in names:
        kind, places = name[0], name[1:]
        if places.isdigit():
            out.append(np.sqrt(np.prod([own.get(f"{kind}{i}{i}", 1.0) for i in places])))
        else:
            out.append(1.0)
    scaled: np.ndarray = np.maximum(np.array(out), 1e-3)
    return scaled
