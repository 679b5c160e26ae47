"""Columns of a log as numpy arrays."""

import numpy as np

from onboard.log import Log


def column(log: Log, topic: str, field: str) -> np.ndarray:
    """A column as floats, NaN where absent."""
    return np.array(log.topics[topic].column(field), dtype=float)
