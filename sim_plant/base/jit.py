"""Compiles the plant's kernels with numba and keeps the results in a cache on disk.

numba's own cache checks only the file of the kernel itself. After a change in another file it would run an outdated
kernel. So each state of this package's sources has its own cache folder, named after their digest.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

PACKAGE = Path(__file__).parents[1]


def sources_digest() -> str:
    """Digest of all source files of the plant, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Folder of the compiled kernels: next to the sources, or in the user's cache if the sources are read-only."""
    next_to_sources = PACKAGE / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "caudal"
    return (next_to_sources if os.access(PACKAGE, os.W_OK) else home) / f"kernels-{sources_digest()}"


_CACHE = str(cache_folder())


def cache_is_empty() -> bool:
    """True if no kernel of these sources has been compiled on this machine."""
    return not any(files for _, _, files in os.walk(_CACHE))


class Kernel(Protocol[P, R]):
    """A compiled function: call it with its own arguments, or compile it ahead of a call for their types."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def compile(self, argument_types: tuple[object, ...]) -> object:
        """Compile for these types of arguments."""


def _compile(function: Callable[P, R], **options: bool) -> Kernel[P, R]:
    config: Any = numba.config
    njit: Callable[..., Callable[[Callable[P, R]], Kernel[P, R]]] = numba.njit
    before, config.CACHE_DIR = config.CACHE_DIR, _CACHE
    try:
        # _nrt=False: kernels neither allocate nor count references to arrays, which saves a third of a tree's time.
        return njit(cache=True, nogil=True, error_model="numpy", _nrt=False, **options)(function)
    finally:
        config.CACHE_DIR = before


def compiled(function: Callable[P, R]) -> Kernel[P, R]:
    """Decorator of a kernel that Python calls; numba compiles it at its first call and keeps it on disk.

    No fastmath, so that runs repeat bit for bit. A division by zero gives infinity as in numpy: a test at every
    division would cost a third of the time of the sonar beams.
    """
    return _compile(function)


def inner(function: Callable[P, R]) -> Kernel[P, R]:
    """Decorator of a kernel that only kernels call; without an entry from Python it compiles a third faster."""
    return _compile(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)
