"""The likeliest parameters given every reading of every run (the prediction-error method).

Nothing is differentiated and nothing smoothed: the curves of tools/identify/trajectory.py are only what the equations
are made linear about. Each freedom is also pushed by an acceleration that no model knows (a tether, eddies, a map
that is a little off), wandering with a memory of its own; how strongly, the readings say. Without it a vehicle under
control would mislead: its controller answers every push, and the answer would be taken for the cause. The readings
also say how old each sensor's are when they come (a camera takes its time), for an age is easily taken for a mass:
what answers later seems heavier.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from caudal.tools.identify.kalman import Linear, run_filter
from caudal.tools.identify.least_squares import is_inertia
from caudal.tools.identify.linearize import Line
from caudal.tools.identify.motion import STEP_S
from caudal.tools.identify.rigid_body_model import LEVEL, Matrices, matrices
from caudal.tools.identify.shooting import pack
from caudal.tools.identify.trajectory import Track

ROUNDS = 15
SETTLED = 0.05  # of a standard error
NUDGE = 1e-6  # of a parameter's scale
AGE_S = 0.01  # how old readings may be when they come; poor data, which could blame it all on age, are held to this
WEAKEST, STRONGEST = 2e-4, 1.0  # pushes, m/s2 or rad/s2: no tank is stiller, no start wilder
QUICK_S, SLOW_S = 0.1, 30.0  # their memory


class Pushes(NamedTuple):
    strength: np.ndarray  # of each freedom that moves: m/s2 or rad/s2, one standard deviation
    memory_s: float


class Fit(NamedTuple):
    values: dict[str, float]
    covariance: np.ndarray  # in the order of the values
    pushes: Pushes
    rounds: int
    settled: bool


class Normal(NamedTuple):
    """Normal equations of the parameters over all runs, and -2 log likelihood."""

    a: np.ndarray
    g: np.ndarray
    deviance: float


class Search:
    """Parameters sought in several runs at once."""

    def __init__(
        self, tracks: Sequence[Track], names: Sequence[str], rows: Sequence[int], base: Matrices
    ) -> None:
        self.names, self.rows, self.base = list(names), list(rows), base
        self.level = tuple(rows) == LEVEL
        self.runs = [Line(track, self.level) for track in tracks]
        self.pushes = Pushes(np.full(len(rows), 3e-3), 1.0)

    def model(self, theta: np.ndarray) -> Matrices:
        return matrices(dict(zip(self.names, theta.tolist(), strict=True)), self.base)

    def fit(self, start: dict[str, float]) -> Fit:
        theta = np.array([start[name] for name in self.names])
        self.pushes = self._likeliest(self._linear(theta))
        linear, now = self._at(theta)
        settled = False
        for done in range(1, ROUNDS + 1):
            covariance, step = _solved(now)
            error = np.sqrt(np.diag(covariance))
            settled = done > 2 and bool(np.all(np.abs(step) < SETTLED * error))
            if settled:
                break
            share = 1.0
            while not self._helps(theta + share * step, now, share * float(step @ now.g)):
                share /= 2
                if share < 1e-3:
                    break
            theta = theta + share * step
            linear, now = self._at(theta)
            if done in (1, 3):
                self.pushes = self._likeliest(linear)
                linear, now = self._at(theta)
        values = dict(zip(self.names, theta.tolist(), strict=True))
        return Fit(values, covariance, self.pushes, done, settled)

    def _at(self, theta: np.ndarray) -> tuple[list[Linear], Normal]:
        """Linear about where the filter goes with these parameters."""
        self._normal(self._linear(theta), self.pushes, follow=True)
        linear = self._linear(theta)
        return linear, self._normal(linear, self.pushes)

    def _helps(self, theta: np.ndarray, now: Normal, hoped: float) -> bool:
        """Is this a body, and do the readings not object?"""
        if not is_inertia(self.model(theta), self.rows):
            return False
        then = self._normal(self._linear(theta), self.pushes).deviance
        return bool(np.isfinite(then)) and then < now.deviance + 0.5 * abs(hoped) + 1.0

    def _linear(self, theta: np.ndarray) -> list[Linear]:
        nudge = NUDGE * np.maximum(np.abs(theta), scales(self.names, theta))
        models = np.array([pack(self.model(t), self.level) for t in [theta, *(theta + np.diag(nudge))]])
        return [run.linear(models, nudge) for run in self.runs]

    def _normal(self, linear: list[Linear], pushes: Pushes, follow: bool = False) -> Normal:
        count = linear[0].miss.shape[2] - 1
        a, g, deviance = np.zeros((count, count)), np.zeros(count), 0.0
        for run, one in zip(self.runs, linear, strict=True):
            sums = run_filter(one, run.spread, pushes.strength, pushes.memory_s, STEP_S)
            squares = sums.squares
            if follow:
                run.path = sums.path
            deviance += sums.log_variance
            # each run has biases of its own; ages too, within what is plausible
            last = slice(1 + count, None)
            inner, cross = squares[last, last].copy(), squares[last, : 1 + count]
            late = np.arange(one.biases, one.biases + one.ages)
            inner[late, late] += 1 / AGE_S**2
            answer = np.linalg.solve(inner, cross)
            squares = squares[: 1 + count, : 1 + count] - cross.T @ answer
            deviance += float(np.linalg.slogdet(inner)[1])
            if follow:
                run.aside = -answer[:, 0]
            deviance += float(squares[0, 0])
            a += squares[1:, 1:]
            g -= squares[1:, 0]
        return Normal(a, g, deviance)

    def _likeliest(self, linear: list[Linear]) -> Pushes:
        """Strengths and memory under which the readings are likeliest with the present parameters."""

        bare = [one._replace(miss=np.ascontiguousarray(one.miss[:, :, :1])) for one in linear]

        def deviance(logs: np.ndarray) -> float:
            found = self._normal(bare, Pushes(np.exp(logs[:-1]), float(np.exp(logs[-1])))).deviance
            return found if np.isfinite(found) else 1e12

        limits = [(np.log(WEAKEST), np.log(STRONGEST))] * len(self.rows) + [(np.log(QUICK_S), np.log(SLOW_S))]
        start = np.log(np.append(np.clip(self.pushes.strength, 2 * WEAKEST, None), self.pushes.memory_s))
        options = {"maxiter": 15, "ftol": 1e-7, "eps": 1e-3, "maxls": 10}
        found = minimize(deviance, start, method="L-BFGS-B", bounds=limits, options=options).x
        return Pushes(np.exp(found[:-1]), float(np.exp(found[-1])))


def _solved(normal: Normal) -> tuple[np.ndarray, np.ndarray]:
    size = np.sqrt(np.maximum(np.diag(normal.a), 1e-300))
    covariance = np.linalg.pinv(normal.a / np.outer(size, size), rcond=1e-12, hermitian=True) / np.outer(
        size, size
    )
    return covariance, covariance @ normal.g


def scales(names: Sequence[str], theta: np.ndarray) -> np.ndarray:
    """What a parameter is measured by: its own size on the diagonal, that of its two diagonals off it."""
    own = {name: abs(float(value)) for name, value in zip(names, theta, strict=True)}
    out = []
    for name in names:
        kind, places = name[0], name[1:]
        if places.isdigit():
            out.append(np.sqrt(np.prod([own.get(f"{kind}{i}{i}", 1.0) for i in places])))
        else:
            out.append(1.0)
    return np.maximum(np.array(out), 1e-3)
