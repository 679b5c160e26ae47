"""The way over ground, from above: vehicles, target, pool and obstacles."""

from typing import Any

import numpy as np

from caudal.sim_plant.tables.read import WorldSpec, read_worlds
from caudal.tools.common import pyplot
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.columns import column
from caudal.tools.report.plot import WIDE_IN, Plot, Reported, look, thin

FLATTEST = 0.28  # height over width: a straight run is a line in a frame, not a sliver
TALLEST = 0.75


def trajectory(told: Reported) -> Plot:
    world = _world(told)
    ways = [
        (name, told.column("truth", "x_m", name), told.column("truth", "y_m", name)) for name in told.names
    ]
    corners = [(0.0, world.length_m or 0.0), (0.0, world.width_m or 0.0)]
    pool = bool(world.length_m and world.width_m)
    figure, axes = from_above(
        told,
        np.concatenate([x for _, x, _ in ways] + ([np.array(corners[0])] if pool else [])),
        np.concatenate([y for _, _, y in ways] + ([np.array(corners[1])] if pool else [])),
    )
    patches = _patches()
    if pool:
        axes.add_patch(
            patches.Rectangle((0, 0), world.length_m, world.width_m, fill=False, linewidth=2, label="walls")
        )
    for cylinder in world.cylinders:
        at = (cylinder.x_m, cylinder.y_m)
        axes.add_patch(patches.Circle(at, cylinder.radius_m, color="0.6", label="obstacle"))
    for k, (name, x, y) in enumerate(ways):
        axes.plot(thin(x), thin(y), linewidth=0.9, label=name, **look(k))
        axes.plot(x[0], y[0], "o", markerfacecolor="white", color=look(k)["color"])
        axes.plot(x[-1], y[-1], "o", color=look(k)["color"])
    axes.plot([], [], "o", markerfacecolor="white", color="0.4", label="start")
    axes.plot([], [], "o", color="0.4", label="end")
    if "/target/truth" in told.log.topics:
        target = [thin(column(told.log, "/target/truth", field)) for field in ("x_m", "y_m")]
        axes.plot(*target, "k:", label="target")
    told.legend(figure)
    return Plot(
        "Trajectory",
        figure,
        "Look for ways that wander or touch: seen from above, from the open circle to the full one, x and y to scale.",
    )


def from_above(told: Reported, x_m: np.ndarray, y_m: np.ndarray) -> tuple[Any, Any]:
    """Axes of one scale in a frame whose height goes by what is to be seen."""
    known = np.isfinite(x_m) & np.isfinite(y_m)
    wide, high = (float(np.ptp(values[known])) if known.any() else 0.0 for values in (x_m, y_m))
    drawn_in = told.width_in * (0.85 if told.width_in >= WIDE_IN else 0.95)
    height_in = drawn_in * min(max(high / max(wide, 1e-9), FLATTEST), TALLEST) + 0.6
    figure, axes = told.axes(height_in)
    axes.set(xlabel="x, m", ylabel="y, m")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.grid(alpha=0.3)
    return figure, axes


def _world(told: Reported) -> WorldSpec:
    return read_worlds(vehicle_file(told.log))[told.scenario["world"]]


def _patches() -> Any:
    pyplot.pyplot()
    from matplotlib import patches

    return patches
