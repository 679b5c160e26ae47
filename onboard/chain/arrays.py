"""Array types of this package, and linear systems of them. Needs numpy."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indexes = NDArray[np.int_]
Flags = NDArray[np.bool_]


def solved(a: Floats, b: Floats) -> Floats:
    """a^-1 b."""
    return np.asarray(np.linalg.solve(a, b), dtype=np.float64)


def inverted(a: Floats) -> Floats:
    """a^-1."""
    return np.asarray(np.linalg.inv(a), dtype=np.float64)
