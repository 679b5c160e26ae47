"""Plots of an on-vehicle run: actuator set-points, estimates, and which readings arrived."""

import numpy as np

from caudal.hal.tables.channels import Actuator
from caudal.tools.report.plot import Plot, ReportData, style

BINS = 200
SHORTEST_S = 0.5  # of a bin, so that slow sensors have readings in each
UNITS = {"rad": "rad", "m": "m", "m_s": "m/s"}
ESTIMATES = ("is_heading_rad", "is_depth_m", "is_roll_rad", "is_pitch_rad", "is_speed_m_s")


def figures(data: ReportData) -> list[Plot]:
    """Returns the plots that suit what the log records."""
    return [plot for plot in (_commands(data), _estimates(data), _readings(data)) if plot]


def _commands(data: ReportData) -> Plot:
    """Plots the set-points of actuators, a panel per unit; empty axes if none was passed on."""
    by_unit: dict[str, list[str]] = {}
    for actuator in data.settings.actuators:
        if data.has("commands", actuator.name):
            by_unit.setdefault(_unit(actuator), []).append(actuator.name)
    count = max(1, len(by_unit))
    figure, panels = data.panels(count, 0.8 + 2.4 * count)
    k = 0
    for axes, (unit, names) in zip(panels, by_unit.items(), strict=False):
        for name in names:
            axes.plot(*data.series("commands", name), linewidth=0.9, label=name, **style(k))
            k += 1
        axes.set_ylabel(f"set-point, {unit}")
    if not by_unit:
        panels[0].set(title="no set-point was passed on", ylabel="set-point, rad, N or Pa")
        panels[0].plot([], [], label="no set-point")
    panels[-1].set_xlabel("time, s")
    return data.plot(
        "Actuator set-points",
        figure,
        "Set-points of each actuator after the output limiter: check for gaps, in which it was off, and for steps.",
    )


def _unit(actuator: Actuator) -> str:
    return {"thruster": "N", "valve": "Pa"}.get(actuator.map, "rad")


def _estimates(data: ReportData) -> Plot | None:
    known = [field for field in ESTIMATES if data.has("state", field)]
    if not known:
        return None
    figure, panels = data.panels(len(known), 0.8 + 1.4 * len(known))
    for k, (axes, field) in enumerate(zip(panels, known, strict=True)):
        word, _, unit = field.removeprefix("is_").partition("_")
        axes.plot(*data.series("state", field), linewidth=0.9, label=word, **style(k))
        axes.set_ylabel(f"{word}, {UNITS[unit]}")
    panels[-1].set_xlabel("time, s")
    return data.plot(
        "Estimates",
        figure,
        "The vehicle's own estimates of its motion: check for jumps, and for gaps in which there was none.",
    )


def _readings(data: ReportData) -> Plot | None:
    """Plots a row per sensor: dark where readings arrive at the sensor's best rate, white where none arrives."""
    if not data.has("counts"):
        return None
    fields = data.log.topics[f"/{data.name}/counts"].fields
    present = np.isfinite(np.array([data.column("counts", field) for field in fields]))
    end_s = float(data.time_s("counts")[-1])
    bins = np.array_split(present, min(BINS, max(1, int(end_s / SHORTEST_S))), axis=1)
    share = np.array([part.mean(axis=1) for part in bins]).T
    best = share.max(axis=1, keepdims=True)
    figure, axes = data.axes(1.0 + 0.2 * len(fields))
    image = axes.imshow(
        100 * share / np.maximum(best, 1e-9),
        aspect="auto",
        cmap="Blues",
        vmin=0,
        vmax=100,
        extent=(0.0, max(end_s, 1e-3), len(fields) - 0.5, -0.5),
        interpolation="nearest",
    )
    axes.set_yticks(range(len(fields)), fields)
    axes.set(xlabel="time, s", ylabel="sensor, by name")
    figure.colorbar(image, label="share of its best rate, %")
    return Plot(
        "Sensor readings",
        figure,
        "Dark is the best rate of a sensor, white is no reading: check for sensors that stop.",
        same_limits=False,
    )
