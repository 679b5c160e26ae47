"""Figures of a chain with soft joints: aims and their errors, bends, pressures, clearance, and active limits."""

from typing import Any

import numpy as np

from caudal.tools.common import pyplot
from caudal.tools.report.path import from_above
from caudal.tools.report.plot import LIMIT, Plot, Reported, look, thin
from caudal.tools.summary.chain import active, aim_error_mm, bends_deg, frame_places


def figures(told: Reported) -> list[Plot]:
    """None of a vehicle that is no chain, or of a log that does not say what was wanted."""
    if told.settings["control"]["kind"] != "chain" or not told.has("aims"):
        return []
    drawn = (_from_above, _depths, _speeds, _errors, _bends, _pressures, _clearance, _limits)
    return [plot for plot in (draw(told) for draw in drawn) if plot]


def _times(told: Reported, count: int | None = None) -> np.ndarray:
    return told.time_s("truth")[:count]


def _places(told: Reported, aim: dict[str, Any]) -> np.ndarray:
    return frame_places(told.log, told.name, told.settings["control"], aim["frame"], aim["at_m"])


def _placed(told: Reported) -> list[dict[str, Any]]:
    return [aim for aim in told.scenario["aims"] if aim["kind"] in ("pose", "position")]


def _moved(told: Reported) -> list[dict[str, Any]]:
    """Of a scenario that asks for no place: the frame whose speed it asks for, or the base."""
    if _placed(told):
        return []
    speeds = [aim for aim in told.scenario["aims"] if aim["kind"] == "speed"]
    return speeds[:1] or [{"frame": "base", "at_m": None}]


def _from_above(told: Reported) -> Plot:
    ways = [(aim, _places(told, aim)) for aim in _placed(told)]
    others = [(aim, _places(told, aim)) for aim in _moved(told)]
    obstacles = told.scenario["obstacles"]
    reach = [(o["x_m"] + s * o["radius_m"], o["y_m"] + s * o["radius_m"]) for o in obstacles for s in (-1, 1)]
    seen = np.concatenate([was[:, :2] for _, was in ways + others] + [np.array(reach).reshape(-1, 2)])
    figure, axes = from_above(told, seen[:, 0], seen[:, 1])
    for obstacle in obstacles:
        at = obstacle["x_m"], obstacle["y_m"]
        axes.add_patch(pyplot.pyplot().Circle(at, obstacle["radius_m"], color="0.6", label="obstacle"))
    for k, (aim, was) in enumerate(ways):
        axes.plot(thin(was[:, 0]), thin(was[:, 1]), linewidth=1.0, label=aim["name"], **look(k))
        path = [thin(told.column("aims", f"{aim['name']}_path_{key}")) for key in ("x_m", "y_m")]
        axes.plot(*path, ":", color=look(k)["color"], linewidth=1.2, label=f"{aim['name']}, asked")
    for k, (aim, was) in enumerate(others):
        axes.plot(thin(was[:, 0]), thin(was[:, 1]), linewidth=1.0, label=aim["frame"], **look(k))
    told.legend(figure)
    return Plot(
        "Hand and base from above",
        figure,
        "Hand and base should stay on the dotted paths asked for, and pass round obstacles.",
    )


def _depths(told: Reported) -> Plot | None:
    """None of a scenario that asks for places: those have their depths."""
    moved = _moved(told)
    if not moved:
        return None
    was = _places(told, moved[0])
    figure, axes = told.axes()
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(was[:, :2], axis=0), axis=1))])
    axes.plot(thin(gone), thin(was[:, 2]), linewidth=0.9, label=moved[0]["frame"])
    axes.set(xlabel="way over ground, m", ylabel="depth, m")
    axes.ticklabel_format(useOffset=False)
    axes.invert_yaxis()
    told.legend(figure)
    return Plot(
        "Depth along the way",
        figure,
        "Look whether it keeps its depth, or the slope that was asked for, all along the way.",
    )


def _speeds(told: Reported) -> Plot | None:
    asked = [aim for aim in told.scenario["aims"] if aim["kind"] in ("run", "speed")]
    if not asked:
        return None
    figure, axes = told.axes()
    for k, (key, label) in enumerate((("surge_m_s", "base, ahead"), ("climb_m_s", "base, up"))):
        axes.plot(*told.series("truth", key), linewidth=0.9, label=label, **look(k))
    for k, aim in enumerate(asked):
        wanted = told.series("aims", f"{aim['name']}_wanted")
        axes.plot(*wanted, ":", linewidth=1.2, color=look(k + 2)["color"], label=f"{aim['name']}, asked")
    axes.set(xlabel="time, s", ylabel="speed, m/s")
    told.legend(figure)
    return Plot(
        "Speeds asked and reached",
        figure,
        "Look whether it reaches the dotted speed that was asked for, and stays there.",
    )


def _errors(told: Reported) -> Plot | None:
    if not _placed(told):
        return None
    figure, axes = told.axes()
    for k, aim in enumerate(told.scenario["aims"]):
        off_mm = aim_error_mm(told.log, told.name, told.settings["control"], aim)
        if off_mm is not None:
            at_s = _times(told, len(off_mm))
            axes.plot(thin(at_s), thin(off_mm), linewidth=0.9, label=aim["name"], **look(k))
    axes.set(xlabel="time, s", ylabel="off the path asked for, mm", yscale="log")
    told.legend(figure)
    return Plot(
        "Errors of the aims",
        figure,
        "Each aim should come down to millimetres; where not all can, one named later gives way to those before it.",
    )


def _bends(told: Reported) -> Plot:
    figure, axes = told.axes()
    control = told.settings["control"]
    bends = bends_deg(told.log, told.name, control["soft"])
    for k, soft in enumerate(control["soft"]):
        axes.plot(thin(_times(told)), thin(bends[:, k]), linewidth=0.9, label=soft["name"], **look(k))
    most_deg = told.scenario["bend_max_deg"] or control["limits"]["bend_max_deg"]
    axes.axhline(most_deg, color=LIMIT, linewidth=1, label="limit")
    axes.set(xlabel="time, s", ylabel="whole bend, deg")
    told.legend(figure)
    return Plot(
        "Bends of the soft joints",
        figure,
        "Every soft joint should stay below the red line, the most that it may bend.",
    )


def _pressures(told: Reported) -> Plot:
    figure, axes = told.axes()
    chambers = [chamber for soft in told.settings["control"]["soft"] for chamber in soft["chambers"]]
    for k, chamber in enumerate(chambers):
        at_s, pressure_pa = told.series("truth", f"{chamber}_pa")
        axes.plot(at_s, pressure_pa / 1e3, linewidth=0.8, label=chamber, **look(k))
    axes.set(xlabel="time, s", ylabel="pressure, kPa")
    told.legend(figure)
    return Plot(
        "Pressures of the chambers",
        figure,
        "Look for a chamber that hunts up and down, or one that stays at its end.",
    )


def _clearance(told: Reported) -> Plot | None:
    if not told.has("truth", "skin_clearance_m"):
        return None
    figure, axes = told.axes()
    axes.plot(*told.series("truth", "skin_clearance_m"), linewidth=0.9, label="hull's clearance")
    least_m = told.settings["control"]["clearance"]["clear_m"]
    axes.axhline(least_m, color=LIMIT, linewidth=1, label=f"asked for, {least_m:g} m")
    axes.set(xlabel="time, s", ylabel="hull to the nearest obstacle, m")
    told.legend(figure)
    return Plot(
        "Clearance of the hull",
        figure,
        "No point of the hull should come nearer to an obstacle than the red line.",
    )


def _limits(told: Reported) -> Plot | None:
    flags = active(told.log, told.name, told.settings, told.scenario)
    if not flags:
        return None
    figure, axes = told.axes(1.0 + 0.4 * len(flags))
    for row, flag in enumerate(flags.values()):
        time_s = _times(told, len(flag))
        edges = np.diff(np.concatenate([[0.0], flag, [0.0]]))
        starts, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
        spans = [(time_s[a], time_s[b - 1] - time_s[a]) for a, b in zip(starts, ends, strict=True)]
        axes.broken_barh(spans, (row - 0.3, 0.6), color=look(0)["color"], label="active")
    axes.set(
        xlabel="time, s",
        ylabel="limit, on or off",
        yticks=range(len(flags)),
        yticklabels=list(flags),
        ylim=(-0.6, len(flags) - 0.4),
        xlim=(0, max(_times(told)[-1], 1e-3)),
    )
    told.legend(figure)
    return Plot(
        "Active limits",
        figure,
        "A bar is a time in which a limit held it back: long ones are a task at its edge, a comb is chattering.",
    )
