"""Runs scipy's SLSQP for comparison: same start, free points, objective and gradient."""

import time
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from caudal.tools.excite.objective import Objective

STEPS = 300
NEAR = 1e-3  # of the log: within 0.1 % of a condition number


class Peer(NamedTuple):
    """The result of SLSQP."""

    free: np.ndarray
    value: float
    cpu_s: float  # of the whole run
    there_s: float | None  # CPU time until it was as good as the compared value; None: never


def slsqp(objective: Objective, free: np.ndarray, compared: float) -> Peer:
    """Runs SLSQP. It may violate limits on its way, so a value counts only at steps within the limits."""
    limits = objective.shape.limits
    rows = np.kron(limits.rows.toarray(), np.eye(4))
    low, high = limits.low.ravel(), limits.high.ravel()
    both = np.concatenate((rows, -rows))
    there_s: list[float] = []
    begun = time.process_time()

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        found, slope = objective(x.reshape(free.shape))
        return found, slope.ravel()

    def inside(x: np.ndarray) -> np.ndarray:
        at = rows @ x
        return np.concatenate((at - low, high - at))

    def step(x: np.ndarray) -> None:
        if not there_s and inside(x).min() > -1e-6 and value(x)[0] <= compared + NEAR:
            there_s.append(time.process_time() - begun)

    done = minimize(
        value, free.ravel(), jac=True, method="SLSQP", callback=step,
        constraints={"type": "ineq", "fun": inside, "jac": lambda _: both},
        options={"maxiter": STEPS, "ftol": 1e-7},
    )  # fmt: skip
    cpu_s = time.process_time() - begun
    return Peer(done.x.reshape(free.shape), float(done.fun), cpu_s, there_s[0] if there_s else None)
