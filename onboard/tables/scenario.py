"""Tables `scenario.NAME` of a vehicle file, one struct a task. CPython only."""

from typing import Annotated

from msgspec import Meta

from caudal.onboard.tables.types import NotNegative, Number, Physical, Positive, Share, Table


class SteeringTable(Table, kw_only=True, frozen=True):
    kp: NotNegative
    ki: NotNegative = 0.0
    kd: NotNegative = 0.0
    limit: Positive


class _Scenario(Table, tag_field="task", kw_only=True, frozen=True):
    about: str
    duration_s: Physical
    world: str = "open"
    set: list[str] = []  # KEY=VALUE, as --set: what this scenario changes of the vehicle file
    depth_m: NotNegative | None = None  # to hold, where the vehicle can; without it, the one it starts at
    faults: list[
        str
    ] = []  # KIND:TARGET@AT+FOR: what goes wrong on the way, where it is simulated (docs/faults.md)


class Row(Table, kw_only=True, frozen=True):
    """One line of a schedule; what it should lead to may stand beside it and is then checked."""

    at_s: NotNegative
    frequency_hz: Number
    amplitude: Share = 1.0
    deflection_deg: Annotated[float, Meta(ge=-85, le=85)] = 0.0
    depth_m: NotNegative | None = None  # from here on
    hold: dict[str, Number] = {}
    expect_speed_m_s: Number | None = None
    expect_turn_rate_deg_s: Number | None = None


class Schedule(_Scenario, tag="schedule", kw_only=True, frozen=True):
    rows: Annotated[list[Row], Meta(min_length=1)]


class Swim(_Scenario, tag="swim", kw_only=True, frozen=True):
    """The gait's own frequency from the start: a schedule of one row."""

    amplitude: Share = 1.0
    deflection_deg: Annotated[float, Meta(ge=-85, le=85)] = 0.0
    backward: bool = False
    hold: dict[str, Number] = {}


class Guided(_Scenario, kw_only=True, frozen=True):
    comfort_m: Positive | None = None  # in the place of guidance.comfort_m, where a task leads near walls


class Wander(Guided, tag="wander", kw_only=True, frozen=True):
    speed_m_s: Positive
    meander_rad_s: NotNegative = 0.2
    meander_s: Physical = 17.0


class Track(Guided, tag="track", kw_only=True, frozen=True):
    speed_m_s: Positive
    look_ahead_m: Physical
    steering: SteeringTable
    path_m: Annotated[list[list[Annotated[float, Meta(ge=-1e5, le=1e5)]]], Meta(min_length=3)]


class Pursue(Guided, tag="pursue", kw_only=True, frozen=True):
    speed_m_s: Positive
    distance_m: NotNegative
    closing_per_s: Positive
    target_x: str
    target_y: str
    steering: SteeringTable
