"""Types of the data that kernels work on: arrays, records, 3-vectors and 3x3 matrices."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Records: TypeAlias = NDArray[np.void]  # a structured array
Vec3: TypeAlias = tuple[float, float, float]
Mat3: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]  # row by row


class Record(Protocol):
    """One element of a structured array in a kernel; numba checks its fields and their types when it compiles."""

    def __getattr__(self, field: str) -> Any: ...
    def __setattr__(self, field: str, value: Any) -> None: ...


def floats(names: str, *shape: int) -> list[tuple[str, type, tuple[int, ...]]]:
    """Float fields of a record, named in one string; with a shape, each is an array."""
    return [(name, np.float64, shape) for name in names.split()]


def ints(names: str, *shape: int) -> list[tuple[str, type, tuple[int, ...]]]:
    """Integer fields of a record, named in one string; with a shape, each is an array."""
    return [(name, np.int64, shape) for name in names.split()]
