"""Tables of a vehicle with thrusters: `control` of kind "wrench", `estimate.filter`, and its scenarios.

Typed structs; CPython only.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated

from msgspec import Meta, field

from caudal.hal.tables.channels import Actuator, Thruster
from caudal.hal.tables.types import Length, Named, NotNegative, Number, Physical, Positive, Table
from caudal.onboard.tables.control import ControlTable
from caudal.onboard.tables.scenario import ScenarioTable
from caudal.onboard.tables.trajectory import TrajectoryTable

Three = Annotated[list[Number], Meta(min_length=3, max_length=3)]
Six = Annotated[list[Number], Meta(min_length=6, max_length=6)]
SixBySix = Annotated[list[Six], Meta(min_length=6, max_length=6)]
Pose = Annotated[list[Number], Meta(min_length=4, max_length=4)]  # x_m, y_m, depth_m, heading_rad
Stick = Annotated[list[Annotated[float, Meta(ge=-1, le=1)]], Meta(min_length=4, max_length=4)]


class ThrusterPlace(Named, kw_only=True, frozen=True):
    """A thruster's position, the direction of a positive force, and its lag."""

    at_m: Three
    axis: Three
    lag_s: NotNegative = 0.0


class ModelTable(Table, kw_only=True, frozen=True):
    """The controller's model of the vehicle (control/motion.py); u v w p q r in the base frame."""

    inertia: SixBySix  # with the added mass: kg, kg m, kg m2
    drag: SixBySix  # linear
    quadratic: Six = field(default_factory=lambda: [0.0] * 6)
    net_weight_n: Number = 0.0  # weight less buoyancy
    righting_n_m: NotNegative = 0.0
    lead_n_m: Number = 0.0


class AxisGains(Table, kw_only=True, frozen=True):
    """Per unit of inertia: kp in 1/s2, ki in 1/s3, kd in 1/s; integral_limit in m/s2 or rad/s2."""

    kp: NotNegative
    ki: NotNegative = 0.0
    kd: NotNegative = 0.0
    integral_limit: NotNegative = 0.5


class Gains(Table, kw_only=True, frozen=True):
    """Gains of the six axes."""

    surge: AxisGains
    sway: AxisGains
    heave: AxisGains
    roll: AxisGains
    pitch: AxisGains
    yaw: AxisGains


class _Wrench(ControlTable, kw_only=True, frozen=True):
    model: ModelTable
    gains: Gains
    feed_forward: bool = True
    cruise: Annotated[list[Positive], Meta(min_length=4, max_length=4)]  # m/s, m/s, m/s, rad/s
    max_lead_m: Length = 0.5  # most that the setpoint may be ahead, in manual control
    stick_s: Physical = 1.0  # from rest to full speed


class WrenchControl(_Wrench, tag="wrench", kw_only=True, frozen=True):
    """A vehicle that holds any pose with its thrusters (control/pose_control.py)."""

    thruster: Annotated[dict[str, ThrusterPlace], Meta(min_length=1)]


class Wrench(_Wrench, tag="wrench", kw_only=True, frozen=True):
    """The same as a loop has it."""

    thruster: list[ThrusterPlace]


class FilterTable(Table, kw_only=True, frozen=True):
    """Standard deviations of the Kalman filters (estimate/kalman.py)."""

    position_m: Physical
    depth_m: Physical
    angle_rad: Physical
    rate_rad_s: Physical
    bias_rad_s2: NotNegative = 1e-4
    disturbance_m_s2: Physical = 0.02  # disturbance that the model lacks,
    disturbance_s: Physical = 10.0  # and how long it lasts
    acceleration_noise_m_s2: Physical = 0.02  # the same, from tick to tick


class Rock(Table, kw_only=True, frozen=True):
    """Amplitudes of oscillations in roll and pitch, and their periods."""

    roll_rad: Annotated[float, Meta(ge=0, le=0.5)] = 0.0
    pitch_rad: Annotated[float, Meta(ge=0, le=0.5)] = 0.0
    roll_s: Physical = 3.0
    pitch_s: Physical = 4.0


class _PoseTask(ScenarioTable, kw_only=True, frozen=True):
    rock: Rock | None = None


class HoldTask(_PoseTask, tag="hold", kw_only=True, frozen=True):
    """Holds a pose."""

    pose: Pose | None = None  # without it, the pose at the start


class FollowTask(_PoseTask, tag="follow", kw_only=True, frozen=True):
    """Follows a trajectory."""

    trajectory: str


class Follow(_PoseTask, tag="follow", kw_only=True, frozen=True):
    """The same as a loop has it."""

    trajectory: TrajectoryTable


class StickRow(Table, kw_only=True, frozen=True):
    """Manual input from a time on."""

    at_s: NotNegative
    stick: Stick  # ahead, to port, up, turn to port


class ManualTask(_PoseTask, tag="manual", kw_only=True, frozen=True):
    """Manual input by time."""

    rows: Annotated[list[StickRow], Meta(min_length=1)]


class PilotTask(_PoseTask, tag="pilot", kw_only=True, frozen=True):
    """Random manual input within a volume."""

    low: Three  # x_m, y_m, depth_m
    high: Three
    change_s: Physical = 5.0
    seed: Annotated[int, Meta(ge=0, le=10**9)] = 0


POSE_TASKS = (HoldTask, FollowTask, ManualTask, PilotTask)
PoseTask = HoldTask | FollowTask | ManualTask | PilotTask
LoopPoseTask = HoldTask | Follow | ManualTask | PilotTask  # the same as a loop has them


def control_problems(
    control: WrenchControl, actuators: Mapping[str, Actuator], names: str
) -> Iterator[tuple[str, str]]:
    """Errors in the table: (key below control, what is wrong)."""
    for name, place in control.thruster.items():
        if name not in actuators:
            yield f"thruster.{name}", f'there is no actuator "{name}"; there are {names}'
        elif not isinstance(thruster := actuators[name], Thruster):
            yield f"thruster.{name}", f'actuator "{name}" is not a thruster'
        elif thruster.min_n >= 0 or thruster.max_n <= 0:
            yield (
                f"thruster.{name}",
                f'actuator "{name}" pushes one way only; min_n must be below 0 and max_n above',
            )
        if not any(place.axis):
            yield f"thruster.{name}.axis", "has no length; give the direction of a positive force"
    yield from model_problems(control.model)


def model_problems(model: ModelTable) -> Iterator[tuple[str, str]]:
    """Errors in the model: (key below control, what is wrong)."""
    m = model.inertia
    for i in range(6):
        for j in range(i):
            if abs(m[i][j] - m[j][i]) > 1e-9 * (abs(m[i][i]) + abs(m[j][j])):
                yield (
                    "model.inertia",
                    f"row {i + 1} column {j + 1} differs from row {j + 1} column {i + 1}; make them equal",
                )
                return
    if not _positive(m):
        yield "model.inertia", "is not positive definite: some motion would have no inertia"


def _positive(m: list[list[float]]) -> bool:
    """Whether Cholesky's square roots exist."""
    root = [[0.0] * len(m) for _ in m]
    for i in range(len(m)):
        for j in range(i + 1):
            left = m[i][j] - sum(root[i][k] * root[j][k] for k in range(j))
            if i == j:
                if left <= 0:
                    return False
                root[i][i] = left**0.5
            else:
                root[i][j] = left / root[j][j]
    return True


def task_problems(scenario: PoseTask, trajectories: Collection[str]) -> Iterator[tuple[str, str]]:
    """Errors in a scenario: (key below it, what is wrong)."""
    if isinstance(scenario, FollowTask) and scenario.trajectory not in trajectories:
        known = ", ".join(trajectories) or "none"
        yield "trajectory", f"there is no [trajectory.{scenario.trajectory}]; there are: {known}"
    if isinstance(scenario, ManualTask):
        times = [row.at_s for row in scenario.rows]
        if times != sorted(times):
            yield "rows", "at_s must not fall from row to row"
    if isinstance(scenario, PilotTask) and any(
        a >= b for a, b in zip(scenario.low, scenario.high, strict=True)
    ):
        yield "low", "every low must be below its high"
