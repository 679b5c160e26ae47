"""Figures of a run on the vehicle itself: what it commanded, what it believed, and which readings came."""

from typing import Any

import numpy as np

from onboard.log import Log
from tools import plots, summary
from tools.columns import column

POINTS = 2500
BINS = 200
SHORTEST_S = 0.5  # of a bin: slow sensors have readings in every one
BELIEVED = ("is_heading_rad", "is_depth_m", "is_roll_rad", "is_pitch_rad", "is_speed_m_s")


def start_ns(log: Log) -> int:
    """A vehicle's log has calendar times; its page counts from the first tick."""
    return log.topics[f"/{summary.vehicles_of(log)[0]}/loop"].time_ns[0]


def figures(log: Log) -> list[tuple[str, Any]]:
    name = summary.vehicles_of(log)[0]
    commands, state = f"/{name}/commands", f"/{name}/state"
    believed = [f for f in BELIEVED if np.isfinite(column(log, state, f)).any()]
    return [
        (
            "Commands",
            _lines(log, commands, log.topics[commands].fields, "rad, N or Pa", "none was let through"),
        ),
        ("Believed", _lines(log, state, believed, "rad, m or m/s")),
        ("Readings", _readings(log, f"/{name}/counts")),
    ]


def _lines(log: Log, topic: str, fields: list[str], label: str, without: str = "") -> Any:
    """Lines over time; where there are none the words `without`, or no figure."""
    shown = [field for field in fields if np.isfinite(column(log, topic, field)).any()]
    if not shown and not without:
        return None
    figure, axes = plots.pyplot().subplots(figsize=(10, 3.2), layout="constrained")
    time_s = (np.array(log.topics[topic].time_ns) - start_ns(log)) / 1e9
    thin = slice(None, None, max(1, len(time_s) // POINTS))
    for field in shown:
        axes.plot(
            time_s[thin], column(log, topic, field)[thin], linewidth=0.9, label=field.removeprefix("is_")
        )
    axes.set(xlabel="time, s", ylabel=label)
    if shown:
        axes.legend(loc="upper right")
    else:
        axes.set_title(without)
    return figure


def _readings(log: Log, topic: str) -> Any:
    """A row a sensor: dark where its readings came as often as at its best, white where none came."""
    fields = log.topics[topic].fields
    there = np.isfinite(np.array([column(log, topic, field) for field in fields]))
    end_s = (log.topics[topic].time_ns[-1] - start_ns(log)) / 1e9
    bins = np.array_split(there, min(BINS, max(1, int(end_s / SHORTEST_S))), axis=1)
    share = np.array([part.mean(axis=1) for part in bins]).T
    best = share.max(axis=1, keepdims=True)
    figure, axes = plots.pyplot().subplots(figsize=(10, 0.8 + 0.2 * len(fields)), layout="constrained")
    extent = (0.0, end_s, len(fields) - 0.5, -0.5)
    axes.imshow(
        share / np.maximum(best, 1e-9),
        aspect="auto",
        cmap="Blues",
        vmin=0,
        vmax=1,
        extent=extent,
        interpolation="nearest",
    )
    axes.set_yticks(range(len(fields)), fields)
    axes.set_xlabel("time, s")
    return figure
