"""Plots of a chain with soft joints: tasks and their errors, bending angles, pressures, distances, active limits."""

import numpy as np

from caudal.onboard.tables.chain import (
    Chain,
    FrameTaskTable,
    PoseTaskTable,
    PositionTaskTable,
    PrioritisedTasks,
    RunTaskTable,
    SpeedTaskTable,
)
from caudal.tools.common import pyplot
from caudal.tools.report.path import from_above
from caudal.tools.report.plot import Line, Plot, ReportData, decimated, draw, style
from caudal.tools.summary.chain import (
    active_limits,
    bends_deg,
    frame_positions,
    task_error_mm,
    task_path,
)


def figures(data: ReportData) -> list[Plot]:
    """Returns the plots; none for a vehicle that is no chain, or a log without the paths of its tasks."""
    if not isinstance(data.settings.control, Chain) or not data.has("tasks"):
        return []
    makers = (_from_above, _depths, _speeds, _errors, _bends, _pressures, _clearance, _limits)
    return [plot for plot in (make(data) for make in makers) if plot]


def _control(data: ReportData) -> Chain:
    control = data.settings.control
    assert isinstance(control, Chain)
    return control


def _scenario(data: ReportData) -> PrioritisedTasks:
    assert isinstance(data.scenario, PrioritisedTasks)
    return data.scenario


def _positions(data: ReportData, task: FrameTaskTable) -> np.ndarray:
    return frame_positions(data.log, data.name, _control(data), task.frame, task.at_m)


def _position_tasks(data: ReportData) -> list[FrameTaskTable]:
    return [task for task in _scenario(data).tasks if isinstance(task, PoseTaskTable | PositionTaskTable)]


def _moving_frames(data: ReportData) -> list[FrameTaskTable]:
    """Returns, for a scenario without positions, the frame whose speed it controls, or the base."""
    if _position_tasks(data):
        return []
    speeds = [task for task in _scenario(data).tasks if isinstance(task, SpeedTaskTable)]
    return [*speeds[:1]] or [FrameTaskTable(name="base", frame="base")]


def _from_above(data: ReportData) -> Plot:
    placed = [(task, _positions(data, task)) for task in _position_tasks(data)]
    moving = [(frame, _positions(data, frame)) for frame in _moving_frames(data)]
    obstacles = _scenario(data).obstacles
    reach = [(o.x_m + s * o.radius_m, o.y_m + s * o.radius_m) for o in obstacles for s in (-1, 1)]
    points = np.concatenate([at[:, :2] for _, at in placed + moving] + [np.array(reach).reshape(-1, 2)])
    figure, axes = from_above(data, points[:, 0], points[:, 1])
    for obstacle in obstacles:
        at = obstacle.x_m, obstacle.y_m
        axes.add_patch(pyplot.pyplot().Circle(at, obstacle.radius_m, color="0.6", label="obstacle"))
    lines = [(task.name, at[:, 0], at[:, 1]) for task, at in placed]
    draw(axes, [*lines, *((frame.frame, at[:, 0], at[:, 1]) for frame, at in moving)])
    for k, (task, _) in enumerate(placed):
        path = decimated(task_path(data.log, data.name, task, ("x_m", "y_m")))
        label = f"{task.name}, set-point"
        axes.plot(path[:, 0], path[:, 1], ":", color=style(k)["color"], linewidth=1.2, label=label)
    return data.plot(
        "Controlled frames from above",
        figure,
        "Hand and base should stay on their dotted paths and keep clear of obstacles.",
    )


def _depths(data: ReportData) -> Plot | None:
    """Plots the depth along the path of a scenario that controls speeds; None of one that controls positions."""
    moving = _moving_frames(data)
    if not moving:
        return None
    at = _positions(data, moving[0])
    distance_m = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(at[:, :2], axis=0), axis=1))])
    figure, axes = data.axes()
    draw(axes, [(moving[0].frame, distance_m, at[:, 2])])
    axes.set(xlabel="distance over ground, m", ylabel="depth, m")
    axes.ticklabel_format(useOffset=False)
    axes.invert_yaxis()
    return data.plot(
        "Depth along the path",
        figure,
        "Check whether depth, or the commanded slope, is constant along the path.",
    )


def _speeds(data: ReportData) -> Plot | None:
    tasks = [task for task in _scenario(data).tasks if isinstance(task, RunTaskTable | SpeedTaskTable)]
    if not tasks:
        return None
    figure, axes = data.axes()
    measured = (("surge_m_s", "base, ahead"), ("climb_m_s", "base, up"))
    draw(axes, [(label, *data.series("truth", key)) for key, label in measured])
    for k, task in enumerate(tasks, len(measured)):
        wanted, label = data.series("tasks", f"{task.name}_setpoint"), f"{task.name}, set-point"
        axes.plot(*wanted, ":", linewidth=1.2, color=style(k)["color"], label=label)
    axes.set(xlabel="time, s", ylabel="speed, m/s")
    return data.plot(
        "Speed tracking", figure, "Check whether each speed reaches its dotted set-point and stays there."
    )


def _errors(data: ReportData) -> Plot | None:
    if not _position_tasks(data):
        return None
    lines: list[Line] = []
    for task in _scenario(data).tasks:
        error_mm = task_error_mm(data.log, data.name, _control(data), task)
        if error_mm is not None:
            lines.append((task.name, data.time_s("truth")[: len(error_mm)], error_mm))
    plot = data.over_time(
        "Task errors",
        "distance from path, mm",
        lines,
        "Each task should come down to millimetres; where they conflict, the one listed later yields.",
    )
    plot.figure.axes[0].set_yscale("log")
    return plot


def _bends(data: ReportData) -> Plot:
    control, time_s = _control(data), data.time_s("truth")
    bends = bends_deg(data.log, data.name, control.soft)
    return data.over_time(
        "Bending angles of the soft joints",
        "bending angle, deg",
        ((soft.name, time_s, bend) for soft, bend in zip(control.soft, bends.T, strict=True)),
        "Every soft joint should stay below the red line, its largest allowed bending angle.",
        limit=(_scenario(data).bend_max_deg or control.limits.bend_max_deg, "limit"),
    )


def _pressures(data: ReportData) -> Plot:
    chambers = [chamber for soft in _control(data).soft for chamber in soft.chambers]
    columns = [(chamber, *data.series("truth", f"{chamber}_pa")) for chamber in chambers]
    return data.over_time(
        "Chamber pressures",
        "pressure, kPa",
        ((chamber, at_s, pressure_pa / 1e3) for chamber, at_s, pressure_pa in columns),
        "Check for a chamber whose pressure oscillates or stays at a limit.",
    )


def _clearance(data: ReportData) -> Plot | None:
    if not data.has("truth", "skin_clearance_m"):
        return None
    least_m = _control(data).clearance.clear_m
    return data.over_time(
        "Hull clearance",
        "hull to nearest obstacle, m",
        [("hull clearance", *data.series("truth", "skin_clearance_m"))],
        "No point of the hull should come closer to an obstacle than the red line.",
        limit=(least_m, f"minimum, {least_m:g} m"),
    )


def _limits(data: ReportData) -> Plot | None:
    flags = active_limits(data.log, data.name, _control(data), _scenario(data))
    if not flags:
        return None
    figure, axes = data.axes(1.0 + 0.4 * len(flags))
    for row, flag in enumerate(flags.values()):
        time_s = data.time_s("truth")[: len(flag)]
        edges = np.diff(np.concatenate([[0.0], flag, [0.0]]))
        starts, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
        spans = [(time_s[a], time_s[b - 1] - time_s[a]) for a, b in zip(starts, ends, strict=True)]
        axes.broken_barh(spans, (row - 0.3, 0.6), color=style(0)["color"], label="active")
    axes.set(
        xlabel="time, s",
        ylabel="limit, on or off",
        yticks=range(len(flags)),
        yticklabels=list(flags),
        ylim=(-0.6, len(flags) - 0.4),
        xlim=(0, max(data.time_s("truth")[-1], 1e-3)),
    )
    return data.plot(
        "Active limits",
        figure,
        "A bar is a time in which a limit was active: long bars mean a task at its limit, many short ones chattering.",
    )
