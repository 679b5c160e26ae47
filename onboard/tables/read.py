"""The control stack's tables of the vehicle file, put together and checked.

CPython only. `read` gives the Structs that onboard/build.py (portable) builds a loop from.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import asdict, replace

from caudal.hal.core.fixed_point import to_q14
from caudal.hal.tables.channels import Actuator, Channels, Sensor, Servo
from caudal.hal.tables.types import Table, named
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.tables import chain, failsafe, modes, station, trajectory
from caudal.onboard.tables.chain import Chain, ChainControl, PrioritisedTasks
from caudal.onboard.tables.params import Param
from caudal.onboard.tables.scenario import (
    Guided,
    Pursue,
    Row,
    RowTable,
    ScenarioTable,
    Schedule,
    ScheduleTask,
    Swim,
    Track,
    Wander,
)
from caudal.onboard.tables.stack import (
    AnyGait,
    EstimateTable,
    GuidanceTable,
    LoopTable,
    TailControl,
    TailGait,
    UndulateControl,
)
from caudal.onboard.tables.thrusters import (
    POSE_TASKS,
    Follow,
    FollowTask,
    HoldTask,
    LoopPoseTask,
    ManualTask,
    PilotTask,
    Wrench,
    WrenchControl,
    control_problems,
    task_problems,
)

SWIM_MODEL = ("mass_kg", "wetted_area_m2", "reynolds_length_m", "metres_per_beat", "turn_rad_per_beat")
CHANNELS = ("heading", "turn_rate", "x", "y", "depth", "roll", "pitch", "roll_rate", "pitch_rate")
TABLES = (
    *("loop", "gait", "control", "estimate", "guidance", "failsafe", "surface", "sticks", "mission"),
    *("scenario", "trajectory", "station"),
)

Control = TailControl | UndulateControl | WrenchControl | ChainControl
STILL = (WrenchControl, ChainControl)  # without a gait
ScenarioTask = (
    ScheduleTask
    | Swim
    | Wander
    | Track
    | Pursue
    | HoldTask
    | FollowTask
    | ManualTask
    | PilotTask
    | PrioritisedTasks
)
# The same as a loop has them.
LoopControl = TailControl | UndulateControl | Wrench | Chain
Scenario = Schedule | Wander | Track | Pursue | LoopPoseTask | PrioritisedTasks


class Stack(Table, kw_only=True, frozen=True):
    """The control stack's tables as a loop is built from them."""

    rate_hz: int
    guidance_rate_hz: int
    gait: AnyGait | None
    control: LoopControl
    estimate: EstimateTable
    guidance: GuidanceTable | None
    failsafes: list[failsafe.RuleTable]
    surface: modes.Surface | None
    sticks: modes.SticksTable | None
    mission: modes.MissionTable | None
    station: station.StationTable | None
    scenarios: dict[str, Scenario]


class Settings(Stack, kw_only=True, frozen=True):
    """Settings of a vehicle's loop (onboard/build.py); a board gets objects with the same attributes."""

    name: str
    actuators: list[Actuator]
    sensors: list[Sensor]
    params: list[Param] = []


def read(file: VehicleFile, channels: Channels) -> Stack:
    """The stack's tables, with names checked against the HAL's channels."""
    actuators: dict[str, Actuator] = {channel.name: channel for channel in channels.actuators}
    sensors: dict[str, Sensor] = {channel.name: channel for channel in channels.sensors}
    loop = file.read("loop", LoopTable)
    control: Control = file.read("control", Control)  # type: ignore[arg-type]
    gait: AnyGait | None = None
    if not isinstance(control, STILL):
        gait = file.read("gait", AnyGait)  # type: ignore[arg-type]
    estimate = file.read("estimate", EstimateTable)
    guidance = file.read("guidance", GuidanceTable) if "guidance" in file.tables else None
    scenarios = file.read("scenario", dict[str, ScenarioTask])
    trajectories = file.read("trajectory", trajectory.Trajectories)

    guidance_rate_hz = loop.guidance_rate_hz or loop.rate_hz
    if loop.rate_hz % guidance_rate_hz or 1_000_000 % loop.rate_hz:
        problem = "1,000,000 must divide by rate_hz, and rate_hz by guidance_rate_hz"
        raise file.error("loop", f"{loop.rate_hz} and {guidance_rate_hz} Hz do not fit: {problem}")
    if gait:
        _check_gait(file, gait, actuators)
    _check_control(file, control, actuators, sensors)
    if isinstance(control, STILL):
        needs = f'a control.kind of "{file.tables["control"]["kind"]}" needs it'
        if estimate.filter is None:
            raise file.error("estimate.filter", f"{needs}; give the sensors' noises")
        for key in ("x", "y", "depth", "heading", "roll", "pitch"):
            if not getattr(estimate, key):
                raise file.error(f"estimate.{key}", f"{needs}; name the sensor")
    for name, table in trajectories.items():
        for key, problem in trajectory.disagreements(table):
            raise file.error(f"trajectory.{name}.{key}", problem)
    for key in CHANNELS:
        _check_sensor(file, f"estimate.{key}", getattr(estimate, key), sensors)
    if guidance and isinstance(control, TailControl):
        for key in SWIM_MODEL:
            if getattr(control, key) is None:
                raise file.error(f"control.{key}", "is required with [guidance]; give it")
    if guidance:
        _check_sensor(file, "guidance.bumper", guidance.bumper, sensors)
    failsafes = failsafe.read(file, estimate, actuators, sensors)
    for name, scenario in scenarios.items():
        _check_scenario(file, f"scenario.{name}", scenario, actuators, sensors)
        if not isinstance(control, _able(scenario)):
            problem = f'is not for a control.kind of "{file.tables["control"]["kind"]}"'
            raise file.error(f"scenario.{name}.task", problem)
        if isinstance(scenario, POSE_TASKS):
            for key, problem in task_problems(scenario, trajectories):
                raise file.error(f"scenario.{name}.{key}", problem)
        if isinstance(scenario, PrioritisedTasks) and isinstance(control, ChainControl):
            for key, problem in chain.task_problems(scenario, control):
                raise file.error(f"scenario.{name}.{key}", problem)
        if isinstance(scenario, Guided) and not (guidance and isinstance(control, TailControl)):
            raise file.error(f"scenario.{name}.task", 'needs [guidance] and a control.kind of "tail"')
        if isinstance(scenario, Swim) and gait and gait.frequency_hz is None:
            raise file.error(f"scenario.{name}.task", "swims at gait.frequency_hz, which is not given")
    three = modes.read(file, actuators, gait, guidance is not None)
    return Stack(
        rate_hz=loop.rate_hz,
        guidance_rate_hz=guidance_rate_hz,
        gait=gait,
        control=_lowered_control(control),
        estimate=estimate,
        guidance=guidance,
        failsafes=failsafes,
        surface=three.surface,
        sticks=three.sticks,
        mission=three.mission,
        station=station.read(file, gait),
        scenarios={name: _lowered(scenario, gait, trajectories) for name, scenario in scenarios.items()},
    )


def for_board(settings: Settings, scenario: str) -> Settings:
    """Settings for a microcontroller: one scenario, and nothing for a pilot, a ground station or an operating system,
    which it does not have."""
    return replace(
        settings,
        scenarios={scenario: settings.scenarios[scenario]},
        failsafes=[rule for rule in settings.failsafes if rule.trigger not in failsafe.OF_OTHERS],
        station=None,
        sticks=None,
        mission=None,
        params=[],
    )


def _lowered_control(control: Control) -> LoopControl:
    """Thrusters as a list: a microcontroller's dictionaries have no order."""
    if isinstance(control, WrenchControl):
        return Wrench(**(asdict(control) | {"thruster": named(control.thruster)}))
    if isinstance(control, ChainControl):
        return Chain(**(asdict(control) | {"thruster": named(control.thruster)}))
    return control


def _lowered(scenario: ScenarioTask, gait: AnyGait | None, trajectories: trajectory.Trajectories) -> Scenario:
    """With trajectories in place of their names, and held actuators in fixed point; `swim` is a schedule of one row."""
    common = {key: getattr(scenario, key) for key in ScenarioTable.__struct_fields__}
    if isinstance(scenario, FollowTask):
        return Follow(**(asdict(scenario) | {"trajectory": trajectories[scenario.trajectory]}))
    if isinstance(scenario, ScheduleTask):
        return Schedule(**common, rows=[_lowered_row(row) for row in scenario.rows])
    if isinstance(scenario, Swim):
        assert gait and gait.frequency_hz is not None, "checked above"
        row = RowTable(
            at_s=0.0,
            frequency_hz=-gait.frequency_hz if scenario.backward else gait.frequency_hz,
            amplitude=scenario.amplitude,
            deflection_deg=scenario.deflection_deg,
            hold=scenario.hold,
        )
        return Schedule(**common, rows=[_lowered_row(row)])
    return scenario


def _lowered_row(row: RowTable) -> Row:
    return Row(**(asdict(row) | {"hold": [(name, to_q14(value)) for name, value in row.hold.items()]}))


def _able(scenario: ScenarioTask) -> tuple[type, ...]:
    """Kinds of control that can run a scenario's task."""
    if isinstance(scenario, PrioritisedTasks):
        return (ChainControl,)
    return (WrenchControl,) if isinstance(scenario, POSE_TASKS) else (TailControl, UndulateControl)


def _check_control(
    file: VehicleFile,
    control: Control,
    actuators: Mapping[str, Actuator],
    sensors: Mapping[str, Sensor],
) -> None:
    if isinstance(control, ChainControl):
        for key, problem in chain.control_problems(control, actuators, set(sensors)):
            raise file.error(f"control.{key}", problem)
        return
    if isinstance(control, WrenchControl):
        for key, problem in control_problems(control, actuators, _names(actuators)):
            raise file.error(f"control.{key}", problem)
        return
    if isinstance(control, TailControl):
        if control.frequency_min_hz >= control.frequency_max_hz:
            raise file.error(
                "control.frequency_min_hz", f"must be below frequency_max_hz, {control.frequency_max_hz}"
            )
        if control.dive:
            _check_servo(file, "control.dive.actuator", control.dive.actuator, actuators)
        return
    for key, part, table in (("shells", "shell", control.shell), ("gaze", "neck", control.neck)):
        if getattr(control, key) == "on" and table is None:
            raise file.error(f"control.{key}", f"is on, but there is no [control.{part}] to say how")
    named = (
        {f"shell.joints.{k}": joint for k, joint in enumerate(control.shell.joints)} if control.shell else {}
    )
    if control.neck:
        named |= {f"neck.{key}": getattr(control.neck, key) for key in ("yaw", "pitch")}
    for key, joint in named.items():
        if joint:
            _check_servo(file, f"control.{key}", joint, actuators)


def _check_servo(file: VehicleFile, key: str, joint: str, actuators: Mapping[str, Actuator]) -> None:
    if joint not in actuators:
        raise file.error(key, f'there is no actuator "{joint}"; there are {_names(actuators)}')
    if not isinstance(actuators[joint], Servo):
        raise file.error(key, f'actuator "{joint}" is not a servo; a joint needs one')


def _check_gait(file: VehicleFile, gait: AnyGait, actuators: Mapping[str, Actuator]) -> None:
    for k, joint in enumerate(gait.joints):
        _check_servo(file, f"gait.joints.{k}", joint, actuators)
    for key in ("links_m" if isinstance(gait, TailGait) else "joint_positions_m", "turn_share"):
        if len(getattr(gait, key)) != len(gait.joints):
            found = len(getattr(gait, key))
            raise file.error(
                f"gait.{key}", f"has {found} values for {len(gait.joints)} joints; give one each"
            )


def _check_sensor(file: VehicleFile, key: str, name: str, sensors: Mapping[str, Sensor]) -> None:
    if name and name not in sensors:
        raise file.error(key, f'there is no sensor "{name}"; there are {_names(sensors)}')


def _check_scenario(
    file: VehicleFile,
    key: str,
    scenario: ScenarioTask,
    actuators: Mapping[str, Actuator],
    sensors: Mapping[str, Sensor],
) -> None:
    if isinstance(scenario, Swim):
        for name in scenario.hold:
            if name not in actuators:
                raise file.error(f"{key}.hold", f'there is no actuator "{name}"')
    elif isinstance(scenario, ScheduleTask):
        times = [row.at_s for row in scenario.rows]
        if times != sorted(times):
            raise file.error(f"{key}.rows", "at_s must not fall from row to row")
        for k, row in enumerate(scenario.rows):
            for name in row.hold:
                if name not in actuators:
                    raise file.error(f"{key}.rows.{k}.hold", f'there is no actuator "{name}"')
    elif isinstance(scenario, Track):
        for k, point in enumerate(scenario.path_m):
            if len(point) != 2:
                raise file.error(f"{key}.path_m.{k}", f"is {point}; a waypoint is [x, y]")
            if point == scenario.path_m[k - 1]:
                raise file.error(f"{key}.path_m.{k}", "repeats the waypoint before it")
    elif isinstance(scenario, Pursue):
        _check_sensor(file, f"{key}.target_x", scenario.target_x, sensors)
        _check_sensor(file, f"{key}.target_y", scenario.target_y, sensors)


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
