"""Columns of a log as numpy arrays."""

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import ABSENT


def column(log: Log, topic: str, field: str) -> np.ndarray:
    """A column as floats, NaN where absent."""
    return np.array(log.topics[topic].column(field), dtype=float)


def table(log: Log, topic: str) -> np.ndarray:
    """(message, field) as floats, NaN where absent; of a long log in a blink, where rows would take seconds."""
    columns = log.topics[topic]
    kinds = np.dtype(
        [
            (name, np.dtype(kind).newbyteorder("<"))
            for name, kind in zip(columns.fields, columns.types, strict=True)
        ]
    )
    packed = np.frombuffer(columns.packed, kinds)
    out = np.empty((len(packed), len(columns.fields)), np.float32 if _small(columns.types) else np.float64)
    for k, name in enumerate(columns.fields):
        out[:, k] = packed[name]
        if kinds[k].kind == "i":
            out[packed[name] == ABSENT, k] = np.nan
    return out


def _small(types: list[str]) -> bool:
    return all(kind == "float32" for kind in types)
