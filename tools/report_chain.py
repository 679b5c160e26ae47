"""Figures of a chain with soft joints: aims and their errors, bends, pressures, clearance, and active limits."""

from typing import Any

import numpy as np

from onboard.log import Log
from onboard.vehicle import read
from tools import plots, summary
from tools.columns import column
from tools.recorded import vehicle_file
from tools.summary_chain import active, aim_error_mm, bends_deg, frame_places

POINTS = 2500
CLEAR_M = 0.1


def figures(log: Log) -> list[tuple[str, Any]]:
    """(title, figure); none of a vehicle that is no chain, or of a log that does not say what was wanted."""
    settings = read(vehicle_file(log))
    name = summary.vehicles_of(log)[0]
    if settings["control"]["kind"] != "chain" or f"/{name}/aims" not in log.topics:
        return []
    scenario = settings["scenarios"][log.run["scenario"]]
    return [
        ("Hand and base from above", _from_above(log, name, settings, scenario)),
        ("Depth along the way", _depths(log, name, settings, scenario)),
        ("Speeds", _speeds(log, name, scenario)),
        ("Errors of the aims", _errors(log, name, settings, scenario)),
        ("Bends of the soft joints", _bends(log, name, settings, scenario)),
        ("Pressures of the chambers", _pressures(log, name, settings)),
        ("Clearance of the hull", _clearance(log, name)),
        ("Active limits", _limits(log, name, settings, scenario)),
    ]


def _axes(height: float = 3.2) -> tuple[Any, Any]:
    return plots.pyplot().subplots(figsize=(10, height), layout="constrained")


def _times(log: Log, name: str, count: int | None = None) -> np.ndarray:
    return np.array(log.topics[f"/{name}/truth"].time_ns[:count]) / 1e9


def _thin(values: np.ndarray) -> np.ndarray:
    return values[:: max(1, len(values) // POINTS)]


def _from_above(log: Log, name: str, settings: dict[str, Any], scenario: dict[str, Any]) -> Any:
    figure, axes = _axes(6.0)
    for obstacle in scenario["obstacles"]:
        at = obstacle["x_m"], obstacle["y_m"]
        axes.add_patch(plots.pyplot().Circle(at, obstacle["radius_m"], color="0.6"))
    for aim in _placed(scenario):
        was = frame_places(log, name, settings["control"], aim["frame"], aim["at_m"])
        (line,) = axes.plot(_thin(was[:, 0]), _thin(was[:, 1]), linewidth=1.0, label=aim["name"])
        path = [_thin(column(log, f"/{name}/aims", f"{aim['name']}_path_{key}")) for key in ("x_m", "y_m")]
        axes.plot(*path, ":", color=line.get_color(), linewidth=0.9, label=f"{aim['name']}, asked")
    for aim in _moved(scenario):
        was = frame_places(log, name, settings["control"], aim["frame"], aim["at_m"])
        axes.plot(_thin(was[:, 0]), _thin(was[:, 1]), linewidth=1.0, label=aim["frame"])
    axes.set(xlabel="x, m", ylabel="y, m", aspect="equal")
    axes.legend(loc="upper right")
    return figure


def _placed(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    return [aim for aim in scenario["aims"] if aim["kind"] in ("pose", "position")]


def _moved(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a scenario that asks for no place: the frame whose speed it asks for, or the base."""
    if _placed(scenario):
        return []
    speeds = [aim for aim in scenario["aims"] if aim["kind"] == "speed"]
    return speeds[:1] or [{"frame": "base", "at_m": None}]


def _depths(log: Log, name: str, settings: dict[str, Any], scenario: dict[str, Any]) -> Any:
    """None of a scenario that asks for places: those have their depths."""
    moved = _moved(scenario)
    if not moved:
        return None
    was = frame_places(log, name, settings["control"], moved[0]["frame"], moved[0]["at_m"])
    figure, axes = _axes()
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(was[:, :2], axis=0), axis=1))])
    axes.plot(_thin(gone), _thin(was[:, 2]), linewidth=0.9)
    axes.set(xlabel="way over ground, m", ylabel="depth, m")
    axes.invert_yaxis()
    return figure


def _speeds(log: Log, name: str, scenario: dict[str, Any]) -> Any:
    asked = [aim for aim in scenario["aims"] if aim["kind"] in ("run", "speed")]
    if not asked:
        return None
    figure, axes = _axes()
    truth = f"/{name}/truth"
    for key, label in (("surge_m_s", "base, ahead"), ("climb_m_s", "base, up")):
        speed = column(log, truth, key)
        axes.plot(_thin(_times(log, name, len(speed))), _thin(speed), linewidth=0.9, label=label)
    for aim in asked:
        wanted = column(log, f"/{name}/aims", f"{aim['name']}_wanted")
        axes.plot(
            _thin(_times(log, name, len(wanted))),
            _thin(wanted),
            ":",
            linewidth=0.9,
            label=f"{aim['name']}, asked",
        )
    axes.set(xlabel="time, s", ylabel="m/s")
    axes.legend(loc="upper left")
    return figure


def _errors(log: Log, name: str, settings: dict[str, Any], scenario: dict[str, Any]) -> Any:
    if not _placed(scenario):
        return None
    figure, axes = _axes()
    for aim in scenario["aims"]:
        off_mm = aim_error_mm(log, name, settings["control"], aim)
        if off_mm is not None:
            axes.plot(_thin(_times(log, name, len(off_mm))), _thin(off_mm), linewidth=0.9, label=aim["name"])
    axes.set(xlabel="time, s", ylabel="off the path asked for, mm", yscale="log")
    axes.legend(loc="upper right")
    return figure


def _bends(log: Log, name: str, settings: dict[str, Any], scenario: dict[str, Any]) -> Any:
    figure, axes = _axes()
    control = settings["control"]
    bends = bends_deg(log, name, control["soft"])
    for k, soft in enumerate(control["soft"]):
        axes.plot(_thin(_times(log, name)), _thin(bends[:, k]), linewidth=0.9, label=soft["name"])
    most_deg = scenario["bend_max_deg"] or control["limits"]["bend_max_deg"]
    axes.axhline(most_deg, color="#b00", linewidth=1, label="limit")
    axes.set(xlabel="time, s", ylabel="whole bend, deg")
    axes.legend(loc="upper right")
    return figure


def _pressures(log: Log, name: str, settings: dict[str, Any]) -> Any:
    figure, axes = _axes()
    for soft in settings["control"]["soft"]:
        for chamber in soft["chambers"]:
            pressure = column(log, f"/{name}/truth", f"{chamber}_pa") / 1e3
            axes.plot(_thin(_times(log, name)), _thin(pressure), linewidth=0.8, label=chamber)
    axes.set(xlabel="time, s", ylabel="pressure, kPa")
    axes.legend(loc="upper right", ncols=2)
    return figure


def _clearance(log: Log, name: str) -> Any:
    truth = f"/{name}/truth"
    if "skin_clearance_m" not in log.topics[truth].fields:
        return None
    clear_m = column(log, truth, "skin_clearance_m")
    if not np.isfinite(clear_m).any():
        return None
    figure, axes = _axes()
    axes.plot(_thin(_times(log, name)), _thin(clear_m), linewidth=0.9)
    axes.axhline(CLEAR_M, color="#b00", linewidth=1)
    axes.set(xlabel="time, s", ylabel="hull to the nearest obstacle, m")
    return figure


def _limits(log: Log, name: str, settings: dict[str, Any], scenario: dict[str, Any]) -> Any:
    flags = active(log, name, settings, scenario)
    figure, axes = _axes(0.8 + 0.4 * len(flags))
    for row, flag in enumerate(flags.values()):
        time_s = _times(log, name, len(flag))
        edges = np.diff(np.concatenate([[0.0], flag, [0.0]]))
        starts, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
        spans = [(time_s[a], time_s[b - 1] - time_s[a]) for a, b in zip(starts, ends, strict=True)]
        axes.broken_barh(spans, (row - 0.3, 0.6))
    axes.set(
        xlabel="time, s", yticks=range(len(flags)), yticklabels=list(flags), ylim=(-0.6, len(flags) - 0.4)
    )
    axes.set_xlim(0, _times(log, name)[-1])
    return figure
