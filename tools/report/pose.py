"""Figures of a vehicle that holds any pose: how far it was off, how well it knew, and what its thrusters gave."""

import numpy as np

from caudal.tools.report.plot import LIMIT, Plot, Reported, look, thin
from caudal.tools.summary.pose import WITHIN_95
from caudal.tools.summary.summarize import aligned

POSE = (("x_m", "x, m"), ("y_m", "y, m"), ("depth_m", "depth, m"), ("heading_rad", "heading, deg"))
NIS = ("x", "y", "depth", "heading")


def figures(told: Reported) -> list[Plot]:
    """None of a vehicle that wants no pose, or of a log that does not say what was wanted."""
    if not told.has("state", "want_x_m"):
        return []
    return [plot for plot in (_pose(told), _tracking(told), residuals(told)) if plot]


def _pose(told: Reported) -> Plot:
    """Wanted, believed and true."""
    figure, axes = told.axes(8.0, rows=4)
    for axis, (field, label) in zip(axes, POSE, strict=True):
        parts = [told.column("state", f"{part}_{field}") for part in ("want", "is")]
        at_s, want, believed, true = aligned(told.time_s("truth"), *parts, told.column("truth", field))
        scale = 180 / np.pi if field.endswith("_rad") else 1.0
        axis.plot(thin(at_s), scale * thin(true), linewidth=1.2, label="true")
        axis.plot(thin(at_s), scale * thin(believed), "--", linewidth=0.8, label="believed")
        axis.plot(thin(at_s), scale * thin(want), "k:", linewidth=1.0, label="wanted")
        axis.set_ylabel(label)
        axis.ticklabel_format(useOffset=False)
    axes[-1].set_xlabel("time, s")
    told.legend(figure)
    return Plot(
        "Pose",
        figure,
        f"Look whether {told.name} goes where it is wanted, and whether what it believes stays on what is true.",
    )


def _tracking(told: Reported) -> Plot:
    """Axis by axis: wanted minus true, and wanted minus believed."""
    figure, axes = told.axes(7.0, rows=4)
    for axis, (field, label) in zip(axes, POSE, strict=True):
        parts = [told.column("state", f"{part}_{field}") for part in ("want", "is")]
        at_s, want, believed, true = aligned(told.time_s("truth"), *parts, told.column("truth", field))
        turning = field.endswith("_rad")
        for was, style, name in (
            (true, {"linewidth": 1.1}, "wanted minus true"),
            (believed, {"linewidth": 0.8, "linestyle": "--"}, "wanted minus believed"),
        ):
            off = np.degrees(np.angle(np.exp(1j * (want - was)))) if turning else 1e3 * (want - was)
            axis.plot(thin(at_s), thin(off), label=name, **style)
        axis.axhline(0, color="0.7", linewidth=0.7, zorder=0)
        axis.set_ylabel(f"{label.split(',')[0]}, {'deg' if turning else 'mm'}")
    axes[-1].set_xlabel("time, s")
    told.legend(figure)
    return Plot(
        "Tracking error",
        figure,
        "Both lines should stay round zero on every axis: the gap between them is the estimator's error, what they "
        "share the controller's.",
    )


def residuals(told: Reported) -> Plot | None:
    """Normalised innovations squared, reading by reading, where a filter recorded any."""
    fields = [field for field in NIS if told.has("state", f"is_{field}_nis")]
    if not fields:
        return None
    figure, all_axes = told.axes(0.8 + 1.5 * len(fields), rows=len(fields))
    axes = np.atleast_1d(all_axes)
    time_s = told.time_s("state")
    for k, (axis, field) in enumerate(zip(axes, fields, strict=True)):
        nis = told.column("state", f"is_{field}_nis")
        known = np.isfinite(nis)
        within = 100 * float(np.mean(nis[known] < WITHIN_95))
        label = f"{field}: {within:.0f} % below"
        at_s, dots = thin(time_s[known]), thin(np.maximum(nis[known], 1e-3))
        axis.semilogy(at_s, dots, ".", markersize=2, label=label, color=look(k)["color"])
        axis.axhline(
            WITHIN_95, color=LIMIT, linewidth=1, label="95 %: 3.84" if k == len(fields) - 1 else None
        )
        axis.set_ylim(bottom=1e-3)
        axis.set_ylabel(f"{field} NIS, 1")
    axes[-1].set_xlabel("time, s")
    told.legend(figure)
    return Plot(
        "Normalised innovation residuals",
        figure,
        "About 95 % of the dots should lie below the red line: fewer, and the filter trusts its model or sensors too "
        "much; nearly all, and it trusts them too little.",
    )


def thrusters(told: Reported) -> Plot | None:
    truth = told.log.topics[f"/{told.name}/truth"]
    named = [
        field for field in told.log.topics[f"/{told.name}/outputs"].fields if f"{field}_n" in truth.fields
    ]
    if not named:
        return None
    figure, axes = told.axes(3.8)
    for k, field in enumerate(named):
        axes.plot(*told.series("truth", f"{field}_n"), linewidth=0.8, label=field, **look(k))
    axes.set(xlabel="time, s", ylabel="thrust, N")
    if told.has("truth", "battery_v"):
        volts = axes.twinx()
        volts.plot(*told.series("truth", "battery_v"), "k:", linewidth=0.9, label="battery (right scale)")
        volts.set_ylabel("battery, V")
        volts.ticklabel_format(useOffset=False)
    told.legend(figure)
    return Plot(
        "Thrusters",
        figure,
        "Look for thrusters at their ends or against each other, and for how far the battery sags under them.",
    )
