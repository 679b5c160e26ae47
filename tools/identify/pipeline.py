"""From tracks to an identified model: what is sought, what the data cannot show, least squares, then the readings."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from caudal.tools.common.output import UsageError
from caudal.tools.identify import standard_errors as errors
from caudal.tools.identify.least_squares import is_inertia, known_names, solve
from caudal.tools.identify.prediction_error import Fit, Search
from caudal.tools.identify.rigid_body_model import ALL, ALL_SETS, LEVEL, LEVEL_SETS, Matrices, matrices, unit
from caudal.tools.identify.trajectory import Track

SETS = {
    4: (LEVEL, LEVEL_SETS),
    # the level freedoms' drag in full, as in the four-freedom model, and the diagonal of roll and pitch
    6: (ALL, {kind: tuple(dict.fromkeys((*ALL_SETS[kind], *LEVEL_SETS[kind]))) for kind in LEVEL_SETS}),
}


class Identified(NamedTuple):
    model: Matrices
    rows: tuple[int, ...]
    found: list[errors.Found]
    not_found: list[str]  # kept as the vehicle file has them
    together: list[tuple[str, str, float]]
    conditions: tuple[float, float]  # of the regressor: raw, and with its columns scaled
    constrained: bool  # least squares alone gave an inertia that no body has
    fit: Fit
    search: Search

    @property
    def ages_s(self) -> dict[str, list[float]]:
        """How old each sensor's readings were, a run each."""
        out: dict[str, list[float]] = {}
        for run in self.search.runs:
            for name, age_s in zip(run.aged, run.aside[len(run.gyros) :], strict=True):
                out.setdefault(name, []).append(float(age_s))
        return out


def identify(
    tracks: Sequence[Track], base: Matrices, freedoms: int = 4, kind: str = "linear",
    say: Callable[[str], None] = lambda text: None,
) -> Identified:  # fmt: skip
    rows, sets = SETS[freedoms]
    names = list(sets[kind])
    if freedoms == 6 and not all({"roll", "pitch"} <= set(track.curves) for track in tracks):
        raise UsageError("six freedoms need roll and pitch in every log; leave --freedoms at 4")
    still = errors.not_excited(tracks, names)
    sought = [name for name in names if name not in still]
    _need_motion(sought, still, rows)
    for _ in range(3):
        say("least squares on the equations of motion")
        squares = solve(tracks, sought, rows, base)
        search = Search(tracks, sought, rows, base)
        start = squares.values
        if not is_inertia(
            matrices(start, base), rows
        ):  # the data hardly speak: begin with the vehicle file's
            own = known_names(base, ())
            start = {name: own.get(name, 0.0) for name in sought}
        say("fitting the readings")
        fit = search.fit(start)
        values = np.array([fit.values[name] for name in sought])
        error = np.sqrt(np.diag(fit.covariance))
        forces = np.sqrt(np.mean(np.concatenate([t.motion.wrench for t in tracks]) ** 2, axis=0))
        unclear = errors.vague(sought, values, error, forces)
        if not unclear:
            break
        still += unclear
        sought = [name for name in sought if name not in unclear]
        _need_motion(sought, still, rows)
    found = [
        errors.Found(name, float(v), float(e), unit(name))
        for name, v, e in zip(sought, values, error, strict=True)
    ]
    return Identified(
        matrices(fit.values, base), rows, found, still, errors.together(sought, fit.covariance),
        errors.conditions(tracks, sought, rows, base), squares.constrained, fit, search,
    )  # fmt: skip


def _need_motion(sought: Sequence[str], still: Sequence[str], rows: Sequence[int]) -> None:
    """Without a single inertia there is nothing to identify."""
    if not any(f"m{row + 1}{row + 1}" in sought for row in rows):
        names = ", ".join(still)
        raise UsageError(
            f"the logs hold no excitation: {names} cannot be found; track a trajectory of caudal excite"
        )
