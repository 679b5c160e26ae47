"""Figures of a run on the vehicle itself: what it commanded, what it believed, and which readings came."""

import numpy as np

from caudal.tools.report.plot import Plot, Reported, look

BINS = 200
SHORTEST_S = 0.5  # of a bin: slow sensors have readings in every one
UNITS = {"rad": "rad", "m": "m", "m_s": "m/s"}
BELIEVED = ("is_heading_rad", "is_depth_m", "is_roll_rad", "is_pitch_rad", "is_speed_m_s")


def figures(told: Reported) -> list[Plot]:
    return [plot for plot in (_commands(told), _believed(told), _readings(told)) if plot]


def _commands(told: Reported) -> Plot:
    """A panel a unit; where no command was let through, empty axes that say so."""
    by_unit: dict[str, list[str]] = {}
    for actuator in told.settings["actuators"]:
        if told.has("commands", actuator["name"]):
            by_unit.setdefault(_unit(actuator), []).append(actuator["name"])
    figure, all_axes = told.axes(0.8 + 2.4 * max(1, len(by_unit)), rows=max(1, len(by_unit)))
    axes = np.atleast_1d(all_axes)
    k = 0
    for axis, (unit, names) in zip(axes, by_unit.items(), strict=False):
        for name in names:
            axis.plot(*told.series("commands", name), linewidth=0.9, label=name, **look(k))
            k += 1
        axis.set_ylabel(f"command, {unit}")
    if not by_unit:
        axes[0].set(title="none was let through", ylabel="command, rad, N or Pa")
        axes[0].plot([], [], label="no command")
    axes[-1].set_xlabel("time, s")
    told.legend(figure)
    return Plot(
        "Commands",
        figure,
        "What each actuator was told, after the safety gate: look for gaps, in which it was off, and for steps.",
    )


def _unit(actuator: dict) -> str:
    return {"thruster": "N", "valve": "Pa"}.get(str(actuator.get("map")), "rad")


def _believed(told: Reported) -> Plot | None:
    known = [field for field in BELIEVED if told.has("state", field)]
    if not known:
        return None
    figure, all_axes = told.axes(0.8 + 1.4 * len(known), rows=len(known))
    axes = np.atleast_1d(all_axes)
    for k, (axis, field) in enumerate(zip(axes, known, strict=True)):
        word, _, unit = field.removeprefix("is_").partition("_")
        axis.plot(*told.series("state", field), linewidth=0.9, label=word, **look(k))
        axis.set_ylabel(f"{word}, {UNITS[unit]}")
    axes[-1].set_xlabel("time, s")
    told.legend(figure)
    return Plot(
        "Believed",
        figure,
        "What the vehicle took itself to be doing: look for jumps, and for gaps in which it did not know.",
    )


def _readings(told: Reported) -> Plot | None:
    """A row a sensor: dark where its readings came as often as at its best, white where none came."""
    if not told.has("counts"):
        return None
    fields = told.log.topics[f"/{told.name}/counts"].fields
    there = np.isfinite(np.array([told.column("counts", field) for field in fields]))
    end_s = float(told.time_s("counts")[-1])
    bins = np.array_split(there, min(BINS, max(1, int(end_s / SHORTEST_S))), axis=1)
    share = np.array([part.mean(axis=1) for part in bins]).T
    best = share.max(axis=1, keepdims=True)
    figure, axes = told.axes(1.0 + 0.2 * len(fields))
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
    figure.colorbar(image, label="of its best rate, %")
    return Plot(
        "Readings",
        figure,
        "Look for sensors that fell silent: dark is as often as at its best, white is nothing.",
        alike=False,
    )
