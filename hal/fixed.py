"""Fixed point: how a command crosses from the control stack to the maps.

A command is an integer count of 1/16384 of its SI unit (rad, N, Pa). Integers give the same command on
every runtime to the last bit, cost a microcontroller no heap, and print exactly as floats. Products of two
such numbers stay below 2**30, MicroPython's small integers on 32-bit boards, for angles up to 4 rad.

Portable: CPython and MicroPython.
"""

ONE = 16384
BITS = 14
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


def to_float(count):
    """SI value of a fixed-point count; exact, since ONE is a power of two."""
    return count / ONE
