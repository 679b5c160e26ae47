"""The run that a view shows, recorded or still going on: its vehicle file, and what each topic said at an instant."""

from __future__ import annotations

import math
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
from caudal.tools.log.notable_events import Tellable

BASE = ("x_m", "y_m", "depth_m", "heading_rad", "roll_rad", "pitch_rad")


@dataclass(frozen=True)
class Snapshot:
    """An instant: seconds since the run's first, and each topic's last values before it."""

    time_s: float
    rows: Mapping[str, Sequence[float | None]]


class Source(Protocol):
    """Where moments come from."""

    about: dict[str, str]
    fields: dict[str, list[str]]
    events: list[Event]

    def trail(self, vehicle: str, until_s: float, seconds: float) -> np.ndarray: ...
    def beside(self, topic: str, time_s: float) -> tuple[np.ndarray, Sequence[Sequence[float]], int]: ...


class Run:
    """A source with its vehicle; values of a moment by name."""

    def __init__(self, source: Source) -> None:
        self.source = source
        about = source.about
        must_be_a_run(about)
        lines = [line for line in about.get("overrides", "").split("\n") if line]
        label = f"{about.get('vehicle')}.toml in the log"
        self.vehicle: Vehicle = read_vehicle(VehicleFile.parse(about["vehicle_file"], label, lines))
        self.scenario_name, self.scenario = self.vehicle.scenario(about.get("scenario"))
        self.world = self.vehicle.worlds[self.scenario["world"]]
        self.names = sorted(
            {topic.split("/")[1] for topic in source.fields if topic.endswith("/counts")}, key=_by_number
        )
        if not self.names:
            raise UsageError("it holds no vehicle; was it ended before its first tick?")
        self._place = {
            topic: {field: k for k, field in enumerate(fields)} for topic, fields in source.fields.items()
        }

    @property
    def title(self) -> str:
        return f"{self.vehicle.name}: {self.scenario_name}"

    def has(self, topic: str, field: str) -> bool:
        return field in self._place.get(topic, {})

    def value(self, snapshot: Snapshot, topic: str, field: str) -> float | None:
        """None where it is absent, or not recorded at all."""
        k = self._place.get(topic, {}).get(field)
        row = snapshot.rows.get(topic)
        if k is None or row is None:
            return None
        value = row[k]
        return None if value is None or value != value else float(value)

    def base(self, snapshot: Snapshot, vehicle: str) -> tuple[float, ...] | None:
        """x, y, depth (m), heading, roll, pitch (rad): as it was, or where nobody knows, as it was believed."""
        for topic, before in ((f"/{vehicle}/truth", ""), (f"/{vehicle}/state", "is_")):
            told = [self.value(snapshot, topic, before + field) for field in BASE]
            if any(value is not None for value in told[:4]):
                return tuple(0.0 if value is None else value for value in told)
        return None

    def joint(self, snapshot: Snapshot, vehicle: str, joint: str) -> float:
        """rad or m: as it was, or where nobody knows, as it was told."""
        for topic, field in (
            (f"/{vehicle}/truth", f"{joint}_rad"),
            (f"/{vehicle}/truth", f"{joint}_m"),
            (f"/{vehicle}/commands", joint),
        ):
            value = self.value(snapshot, topic, field)
            if value is not None:
                return value
        return 0.0

    def mode(self, snapshot: Snapshot, vehicle: str) -> str | None:
        value = self.value(snapshot, f"/{vehicle}/loop", "mode")
        return None if value is None else MODES[int(value)]


class RecordedRun:
    """A log. Its tables are unpacked once: any instant is then a search in sorted times."""

    def __init__(self, path: Path) -> None:
        log = Log(path)
        self.about = log.run
        self.fields = {topic: columns.fields for topic, columns in log.topics.items()}
        self._times = {
            topic: np.frombuffer(columns.time_ns, np.int64) for topic, columns in log.topics.items()
        }
        self._tables = {topic: table(log, topic) for topic in log.topics}
        firsts = [times[0] for times in self._times.values() if len(times)]
        if not firsts:
            raise UsageError(f"{path}: nothing was recorded before the run ended")
        self.start_ns = int(min(firsts))
        self.end_s = (
            max(int(times[-1]) for times in self._times.values() if len(times)) - self.start_ns
        ) / 1e9
        self.events = list(filter(Tellable(), log.events))

    def at(self, time_s: float) -> Snapshot:
        rows = {}
        time_ns = self.start_ns + round(time_s * 1e9)
        for topic, times in self._times.items():
            k = int(np.searchsorted(times, time_ns, side="right")) - 1
            if k >= 0:
                rows[topic] = self._tables[topic][k]
        return Snapshot(time_s, rows)  # type: ignore[arg-type]

    def trail(self, vehicle: str, until_s: float, seconds: float) -> np.ndarray:
        """(point, 3), world, ten a second."""
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
        thin = max(1, int((last - first) / max(10 * span_s, 1)))
        columns = [fields.index(before + field) for field in BASE[:3]]
        path = self._tables[topic][first:last:thin][:, columns].astype(float)
        path[:, 2] *= -1
        return np.nan_to_num(path)

    def beside(self, topic: str, time_s: float) -> tuple[np.ndarray, np.ndarray, int]:
        """The row of an instant and its neighbours, three if there are: (times (s) by the run's own clock, rows, which
        of them it is)."""
        times = self._times[topic]
        k = int(np.searchsorted(times, self.start_ns + round(time_s * 1e9), side="right")) - 1
        first = max(min(k - 1, len(times) - 3), 0)
        rows = slice(first, first + 3 if k >= 0 else 0)
        return times[rows] / 1e9, self._tables[topic][rows], k - first

    def seconds(self, time_ns: int) -> float:
        return (time_ns - self.start_ns) / 1e9


def must_be_a_run(about: Mapping[str, str]) -> None:
    """With a vehicle to show, by what a log or a stream says first."""
    if "vehicle_file" not in about:
        raise UsageError("it does not hold its vehicle file; is it one that caudal run wrote?")
    if about.get("on") == "trial":
        trial = f"{about.get('scenario')} is a trial of the plant alone"
        raise UsageError(f"{trial}, which is not shown; caudal report has its plots")


def absent(value: float | None) -> bool:
    return value is None or math.isnan(value)


def _by_number(name: str) -> tuple[str, int]:
    stem, _, number = name.rpartition("_")
    return (stem, int(number)) if number.isdigit() else (name, 0)
