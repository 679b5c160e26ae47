"""How every kernel of the plant is compiled."""

from __future__ import annotations

from numba import njit

# Cached on disk after the first run. No fastmath, so that runs repeat bit for bit. A division by zero gives
# an infinity as in numpy: the test for it, at every division, would cost a third of the beams' time.
compiled = njit(cache=True, error_model="numpy")
