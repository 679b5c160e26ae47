"""Tables `plant.actuator` and `plant.sensor`: what a vehicle moves with and what it feels, below the HAL's maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from caudal.sim_plant.tables.types import AtLeastZero, Kind, Number, Positive
from caudal.sim_plant.tables.water import ORIGIN, Three

PulseUs = Annotated[int, Meta(ge=500, le=2500)]
Side = Literal[1, -1]
Pascals = Annotated[float, Meta(gt=0, le=1e8)]


class Servo(Kind, tag="servo", kw_only=True, frozen=True):
    neutral_us: PulseUs
    us_per_rad: Positive
    direction: Side = 1  # as mounted
    travel_rad: Annotated[float, Meta(gt=0, le=3.2)]  # mechanical end stop, both sides
    rate_rad_s: Positive  # fastest turn
    lag_s: AtLeastZero = 0.005  # of its position loop; 0 runs at full rate to the goal
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0
    resolution_us: AtLeastZero = 0.0  # the servo's own step; 0 is as fine as the pulse
    # On a joint of a tree that yields (mode "torque") it pushes instead: a spring to its goal, with these limits.
    torque_n_m: Positive = 1.0  # at standstill; falls to none at rate_rad_s
    stiffness_n_m_rad: AtLeastZero = 0.0
    damping_n_m_s_rad: AtLeastZero = 0.0
    backlash_rad: AtLeastZero = 0.0  # of its gear, end to end


class Thruster(Kind, tag="thruster", kw_only=True, frozen=True):
    """Pushes its body at at_m along its axis, by its motor's curves (`plant.motor`) at the battery's voltage.

    In the plane of the quick law only the axis' part along the heading pushes, and turns nothing.
    """

    motor: str
    body: str | None = None  # of a tree, whose axes at_m and axis are in; without it the base
    at_m: Three = ORIGIN
    axis: Three = (1.0, 0.0, 0.0)  # made a unit vector
    neutral_us: PulseUs = 1500
    direction: Side = 1  # -1 runs the other way round: a pulse counts as its mirror image about neutral_us
    lag_s: AtLeastZero = 0.0  # of push and current
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0
    dead_from_s: AtLeastZero | None = None  # a fault: from then on it runs down, whatever the pulse
    turn_n_s2: tuple[Positive, Positive] = (0.014, 0.011)  # its push of a (rev/s)2, ahead and back


class Valve(Kind, tag="valve", kw_only=True, frozen=True):
    """Proportional, before a hydraulic chamber: whole microamperes in, the chamber's pressure out (parts/valves.py)."""

    crack_ua: AtLeastZero  # up to here it stays shut
    pa_per_ua: Positive  # from there on
    hysteresis_ua: AtLeastZero = 0.0  # between the way up and the way down
    supply_pa: Pascals  # there is no more
    lag_s: AtLeastZero = 0.0  # of the chamber
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0
    stuck_from_s: AtLeastZero | None = None  # a fault: from then on the spool stays where it is
    leak_from_s: AtLeastZero | None = None  # a fault: from then on the chamber holds less ...
    leak_share: Annotated[float, Meta(ge=0, le=1)] = 0.0  # ... by this share of what the valve gives


class Release(Kind, tag="release", kw_only=True, frozen=True):
    """A latch that a servo's pulse opens for good: a weight falls off, and what it weighed in water lifts the base.

    The weight's inertia stays: it is small against the vehicle's. The quick law knows no depth, and of this nothing.
    """

    neutral_us: PulseUs
    us_per_rad: Positive
    direction: Side = 1
    opens_rad: Positive
    weight_n: Positive  # in water
    lag_s: AtLeastZero = 0.0
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0


class Sensor(Kind, kw_only=True, frozen=True):
    rate_hz: Annotated[float, Meta(gt=0, le=1000)]
    drop_out: Annotated[float, Meta(ge=0, le=1)] = 0.0  # probability that a reading is absent
    drop_from_s: AtLeastZero = 0.0  # one outage: none from then on ...
    drop_for_s: AtLeastZero = 0.0  # ... for as long


class Sonar(Sensor, tag="sonar", kw_only=True, frozen=True):
    """The nearest echo in a wedge of beams; also stands for infra-red, narrower."""

    x_m: Number
    y_m: Number
    bearing_deg: Number
    half_angle_deg: Annotated[float, Meta(ge=0, le=90)]
    beams: Annotated[int, Meta(ge=1, le=181)]
    range_m: Positive
    metres_per_count: Positive
    noise_m: AtLeastZero = 0.0


class Bumper(Sensor, tag="bumper", kw_only=True, frozen=True):
    """Counts 1 while the front end of the head touches something."""


class Angle(Sensor, kw_only=True, frozen=True):
    """Of the base's attitude: heading, then pitch (nose down positive), then roll (right side down positive)."""

    rad_per_count: Positive
    noise_rad: AtLeastZero = 0.0


class Heading(Angle, tag="heading", kw_only=True, frozen=True):
    pass


class Roll(Angle, tag="roll", kw_only=True, frozen=True):
    pass


class Pitch(Angle, tag="pitch", kw_only=True, frozen=True):
    pass


class Rate(Sensor, kw_only=True, frozen=True):
    """A gyro's axis, base frame."""

    rad_s_per_count: Positive
    noise_rad_s: AtLeastZero = 0.0
    bias_rad_s: AtLeastZero = 0.0  # standard deviation of the constant bias, drawn from the seed


class YawRate(Rate, tag="yaw_rate", kw_only=True, frozen=True):
    pass


class RollRate(Rate, tag="roll_rate", kw_only=True, frozen=True):
    pass


class PitchRate(Rate, tag="pitch_rate", kw_only=True, frozen=True):
    pass


class SurgeAcceleration(Sensor, tag="surge_acceleration", kw_only=True, frozen=True):
    m_s2_per_count: Positive
    noise_m_s2: AtLeastZero = 0.0
    bias_m_s2: AtLeastZero = 0.0  # standard deviation of the constant bias, drawn from the seed


class Depth(Sensor, tag="depth", kw_only=True, frozen=True):
    metres_per_count: Positive
    zero_counts: int = 0
    noise_m: AtLeastZero = 0.0


class Position(Sensor, kw_only=True, frozen=True):
    """As an overhead camera reports it, through the waves of the surface (Liu and Hu eq. 1)."""

    metres_per_count: Positive
    noise_m: AtLeastZero = 0.0
    wave_amplitude_m: AtLeastZero = 0.0
    wave_length_m: Positive = 1.0
    wave_hz: AtLeastZero = 0.0


class PositionX(Position, tag="position_x", kw_only=True, frozen=True):
    pass


class PositionY(Position, tag="position_y", kw_only=True, frozen=True):
    pass


class TargetX(Position, tag="target_x", kw_only=True, frozen=True):
    pass


class TargetY(Position, tag="target_y", kw_only=True, frozen=True):
    pass


class JointAngle(Sensor, tag="joint", kw_only=True, frozen=True):
    joint: str
    rad_per_count: Positive
    zero_counts: int = 0
    noise_rad: AtLeastZero = 0.0


class Stroke(Sensor, tag="stroke", kw_only=True, frozen=True):
    """How far a prismatic joint is out."""

    joint: str
    metres_per_count: Positive
    noise_m: AtLeastZero = 0.0


class Pressure(Sensor, tag="pressure", kw_only=True, frozen=True):
    """Of the chamber behind a valve."""

    chamber: str  # the valve's name
    pascals_per_count: Positive
    zero_counts: int = 0
    noise_pa: AtLeastZero = 0.0


class Turns(Sensor, tag="turns", kw_only=True, frozen=True):
    """A thruster's revolutions a second, without a sign, as its speed controller reports them; by `turn_n_s2`."""

    thruster: str
    turns_s_per_count: Positive
    noise_turns_s: AtLeastZero = 0.0


class Battery(Sensor, tag="battery", kw_only=True, frozen=True):
    """The voltage of `plant.battery` under its load."""

    volts_per_count: Positive
    noise_v: AtLeastZero = 0.0


class Steady(Sensor, tag="steady", kw_only=True, frozen=True):
    """Something that the plant has no model of, and that stays as it is: a leak that is none, a housing's warmth."""

    value: Number
    per_count: Positive
    zero_counts: int = 0
    noise: AtLeastZero = 0.0


AnySensor = (
    Sonar | Bumper | Heading | Roll | Pitch | YawRate | RollRate | PitchRate | SurgeAcceleration | Depth
    | PositionX | PositionY | TargetX | TargetY | JointAngle | Stroke | Pressure | Turns | Battery | Steady
)  # fmt: skip


def check_channels(name: str, what: str, asked: Sequence[str], known: Mapping[str, object]) -> None:
    """A vehicle may ask for what its plant has, each channel once."""
    for i, channel in enumerate(asked):
        if channel not in known:
            choices = ", ".join(known) or f"none; the plant has no {what}s"
            raise ValueError(
                f"{name}: the plant has no {what} {channel}; add [plant.{what}.{channel}] "
                f"to the vehicle file or choose from: {choices}."
            )
        if channel in asked[:i]:
            raise ValueError(f"{name}: {what} {channel} is asked for twice; name each channel once.")
