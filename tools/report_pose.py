"""Figures of a vehicle with thrusters: the pose it wanted and had, what each thruster gave, and the battery."""

from typing import Any

import numpy as np

from onboard.log import Log
from tools import plots, summary
from tools.columns import column

POSE = (("x_m", "x, m"), ("y_m", "y, m"), ("depth_m", "depth, m"), ("heading_rad", "heading, rad"))
POINTS = 2500


def pose(log: Log) -> Any:
    """Wanted, believed and true, of the first vehicle; None where nothing of it is wanted."""
    name = summary.vehicles_of(log)[0]
    state = log.topics.get(f"/{name}/state")
    if state is None or not np.isfinite(column(log, f"/{name}/state", "want_x_m")).any():
        return None
    time_s = np.array(log.topics[f"/{name}/truth"].time_ns) / 1e9
    figure, axes = plots.pyplot().subplots(4, 1, figsize=(10, 8), layout="constrained", sharex=True)
    for axis, (field, label) in zip(axes, POSE, strict=True):
        lines = [column(log, f"/{name}/state", f"{part}_{field}") for part in ("want", "is")]
        at_s, want, believed, true = summary.aligned(time_s, *lines, column(log, f"/{name}/truth", field))
        thin = slice(None, None, max(1, len(at_s) // POINTS))
        axis.plot(at_s[thin], true[thin], linewidth=1.2, label="true")
        axis.plot(at_s[thin], believed[thin], "--", linewidth=0.8, label="believed")
        axis.plot(at_s[thin], want[thin], "k:", linewidth=0.8, label="wanted")
        axis.set_ylabel(label)
    axes[0].legend(loc="upper right", ncols=3)
    axes[0].set_title(name)
    axes[-1].set_xlabel("time, s")
    return figure


def thrusters(log: Log) -> Any:
    name = summary.vehicles_of(log)[0]
    truth = log.topics[f"/{name}/truth"]
    named = [field for field in log.topics[f"/{name}/outputs"].fields if f"{field}_n" in truth.fields]
    if not named:
        return None
    time_s = np.array(truth.time_ns) / 1e9
    thin = slice(None, None, max(1, len(time_s) // POINTS))
    figure, axes = plots.pyplot().subplots(figsize=(10, 3.6), layout="constrained")
    for field in named:
        force = column(log, f"/{name}/truth", f"{field}_n")
        axes.plot(time_s[thin], force[thin], linewidth=0.8, label=field)
    axes.set(xlabel="time, s", ylabel="thrust, N")
    axes.legend(loc="upper right", ncols=4)
    if "battery_v" in truth.fields:
        volts = axes.twinx()
        battery = column(log, f"/{name}/truth", "battery_v")
        volts.plot(time_s[thin], battery[thin], "k:", linewidth=0.8)
        volts.set_ylabel("battery, V (dotted)")
    return figure
