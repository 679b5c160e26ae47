"""Random initial guesses of an excitation trajectory, inside all limits; or which limits conflict."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array

from caudal.tools.common.output import UsageError
from caudal.tools.excite.bezier import Curve
from caudal.tools.excite.optimizer import Metric, room
from caudal.tools.excite.tables import FREEDOMS

WALK = 60  # random steps from the middle, after which the result does not depend on it
LEAST = 1e-6  # of a limit's range: least distance from both sides


def middle(shape: Curve, label: str) -> np.ndarray:
    """The free points with the largest distance from all limits, as a share of each limit's range."""
    for problem in shape.violated:
        raise UsageError(f"{label}: excite.start or excite.end violates the limits of {problem}; move it")
    limits, found = shape.limits, []
    for d, freedom in enumerate(FREEDOMS):
        low, high = limits.low[:, d], limits.high[:, d]
        span = csr_array((high - low)[:, None])
        done = linprog(
            np.append(np.zeros(limits.rows.shape[1]), -1.0),
            A_ub=block_array([[limits.rows, span], [-limits.rows, span]]),
            b_ub=np.concatenate((high, -low)),
            bounds=[(None, None)] * limits.rows.shape[1] + [(None, 0.5)],
        )
        if not done.success:
            raise UsageError(
                f"{label}: no trajectory is within the limits of {freedom} in [excite] ({done.message}); widen them"
            )
        if done.x[-1] < LEAST:
            raise UsageError(f"{label}: {_conflict(shape, freedom, done.ineqlin.marginals)}")
        found.append(done.x[:-1])
    return np.stack(found, axis=1)


def _conflict(shape: Curve, freedom: str, pressure: np.ndarray) -> str:
    """The error message with the two limits that conflict most."""
    each = np.abs(pressure).reshape(2, -1).sum(axis=0)
    by_name: dict[str, float] = {}
    for name, push in zip(shape.limits.names, each, strict=True):
        by_name[name] = by_name.get(name, 0.0) + push
    hardest = sorted((name for name in by_name if by_name[name] > 1e-9), key=lambda name: -by_name[name])[:2]
    return f"no trajectory of {freedom} is within the limits of [excite]: {' and '.join(hardest)} conflict; widen one"


def start(shape: Curve, centre: np.ndarray, seed: int, turn: int) -> np.ndarray:
    """A random trajectory inside the limits, by hit-and-run sampling from the middle; same seed and turn, same path."""
    random = np.random.default_rng([seed, turn])
    metric, free = Metric(shape.limits), centre
    for _ in range(WALK):
        metric.at(free, 1.0)
        step = metric.draw(random)
        free = free + step * (random.uniform(0.0, 0.9) * room(shape.limits, free, step))
    return free
