"""Fixed point: how a command crosses from the control stack to the maps.

A command is an integer count of 1/16384 of its SI unit (rad, N, Pa). Integers give the same command on
every runtime to the last bit, cost a microcontroller no heap, and print exactly as floats. Products of two
such numbers stay below 2**30, MicroPython's small integers on 32-bit boards, for angles up to 4 rad.

Portable: CPython and MicroPython.
"""

ONE = 16384
BITS = 14
Q20_BITS = 20  # of readings that a controller takes as integers: 1e-6 of the SI unit
_WHOLE = 1 << 19  # counts below this a Gain multiplies at once
_PART_BITS = 10  # of a larger one's lower part
LARGEST = (1 << 53) // ONE * ONE  # past this a float no longer holds every count


def to_q14(value: float) -> int:
    """The nearest count of 2**-14 of an SI value that is a number."""
    scaled = value * ONE
    if scaled >= LARGEST:
        return LARGEST
    if scaled <= -LARGEST:
        return -LARGEST
    return int(scaled + 0.5) if scaled >= 0 else -int(0.5 - scaled)


def to_q14_or_none(value: float) -> "int | None":
    """The same; None where the value is not a number."""
    return None if value != value else to_q14(value)


def to_q20(value: float) -> int:
    """The nearest count of 2**-20 of an SI value that is a number."""
    scaled = value * (1 << Q20_BITS)
    return int(scaled + 0.5) if scaled >= 0 else -int(0.5 - scaled)


def to_q20_or_none(value: "float | None") -> "int | None":
    """The same; None where there is no value or it is not a number."""
    return None if value is None or value != value else to_q20(value)


def q20_to_q14(count: int) -> int:
    """The nearest command of a count of 2**-20."""
    return (count + (1 << (Q20_BITS - BITS - 1))) >> (Q20_BITS - BITS)


class Gain:
    """A factor for integers: ten bits and a shift, so that products stay small; within 0.1 % of the factor.

    A count too large for the product is multiplied in two parts, with the same result: nothing is allocated while
    count and result are below 2**30.
    """

    def __init__(self, factor: float) -> None:
        self._shift = 0
        while 0 < abs(factor) < 512 and self._shift < 28:
            factor *= 2
            self._shift += 1
        self._factor = int(factor + 0.5) if factor >= 0 else -int(0.5 - factor)
        self._half = (1 << self._shift) >> 1

    def apply(self, count: int) -> int:
        """The product, rounded to the nearest count."""
        if -_WHOLE < count < _WHOLE:
            return (count * self._factor + self._half) >> self._shift
        upper = (count >> _PART_BITS) * self._factor
        lower = (count & (1 << _PART_BITS) - 1) * self._factor + self._half
        if self._shift < _PART_BITS:
            return (upper << (_PART_BITS - self._shift)) + (lower >> self._shift)
        return (upper + (lower >> _PART_BITS)) >> (self._shift - _PART_BITS)


def to_float(count: int) -> float:
    """SI value of a fixed-point count; exact, since ONE is a power of two."""
    return count / ONE
