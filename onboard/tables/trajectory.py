"""Tables `trajectory.NAME` of a vehicle file: Bezier curves to follow in time (guidance/bezier.py). CPython only."""

import math
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from caudal.hal.tables.types import Number, Table

FREEDOMS = ("x", "y", "depth", "heading")
SMOOTH = 1e-6  # m, m/s, m/s2 (rad ...) that two segments may differ by where they meet

Point = Annotated[list[Number], Meta(min_length=4, max_length=4)]  # x_m, y_m, depth_m, heading_rad


class TrajectoryTable(Table, kw_only=True, frozen=True):
    """Bezier segments, and how long each lasts."""

    description: str = ""
    segment_s: Annotated[list[Annotated[float, Meta(ge=0.01, le=1e5)]], Meta(min_length=1)]
    points: Annotated[list[Annotated[list[Point], Meta(min_length=3, max_length=64)]], Meta(min_length=1)]


Trajectories = dict[str, TrajectoryTable]


def disagreements(table: TrajectoryTable) -> Iterator[tuple[str, str]]:
    """Errors in the table: (key below it, what is wrong)."""
    if len(table.points) != len(table.segment_s):
        problem = f"has {len(table.points)} segments, but segment_s has {len(table.segment_s)}; give one each"
        yield "points", problem
        return
    for j in range(1, len(table.points)):
        before = _end(table.points[j - 1], table.segment_s[j - 1])
        after = _begin(table.points[j], table.segment_s[j])
        for kind, left, right in zip(("pose", "velocity", "acceleration"), before, after, strict=True):
            for freedom, a, b in zip(FREEDOMS, left, right, strict=True):
                if not math.isclose(a, b, rel_tol=0, abs_tol=SMOOTH):
                    problem = f"its {kind} in {freedom} jumps by {b - a:.3g} from the segment before"
                    yield f"points.{j}", f"{problem}; make the two meet"
                    return


def _begin(points: list[list[float]], segment_s: float) -> tuple[list[float], list[float], list[float]]:
    """Pose, velocity and acceleration where a segment starts."""
    n = len(points) - 1
    first, second, third = points[:3]
    slope = [n / segment_s * (b - a) for a, b in zip(first, second, strict=True)]
    bends = zip(first, second, third, strict=True)
    bend = [n * (n - 1) / segment_s**2 * (c - 2 * b + a) for a, b, c in bends]
    return first, slope, bend


def _end(points: list[list[float]], segment_s: float) -> tuple[list[float], list[float], list[float]]:
    pose, slope, bend = _begin(points[::-1], segment_s)
    return pose, [-value for value in slope], bend
