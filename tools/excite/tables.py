"""Table `excite` of a vehicle file: the limits of trajectories for `caudal excite`.

Poses are in the world frame, x_m and y_m from the tank's corner, depth_m from the surface down. Limits of velocity and
acceleration are along the world's axes too, and symmetric (Panetsos and Kyriakopoulos eq. 11, 12). In each segment the
freedoms in `excited` may use the full limits; the others stay within `rest_...` of the start.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from caudal.hal.tables.types import Number, Physical, Table
from caudal.hal.vehicle_file.reader import VehicleFile

FREEDOMS = ("x", "y", "depth", "heading")
Freedom = Literal["x", "y", "depth", "heading"]
MOST_SAMPLES = 50_000


class PoseTable(Table, kw_only=True, frozen=True):
    """A pose in the world frame."""

    x_m: Number
    y_m: Number
    depth_m: Number
    heading_rad: Number


class ReachTable(Table, kw_only=True, frozen=True):
    """The largest distance from the start, to both sides."""

    x_m: Physical
    y_m: Physical
    depth_m: Physical
    heading_rad: Physical


class VelocityTable(Table, kw_only=True, frozen=True):
    """The largest velocity, in both directions."""

    x_m_s: Physical
    y_m_s: Physical
    depth_m_s: Physical
    heading_rad_s: Physical


class AccelerationTable(Table, kw_only=True, frozen=True):
    """The largest acceleration, in both directions."""

    x_m_s2: Physical
    y_m_s2: Physical
    depth_m_s2: Physical
    heading_rad_s2: Physical


class ExciteTable(Table, kw_only=True, frozen=True):
    """The table."""

    order: Annotated[int, Meta(ge=6, le=40)]  # of each segment's curve
    segment_s: Annotated[list[Annotated[float, Meta(ge=0.1, le=1e4)]], Meta(min_length=1, max_length=60)]
    sample_s: Annotated[float, Meta(ge=0.001, le=10)] = 0.2
    smooth_s: Annotated[float, Meta(ge=0.05, le=60)] = 2.0  # window of identification's smoothing
    start: PoseTable
    end: PoseTable
    low: PoseTable
    high: PoseTable
    velocity: VelocityTable
    acceleration: AccelerationTable
    excited: list[Annotated[list[Freedom], Meta(min_length=1)]]  # of each segment
    rest_pose: ReachTable
    rest_velocity: VelocityTable
    rest_acceleration: AccelerationTable

    def bounds(self, kind: str, segment: int) -> tuple[list[float], list[float]]:
        """Lower and upper limits of "pose", "velocity" or "acceleration" of the four freedoms in a segment."""
        least, most = [], []
        for d, freedom in enumerate(FREEDOMS):
            rest = freedom not in self.excited[segment]
            if kind == "pose":
                low, high = values(self.low)[d], values(self.high)[d]
                if rest:
                    start, reach = values(self.start)[d], values(self.rest_pose)[d]
                    low, high = max(low, start - reach), min(high, start + reach)
            else:
                high = values(getattr(self, kind))[d]
                if rest:
                    high = min(high, values(getattr(self, f"rest_{kind}"))[d])
                low = -high
            least.append(low)
            most.append(high)
        return least, most


def values(table: PoseTable | ReachTable | VelocityTable | AccelerationTable) -> list[float]:
    """The table's values in the order of FREEDOMS."""
    return [getattr(table, name) for name in table.__struct_fields__]


def read(file: VehicleFile) -> ExciteTable:
    """The table, checked for consistency; whether a trajectory exists is found in initial_guess.py."""
    if "excite" not in file.tables:
        raise file.error("excite", "there is no such table, which gives the limits; add it")
    table = file.read("excite", ExciteTable)
    if len(table.excited) != len(table.segment_s):
        problem = (
            f"has {len(table.excited)} entries for {len(table.segment_s)} segments; give one per segment"
        )
        raise file.error("excite.excited", problem)
    if table.sample_s > min(table.segment_s) / table.order:
        raise file.error("excite.sample_s", "gives a segment fewer samples than its order; make it smaller")
    if sum(table.segment_s) / table.sample_s > MOST_SAMPLES:
        raise file.error("excite.sample_s", f"gives more than {MOST_SAMPLES} samples; make it larger")
    for d, key in enumerate(PoseTable.__struct_fields__):
        low, high = values(table.low)[d], values(table.high)[d]
        if not low < high:
            raise file.error(f"excite.low.{key}", f"{low:g} is not below high.{key}, {high:g}")
        for end in ("start", "end"):
            at = values(getattr(table, end))[d]
            if not low <= at <= high:
                problem = f"{at:g} is a{'n' * (end == 'end')} {end} outside the tank; limits are {low:g} to {high:g}"
                raise file.error(f"excite.{end}.{key}", problem)
    return table


def divided(table: ExciteTable, segments: int) -> ExciteTable:
    """A table with equal segments over the same time; each excites what the table does at its middle."""
    total_s = sum(table.segment_s)
    each_s = total_s / segments
    excited, ends = [], [sum(table.segment_s[: k + 1]) for k in range(len(table.segment_s))]
    for j in range(segments):
        middle_s = (j + 0.5) * each_s
        excited.append(table.excited[next(k for k, end_s in enumerate(ends) if middle_s < end_s)])
    changed: dict[str, Any] = {name: getattr(table, name) for name in table.__struct_fields__}
    return ExciteTable(**{**changed, "segment_s": [each_s] * segments, "excited": excited})
