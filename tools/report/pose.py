"""Plots of a vehicle that holds its pose: set-point, estimate and truth, innovations of its filter, thrust."""

from collections.abc import Iterator

import numpy as np

from caudal.tools.report.plot import (
    LIMIT,
    Plot,
    ReportData,
    decimated,
    draw,
    on_right_scale,
    style,
)
from caudal.tools.summary.pose import WITHIN_95
from caudal.tools.summary.summarize import aligned

POSE = (("x_m", "x"), ("y_m", "y"), ("depth_m", "depth"), ("heading_rad", "heading"))
NIS = ("x", "y", "depth", "heading")


def figures(data: ReportData) -> list[Plot]:
    """Returns the plots; none for a vehicle without pose set-points, or a log that does not record them."""
    if not data.has("state", "setpoint_x_m"):
        return []
    return [plot for plot in (_pose(data), _tracking(data), innovations(data)) if plot]


def _axes_of_motion(data: ReportData) -> Iterator[tuple[str, bool, list[np.ndarray]]]:
    """Yields for each axis of motion its name, whether it is an angle, and [times (s), set-point, estimate, truth]."""
    for field, name in POSE:
        parts = [data.column("state", f"{part}_{field}") for part in ("setpoint", "is")]
        yield (
            name,
            field.endswith("_rad"),
            aligned(data.time_s("truth"), *parts, data.column("truth", field)),
        )


def _pose(data: ReportData) -> Plot:
    figure, panels = data.panels(4, 8.0)
    for axes, (name, angle, (time_s, wanted, estimate, truth)) in zip(
        panels, _axes_of_motion(data), strict=True
    ):
        scale = 180 / np.pi if angle else 1.0
        axes.plot(decimated(time_s), scale * decimated(truth), linewidth=1.2, label="truth")
        axes.plot(decimated(time_s), scale * decimated(estimate), "--", linewidth=0.8, label="estimate")
        axes.plot(decimated(time_s), scale * decimated(wanted), "k:", linewidth=1.0, label="set-point")
        axes.set_ylabel(f"{name}, {'deg' if angle else 'm'}")
        axes.ticklabel_format(useOffset=False)
    panels[-1].set_xlabel("time, s")
    return data.plot(
        "Pose",
        figure,
        f"Check whether {data.name} follows its set-point, and whether its estimate agrees with the truth.",
    )


def _tracking(data: ReportData) -> Plot:
    figure, panels = data.panels(4, 7.0)
    for axes, (name, angle, (time_s, wanted, estimate, truth)) in zip(
        panels, _axes_of_motion(data), strict=True
    ):
        for other, width, dashes, label in (
            (truth, 1.1, "-", "set-point minus truth"),
            (estimate, 0.8, "--", "set-point minus estimate"),
        ):
            gap = wanted - other
            error = np.degrees(np.angle(np.exp(1j * gap))) if angle else 1e3 * gap
            axes.plot(decimated(time_s), decimated(error), dashes, linewidth=width, label=label)
        axes.axhline(0, color="0.7", linewidth=0.7, zorder=0)
        axes.set_ylabel(f"{name}, {'deg' if angle else 'mm'}")
    panels[-1].set_xlabel("time, s")
    return data.plot(
        "Tracking error",
        figure,
        "Both lines should stay near zero: their gap is the error of the estimator, their common part that of the "
        "controller.",
    )


def innovations(data: ReportData) -> Plot | None:
    """Plots the normalised innovations squared (NIS) of each measurement; None where no filter records them."""
    fields = [field for field in NIS if data.has("state", f"is_{field}_nis")]
    if not fields:
        return None
    figure, panels = data.panels(len(fields), 0.8 + 1.5 * len(fields))
    time_s = data.time_s("state")
    for k, (axes, field) in enumerate(zip(panels, fields, strict=True)):
        nis = data.column("state", f"is_{field}_nis")
        known = np.isfinite(nis)
        within = 100 * float(np.mean(nis[known] < WITHIN_95))
        label = f"{field}: {within:.0f} % below"
        at_s, dots = decimated(time_s[known]), decimated(np.maximum(nis[known], 1e-3))
        axes.semilogy(at_s, dots, ".", markersize=2, label=label, color=style(k)["color"])
        axes.axhline(
            WITHIN_95, color=LIMIT, linewidth=1, label="95 %: 3.84" if k == len(fields) - 1 else None
        )
        axes.set_ylim(bottom=1e-3)
        axes.set_ylabel(f"{field} NIS, 1")
    panels[-1].set_xlabel("time, s")
    return data.plot(
        "Normalised innovation residuals",
        figure,
        "About 95 % of the dots should lie below the red line: with fewer the filter underestimates its errors, with "
        "more it overestimates them.",
    )


def thrusters(data: ReportData) -> Plot | None:
    """Plots the true thrust of all thrusters and the voltage of the battery; None without thrusters."""
    truth = data.log.topics[f"/{data.name}/truth"]
    named = [
        field for field in data.log.topics[f"/{data.name}/outputs"].fields if f"{field}_n" in truth.fields
    ]
    if not named:
        return None
    figure, axes = data.axes(3.8)
    draw(axes, ((field, *data.series("truth", f"{field}_n")) for field in named))
    axes.set(xlabel="time, s", ylabel="thrust, N")
    if data.has("truth", "battery_v"):
        on_right_scale(axes, "battery", "battery, V", *data.series("truth", "battery_v"))
    return data.plot(
        "Thrusters",
        figure,
        "Check for thrusters at their limits or against each other, and for how far the battery voltage drops.",
    )
