"""Tables `loop`, `gait`, `control`, `estimate` and `guidance` of a vehicle file.

Typed structs; CPython only.
"""

from typing import Annotated, Literal

from msgspec import Meta

from caudal.hal.tables.types import Length, NotNegative, Number, Physical, Positive, Share, Table
from caudal.hal.vehicle_file.schema import filled_in
from caudal.onboard.tables.control import ControlTable
from caudal.onboard.tables.thrusters import FilterTable


class LoopTable(Table, kw_only=True, frozen=True):
    """Rates of the loop and of guidance."""

    rate_hz: Annotated[int, Meta(ge=1, le=2000)]
    guidance_rate_hz: Annotated[int, Meta(ge=1, le=1000)] | None = None  # without it, rate_hz


class _Gait(Table, tag_field="kind", kw_only=True, frozen=True):
    source: Literal["table", "cpg"]
    joints: Annotated[list[str], Meta(min_length=1)]
    turn_share: list[Annotated[float, Meta(ge=-1, le=1)]]
    table_size: Annotated[int, Meta(ge=4, le=512)] = 36
    frequency_hz: Annotated[float, Meta(ge=0, le=20)] | None = None  # of a scenario without one
    convergence_per_s: Annotated[float, Meta(ge=1, le=100)] = 14.0
    coupling_per_s: Annotated[float, Meta(ge=0.5, le=40)] = 8.0


class TailGait(_Gait, tag="tail", kw_only=True, frozen=True):
    """A chain of links on a travelling wave (gait/wave.py)."""

    kind: Literal["tail"] = filled_in("kind", "tail")
    links_m: Annotated[list[Length], Meta(min_length=1)]
    c1: Annotated[float, Meta(ge=-1, le=1)]
    c2_per_m: Annotated[float, Meta(ge=-10, le=10)]
    wavelength_m: Length


class UndulationGait(_Gait, tag="undulation", kw_only=True, frozen=True):
    """Joints that each swing in one travelling wave (gait/undulation.py)."""

    kind: Literal["undulation"] = filled_in("kind", "undulation")
    joint_positions_m: Annotated[list[NotNegative], Meta(min_length=1)]  # of the joints, from the snout
    length_m: Length
    waves: Annotated[float, Meta(ge=-10, le=10)]  # on the body; 0 is no phase lag
    growth_per_m: Annotated[float, Meta(ge=-10, le=10)] = 0.0
    amplitude_rad: Annotated[float, Meta(ge=0, le=1.5)]


AnyGait = TailGait | UndulationGait


class ShellTable(Table, kw_only=True, frozen=True):
    """The shells' joints and gains (control/shells.py)."""

    joints: Annotated[list[str], Meta(min_length=1)]
    damp_per_s: Number = 0.0
    leak_s: Physical = 1.0
    rate_s: Number = 0.0
    trim_per_s: Number = 0.0
    limit_rad: Annotated[float, Meta(gt=0, le=3)] = 0.5
    trim_limit_rad: Annotated[float, Meta(ge=0, le=3)] = 0.3
    level_deg: Number = 0.0  # the roll it holds


class NeckTable(Table, kw_only=True, frozen=True):
    """The neck's joints; lead_s is the servos' delay and lag, lag_s the part of it that is their lag."""

    yaw: str = ""
    pitch: str = ""
    yaw_sign: Literal[1, -1] = 1
    pitch_sign: Literal[1, -1] = 1
    lead_s: NotNegative = 0.03
    lag_s: NotNegative = 0.02
    limit_rad: Annotated[float, Meta(gt=0, le=3)] = 0.8
    heading_deg: Number | None = None  # without it, the heading it starts with


class UndulateControl(ControlTable, tag="undulate", kw_only=True, frozen=True):
    """A long body that undulates, with shells that level its roll and a neck that stabilises its gaze."""

    frequency_max_hz: Annotated[float, Meta(gt=0, le=20)]
    deflection_max_rad: Annotated[float, Meta(gt=0, lt=1.5)]
    shells: Literal["off", "on"] = "off"
    shell: ShellTable | None = None
    gaze: Literal["off", "on"] = "off"
    neck: NeckTable | None = None


class DiveTable(Table, kw_only=True, frozen=True):
    """The servo that changes depth, and its gains (control/dive.py)."""

    actuator: str
    direction: Literal[1, -1] = 1  # 1: a positive angle makes the vehicle dive
    kp_rad_per_m: NotNegative
    ki_rad_per_m_s: NotNegative = 0.0
    kd_rad_s_per_m: NotNegative = 0.0
    pitch_gain: Number = 0.0
    limit_rad: Annotated[float, Meta(gt=0, le=1.5)] = 0.5


class TailControl(ControlTable, tag="tail", kw_only=True, frozen=True):
    """A vehicle that swims with its tail: the controller's model of it, and the tail's limits."""

    mass_kg: Physical | None = None  # guidance needs these three,
    wetted_area_m2: Physical | None = None
    reynolds_length_m: Physical | None = None
    viscosity_m2_s: Physical = 1.12e-6
    density_kg_m3: Physical = 1000.0
    metres_per_beat: Physical | None = None  # and these two
    turn_rad_per_beat: Physical | None = None
    curvature_per_rad: NotNegative = (
        0.0  # 1/m per rad of deflection of a tail as a rudder; 0: steers by beats
    )
    frequency_min_hz: Annotated[float, Meta(ge=0, le=20)] = (
        0.0  # least tail-beat of guidance, to be able to turn
    )
    frequency_max_hz: Annotated[float, Meta(gt=0, le=20)]
    amplitude_min: Share = 0.0  # of the gait's, at that tail-beat
    deflection_max_rad: Annotated[float, Meta(gt=0, lt=1.5)]
    dive: DiveTable | None = None


class EstimateTable(Table, kw_only=True, frozen=True):
    """The channels the estimator uses; "" where the vehicle has none."""

    heading: str = ""
    turn_rate: str = ""
    x: str = ""
    y: str = ""
    depth: str = ""
    roll: str = ""
    pitch: str = ""
    roll_rate: str = ""
    pitch_rate: str = ""
    turn_smooth_s: NotNegative = 0.0  # averages the tail-beat out of the turn rate
    position_gain: Share = 0.3
    speed_gain_per_s: NotNegative = 0.5
    filter: FilterTable | None = None  # of a vehicle with thrusters


class Circle(Table, kw_only=True, frozen=True):
    """A circle of the hull's outline, on the axis."""

    x_m: Number
    radius_m: Positive


class Weights(Table, kw_only=True, frozen=True):
    """Costs of a behaviour: per rad/s of difference from the task's turn rate and from the last one, for turning to the
    other side than the last (or two equal ways around would alternate), for turning to port, for being slow, per metre
    short of preferred_clearance_m, per metre short of min_clearance_m."""

    task: NotNegative = 0.4
    change: NotNegative = 0.15
    flip: NotNegative = 3.0
    port: NotNegative = 0.05
    slow: NotNegative = 1.5
    near: NotNegative = 3.0
    touch: NotNegative = 200.0


class GuidanceTable(Table, kw_only=True, frozen=True):
    """How guidance selects a behaviour."""

    horizon_s: Physical
    steps: Annotated[int, Meta(ge=2, le=60)]
    min_clearance_m: NotNegative
    preferred_clearance_m: Positive
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
