"""Metrics of a chain of modules and soft joints: errors of its tasks against the truth, and use of its limits."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from caudal.onboard.chain.rotations import euler_rotation
from caudal.onboard.chain.soft_joint import Rigid, Series, Universal
from caudal.onboard.log.reader import Log
from caudal.onboard.tables.chain import (
    AnyTask,
    Chain,
    FrameTaskTable,
    PoseTaskTable,
    PositionTaskTable,
    PrioritisedTasks,
    RunTaskTable,
    Soft,
    SpeedTaskTable,
    TaskTable,
)
from caudal.tools.log.columns import column, columns

COORDINATES = ("m", "rad", "rad", "m")  # units of a soft joint's coordinates
PATH = ("x_m", "y_m", "depth_m")
SETTLE_S = 3.0  # after a speed's last row


def chain_metrics(log: Log, name: str, control: Chain, scenario: PrioritisedTasks) -> dict[str, Any]:
    """Returns errors of the tasks, largest bending angle, smallest distance, and how often limits switched."""
    truth, tasks = log.topics[f"/{name}/truth"], log.topics.get(f"/{name}/tasks")
    metrics: dict[str, Any] = {}
    bends = bends_deg(log, name, control.soft)
    metrics["max_joint_deg"] = float(bends.max())
    if "skin_clearance_m" in truth.fields:
        least_m = column(log, f"/{name}/truth", "skin_clearance_m").min()
        metrics["min_hull_clearance_m"] = float(least_m) if np.isfinite(least_m) else None
    if tasks is None:  # a HIL controller does not record its set-points
        return metrics
    flags = active_limits(log, name, control, scenario)
    metrics["switches"] = int(sum(np.abs(np.diff(flag)).sum() for flag in flags.values()))
    swept_m = swept_radius_m(log, name, control, scenario)
    if swept_m is not None:
        metrics["swept_radius_m"] = swept_m
    metrics |= motion_metrics(log, name, control, scenario)
    for task in scenario.tasks:
        error_mm = task_error_mm(log, name, control, task)
        if error_mm is None or not isinstance(task, FrameTaskTable):
            continue
        known = error_mm[np.isfinite(error_mm)]
        if len(known):
            key = "ee" if task.frame == control.module[-1].name else task.frame
            metrics[f"{key}_mean_error_mm"] = float(known.mean())
            metrics[f"{key}_max_error_mm"] = float(known.max())
            metrics |= _at_rows(log, name, key, task, error_mm)
    return metrics


def _at_rows(log: Log, name: str, key: str, task: AnyTask, error_mm: np.ndarray) -> dict[str, Any]:
    """Returns the smallest error between the time of each row and that of the next: was the row's pose reached?"""
    if not task.rows:
        return {}
    time_s = np.array(log.topics[f"/{name}/truth"].time_ns[: len(error_mm)]) / 1e9
    ends = [row.at_s for row in task.rows[1:]] + [np.inf]
    reached = []
    for row, end_s in zip(task.rows, ends, strict=True):
        during = (time_s >= row.at_s) & (time_s < max(end_s, row.at_s + 1.0))
        if during.any():
            reached.append(float(np.nanmin(error_mm[during])))
    return {f"{key}_reached_mm": reached}


def bends_deg(log: Log, name: str, softs: list[Soft]) -> np.ndarray:
    """Returns the true bending angle of each soft joint (tick, joint)."""
    out = []
    for soft in softs:
        _, th1, th2, _ = soft.coordinates
        cosines = np.cos(_joint(log, name, th1, "rad")) * np.cos(_joint(log, name, th2, "rad"))
        out.append(np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))))
    return np.array(out).T


def active_limits(log: Log, name: str, control: Chain, scenario: PrioritisedTasks) -> dict[str, np.ndarray]:
    """Returns per limit and tick whether it was active (1) or not (0)."""
    fields = [f"{soft.name}_limit" for soft in control.soft]
    fields += [f"obstacle_{k + 1}" for k in range(len(scenario.obstacles))]
    return {field: np.nan_to_num(column(log, f"/{name}/tasks", field)) for field in fields}


def task_error_mm(log: Log, name: str, control: Chain, task: AnyTask) -> np.ndarray | None:
    """Returns the distance of a task's frame from its reference path per tick; None for a task without positions."""
    if not isinstance(task, PoseTaskTable | PositionTaskTable):
        return None
    path = task_path(log, name, task, PATH)
    positions = frame_positions(log, name, control, task.frame, task.at_m)
    count = min(len(path), len(positions))
    error_m: np.ndarray = np.linalg.norm(path[:count] - positions[:count], axis=1)
    return 1e3 * error_m


def task_path(log: Log, name: str, task: TaskTable, fields: Iterable[str]) -> np.ndarray:
    """Returns the reference path of a task (tick, field)."""
    return columns(log, f"/{name}/tasks", [f"{task.name}_path_{field}" for field in fields])


def frame_positions(
    log: Log, name: str, control: Chain, frame: str, at_m: list[float] | None = None
) -> np.ndarray:
    """Returns true x, y, depth (tick, 3) of a module's front end, of the base, or of a point on either."""
    truth = f"/{name}/truth"
    base = columns(log, truth, PATH)
    if frame == "base" and at_m is None:
        return base
    parts: list[Any] = []
    coordinates = []
    for module, soft in zip(control.module, [*control.soft, None], strict=True):
        if frame in (module.name, "base") or soft is None:
            end = [module.length_m, 0.0, 0.0] if at_m is None else at_m
            break
        parts += [Rigid(module.length_m), Universal(soft.length_m)]
        names = zip(soft.coordinates, COORDINATES, strict=True)
        coordinates += [_joint(log, name, joint, unit) for joint, unit in names]
    chain, q = Series(parts), np.array(coordinates).T.reshape(len(base), -1)
    angles = columns(log, truth, ("roll_rad", "pitch_rad", "heading_rad"))
    out = np.empty_like(base)
    for k, angle in enumerate(angles):
        x, y, z = euler_rotation(*angle) @ (chain.transform(q[k]) @ [*end, 1.0])[:3]
        out[k] = base[k] + (x, y, -z)
    return out


def swept_radius_m(log: Log, name: str, control: Chain, scenario: PrioritisedTasks) -> float | None:
    """Returns the radius that the hull sweeps in a turn on the spot, seen from above; None without such a turn."""
    centres = [task for task in scenario.tasks if isinstance(task, PositionTaskTable) and task.at_m]
    turns = [task for task in scenario.tasks if task.kind == "turn" and task.rows]
    if not centres or not turns:
        return None
    hull_m = control.clearance.hull_radius_m
    centre = task_path(log, name, centres[0], ("x_m", "y_m"))
    begin_s = turns[0].rows[0].at_s - turns[0].rows[0].within_s
    radius_m = 0.0
    for module in control.module:
        for x_m in (0.0, module.length_m):
            for y_m in (-hull_m, hull_m):
                corner = [x_m, y_m, 0.0]
                at = frame_positions(log, name, control, module.name, corner)[:, :2]
                turning = _times_s(log, name)[: len(at)] > begin_s
                distance_m = np.linalg.norm(at - centre[: len(at)], axis=1)[turning]
                radius_m = max(radius_m, float(distance_m.max(initial=0.0)))
    return radius_m


def motion_metrics(log: Log, name: str, control: Chain, scenario: PrioritisedTasks) -> dict[str, Any]:
    """Returns speed and direction of travel after the last row of all speed tasks; empty without such tasks."""
    speeds = [
        task for task in scenario.tasks if isinstance(task, RunTaskTable | SpeedTaskTable) and task.rows
    ]
    time_s = _times_s(log, name)
    settled = time_s >= max((task.rows[-1].at_s for task in speeds), default=np.inf) + SETTLE_S
    if settled.sum() < 2:
        return {}
    truth = f"/{name}/truth"
    metrics: dict[str, Any] = {}
    if isinstance(speeds[0], RunTaskTable):
        metrics["run_speed_m_s"] = float(column(log, truth, "surge_m_s")[settled].mean())
        ahead = [t.name for t in control.thruster if abs(t.axis[0]) > abs(t.axis[1]) + abs(t.axis[2])]
        metrics["run_thrust_n"] = float(sum(column(log, truth, f"{one}_n")[settled].mean() for one in ahead))
        metrics["run_off_m"] = line_error_m(log, name)
        return metrics
    at = frame_positions(log, name, control, speeds[0].frame, speeds[0].at_m)[settled]
    took_s = time_s[settled][-1] - time_s[settled][0]
    steps = np.diff(at, axis=0)
    metrics["rise_m_s"] = float((at[0, 2] - at[-1, 2]) / took_s)
    metrics["drift_m"] = float(np.linalg.norm(at[-1, :2] - at[0, :2]))
    metrics["slope_deg"] = float(
        np.degrees(np.arctan2(at[0, 2] - at[-1, 2], np.linalg.norm(steps[:, :2], axis=1).sum()))
    )
    heading = np.unwrap(column(log, truth, "heading_rad")[time_s >= 1.0])
    metrics["turns"] = float((heading[-1] - heading[0]) / (2 * np.pi))
    return metrics


def line_error_m(log: Log, name: str) -> float:
    """Returns the largest distance of the base from the straight line ahead of its start."""
    truth = f"/{name}/truth"
    base = columns(log, truth, PATH)
    heading = column(log, truth, "heading_rad")[0]
    moved = base - base[0]
    side = moved[:, 1] * np.cos(heading) - moved[:, 0] * np.sin(heading)
    return float(np.hypot(side, moved[:, 2]).max())


def _times_s(log: Log, name: str) -> np.ndarray:
    return np.array(log.topics[f"/{name}/truth"].time_ns) / 1e9


def _joint(log: Log, name: str, joint: str, unit: str) -> np.ndarray:
    return column(log, f"/{name}/truth", f"{joint}_{unit}")
