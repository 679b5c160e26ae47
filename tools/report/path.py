"""Plots seen from above: vehicles, target, pool and obstacles."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from caudal.sim_plant.tables.read import WorldSpec, read_worlds
from caudal.tools.common import pyplot
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.columns import column
from caudal.tools.report.plot import WIDE_IN, Plot, ReportData, decimated, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLATTEST = 0.28  # smallest height by width, so that a straight run does not become a sliver
TALLEST = 0.75


def trajectory(data: ReportData) -> Plot:
    """Plots the true paths of all vehicles from above."""
    world = _world(data)
    paths = [
        (name, data.column("truth", "x_m", name), data.column("truth", "y_m", name)) for name in data.names
    ]
    corners = [(0.0, world.length_m or 0.0), (0.0, world.width_m or 0.0)]
    pool = bool(world.length_m and world.width_m)
    figure, axes = from_above(
        data,
        np.concatenate([x for _, x, _ in paths] + ([np.array(corners[0])] if pool else [])),
        np.concatenate([y for _, _, y in paths] + ([np.array(corners[1])] if pool else [])),
    )
    patches = _patches()
    if pool:
        axes.add_patch(
            patches.Rectangle((0, 0), world.length_m, world.width_m, fill=False, linewidth=2, label="walls")
        )
    for cylinder in world.cylinders:
        at = (cylinder.x_m, cylinder.y_m)
        axes.add_patch(patches.Circle(at, cylinder.radius_m, color="0.6", label="obstacle"))
    for k, (name, x, y) in enumerate(paths):
        axes.plot(decimated(x), decimated(y), linewidth=0.9, label=name, **style(k))
        axes.plot(x[0], y[0], "o", markerfacecolor="white", color=style(k)["color"])
        axes.plot(x[-1], y[-1], "o", color=style(k)["color"])
    axes.plot([], [], "o", markerfacecolor="white", color="0.4", label="start")
    axes.plot([], [], "o", color="0.4", label="end")
    if "/target/truth" in data.log.topics:
        target = [decimated(column(data.log, "/target/truth", field)) for field in ("x_m", "y_m")]
        axes.plot(*target, "k:", label="target")
    return data.plot(
        "Trajectory",
        figure,
        "Paths seen from above, x and y to the same scale: check for detours and collisions between start and end.",
    )


def from_above(data: ReportData, x_m: np.ndarray, y_m: np.ndarray) -> tuple[Figure, Axes]:
    """Makes axes with the same scale in x and y, whose height fits these points."""
    known = np.isfinite(x_m) & np.isfinite(y_m)
    wide, high = (float(np.ptp(values[known])) if known.any() else 0.0 for values in (x_m, y_m))
    drawn_in = data.width_in * (0.85 if data.width_in >= WIDE_IN else 0.95)
    height_in = drawn_in * min(max(high / max(wide, 1e-9), FLATTEST), TALLEST) + 0.6
    figure, axes = data.axes(height_in)
    axes.set(xlabel="x, m", ylabel="y, m")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.grid(alpha=0.3)
    return figure, axes


def _world(data: ReportData) -> WorldSpec:
    assert data.scenario, "a trial has no plot of it"
    return read_worlds(vehicle_file(data.log))[data.scenario.world]


def _patches() -> ModuleType:
    pyplot.pyplot()
    from matplotlib import patches

    return patches
