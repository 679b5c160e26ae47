"""Summary of a run from its log alone: the same metrics for `caudal run`, `caudal report` and old logs."""

import math
from typing import Any

import numpy as np

from caudal.onboard.guidance.tasks import ClosedPath
from caudal.onboard.log.reader import Log
from caudal.onboard.tables.chain import Chain, PrioritisedTasks
from caudal.onboard.tables.read import Settings
from caudal.onboard.tables.scenario import Pursue, Row, Schedule, Track
from caudal.onboard.tables.thrusters import Wrench
from caudal.tools.common import output
from caudal.tools.config.from_log import recorded_settings
from caudal.tools.log.columns import column
from caudal.tools.summary.pose import pose_metrics
from caudal.tools.summary.trial import is_trial, summarise_trial
from caudal.tools.summary.vehicle_run import is_vehicle_run, summarise_vehicle_run
from caudal.tools.summary.wire import percentiles, wire_metrics

ATTITUDE = ("max_roll_deg", "roll_std_deg", "max_pitch_deg", "pointing_deg")
LATENESS = ("late_p50_us", "late_p99_us", "worst_late_us")
SETTLE_S = 20.0  # a task's error counts after this time, when the vehicle has arrived
POSE_SETTLE_S = 5.0


def vehicles_of(log: Log) -> list[str]:
    """Returns the names of the vehicle instances in a log."""
    return [topic.split("/")[1] for topic in log.topics if topic.endswith("/outputs")]


def aligned(*columns: np.ndarray) -> list[np.ndarray]:
    """Cuts columns of several topics to the same length: in the log of a killed run some may lack the last rows."""
    shortest = min(len(column) for column in columns)
    return [column[:shortest] for column in columns]


def summarise(log: Log, settings: Settings | None = None) -> dict[str, Any]:
    """Returns the metrics of a run by name. Without its settings they are read from the log."""
    if is_trial(log):
        return summarise_trial(log)
    names = vehicles_of(log)
    if not names:
        raise output.UsageError(f"{log.path} holds no run of a vehicle; was it written by caudal run?")
    needed = ("loop",) if is_vehicle_run(log) else ("loop", "truth")
    for topic in (f"/{name}/{kind}" for name in names for kind in needed):
        if topic not in log.topics or not len(log.topics[topic]):
            raise output.UsageError(
                f"{log.path} has no data in {topic}; it ends before the first tick, or is not a simulation"
            )
    settings = settings or recorded_settings(log)
    if is_vehicle_run(log):
        return summarise_vehicle_run(log, names[0], settings.rate_hz)
    scenario = settings.scenarios.get(log.run.get("scenario", ""))
    if scenario is None:
        raise output.UsageError(f'{log.path}: its vehicle file has no scenario "{log.run.get("scenario")}"')
    rate_hz = settings.rate_hz
    each = [_vehicle(log, name, 1_000_000 // rate_hz) for name in names]
    duration_s = len(log.topics[f"/{names[0]}/loop"]) / rate_hz
    result: dict[str, Any] = {
        "vehicle": log.run["vehicle"],
        "scenario": log.run["scenario"],
        "seed": int(log.run["seed"]) if "seed" in log.run else None,
        "simulated_s": duration_s,
        "complete": log.complete,
        "collisions": sum(1 for event in log.events if event.kind == "collision"),
        "mean_speed_m_s": min(vehicle["mean_speed_m_s"] for vehicle in each),
        "min_clearance_m": _least([vehicle["min_clearance_m"] for vehicle in each]),
        **{key: max(vehicle[key] for vehicle in each) for key in LATENESS},
        "overruns": sum(vehicle["overruns"] for vehicle in each),
        "failsafes": [
            f"{e.details['vehicle']} {e.details['row']}" for e in log.events if e.kind == "failsafe"
        ],
        "vehicles": each,
    }
    result |= wire_metrics(log, names)
    for key in ATTITUDE:
        if key in each[0]:
            result[key] = max(vehicle[key] for vehicle in each)
    if isinstance(scenario, Schedule):
        result |= _against_expectation(log, names[0], scenario.rows, duration_s, scenario.duration_s)
    elif isinstance(scenario, Track):
        result |= _path_errors(log, names[0], scenario)
    elif isinstance(scenario, Pursue):
        result |= _pursuit_errors(log, names[0], scenario)
    elif isinstance(settings.control, Wrench):
        result |= pose_metrics(log, names[0], POSE_SETTLE_S)
    elif isinstance(settings.control, Chain) and isinstance(scenario, PrioritisedTasks):
        from caudal.tools.summary.chain import chain_metrics  # loads the kinematics of soft joints

        result |= chain_metrics(log, names[0], settings.control, scenario)
    return result


def attitude(roll_rad: np.ndarray, pitch_rad: np.ndarray, heading_rad: np.ndarray) -> dict[str, float]:
    """Returns roll, pitch and pointing metrics of angles (rad); pointing: the largest angle from the mean."""
    roll_deg = np.degrees(roll_rad)
    nose = np.array(
        [np.cos(heading_rad) * np.cos(pitch_rad), np.sin(heading_rad) * np.cos(pitch_rad), -np.sin(pitch_rad)]
    )
    mean = nose.mean(axis=1)
    off_mean = np.arccos(np.clip(mean @ nose / max(float(np.linalg.norm(mean)), 1e-9), -1, 1))
    return {
        "max_roll_deg": float(np.abs(roll_deg).max()),
        "roll_std_deg": float(roll_deg.std()),
        "max_pitch_deg": float(np.degrees(np.abs(pitch_rad)).max()),
        "pointing_deg": float(np.degrees(off_mean.max())),
    }


def _vehicle(log: Log, name: str, period_us: int) -> dict[str, Any]:
    truth = f"/{name}/truth"
    angles = {}
    if "roll_rad" in log.topics[truth].fields:
        angles = attitude(*(column(log, truth, key) for key in ("roll_rad", "pitch_rad", "heading_rad")))
    late_us = log.topics[f"/{name}/loop"].column("late_us")
    clearance_m = column(log, truth, "clearance_m")
    return {
        "name": name,
        "mean_speed_m_s": float(np.mean(column(log, truth, "speed_m_s"))),
        "top_speed_m_s": float(np.max(column(log, truth, "speed_m_s"))),
        "min_clearance_m": float(np.min(clearance_m)) if np.isfinite(clearance_m).all() else None,
        "collisions": sum(1 for e in log.events if e.kind == "collision" and name in e.details["vehicles"]),
        **percentiles("late", np.array(late_us)),
        "worst_late_us": max(late_us),
        "overruns": sum(1 for late in late_us if late > period_us),
        **angles,
    }


def _least(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return min(known) if known else None


def _against_expectation(
    log: Log, name: str, rows: list[Row], duration_s: float, settled_s: float
) -> dict[str, Any]:
    """Returns errors of speed (end of a row) and turn rate (second half of a row) for rows that expect values."""
    truth = f"/{name}/truth"
    time_s = np.array(log.topics[truth].time_ns) / 1e9
    speed, heading = column(log, truth, "speed_m_s"), np.unwrap(column(log, truth, "heading_rad"))
    measured: dict[str, Any] = {}
    speeds, turns = [], []
    for k, row in enumerate(rows):
        end_s = rows[k + 1].at_s if k + 1 < len(rows) else settled_s
        if end_s > duration_s:
            break  # the run ended before this row did
        beat_s = 1 / abs(row.frequency_hz) if row.frequency_hz else 1.0
        if row.expected_speed_m_s is not None:
            last = (time_s > end_s - 4 * beat_s) & (time_s < end_s)
            speeds.append(
                {
                    "frequency_hz": row.frequency_hz,
                    "speed_m_s": float(np.mean(speed[last])),
                    "expected_m_s": row.expected_speed_m_s,
                }
            )
        if row.expected_turn_rate_deg_s is not None:
            at = np.flatnonzero((time_s > (row.at_s + end_s) / 2) & (time_s < end_s))
            rate = math.degrees((heading[at[-1]] - heading[at[0]]) / (time_s[at[-1]] - time_s[at[0]]))
            turns.append(
                {
                    "deflection_deg": row.deflection_deg,
                    "turn_rate_deg_s": float(rate),
                    "expected_deg_s": row.expected_turn_rate_deg_s,
                }
            )
    if speeds:
        errors = [abs(s["speed_m_s"] / s["expected_m_s"] - 1) for s in speeds]
        measured |= {"speed_error_max": max(errors), "speeds": speeds}
    if turns:
        errors = [abs(t["turn_rate_deg_s"] / t["expected_deg_s"] - 1) for t in turns]
        measured |= {"turn_rate_error_max": max(errors), "turn_rates": turns}
    return measured


def _path_errors(log: Log, name: str, scenario: Track) -> dict[str, float]:
    truth = f"/{name}/truth"
    path = ClosedPath(scenario.path_m)
    points = zip(log.topics[truth].time_ns, column(log, truth, "x_m"), column(log, truth, "y_m"), strict=True)
    error_m = [path.nearest(x, y)[1] for t, x, y in list(points)[::10] if t > SETTLE_S * 1e9]
    return _errors("track_error", np.array(error_m))


def _pursuit_errors(log: Log, name: str, scenario: Pursue) -> dict[str, float]:
    truth = f"/{name}/truth"
    x, y, target_x, target_y, time_ns = aligned(
        column(log, truth, "x_m"),
        column(log, truth, "y_m"),
        column(log, "/target/truth", "x_m"),
        column(log, "/target/truth", "y_m"),
        np.array(log.topics[truth].time_ns),
    )
    distance_m = np.hypot(x - target_x, y - target_y)
    late = time_ns > SETTLE_S * 1e9
    return _errors("pursuit_error", np.abs(distance_m - scenario.distance_m)[late])


def _errors(name: str, error_m: np.ndarray) -> dict[str, float]:
    if not len(error_m):
        return {}
    return {f"{name}_rms_m": float(np.sqrt(np.mean(error_m**2))), f"{name}_max_m": float(np.max(error_m))}


def show(result: dict[str, Any]) -> None:
    """Prints the short table at the end of a run."""
    if "base_distance_m" in result:  # a trial
        output.table(list(result.items()))
        return
    if "readings_hz" in result:
        readings = {f"{name}, readings per second": rate for name, rate in result["readings_hz"].items()}
        lines = {key: value for key, value in result.items() if key != "readings_hz"} | readings
        output.table([(key, _listed(value)) for key, value in lines.items()])
        return
    seed = "" if result["seed"] is None else f" (seed {result['seed']})"
    print(f"{result['vehicle']} ran {result['scenario']} for {result['simulated_s']:.0f} s{seed}")
    heads = ("name", "mean speed m/s", "top speed m/s", "min clearance m", "collisions")
    keys = ("name", "mean_speed_m_s", "top_speed_m_s", "min_clearance_m", "collisions")
    output.table([[vehicle[key] for key in keys] for vehicle in result["vehicles"]], heads)
    if not result["complete"]:
        print("The log is incomplete: it was not closed, or its end is missing.")
    rest = (
        *ATTITUDE,
        "max_joint_deg",
        "min_hull_clearance_m",
        "switches",
        "swept_radius_m",
        "speed_error_max",
        "turn_rate_error_max",
        "failsafes",
        "overruns",
        *LATENESS,
        "fault",
        "log",
        "report",
    )
    rows = [
        (key, _listed(result[key]))
        for key in result
        if key in rest or "_error_" in key or "_reached_" in key or "_innovations_" in key
    ]
    output.table(rows)


def _listed(value: Any) -> Any:
    """Joins a list of words or numbers into one cell."""
    if not isinstance(value, list):
        return value
    return ", ".join(one if isinstance(one, str) else f"{one:.4g}" for one in value) or "none"
