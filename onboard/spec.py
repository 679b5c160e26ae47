"""The control stack's tables of the vehicle file, as typed structs.

CPython only. `read` validates them and gives plain settings that onboard/app.py (portable) builds a loop from.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hal.fixed import fixed
from hal.vehicle_file import VehicleFile

Positive = Annotated[float, Meta(gt=0, le=1e6)]
Number = Annotated[float, Meta(ge=-1e6, le=1e6)]
NotNegative = Annotated[float, Meta(ge=0, le=1e6)]
Length = Annotated[float, Meta(ge=1e-4, le=1e4)]
Physical = Annotated[float, Meta(ge=1e-9, le=1e6)]
Share = Annotated[float, Meta(ge=0, le=1)]


class _Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    pass


class LoopTable(_Table, kw_only=True, frozen=True):
    rate_hz: Annotated[int, Meta(ge=1, le=2000)]
    guide_hz: Annotated[int, Meta(ge=1, le=1000)]


class GaitTable(_Table, kw_only=True, frozen=True):
    source: Literal["table", "cpg"]
    joints: Annotated[list[str], Meta(min_length=1)]
    links_m: Annotated[list[Length], Meta(min_length=1)]
    turn_share: list[Annotated[float, Meta(ge=-1, le=1)]]
    rows: Annotated[int, Meta(ge=4, le=512)] = 36
    c1: Annotated[float, Meta(ge=-1, le=1)]
    c2_per_m: Annotated[float, Meta(ge=-10, le=10)]
    wavelength_m: Length
    convergence_per_s: Annotated[float, Meta(ge=1, le=100)] = 14.0
    coupling_per_s: Annotated[float, Meta(ge=0.5, le=40)] = 8.0


class TailControl(_Table, tag_field="kind", tag="tail", kw_only=True, frozen=True):
    """A vehicle that swims with its tail: what the controller knows of how it does, and the tail's limits."""

    mass_kg: Physical
    wetted_area_m2: Physical
    reynolds_length_m: Physical
    viscosity_m2_s: Physical = 1.12e-6
    density_kg_m3: Physical = 1000.0
    metres_per_beat: Physical
    turn_rad_per_beat: Physical
    frequency_min_hz: Annotated[float, Meta(ge=0, le=20)] = 0.0  # the tail beats on at, ready to turn
    frequency_max_hz: Annotated[float, Meta(gt=0, le=20)]
    amplitude_min: Share = 0.0  # of the gait's, while it beats
    deflection_max_rad: Annotated[float, Meta(gt=0, lt=1.5)]


class EstimateTable(_Table, kw_only=True, frozen=True):
    """The channels the estimator uses; "" where the vehicle has none."""

    heading: str = ""
    turn_rate: str = ""
    x: str = ""
    y: str = ""
    depth: str = ""
    fix_gain: Share = 0.3
    speed_gain_per_s: NotNegative = 0.5


class Circle(_Table, kw_only=True, frozen=True):
    x_m: Number
    radius_m: Positive


class Weights(_Table, kw_only=True, frozen=True):
    """What a behaviour costs: per rad/s off the task's turn and off the last one, for turning to
    the other side than the last (or two equal ways round would take turns), for turning to port, for
    being slow, per metre short of comfort, per metre short of the margin."""

    task: NotNegative = 0.4
    change: NotNegative = 0.15
    flip: NotNegative = 3.0
    port: NotNegative = 0.05
    slow: NotNegative = 1.5
    near: NotNegative = 3.0
    touch: NotNegative = 200.0


class GuidanceTable(_Table, kw_only=True, frozen=True):
    """How the vehicle decides among its behaviours."""

    horizon_s: Physical
    steps: Annotated[int, Meta(ge=2, le=60)]
    margin_m: NotNegative
    comfort_m: Positive
    turn_lag_s: Physical
    speed_lag_s: Physical
    brake_m_s2: Positive
    accelerate_m_s2: Positive
    turn_rates_rad_s: Annotated[list[Number], Meta(min_length=1)]
    speed_shares: Annotated[list[Share], Meta(min_length=1)]
    hull: Annotated[list[Circle], Meta(min_length=1)]
    weights: Weights = Weights()
    bumper: str = ""
    recoil_s: Positive = 1.5
    recoil_m_s2: Positive = 0.1


Action = Literal["warn", "hold", "safe", "off"]


class _Failsafe(_Table, tag_field="trigger", kw_only=True, frozen=True):
    delay_s: NotNegative = 0.0
    clear_s: NotNegative = 0.0
    latched: bool = False


class NotArmed(_Failsafe, tag="not_armed", kw_only=True, frozen=True):
    action: Literal["off", "safe"] = "off"


class ReadingLost(_Failsafe, tag="reading_lost", kw_only=True, frozen=True):
    sensors: Annotated[list[str], Meta(min_length=1)]
    action: Action = "safe"


class Overrun(_Failsafe, tag="overrun", kw_only=True, frozen=True):
    limit_ticks: Positive = 1.0
    action: Action = "safe"


class BadCommand(_Failsafe, tag="bad_command", kw_only=True, frozen=True):
    action: Literal["hold", "safe", "off"] = "safe"


Failsafes = dict[str, NotArmed | ReadingLost | Overrun | BadCommand]

# Rows every vehicle has; a table of the same name in the vehicle file replaces one.
ALWAYS: Failsafes = {
    "not_armed": NotArmed(),
    "overrun": Overrun(delay_s=0.05, clear_s=1.0),
    "bad_command": BadCommand(latched=True),
}


class SteeringTable(_Table, kw_only=True, frozen=True):
    kp: NotNegative
    ki: NotNegative = 0.0
    kd: NotNegative = 0.0
    limit: Positive


class _Scenario(_Table, tag_field="task", kw_only=True, frozen=True):
    about: str
    duration_s: Physical
    world: str = "open"


class Row(_Table, kw_only=True, frozen=True):
    """One line of a schedule; what it should lead to may stand beside it and is then checked."""

    at_s: NotNegative
    frequency_hz: Number
    amplitude: Share = 1.0
    deflection_deg: Annotated[float, Meta(ge=-85, le=85)] = 0.0
    hold: dict[str, Number] = {}
    expect_speed_m_s: Number | None = None
    expect_turn_rate_deg_s: Number | None = None


class Schedule(_Scenario, tag="schedule", kw_only=True, frozen=True):
    rows: Annotated[list[Row], Meta(min_length=1)]


class _Guided(_Scenario, kw_only=True, frozen=True):
    comfort_m: Positive | None = None  # in the place of guidance.comfort_m, where a task leads near walls


class Wander(_Guided, tag="wander", kw_only=True, frozen=True):
    speed_m_s: Positive
    meander_rad_s: NotNegative = 0.2
    meander_s: Physical = 17.0


class Track(_Guided, tag="track", kw_only=True, frozen=True):
    speed_m_s: Positive
    look_ahead_m: Physical
    steering: SteeringTable
    path_m: Annotated[list[list[Annotated[float, Meta(ge=-1e5, le=1e5)]]], Meta(min_length=3)]


class Pursue(_Guided, tag="pursue", kw_only=True, frozen=True):
    speed_m_s: Positive
    distance_m: NotNegative
    closing_per_s: Positive
    target_x: str
    target_y: str
    steering: SteeringTable


Scenarios = dict[str, Schedule | Wander | Track | Pursue]
TABLES = ("loop", "gait", "control", "estimate", "guidance", "failsafe", "scenario")


def read(file: VehicleFile, channels: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The stack's settings, plain, with names checked against the HAL's channels."""
    actuators = {channel["name"]: channel for channel in channels["actuators"]}
    sensors = {channel["name"] for channel in channels["sensors"]}
    loop = file.read("loop", LoopTable)
    gait = file.read("gait", GaitTable)
    control = file.read("control", TailControl)
    estimate = file.read("estimate", EstimateTable)
    guidance = file.read("guidance", GuidanceTable)
    failsafes = {**ALWAYS, **file.read("failsafe", Failsafes)}
    scenarios = file.read("scenario", Scenarios)

    if control.frequency_min_hz >= control.frequency_max_hz:
        raise file.error(
            "control.frequency_min_hz", f"must be below frequency_max_hz, {control.frequency_max_hz}"
        )
    if loop.rate_hz % loop.guide_hz or 1_000_000 % loop.rate_hz:
        problem = "1,000,000 must divide by rate_hz, and rate_hz by guide_hz"
        raise file.error("loop", f"{loop.rate_hz} and {loop.guide_hz} Hz do not fit: {problem}")
    _check_gait(file, gait, actuators)
    for key in ("heading", "turn_rate", "x", "y", "depth"):
        _check_sensor(file, f"estimate.{key}", getattr(estimate, key), sensors)
    _check_sensor(file, "guidance.bumper", guidance.bumper, sensors)
    for name, row in failsafes.items():
        if isinstance(row, ReadingLost):
            for sensor in row.sensors:
                _check_sensor(file, f"failsafe.{name}.sensors", sensor, sensors)
    for name, scenario in scenarios.items():
        _check_scenario(file, f"scenario.{name}", scenario, actuators, sensors)
    return {
        "rate_hz": loop.rate_hz,
        "guide_hz": loop.guide_hz,
        "gait": msgspec.to_builtins(gait),
        "control": msgspec.to_builtins(control),
        "estimate": msgspec.to_builtins(estimate),
        "guidance": {
            **msgspec.to_builtins(guidance),
            "hull": [(circle.x_m, circle.radius_m) for circle in guidance.hull],
        },
        "failsafes": [{"name": name, **msgspec.to_builtins(row)} for name, row in failsafes.items()],
        "scenarios": {name: _plain_scenario(scenario) for name, scenario in scenarios.items()},
    }


def _plain_scenario(scenario: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(scenario)
    for row in plain.get("rows", ()):
        row["hold"] = [(name, fixed(value)) for name, value in row["hold"].items()]
    return plain


def _check_gait(file: VehicleFile, gait: GaitTable, actuators: dict[str, dict[str, Any]]) -> None:
    for k, joint in enumerate(gait.joints):
        if joint not in actuators:
            raise file.error(
                f"gait.joints.{k}", f'there is no actuator "{joint}"; there are {_names(actuators)}'
            )
        if actuators[joint]["map"] != "servo":
            raise file.error(f"gait.joints.{k}", f'actuator "{joint}" is no servo; a joint needs one')
    for key in ("links_m", "turn_share"):
        if len(getattr(gait, key)) != len(gait.joints):
            found = len(getattr(gait, key))
            raise file.error(
                f"gait.{key}", f"has {found} values for {len(gait.joints)} joints; give one each"
            )


def _check_sensor(file: VehicleFile, key: str, name: str, sensors: set[str]) -> None:
    if name and name not in sensors:
        raise file.error(key, f'there is no sensor "{name}"; there are {_names(sensors)}')


def _check_scenario(
    file: VehicleFile, key: str, scenario: Any, actuators: dict[str, dict[str, Any]], sensors: set[str]
) -> None:
    if isinstance(scenario, Schedule):
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
                raise file.error(f"{key}.path_m.{k}", f"is {point}; a way-point is [x, y]")
            if point == scenario.path_m[k - 1]:
                raise file.error(f"{key}.path_m.{k}", "is the way-point before it again")
    elif isinstance(scenario, Pursue):
        _check_sensor(file, f"{key}.target_x", scenario.target_x, sensors)
        _check_sensor(file, f"{key}.target_y", scenario.target_y, sensors)


def _names(names: Any) -> str:
    return ", ".join(sorted(names))
