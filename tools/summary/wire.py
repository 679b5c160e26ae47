"""Metrics of the HIL link in a log: frames lost and damaged, round-trip times."""

from typing import Any

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.tools.log.columns import column

COUNTS = {"lost": "lost", "bad": "bad", "late_frames": "late", "duplicates": "duplicate"}


def wire_metrics(log: Log, names: list[str]) -> dict[str, Any]:
    """Returns frame counts summed over all vehicles and percentiles of round trips; empty for a run without a link.

    When the plant runs free, it reads an answer at its next tick: a round trip is then one period or several.
    """
    topics = [f"/{name}/wire" for name in names if len(log.topics.get(f"/{name}/wire", ()))]
    if not topics:
        return {}
    metrics: dict[str, Any] = {
        key: int(sum(column(log, topic, field)[-1] for topic in topics)) for key, field in COUNTS.items()
    }
    trips_us = np.concatenate([_round_trips_us(log, topic) for topic in topics])
    if len(trips_us):
        metrics |= percentiles("round_trip", trips_us) | {"worst_round_trip_us": int(trips_us.max())}
    return metrics


def percentiles(name: str, times_us: np.ndarray) -> dict[str, int]:
    """Returns the median and the 99th percentile of times (us) under NAME_p50_us and NAME_p99_us."""
    return {f"{name}_p{share}_us": int(np.percentile(times_us, share)) for share in (50, 99)}


def _round_trips_us(log: Log, topic: str) -> np.ndarray:
    """Returns the round trips of ticks in which an answer arrived; other ticks repeat the last one."""
    trips_us, good = column(log, topic, "last_round_trip_us"), column(log, topic, "good")
    return trips_us[(np.diff(good, prepend=0) > 0) & (trips_us > 0)]
