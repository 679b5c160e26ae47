"""Figures of a trial, the plant alone: where it goes, how it glides, how it rolls, how its joints move."""

import numpy as np

from caudal.sim_plant.tables.read import read
from caudal.sim_plant.tables.trial import Still
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.columns import column
from caudal.tools.report import roll
from caudal.tools.report.path import from_above
from caudal.tools.report.plot import Plot, Reported, look, thin
from caudal.tools.summary.trial import STEADY, Course, course, glide, motion_of, topic_of

LEAST_M = 0.05  # of way: less goes nowhere
LEAST_ROLL_DEG = 0.1
SLOPES_DEG = (10, 20, 30, 45, 60)


def figures(told: Reported) -> list[Plot]:
    was, motion = course(told.log), motion_of(told.log)
    beat = abs(getattr(motion, "frequency_hz", 0.0))
    plots = []
    if np.hypot(np.ptp(was.x_m), np.ptp(was.y_m)) > LEAST_M or np.ptp(was.depth_m) > LEAST_M:
        if isinstance(motion, Still):
            plots = [_glide_path(told, was), _polar(told, was), _speeds(told, was)]
        else:
            plots = [_from_above(told, was)]
    if beat or np.ptp(was.roll_deg) > LEAST_ROLL_DEG:
        plots += roll.rolled(told, was.time_s, was.roll_deg, beat or None)
    return [*plots, _attitude(told, was), *_joints(told)]


def _glide_path(told: Reported, was: Course) -> Plot:
    gone_m = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(was.x_m), np.diff(was.y_m)))])
    figure, axes = from_above(told, gone_m, was.depth_m)
    axes.plot(thin(gone_m), thin(was.depth_m), linewidth=1.2, label="base")
    axes.axhline(0, color="#1f77b4", linewidth=1, linestyle=":", label="surface")
    axes.plot(
        gone_m[0], was.depth_m[0], "o", markerfacecolor="white", color="0.4", linestyle="", label="start"
    )
    axes.plot(gone_m[-1], was.depth_m[-1], "o", color="0.4", linestyle="", label="end")
    axes.set(xlabel="way over ground, m", ylabel="depth, m")
    axes.invert_yaxis()
    told.legend(figure)
    return Plot(
        "Glide path",
        figure,
        "A steady glide ends in a straight line; way and depth are to scale, so its slope is the true one.",
    )


def _polar(told: Reported, was: Course) -> Plot:
    late = was.time_s >= was.time_s[-1] * (1 - STEADY)
    figure, axes = told.axes(4.2)
    axes.plot(thin(was.along_m_s), thin(was.sink_m_s), color="0.6", linewidth=0.8, label="on the way there")
    axes.plot(was.along_m_s[late], was.sink_m_s[late], linewidth=1.6, label="last third")
    along, sink = glide(was)
    angle = np.degrees(np.arctan2(sink, along))
    said = f"mean: {np.hypot(along, sink):.3f} m/s at {angle:.0f} deg {'down' if sink >= 0 else '(rising)'}"
    axes.plot(along, sink, "o", color="#b00", linestyle="", label=said)
    right = 1.1 * max(float(was.along_m_s.max()), 1e-3)
    low, high = min(0.0, float(was.sink_m_s.min())), max(0.0, float(was.sink_m_s.max()))
    pad = 0.08 * max(high - low, 1e-3)
    for slope in SLOPES_DEG:
        for sign in [1] if high > -low else [-1]:
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
    told.legend(figure)
    return Plot(
        "Glide polar",
        figure,
        "The red dot is where it settles: the farther right and the higher, the better it glides; trials with other "
        "trim give the other points of its polar.",
    )


def _from_above(told: Reported, was: Course) -> Plot:
    figure, axes = from_above(told, was.x_m, was.y_m)
    axes.plot(thin(was.x_m), thin(was.y_m), linewidth=1.0, label="base")
    axes.plot(was.x_m[-1], was.y_m[-1], "o", linestyle="", color="0.4", label="end")
    told.legend(figure)
    return Plot(
        "Trajectory", figure, "Look whether the base goes straight, seen from above, x and y to scale."
    )


def _speeds(told: Reported, was: Course) -> Plot:
    figure, axes = told.axes()
    axes.plot(thin(was.time_s), thin(was.along_m_s), linewidth=1.0, label="over ground", **look(0))
    axes.plot(thin(was.time_s), thin(was.sink_m_s), linewidth=1.0, label="down", **look(1))
    axes.set(xlabel="time, s", ylabel="speed, m/s")
    told.legend(figure)
    return Plot("Speed", figure, "Both should be level by the end, or the trial was too short.")


def _attitude(told: Reported, was: Course) -> Plot:
    figure, axes = told.axes()
    for k, (angle_deg, label) in enumerate(
        ((was.roll_deg, "roll, right side down"), (was.pitch_deg, "pitch, nose down"))
    ):
        axes.plot(thin(was.time_s), thin(angle_deg), linewidth=0.9, label=label, **look(k))
    axes.set(xlabel="time, s", ylabel="angle, deg")
    depth = axes.twinx()
    depth.plot(thin(was.time_s), thin(was.depth_m), "k:", linewidth=0.9, label="depth (right scale)")
    depth.invert_yaxis()
    depth.set_ylabel("depth, m")
    depth.ticklabel_format(useOffset=False)
    told.legend(figure)
    return Plot("Attitude and depth", figure, "Look whether the base comes to rest, and how it lies then.")


def _joints(told: Reported) -> list[Plot]:
    """Hinges with one angle each; none of a body without any that moves."""
    topic = topic_of(told.log)
    fields = told.log.topics[topic].fields
    tree = read(vehicle_file(told.log)).tree
    named = {
        body.joint.name.lower()
        for body in (tree.body if tree else [])
        if body.joint and body.joint.kind == "revolute"
    }
    hinges = [field for field in fields if field in named]
    time_s = np.array(told.log.topics[topic].time_ns) / 1e9
    moved = {field: np.degrees(column(told.log, topic, field)) for field in hinges}
    moved = {field: angle for field, angle in moved.items() if np.ptp(angle) > 0.01}
    if not moved:
        return []
    figure, axes = told.axes(3.6)
    for k, (field, angle_deg) in enumerate(moved.items()):
        axes.plot(thin(time_s), thin(angle_deg), linewidth=0.9, label=field, **look(k))
    axes.set(xlabel="time, s", ylabel="angle, deg")
    told.legend(figure)
    return [
        Plot(
            "Joint angles",
            figure,
            "Joints that move, by themselves or as they are told; those that never do are left out.",
        )
    ]
