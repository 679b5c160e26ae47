"""A run that a view shows, recorded or in progress: its vehicle file, and the rows of its topics at an instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.core.modes import NAMES as MODES
from caudal.onboard.log.reader import Event, Log
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import Vehicle, read_vehicle
from caudal.tools.log.columns import table
from caudal.tools.log.notable_events import EventFilter
from caudal.tools.log.poses import Pose, Skeleton, attitude

BASE = ("x_m", "y_m", "depth_m", "heading_rad", "roll_rad", "pitch_rad")

Row = Sequence[float | None]


@dataclass(frozen=True)
class Snapshot:
    """The newest row of each topic at an instant, in seconds since the first row of the run."""

    time_s: float
    rows: Mapping[str, Row]


class Source(Protocol):
    """Where a view gets its data: a log or a stream."""

    metadata: dict[str, str]
    fields: dict[str, list[str]]
    events: list[Event]
    start_ns: int

    def trail(self, vehicle: str, until_s: float, seconds: float) -> np.ndarray:
        """Returns recent positions (point, 3) in world axes, m."""

    def neighbours(self, topic: str, time_s: float) -> tuple[np.ndarray, Sequence[Row] | np.ndarray, int]:
        """Returns the row of an instant and rows next to it: (times (s) of the run's clock, rows, its index)."""


class Run:
    """A source together with its vehicle; gives values of a snapshot by name."""

    def __init__(self, source: Source) -> None:
        self.source = source
        metadata = source.metadata
        require_run(metadata)
        lines = [line for line in metadata.get("overrides", "").split("\n") if line]
        label = f"{metadata.get('vehicle')}.toml in the log"
        self.vehicle: Vehicle = read_vehicle(VehicleFile.parse(metadata["vehicle_file"], label, lines))
        self.scenario_name, self.scenario = self.vehicle.scenario(metadata.get("scenario"))
        self.world = self.vehicle.worlds[self.scenario.world]
        self.names = sorted(
            {topic.split("/")[1] for topic in source.fields if topic.endswith("/counts")}, key=_by_number
        )
        if not self.names:
            raise UsageError("the log holds no vehicle; did the run end before its first tick?")
        self._columns = {
            topic: {field: k for k, field in enumerate(fields)} for topic, fields in source.fields.items()
        }

    @property
    def title(self) -> str:
        """Vehicle and scenario."""
        return f"{self.vehicle.name}: {self.scenario_name}"

    def has(self, topic: str, field: str) -> bool:
        """Returns whether a topic with this field is recorded."""
        return field in self._columns.get(topic, {})

    def value(self, snapshot: Snapshot, topic: str, field: str) -> float | None:
        """Returns a value of a snapshot, None where it is absent or not recorded."""
        k = self._columns.get(topic, {}).get(field)
        row = snapshot.rows.get(topic)
        if k is None or row is None:
            return None
        value = row[k]
        return None if value is None or value != value else float(value)

    def base(self, snapshot: Snapshot, vehicle: str) -> tuple[float, ...] | None:
        """Returns x, y, depth (m), heading, roll, pitch (rad) of the base: the truth, or the estimate without one."""
        for topic, before in ((f"/{vehicle}/truth", ""), (f"/{vehicle}/state", "is_")):
            values = [self.value(snapshot, topic, before + field) for field in BASE]
            if any(value is not None for value in values[:4]):
                return tuple(0.0 if value is None else value for value in values)
        return None

    def joint(self, snapshot: Snapshot, vehicle: str, joint: str) -> float:
        """Returns a joint's position (rad or m): the truth, or the set-point without one."""
        for topic, field in (
            (f"/{vehicle}/truth", f"{joint}_rad"),
            (f"/{vehicle}/truth", f"{joint}_m"),
            (f"/{vehicle}/commands", joint),
        ):
            value = self.value(snapshot, topic, field)
            if value is not None:
                return value
        return 0.0

    def pose(self, snapshot: Snapshot, vehicle: str, skeleton: Skeleton) -> Pose | None:
        """Returns the pose of a vehicle; None while its base is unknown."""
        base = self.base(snapshot, vehicle)
        if base is None:
            return None
        x_m, y_m, depth_m, heading, roll, pitch = base
        joints = {joint: self.joint(snapshot, vehicle, joint) for joint in skeleton.joints}
        return Pose(np.array([x_m, y_m, -depth_m]), attitude(roll, pitch, heading), *skeleton.pose(joints))

    def mode(self, snapshot: Snapshot, vehicle: str) -> str | None:
        """Returns the name of a vehicle's mode."""
        value = self.value(snapshot, f"/{vehicle}/loop", "mode")
        return None if value is None else MODES[int(value)]


class RecordedRun:
    """A log whose tables are unpacked once; any instant is then a search in sorted times."""

    def __init__(self, path: Path) -> None:
        log = Log(path)
        self.metadata = log.run
        self.fields = {topic: columns.fields for topic, columns in log.topics.items()}
        self._times = {
            topic: np.frombuffer(columns.time_ns, np.int64) for topic, columns in log.topics.items()
        }
        self._tables = {topic: table(log, topic) for topic in log.topics}
        filled = [times for times in self._times.values() if len(times)]
        if not filled:
            raise UsageError(f"{path}: the log is empty; the run ended before its first tick")
        self.start_ns = int(min(times[0] for times in filled))
        self.end_s = (max(int(times[-1]) for times in filled) - self.start_ns) / 1e9
        self.events = list(filter(EventFilter(), log.events))

    def at(self, time_s: float) -> Snapshot:
        """Returns the snapshot of an instant."""
        rows = {}
        for topic in self._times:
            k = self._row_at(topic, time_s)
            if k >= 0:
                rows[topic] = self._tables[topic][k]
        return Snapshot(time_s, rows)

    def trail(self, vehicle: str, until_s: float, seconds: float) -> np.ndarray:
        """Returns recent positions (point, 3) in world axes, m, ten per second."""
        topic, before = f"/{vehicle}/truth", ""
        if topic not in self._tables:
            topic, before = f"/{vehicle}/state", "is_"
        if topic not in self._tables:
            return np.zeros((0, 3))
        times, fields = self._times[topic], self.fields[topic]
        ends = self.start_ns + np.array([until_s - seconds, until_s]) * 1e9
        first, last = np.searchsorted(times, ends)
        if last - first < 2:
            return np.zeros((0, 3))
        span_s = (times[last - 1] - times[first]) / 1e9
        every = max(1, int((last - first) / max(10 * span_s, 1)))
        columns = [fields.index(before + field) for field in BASE[:3]]
        path: np.ndarray = self._tables[topic][first:last:every][:, columns].astype(float)
        path[:, 2] *= -1
        np.nan_to_num(path, copy=False)
        return path

    def neighbours(self, topic: str, time_s: float) -> tuple[np.ndarray, np.ndarray, int]:
        """Returns the row of an instant and its neighbours: (times (s) of the run's clock, three rows, its index)."""
        times, k = self._times[topic], self._row_at(topic, time_s)
        first = max(min(k - 1, len(times) - 3), 0)
        rows = slice(first, first + 3 if k >= 0 else 0)
        return times[rows] / 1e9, self._tables[topic][rows], k - first

    def seconds(self, time_ns: int) -> float:
        """Converts a time of the run's clock (ns) into seconds since the start of the log."""
        return (time_ns - self.start_ns) / 1e9

    def _row_at(self, topic: str, time_s: float) -> int:
        """Returns the index of the last row up to an instant, -1 before the first."""
        time_ns = self.start_ns + round(time_s * 1e9)
        return int(np.searchsorted(self._times[topic], time_ns, side="right")) - 1


def require_run(metadata: Mapping[str, str]) -> None:
    """Raises UsageError unless this metadata is that of a run of a vehicle that can be shown."""
    if "vehicle_file" not in metadata:
        raise UsageError("the log does not contain its vehicle file; was it written by caudal run?")
    if metadata.get("on") == "trial":
        raise UsageError(
            f"{metadata.get('scenario')} is an open-loop trial without a controller, which caudal view cannot show; "
            "caudal report plots it"
        )


def _by_number(name: str) -> tuple[str, int]:
    stem, _, number = name.rpartition("_")
    return (stem, int(number)) if number.isdigit() else (name, 0)
