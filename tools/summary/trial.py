"""Summary of an open-loop trial of the plant, from the states in its log."""

from typing import Any, NamedTuple

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.sim_plant.tables.read import read, read_trials
from caudal.sim_plant.tables.trial import Bend, Frozen, Still, Undulate
from caudal.tools.common import output
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.columns import column

STEADY = 1 / 3  # share of the trial, at its end, in which a glide counts as steady


class States(NamedTuple):
    """The states of a trial, one entry per row of the log."""

    time_s: np.ndarray
    x_m: np.ndarray
    y_m: np.ndarray
    depth_m: np.ndarray
    roll_deg: np.ndarray  # right side down, unwrapped
    pitch_deg: np.ndarray  # nose down
    along_m_s: np.ndarray  # speed over ground
    sink_m_s: np.ndarray


def is_trial(log: Log) -> bool:
    """Returns whether the log is of an open-loop trial."""
    return log.run.get("on") == "trial"


def topic_of(log: Log) -> str:
    """Returns the topic with the states of the trial."""
    topics = [topic for topic in log.topics if topic.endswith("/trial") and len(log.topics[topic])]
    if not topics:
        raise output.UsageError(
            f"{log.path} holds no state of its trial; the trial ended before its first step"
        )
    return topics[0]


def states_of(log: Log) -> States:
    """Returns the states of the trial, angles in degrees."""
    topic = topic_of(log)
    x, y, z, w, i, j, k = (
        column(log, topic, key) for key in ("x_m", "y_m", "z_m", "q_w", "q_x", "q_y", "q_z")
    )
    velocity = np.array([column(log, topic, key) for key in ("u_m_s", "v_m_s", "w_m_s")])  # in body axes
    rotation = np.array(
        [
            [1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)],
            [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)],
            [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)],
        ]
    )
    over_x, over_y, up = np.einsum("abt,bt->at", rotation, velocity)
    roll = np.unwrap(np.arctan2(2 * (w * i + j * k), 1 - 2 * (i * i + j * j)))
    pitch = np.arcsin(np.clip(2 * (w * j - k * i), -1, 1))
    time_s = np.array(log.topics[topic].time_ns) / 1e9
    return States(time_s, x, y, -z, np.degrees(roll), np.degrees(pitch), np.hypot(over_x, over_y), -up)


def motion_of(log: Log) -> Undulate | Frozen | Bend | Still | None:
    """Returns how the trial moved its joints; None if the recorded vehicle file has no such trial."""
    file = vehicle_file(log)
    trial = read_trials(file, read(file)).get(log.run["scenario"])
    return trial.motion if trial else None


def glide(states: States) -> tuple[float, float]:
    """Returns (speed over ground, sink rate) in m/s, mean over the last third of the trial."""
    late = states.time_s >= states.time_s[-1] * (1 - STEADY)
    return float(states.along_m_s[late].mean()), float(states.sink_m_s[late].mean())


def summarise_trial(log: Log) -> dict[str, Any]:
    """Returns the metrics of a trial by name."""
    states = states_of(log)
    metrics = {
        "vehicle": log.run["vehicle"],
        "scenario": log.run["scenario"],
        "simulated_s": float(states.time_s[-1]),
        "complete": log.complete,
        "max_roll_deg": float(np.abs(states.roll_deg).max()),
        "max_pitch_deg": float(np.abs(states.pitch_deg).max()),
        "base_distance_m": float(np.hypot(states.x_m[-1] - states.x_m[0], states.y_m[-1] - states.y_m[0])),
        "depth_m": float(states.depth_m[-1]),
    }
    if isinstance(motion_of(log), Still):
        along, sink = glide(states)
        angle = float(np.degrees(np.arctan2(sink, along)))
        metrics |= {"along_m_s": along, "sink_m_s": sink, "glide_angle_deg": angle}
    return metrics
