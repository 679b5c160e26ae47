"""Integer phase, sine and lag of the gaits.

A phase is an integer, 2**24 to the turn. All products stay below 2**30, so a tick allocates nothing on a
32-bit MicroPython board and gives the same integers on every runtime. Portable.
"""

import math
from array import array

TURN = 1 << 24
MASK = TURN - 1
_SINE = array("h", [math.floor(math.sin(2 * math.pi * k / 256) * 16384 + 0.5) for k in range(257)])
_EXTRA = 6  # bits a Lag keeps below a fixed-point count, or it would stall short of its target


def sine(phase: int) -> int:
    """Fixed-point sine: 256 points, linearly interpolated; 2e-4 at worst."""
    k = (phase >> 16) & 255
    low = _SINE[k]
    return low + (((_SINE[k + 1] - low) * (phase & 0xFFFF)) >> 16)


def phase_of(angle_rad: float) -> int:
    """The phase of an angle."""
    return math.floor(angle_rad / (2 * math.pi) * TURN + 0.5) & MASK


class Lag:
    """Critically damped second-order lag, (s + a/2)**2, as two first-order ones in a row.

    Value and slope are continuous whatever the target does, so every start, stop, turn and reversal is smooth.
    `target` and `value` are fixed-point.
    """

    STATE = (
        "value",
        "_first",
        "_second",
    )  # converge to a target that a parameter changes (params/hot_update.py)

    def __init__(self, convergence_per_s: float, rate_hz: int, value: int = 0) -> None:
        self._alpha = int((1 - math.exp(-convergence_per_s / 2 / rate_hz)) * 16384 + 0.5)
        self.jump(value)

    def jump(self, value: int) -> None:
        """Sets target and value at once."""
        self.target = value
        self.value = value
        self._first = value << _EXTRA
        self._second = value << _EXTRA

    def step(self) -> int:
        """One tick; the new value."""
        # (difference * alpha) >> 14, with the difference shortened first so that 4 rad fit 30 bits
        self._first += (((self.target << _EXTRA) - self._first >> 6) * self._alpha) >> 8
        self._second += ((self._first - self._second >> 6) * self._alpha) >> 8
        self.value = (self._second + 32) >> _EXTRA
        return self.value
