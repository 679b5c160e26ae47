"""Angles. Portable."""

import math


def wrap(angle_rad: float) -> float:
    """The same direction within -pi..pi."""
    return (angle_rad + math.pi) % (2 * math.pi) - math.pi
