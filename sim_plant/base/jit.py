"""How every kernel of the plant is compiled, and where the compiled ones are kept.

numba's cache looks at a kernel's own file alone: it would go on running an old law inside a kernel whose file has not
changed. So each state of this package's sources has a cache of its own, named after their digest.
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
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Beside the sources, or in the user's cache where these may not be written."""
    beside = PACKAGE / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "caudal"
    return (beside if os.access(PACKAGE, os.W_OK) else home) / f"kernels-{sources_digest()}"


_CACHE = str(cache_folder())


def nothing_kept() -> bool:
    """Whether no kernel of these sources was ever compiled here."""
    return not any(files for _, _, files in os.walk(_CACHE))


class Kernel(Protocol[P, R]):
    """A compiled function: called with its own arguments, or compiled ahead of a call for their types."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def compile(self, argument_types: tuple[object, ...]) -> object: ...


def _compile(function: Callable[P, R], **more: bool) -> Kernel[P, R]:
    # Without its runtime numba lets no kernel allocate, and counts no references to arrays: a third of a tree's time.
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, _CACHE
    try:
        njit: Callable[..., Callable[[Callable[P, R]], Kernel[P, R]]] = numba.njit
        return njit(cache=True, nogil=True, error_model="numpy", _nrt=False, **more)(function)
    finally:
        config.CACHE_DIR = before


def compiled(function: Callable[P, R]) -> Kernel[P, R]:
    """Compiled at its first call, then kept on disk.

    No fastmath, so that runs repeat bit for bit. A division by zero gives an infinity as in numpy: the test for it, at
    every division, would cost a third of the beams' time.
    """
    return _compile(function)


def inner(function: Callable[P, R]) -> Kernel[P, R]:
    """For functions that only kernels call: without the doors to Python they compile in two thirds of the time."""
    return _compile(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)
