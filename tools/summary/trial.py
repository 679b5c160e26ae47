"""What a trial of the plant alone came to, from the states in its log."""

from typing import Any, NamedTuple

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.sim_plant.tables.read import read, read_trials
from caudal.sim_plant.tables.trial import Still
from caudal.tools.common import output
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.columns import column

STEADY = 1 / 3  # of the trial, its end: what a glide has become by then


class Course(NamedTuple):
    """A trial's states as a swimmer says them; angles in degrees."""

    time_s: np.ndarray
    x_m: np.ndarray
    y_m: np.ndarray
    depth_m: np.ndarray
    roll_deg: np.ndarray  # right side down, unwrapped
    pitch_deg: np.ndarray  # nose down
    along_m_s: np.ndarray  # over ground
    sink_m_s: np.ndarray


def is_trial(log: Log) -> bool:
    return log.run.get("on") == "trial"


def topic_of(log: Log) -> str:
    topics = [topic for topic in log.topics if topic.endswith("/trial") and len(log.topics[topic])]
    if not topics:
        raise output.UsageError("the log holds no state of its trial; it ended before the first")
    return topics[0]


def course(log: Log) -> Course:
    topic = topic_of(log)
    x, y, z, w, i, j, k = (
        column(log, topic, key) for key in ("x_m", "y_m", "z_m", "q_w", "q_x", "q_y", "q_z")
    )
    velocity = np.array(
        [column(log, topic, key) for key in ("u_m_s", "v_m_s", "w_m_s")]
    )  # in the body's axes
    turn = np.array(
        [
            [1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)],
            [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)],
            [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)],
        ]
    )
    over_x, over_y, up = np.einsum("abt,bt->at", turn, velocity)
    roll = np.unwrap(np.arctan2(2 * (w * i + j * k), 1 - 2 * (i * i + j * j)))
    pitch = np.arcsin(np.clip(2 * (w * j - k * i), -1, 1))
    time_s = np.array(log.topics[topic].time_ns) / 1e9
    return Course(time_s, x, y, -z, np.degrees(roll), np.degrees(pitch), np.hypot(over_x, over_y), -up)


def motion_of(log: Log) -> Any:
    """How the trial moved its joints; None of a log whose vehicle file has no such trial."""
    file = vehicle_file(log)
    trial = read_trials(file, read(file)).get(log.run["scenario"])
    return trial.motion if trial else None


def glide(was: Course) -> tuple[float, float]:
    """(speed over ground, sink rate) that it has come to, mean over the end of the trial."""
    late = was.time_s >= was.time_s[-1] * (1 - STEADY)
    return float(was.along_m_s[late].mean()), float(was.sink_m_s[late].mean())


def summarise_trial(log: Log) -> dict[str, Any]:
    was = course(log)
    found = {
        "vehicle": log.run["vehicle"],
        "scenario": log.run["scenario"],
        "simulated_s": float(was.time_s[-1]),
        "complete": log.complete,
        "max_roll_deg": float(np.abs(was.roll_deg).max()),
        "max_pitch_deg": float(np.abs(was.pitch_deg).max()),
        "base_way_m": float(np.hypot(was.x_m[-1] - was.x_m[0], was.y_m[-1] - was.y_m[0])),
        "depth_m": float(was.depth_m[-1]),
    }
    if isinstance(motion_of(log), Still):
        along, sink = glide(was)
        angle = float(np.degrees(np.arctan2(sink, along)))
        found |= {"along_m_s": along, "sink_m_s": sink, "glide_angle_deg": angle}
    return found
