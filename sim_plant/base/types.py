"""Types of what kernels work on: arrays of numbers, records of an array, vectors and matrices in registers."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

F, N = np.float64, np.int64  # of a record's fields

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Records: TypeAlias = NDArray[np.void]  # a structured array
Vec3: TypeAlias = tuple[float, float, float]
Mat3: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]  # row by row


class Record(Protocol):
    """An element of a structured array inside a kernel; numba checks its fields and their types when it compiles."""

    def __getattr__(self, field: str) -> Any: ...
    def __setattr__(self, field: str, value: Any) -> None: ...
