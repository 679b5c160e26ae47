"""Fixed point: how a command crosses from the control stack to the maps.

A command is an integer count of 1/16384 of its SI unit (rad, N, Pa). Integers give the same command on
every runtime to the last bit, cost a microcontroller no heap, and print exactly as floats. Products of two
such numbers stay below 2**30, MicroPython's small integers on 32-bit boards, for angles up to 4 rad.

Portable: CPython and MicroPython.
"""

ONE = 16384
BITS = 14
FINE_BITS = 20  # of readings that a controller takes as integers: 1e-6 of the SI unit
LARGEST = (1 << 53) // ONE * ONE  # past this a float no longer holds every count


def fixed(value):
    """The nearest fixed-point count of an SI value; None where it is not a number."""
    if value != value:
        return None
    scaled = value * ONE
    if scaled >= LARGEST:
        return LARGEST
    if scaled <= -LARGEST:
        return -LARGEST
    return int(scaled + 0.5) if scaled >= 0 else -int(0.5 - scaled)


def fine(value):
    """The nearest count of 2**-20 of an SI value; None stays None."""
    if value is None or value != value:
        return None
    scaled = value * (1 << FINE_BITS)
    return int(scaled + 0.5) if scaled >= 0 else -int(0.5 - scaled)


class Gain:
    """A factor for integers: ten bits and a shift, so that products stay small; within 0.1 % of what was asked."""

    def __init__(self, factor):
        self._shift = 0
        while 0 < abs(factor) < 512 and self._shift < 28:
            factor *= 2
            self._shift += 1
        self._factor = int(factor + 0.5) if factor >= 0 else -int(0.5 - factor)
        self._half = (1 << self._shift) >> 1

    def of(self, count):
        return (count * self._factor + self._half) >> self._shift


def to_float(count):
    """SI value of a fixed-point count; exact, since ONE is a power of two."""
    return count / ONE
