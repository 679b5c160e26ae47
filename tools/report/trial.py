"""Plots of an open-loop trial of the plant: path, glide, roll, joints."""

import numpy as np

from caudal.sim_plant.tables.read import read
from caudal.sim_plant.tables.trial import Still
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.columns import column
from caudal.tools.report import roll
from caudal.tools.report.motion import attitude_plot
from caudal.tools.report.path import from_above
from caudal.tools.report.plot import LIMIT, Plot, ReportData, decimated
from caudal.tools.summary.trial import STEADY, States, glide, motion_of, states_of, topic_of

LEAST_M = 0.05  # of motion, for plots of the path
LEAST_ROLL_DEG = 0.1
SLOPES_DEG = (10, 20, 30, 45, 60)


def figures(data: ReportData) -> list[Plot]:
    """Returns the plots of a trial."""
    states, motion = states_of(data.log), motion_of(data.log)
    beat = abs(getattr(motion, "frequency_hz", 0.0))
    plots = []
    if np.hypot(np.ptp(states.x_m), np.ptp(states.y_m)) > LEAST_M or np.ptp(states.depth_m) > LEAST_M:
        if isinstance(motion, Still):
            plots = [_glide_path(data, states), _polar(data, states), _speeds(data, states)]
        else:
            plots = [_from_above(data, states)]
    if beat or np.ptp(states.roll_deg) > LEAST_ROLL_DEG:
        plots += roll.roll_plots(data, states.time_s, states.roll_deg, beat or None)
    caption = "Check whether the base comes to rest, and its final attitude."
    attitude = attitude_plot(data, states.time_s, states.roll_deg, states.pitch_deg, states.depth_m, caption)
    return [*plots, attitude, *_joints(data)]


def _glide_path(data: ReportData, states: States) -> Plot:
    distance_m = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(states.x_m), np.diff(states.y_m)))])
    figure, axes = from_above(data, distance_m, states.depth_m)
    axes.plot(decimated(distance_m), decimated(states.depth_m), linewidth=1.2, label="base")
    axes.axhline(0, color="#1f77b4", linewidth=1, linestyle=":", label="surface")
    axes.plot(
        distance_m[0],
        states.depth_m[0],
        "o",
        markerfacecolor="white",
        color="0.4",
        linestyle="",
        label="start",
    )
    axes.plot(distance_m[-1], states.depth_m[-1], "o", color="0.4", linestyle="", label="end")
    axes.set(xlabel="distance over ground, m", ylabel="depth, m")
    axes.invert_yaxis()
    return data.plot(
        "Glide path",
        figure,
        "A steady glide ends in a straight line; both axes have the same scale, so the slope is the true one.",
    )


def _polar(data: ReportData, states: States) -> Plot:
    late = states.time_s >= states.time_s[-1] * (1 - STEADY)
    figure, axes = data.axes(4.2)
    axes.plot(
        decimated(states.along_m_s), decimated(states.sink_m_s), color="0.6", linewidth=0.8, label="transient"
    )
    axes.plot(states.along_m_s[late], states.sink_m_s[late], linewidth=1.6, label="last third")
    along, sink = glide(states)
    angle = np.degrees(np.arctan2(sink, along))
    mean = f"mean: {np.hypot(along, sink):.3f} m/s at {angle:.0f} deg {'down' if sink >= 0 else '(rising)'}"
    axes.plot(along, sink, "o", color=LIMIT, linestyle="", label=mean)
    right = 1.1 * max(float(states.along_m_s.max()), 1e-3)
    low, high = min(0.0, float(states.sink_m_s.min())), max(0.0, float(states.sink_m_s.max()))
    pad = 0.08 * max(high - low, 1e-3)
    sign = 1 if high > -low else -1
    for slope in SLOPES_DEG:
        reach = np.array([0.0, right])
        axes.plot(reach, sign * reach * np.tan(np.radians(slope)), ":", color="0.6", linewidth=0.7,
                  zorder=0, label="slopes of 10, 20, 30, 45, 60 deg")  # fmt: skip
    axes.set(
        xlabel="speed over ground, m/s",
        ylabel="sink rate, m/s",
        xlim=(0, right),
        ylim=(low - pad, high + pad),
    )
    axes.invert_yaxis()
    return data.plot(
        "Glide polar",
        figure,
        "The red dot is the steady glide: further right and higher is better; other trims give the other points of the "
        "polar.",
    )


def _from_above(data: ReportData, states: States) -> Plot:
    figure, axes = from_above(data, states.x_m, states.y_m)
    axes.plot(decimated(states.x_m), decimated(states.y_m), linewidth=1.0, label="base")
    axes.plot(states.x_m[-1], states.y_m[-1], "o", linestyle="", color="0.4", label="end")
    return data.plot(
        "Trajectory",
        figure,
        "Path of the base from above, x and y to the same scale: check whether it is straight.",
    )


def _speeds(data: ReportData, states: States) -> Plot:
    lines = (("over ground", states.time_s, states.along_m_s), ("down", states.time_s, states.sink_m_s))
    caption = "Both speeds should be constant by the end; otherwise the trial was too short."
    return data.over_time("Speed", "speed, m/s", lines, caption)


def _joints(data: ReportData) -> list[Plot]:
    """Plots the hinges that move; an empty list if none does."""
    topic = topic_of(data.log)
    tree = read(vehicle_file(data.log)).tree
    hinges = {
        body.joint.name.lower()
        for body in (tree.body if tree else [])
        if body.joint and body.joint.kind == "revolute"
    }
    fields = [field for field in data.log.topics[topic].fields if field in hinges]
    angles_deg = {field: np.degrees(column(data.log, topic, field)) for field in fields}
    time_s = np.array(data.log.topics[topic].time_ns) / 1e9
    lines = [(field, time_s, angle) for field, angle in angles_deg.items() if np.ptp(angle) > 0.01]
    if not lines:
        return []
    caption = "Hinges that move, freely or as prescribed; hinges that do not move are left out."
    return [data.over_time("Joint angles", "angle, deg", lines, caption)]
