"""From tracks to an identified model: selects parameters, then least squares, then the prediction-error fit."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from caudal.tools.common.output import UsageError
from caudal.tools.identify import standard_errors as errors
from caudal.tools.identify.least_squares import is_inertia, known_names, solve
from caudal.tools.identify.prediction_error import Fit, ParameterSearch
from caudal.tools.identify.rigid_body_model import ALL, ALL_SETS, LEVEL, LEVEL_SETS, Matrices, matrices, unit
from caudal.tools.identify.trajectory import Track

SETS = {
    4: (LEVEL, LEVEL_SETS),
    # the full drag matrix of the level freedoms, as in the four-freedom model, and the diagonal of roll and pitch
    6: (ALL, {kind: tuple(dict.fromkeys((*ALL_SETS[kind], *LEVEL_SETS[kind]))) for kind in LEVEL_SETS}),
}


class Identified(NamedTuple):
    """An identified model and its figures."""

    model: Matrices
    rows: tuple[int, ...]
    found: list[errors.Parameter]
    not_found: list[str]  # with the vehicle file's values
    correlated: list[tuple[str, str, float]]
    conditions: tuple[float, float]  # of the regressor: raw, and with scaled columns
    constrained: bool  # unconstrained least squares gave an inertia that is not positive definite
    fit: Fit
    search: ParameterSearch

    @property
    def ages_s(self) -> dict[str, list[float]]:
        """Delays of each sensor's readings, one per run."""
        out: dict[str, list[float]] = {}
        for run in self.search.runs:
            for name, age_s in zip(run.aged, run.aside[len(run.gyros) :], strict=True):
                out.setdefault(name, []).append(float(age_s))
        return out


def identify(
    tracks: Sequence[Track], base: Matrices, freedoms: int = 4, kind: str = "linear",
    say: Callable[[str], None] = lambda text: None,
) -> Identified:  # fmt: skip
    """Identifies a model; `say` receives the steps of the work."""
    rows, sets = SETS[freedoms]
    names = list(sets[kind])
    if freedoms == 6 and not all({"roll", "pitch"} <= set(track.curves) for track in tracks):
        raise UsageError("six freedoms need roll and pitch in every log; use --freedoms 4")
    still = errors.not_excited(tracks, names)
    sought = [name for name in names if name not in still]
    _need_motion(sought, still, rows)
    for _ in range(3):
        say("least squares on the equations of motion")
        squares = solve(tracks, sought, rows, base)
        search = ParameterSearch(tracks, sought, rows, base)
        start = squares.values
        if not is_inertia(matrices(start, base), rows):  # poor data: start with the vehicle file's values
            own = known_names(base, ())
            start = {name: own.get(name, 0.0) for name in sought}
        say("fitting the readings")
        fit = search.fit(start)
        values = np.array([fit.values[name] for name in sought])
        error = np.sqrt(np.diag(fit.covariance))
        forces = np.sqrt(np.mean(np.concatenate([t.motion.wrench for t in tracks]) ** 2, axis=0))
        unclear = errors.uncertain(sought, values, error, forces)
        if not unclear:
            break
        still += unclear
        sought = [name for name in sought if name not in unclear]
        _need_motion(sought, still, rows)
    found = [
        errors.Parameter(name, float(v), float(e), unit(name))
        for name, v, e in zip(sought, values, error, strict=True)
    ]
    return Identified(
        matrices(fit.values, base), rows, found, still, errors.correlated(sought, fit.covariance),
        errors.conditions(tracks, sought, rows, base), squares.constrained, fit, search,
    )  # fmt: skip


def _need_motion(sought: Sequence[str], still: Sequence[str], rows: Sequence[int]) -> None:
    """A UsageError if the logs show none of the inertias."""
    if not any(f"m{row + 1}{row + 1}" in sought for row in rows):
        names = ", ".join(still)
        raise UsageError(
            f"the logs hold no excitation: {names} cannot be identified; follow a trajectory of caudal excite"
        )
