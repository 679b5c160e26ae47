"""Plots an identification: measured and simulated velocities, and every parameter with its error."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from caudal.tools.common.output import UsageError
from caudal.tools.common.pyplot import pyplot
from caudal.tools.identify.pipeline import Identified
from caudal.tools.identify.predict import Prediction
from caudal.tools.identify.rigid_body_model import FREEDOMS
from caudal.tools.identify.trajectory import Track


def draw(
    path: Path, identified: Identified, shown: Sequence[tuple[Track, Prediction]], base: dict[str, float]
) -> None:
    """Writes the plot. `shown`: a fitted run and, if there is one, a validation run."""
    plt = pyplot()
    rows = identified.rows
    figure, axes = plt.subplots(
        len(rows) + 1, len(shown), figsize=(7.5 * len(shown), 2.0 * len(rows) + 4.5), squeeze=False,
        layout="constrained", height_ratios=[*([1.0] * len(rows)), 2.0],
    )  # fmt: skip
    for column, (track, prediction) in enumerate(shown):
        time_s = track.motion.nodes_s
        thin = slice(None, None, max(1, len(time_s) // 2500))
        for k, row in enumerate(rows):
            axis, name = axes[k][column], FREEDOMS[row]
            axis.plot(time_s[thin], track.velocity[thin, row], color="0.6", linewidth=2, label="measured")
            axis.plot(time_s[thin], prediction.velocity[thin, row], linewidth=0.8, label="simulated")
            r2 = prediction.r2[name]
            fits = "too little motion" if r2 is None else f"R2 {r2:.4f}"
            axis.set(ylabel=f"{name}, {'m/s' if row < 3 else 'rad/s'}", title=f"{track.motion.name}: {fits}")
        axes[0][column].legend(loc="upper right")
        axes[len(rows) - 1][column].set(xlabel="time, s")
        axes[-1][column].remove()
    bars = figure.add_subplot(axes[-1][0].get_subplotspec().get_gridspec()[-1, :])
    values, spread = (
        np.array([f.value for f in identified.found]),
        np.array([f.error for f in identified.found]),
    )
    size = np.maximum(np.abs(values), 2 * spread)  # so that values are near 1, or near 0 if uncertain
    places = np.arange(len(values))
    bars.errorbar(
        places,
        values / size,
        2 * spread / size,
        fmt="o",
        markersize=4,
        capsize=3,
        label="identified, with two standard errors",
    )
    file = np.array([base.get(f.name, 0.0) for f in identified.found]) / size
    bars.plot(places, np.clip(file, -2, 2), "x", color="tab:red", label="vehicle file")
    bars.set_xticks(places, [f"{f.name}\n{f.value:.3g}" for f in identified.found], fontsize=7)
    bars.set(ylabel="relative to its size")
    bars.legend(loc="lower left")
    bars.grid(alpha=0.3)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; choose another file with --write"
        ) from error
    finally:
        plt.close(figure)
