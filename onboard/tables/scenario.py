"""Tables `scenario.NAME` of a vehicle file, one struct a task. CPython only."""

from typing import Annotated

from msgspec import Meta

from caudal.hal.tables.types import NotNegative, Number, Physical, Positive, Share, Table, tag_of


class SteeringTable(Table, kw_only=True, frozen=True):
    """PID gains of steering, and the limit of the turn rate in rad/s."""

    kp: NotNegative
    ki: NotNegative = 0.0
    kd: NotNegative = 0.0
    limit: Positive


class ScenarioTable(Table, tag_field="task", kw_only=True, frozen=True):
    """Keys of every scenario."""

    description: str
    duration_s: Physical
    world: str = "open"
    set: list[str] = []  # KEY=VALUE, as --set: what this scenario changes of the vehicle file
    depth_m: NotNegative | None = None  # to hold, if the vehicle can; without it, the depth at the start
    faults: list[str] = []  # KIND:TARGET@AT+FOR: fault injection in simulation (docs/faults.md)

    @property
    def task(self) -> str:
        """The word that selects the table."""
        return tag_of(self)


class _Row(Table, kw_only=True, frozen=True):
    at_s: NotNegative
    frequency_hz: Number
    amplitude: Share = 1.0
    deflection_deg: Annotated[float, Meta(ge=-85, le=85)] = 0.0
    depth_m: NotNegative | None = None  # from here on
    expected_speed_m_s: Number | None = None
    expected_turn_rate_deg_s: Number | None = None


class RowTable(_Row, kw_only=True, frozen=True):
    """One row of a schedule; an expected speed or turn rate is compared with the measured one."""

    hold: dict[str, Number] = {}


class Row(_Row, kw_only=True, frozen=True):
    """The same as a loop has it."""

    hold: list[tuple[str, int]]  # actuators and their commands, fixed point


class ScheduleTask(ScenarioTable, tag="schedule", kw_only=True, frozen=True):
    """Tail settings by time."""

    rows: Annotated[list[RowTable], Meta(min_length=1)]


class Schedule(ScenarioTable, tag="schedule", kw_only=True, frozen=True):
    """A schedule as a loop has it."""

    rows: list[Row]


class Swim(ScenarioTable, tag="swim", kw_only=True, frozen=True):
    """The gait's own frequency from the start; a loop has it as a schedule of one row."""

    amplitude: Share = 1.0
    deflection_deg: Annotated[float, Meta(ge=-85, le=85)] = 0.0
    backward: bool = False
    hold: dict[str, Number] = {}


class Guided(ScenarioTable, kw_only=True, frozen=True):
    """Keys of every scenario with guidance."""

    preferred_clearance_m: Positive | None = (
        None  # instead of guidance.preferred_clearance_m, for a task near walls
    )


class Wander(Guided, tag="wander", kw_only=True, frozen=True):
    """Meanders, and avoids obstacles."""

    speed_m_s: Positive
    meander_rad_s: NotNegative = 0.2
    meander_s: Physical = 17.0


class Track(Guided, tag="track", kw_only=True, frozen=True):
    """Follows a closed path."""

    speed_m_s: Positive
    look_ahead_m: Physical
    steering: SteeringTable
    path_m: Annotated[list[list[Annotated[float, Meta(ge=-1e5, le=1e5)]]], Meta(min_length=3)]


class Pursue(Guided, tag="pursue", kw_only=True, frozen=True):
    """Follows a target at a distance."""

    speed_m_s: Positive
    distance_m: NotNegative
    closing_per_s: Positive
    target_x: str
    target_y: str
    steering: SteeringTable
