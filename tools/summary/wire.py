"""What a log says of the bench wire: frames lost and damaged, how long answers took."""

from typing import Any

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.tools.log.columns import column

COUNTS = {"lost": "lost", "bad": "bad", "late_frames": "late", "duplicates": "duplicate"}


def wire_figures(log: Log, names: list[str]) -> dict[str, Any]:
    """Over all vehicles: frames by their sums, round trips by their percentiles; nothing of a run without a wire.

    Free running, an answer is met at the next tick: its round trip is a period, or several.
    """
    topics = [f"/{name}/wire" for name in names if len(log.topics.get(f"/{name}/wire", ()))]
    if not topics:
        return {}
    figures: dict[str, Any] = {
        key: int(sum(column(log, topic, field)[-1] for topic in topics)) for key, field in COUNTS.items()
    }
    # a tick without an answer repeats the last round trip; only those in which one came count
    trips_us = np.concatenate([_round_trips_us(log, topic) for topic in topics])
    if len(trips_us):
        figures |= percentiles("round_trip", trips_us) | {"worst_round_trip_us": int(trips_us.max())}
    return figures


def percentiles(name: str, times_us: np.ndarray) -> dict[str, int]:
    return {f"{name}_p{share}_us": int(np.percentile(times_us, share)) for share in (50, 99)}


def _round_trips_us(log: Log, topic: str) -> np.ndarray:
    trips_us, good = column(log, topic, "last_round_trip_us"), column(log, topic, "good")
    return trips_us[(np.diff(good, prepend=0) > 0) & (trips_us > 0)]
