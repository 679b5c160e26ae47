"""Columns of a log as numpy arrays."""

from collections.abc import Iterable

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import ABSENT


def column(log: Log, topic: str, field: str) -> np.ndarray:
    """Returns a column as floats, NaN where absent."""
    return np.array(log.topics[topic].column(field), dtype=float)


def columns(log: Log, topic: str, fields: Iterable[str]) -> np.ndarray:
    """Returns several columns as floats (message, field), NaN where absent."""
    return np.array([column(log, topic, field) for field in fields]).T


def table(log: Log, topic: str) -> np.ndarray:
    """Returns a topic as floats (message, field), NaN where absent; unpacked by column, as rows would take seconds."""
    recorded = log.topics[topic]
    kinds = np.dtype(
        [
            (name, np.dtype(kind).newbyteorder("<"))
            for name, kind in zip(recorded.fields, recorded.types, strict=True)
        ]
    )
    packed = np.frombuffer(recorded.packed, kinds)
    small = all(kind == "float32" for kind in recorded.types)
    out = np.empty((len(packed), len(recorded.fields)), np.float32 if small else np.float64)
    for k, name in enumerate(recorded.fields):
        out[:, k] = packed[name]
        if kinds[k].kind == "i":
            out[packed[name] == ABSENT, k] = np.nan
    return out
