"""Tables of a chain of modules and soft joints: `control` of kind "chain", and its scenarios, task "prioritised".

Each of `tasks` is a task with a priority (chain/tasks.py). CPython only.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Literal

from msgspec import Meta, field

from caudal.hal.tables.channels import Actuator, Thruster, Valve
from caudal.hal.tables.types import (
    Length,
    Named,
    NotNegative,
    Number,
    Physical,
    Positive,
    Share,
    Table,
    tag_of,
)
from caudal.onboard.tables.control import ControlTable
from caudal.onboard.tables.scenario import ScenarioTable

Three = Annotated[list[Number], Meta(min_length=3, max_length=3)]
Six = Annotated[list[NotNegative], Meta(min_length=6, max_length=6)]
ThreePositive = Annotated[list[Positive], Meta(min_length=3, max_length=3)]
Names3 = Annotated[list[str], Meta(min_length=3, max_length=3)]
Name = Annotated[str, Meta(pattern=r"^[a-z](_?[a-z0-9])*$", max_length=40)]  # it names columns of a log
Names4 = Annotated[list[str], Meta(min_length=4, max_length=4)]


class Part(Table, kw_only=True, frozen=True):
    """A rigid body: a module, or half of a soft joint. Its mass is spread along its length, on its axis."""

    mass_kg: Positive
    inertia_kg_m2: ThreePositive  # about its own middle
    added: Six  # added mass, about its middle: kg three times, kg m2 three times
    volume_m3: Positive
    lift_above_m: Number = 0.0  # centre of buoyancy above the axis
    cross_drag_n_s2_m3: NotNegative  # per metre of length
    axial_drag_n_s2_m2: NotNegative
    roll_drag_n_m_s_rad: NotNegative = 0.0


class Module(Part, kw_only=True, frozen=True):
    """A rigid module."""

    name: Name
    length_m: Length


class Soft(Table, kw_only=True, frozen=True):
    """A joint between two modules (chain/chamber.py); `coordinates`: the sensors of d1, th1, th2, d2."""

    name: Name
    coordinates: Names4
    chambers: Names3  # valves
    at_deg: Three = field(default_factory=lambda: [0.0, 120.0, 240.0])  # of the chambers, from +y towards +z
    length_m: Length
    stretch_m_per_pa: NotNegative
    bend_rad_per_pa: Positive
    gain_two: NotNegative = 0.0
    two_pa: Positive = 0.3e6
    stiffness_n_m_rad: Positive
    stiff_share: Positive = 1.0
    soft_pa: NotNegative = 0.1e6
    stiff_pa: Positive = 0.5e6
    axial_n_per_m: Positive
    damping_n_m_s_rad: NotNegative
    damping_n_s_m: NotNegative
    half: Part


class ChainThruster(Named, kw_only=True, frozen=True):
    """A thruster's module, its position there, and the direction of a positive force."""

    module: str
    at_m: Three
    axis: Three
    lag_s: NotNegative = 0.0


class Limits(Table, kw_only=True, frozen=True):
    """Limits of every soft joint; kept by barriers whose poles are at pole_per_s."""

    bend_max_deg: Annotated[float, Meta(ge=10, le=89)]
    bend_rate_max_rad_s: Positive
    pole_per_s: Positive = 1.0


class ClearanceTable(Table, kw_only=True, frozen=True):
    """Distance that every part of the hull keeps from obstacles."""

    hull_radius_m: Length
    clear_m: NotNegative
    guard_m: NotNegative = 0.0  # added to that, for noise and errors of the model
    influence_distance_m: Positive = 1.0  # obstacles further away do not count
    points_a_module: Annotated[int, Meta(ge=2, le=50)] = 5
    most_rows: Annotated[int, Meta(ge=1, le=100)] = 12
    pole_per_s: Positive = 1.0


class ChainFilter(Table, kw_only=True, frozen=True):
    """Standard deviations of the joints' filters; those of the base are in estimate.filter."""

    angle_rad: Physical
    stroke_m: Physical
    acceleration_noise_rad_s2: Physical = 0.1
    disturbance_rad_s2: Physical = 0.02
    acceleration_noise_m_s2: Physical = 0.5


class PostureTable(Table, kw_only=True, frozen=True):
    """How the chambers hold a shape (chain/posture.py)."""

    ease_pa: NotNegative = 50e3  # least pressure of every chamber, so that joints are not slack
    stuck_pa: Positive = 30e3  # a chamber that stays so far from its set-point ...
    stuck_s: Positive = 1.0  # ... for so long counts as stuck


class _Chain(ControlTable, kw_only=True, frozen=True):
    solver: Literal["hierarchy", "law"] = "hierarchy"
    module: Annotated[list[Module], Meta(min_length=2)]
    soft: Annotated[list[Soft], Meta(min_length=1)]
    limits: Limits
    clearance: ClearanceTable
    filter: ChainFilter
    posture: PostureTable = PostureTable()
    dead: list[str] = []  # thrusters known to be dead: their command is 0


class ChainControl(_Chain, tag="chain", kw_only=True, frozen=True):
    """Task-priority control of a chain of modules and soft joints (chain/priority.py)."""

    thruster: Annotated[dict[str, ChainThruster], Meta(min_length=1)]


class Chain(_Chain, tag="chain", kw_only=True, frozen=True):
    """The same as a loop has it."""

    thruster: list[ChainThruster]


class TaskRow(Table, kw_only=True, frozen=True):
    """A value and the time to be there; the move takes within_s, or all the time since the row before."""

    at_s: NotNegative
    to: Annotated[list[Number], Meta(min_length=1, max_length=12)]
    within_s: NotNegative = 0.0


class TaskTable(Table, tag_field="kind", kw_only=True, frozen=True):
    """A task with a priority.

    pole_per_s: all three poles of the error; integral_limit: of the integral (m/s2, rad/s2); damping: the share of the
    inputs' scale that costs as much as one unit of acceleration."""

    name: Name
    pole_per_s: Positive = 1.0
    integral_limit: NotNegative = 0.3
    error_limit: Positive = 0.2  # m or rad: a larger error demands no more than this one
    damping: Share = 0.02
    rows: list[TaskRow] = []

    @property
    def kind(self) -> str:
        """The word that chooses the table."""
        return tag_of(self)


class FrameTaskTable(TaskTable, kw_only=True, frozen=True):
    """A task of one frame."""

    frame: str  # a module's name: its front end; "base" is the rear end of the first
    at_m: Three | None = None  # another position, in the module's frame: its origin is the rear end


class PoseTaskTable(FrameTaskTable, tag="pose", kw_only=True, frozen=True):
    """Pose of a frame: x, y, depth, roll, pitch (nose down), heading."""


class PositionTaskTable(FrameTaskTable, tag="position", kw_only=True, frozen=True):
    """Position of a frame: x, y, depth."""


class TurnTaskTable(FrameTaskTable, tag="turn", kw_only=True, frozen=True):
    """Attitude of a frame: roll, pitch (nose down), heading."""


class LookTaskTable(FrameTaskTable, tag="look", kw_only=True, frozen=True):
    """x, y, depth of a point at which the frame's x axis points."""


class ShapeTaskTable(TaskTable, tag="shape", kw_only=True, frozen=True):
    """The bend of every joint to port and up, rad; without rows, the one at the start, or that of a plan."""


class SpeedTaskTable(FrameTaskTable, tag="speed", kw_only=True, frozen=True):
    """Speed of a frame through the water along one of its axes, m/s."""

    direction: Literal["ahead", "port", "up"] = "ahead"


class RunTaskTable(TaskTable, tag="run", kw_only=True, frozen=True):
    """A speed along the line ahead, m/s, below 0 astern; the scenario's only task (chain/straight_run.py).

    Errors and thrusts that cost the same in its feedback, and the disturbances that its filter expects. Gains are
    designed for speeds grid_m_s apart."""

    cross_track_m: Positive = 0.3
    attitude_rad: Positive = 0.05
    speed_m_s: Positive = 0.3
    cross_thrust_n: Positive = 10.0
    last_share: Positive = 0.75  # of that, for the last module in the direction of motion
    forward_thrust_n: Positive = 3.0
    thrust_noise_n: NotNegative = 2.0  # of each thruster, beyond its command
    acceleration_noise_m_s2: Positive = 0.001
    acceleration_noise_rad_s2: Positive = 0.005
    grid_m_s: Annotated[float, Meta(ge=0.05, le=1.0)] = 0.1


AnyTask = (
    PoseTaskTable
    | PositionTaskTable
    | TurnTaskTable
    | LookTaskTable
    | ShapeTaskTable
    | SpeedTaskTable
    | RunTaskTable
)
WIDTH = {
    PoseTaskTable: 6,
    PositionTaskTable: 3,
    TurnTaskTable: 3,
    LookTaskTable: 3,
    SpeedTaskTable: 1,
    RunTaskTable: 1,
}


class Obstacle(Table, kw_only=True, frozen=True):
    """An obstacle as the vehicle knows it: a ball, or an upright pipe without ends."""

    x_m: Number
    y_m: Number
    depth_m: Number | None = None  # without it, a pipe
    radius_m: Positive


class PrioritisedTasks(ScenarioTable, tag="prioritised", kw_only=True, frozen=True):
    """Tasks for a chain, the first with the highest priority."""

    tasks: Annotated[list[AnyTask], Meta(min_length=1)]
    bend_max_deg: Annotated[float, Meta(ge=10, le=89)] | None = None  # below that of control.limits
    obstacles: list[Obstacle] = []


def control_problems(
    control: ChainControl, actuators: Mapping[str, Actuator], sensors: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Errors in the table: (key below control, what is wrong)."""
    modules = [module.name for module in control.module]
    if len(set(modules)) < len(modules) or "base" in modules:
        yield "module", f'give each a name of its own, none of them "base"; there are {", ".join(modules)}'
    if len(control.soft) != len(modules) - 1:
        yield (
            "soft",
            f"{len(modules)} modules have {len(modules) - 1} joints between them, not {len(control.soft)}",
        )
    for k, soft in enumerate(control.soft):
        for sensor in soft.coordinates:
            if sensor not in sensors:
                yield f"soft.{k}.coordinates", f'there is no sensor "{sensor}"'
        for chamber in soft.chambers:
            valve = actuators.get(chamber)
            if not isinstance(valve, Valve):
                yield f"soft.{k}.chambers", f'"{chamber}" is not a valve; name one of [actuator]'
            elif valve.max_pa <= control.posture.ease_pa:
                most = f"{valve.max_pa:g} Pa"
                yield "posture.ease_pa", f"is not below max_pa of actuator {chamber}, {most}; lower it"
            elif not valve.pressure:
                yield f"soft.{k}.chambers", f'"{chamber}" has no pressure loop; give [actuator.{chamber}] one'
        if soft.stiff_pa <= soft.soft_pa:
            yield f"soft.{k}.stiff_pa", f"{soft.stiff_pa:g} is not above soft_pa, {soft.soft_pa:g}"
    for name, thruster in control.thruster.items():
        if not isinstance(actuators.get(name), Thruster):
            yield f"thruster.{name}", "is not a thruster of [actuator]"
        if thruster.module not in modules:
            yield (
                f"thruster.{name}.module",
                f'there is no module "{thruster.module}"; there are {", ".join(modules)}',
            )
        if not any(thruster.axis):
            yield f"thruster.{name}.axis", "has no length; give the direction of a positive force"
    for name in control.dead:
        if name not in control.thruster:
            yield "dead", f'there is no thruster "{name}"; there are {", ".join(control.thruster)}'


def task_problems(scenario: PrioritisedTasks, control: ChainControl) -> Iterator[tuple[str, str]]:
    """Errors in the table: (key below the scenario, what is wrong)."""
    frames = ["base", *(module.name for module in control.module)]
    if scenario.bend_max_deg and scenario.bend_max_deg > control.limits.bend_max_deg:
        yield "bend_max_deg", f"is above control.limits.bend_max_deg, {control.limits.bend_max_deg:g}"
    names = [aim.name for aim in scenario.tasks]
    for k, aim in enumerate(scenario.tasks):
        at = f"tasks.{k}"
        if aim.name in names[:k]:
            yield f"{at}.name", f'two tasks have the name "{aim.name}"; name each once'
        if isinstance(aim, RunTaskTable) and (len(names) > 1 or not aim.rows):
            yield at, "a run controls the whole chain: make it the only task, and give it rows"
        if isinstance(aim, FrameTaskTable) and aim.frame not in frames:
            yield f"{at}.frame", f'there is no frame "{aim.frame}"; there are {", ".join(frames)}'
        wide = WIDTH.get(type(aim), 2 * len(control.soft))
        before_s = 0.0
        for i, row in enumerate(aim.rows):
            if len(row.to) != wide:
                yield f"{at}.rows.{i}.to", f"has {len(row.to)} numbers; this task takes {wide}"
            if row.at_s <= before_s and (i or row.at_s < 0):
                yield f"{at}.rows.{i}.at_s", "must grow from row to row"
            if row.within_s > row.at_s - before_s:
                yield (
                    f"{at}.rows.{i}.within_s",
                    f"is longer than the {row.at_s - before_s:g} s since the row before",
                )
            before_s = row.at_s
        if isinstance(aim, ShapeTaskTable):
            most = scenario.bend_max_deg or control.limits.bend_max_deg
            for i, row in enumerate(aim.rows):
                if max(abs(bend) for bend in row.to) * 57.29578 > most:
                    yield (
                        f"{at}.rows.{i}.to",
                        f"bends further than bend_max_deg, {most:g} degrees",
                    )
