"""Tables `plant.actuator` and `plant.sensor`: actuators and sensors of a vehicle, below the HAL's maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from caudal.hal.tables.types import Kind, NotNegative, Number, Positive
from caudal.sim_plant.tables.water import ORIGIN, Three

PulseUs = Annotated[int, Meta(ge=500, le=2500)]
Side = Literal[1, -1]
Pascals = Annotated[float, Meta(gt=0, le=1e8)]


class Servo(Kind, tag="servo", kw_only=True, frozen=True):
    """A servo that turns the joint of the same name."""

    neutral_us: PulseUs
    us_per_rad: Positive
    direction: Side = 1  # as mounted
    travel_rad: Annotated[float, Meta(gt=0, le=3.2)]  # mechanical end stop, both sides
    rate_rad_s: Positive  # largest rate
    lag_s: NotNegative = 0.005  # of its position loop; with 0 it moves at full rate to the goal
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0
    resolution_us: NotNegative = 0.0  # the servo's own step; 0 is as fine as the pulse
    # On a joint with mode "torque" it applies a torque: a spring to its goal, within these limits.
    torque_n_m: Positive = 1.0  # at standstill; falls to 0 at rate_rad_s
    stiffness_n_m_rad: NotNegative = 0.0
    damping_n_m_s_rad: NotNegative = 0.0
    backlash_rad: NotNegative = 0.0  # of its gear, end to end


class Thruster(Kind, tag="thruster", kw_only=True, frozen=True):
    """Pushes its body at at_m along its axis; its motor's curves (`plant.motor`) give thrust and current.

    In the plane of the Strouhal model only the part of the axis along the heading pushes, and it turns nothing.
    """

    motor: str
    body: str | None = None  # of a tree, in whose frame at_m and axis are; without it the base
    at_m: Three = ORIGIN
    axis: Three = (1.0, 0.0, 0.0)  # scaled to length 1
    neutral_us: PulseUs = 1500
    direction: Side = 1  # -1: reversed, a pulse counts as its mirror image about neutral_us
    lag_s: NotNegative = 0.0  # of thrust and current
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0
    dead_from_s: NotNegative | None = None  # a fault: from then on it is off, whatever the pulse
    turn_n_s2: tuple[Positive, Positive] = (0.014, 0.011)  # thrust for 1 (rev/s)2, ahead and back


class Valve(Kind, tag="valve", kw_only=True, frozen=True):
    """Proportional valve of a hydraulic chamber: whole microamperes in, chamber pressure out (parts/valves.py)."""

    cracking_current_ua: NotNegative  # up to this current it stays shut
    pa_per_ua: Positive  # above that
    hysteresis_ua: NotNegative = 0.0  # between rising and falling current
    supply_pa: Pascals  # largest pressure
    lag_s: NotNegative = 0.0  # of the chamber
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0
    stuck_from_s: NotNegative | None = None  # a fault: from then on the spool does not move
    leak_from_s: NotNegative | None = None  # a fault: from then on the chamber leaks ...
    leak_share: Annotated[float, Meta(ge=0, le=1)] = 0.0  # ... and loses this share of its pressure


class Release(Kind, tag="release", kw_only=True, frozen=True):
    """A latch that a servo's pulse opens permanently: it drops a weight, and the base rises by that weight in water.

    The weight's inertia remains: it is small compared with the vehicle's. The Strouhal model has no depth and ignores
    it.
    """

    neutral_us: PulseUs
    us_per_rad: Positive
    direction: Side = 1
    opens_rad: Positive
    weight_n: Positive  # in water
    lag_s: NotNegative = 0.0
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0


class Sensor(Kind, kw_only=True, frozen=True):
    """What all sensors have: rate and drop-outs."""

    rate_hz: Annotated[float, Meta(gt=0, le=1000)]
    dropout_share: Annotated[float, Meta(ge=0, le=1)] = 0.0  # probability that a reading is absent
    drop_from_s: NotNegative = 0.0  # one outage: no reading from then on ...
    drop_for_s: NotNegative = 0.0  # ... for this time


class Sonar(Sensor, tag="sonar", kw_only=True, frozen=True):
    """Range of the nearest echo in a wedge of beams; a narrower wedge models an infra-red sensor."""

    x_m: Number
    y_m: Number
    bearing_deg: Number
    half_angle_deg: Annotated[float, Meta(ge=0, le=90)]
    beams: Annotated[int, Meta(ge=1, le=181)]
    range_m: Positive
    metres_per_count: Positive
    noise_m: NotNegative = 0.0


class Bumper(Sensor, tag="bumper", kw_only=True, frozen=True):
    """Counts 1 while the front end of the head touches something."""


class Angle(Sensor, kw_only=True, frozen=True):
    """An angle of the base's attitude."""

    rad_per_count: Positive
    noise_rad: NotNegative = 0.0


class Heading(Angle, tag="heading", kw_only=True, frozen=True):
    """Heading, counter-clockwise from world x."""


class Roll(Angle, tag="roll", kw_only=True, frozen=True):
    """Roll, right side down positive."""


class Pitch(Angle, tag="pitch", kw_only=True, frozen=True):
    """Pitch, nose down positive."""


class Rate(Sensor, kw_only=True, frozen=True):
    """One axis of a gyro, base frame."""

    rad_s_per_count: Positive
    noise_rad_s: NotNegative = 0.0
    bias_rad_s: NotNegative = 0.0  # standard deviation of the constant bias, which the seed draws


class YawRate(Rate, tag="yaw_rate", kw_only=True, frozen=True):
    """Angular rate about z of the base."""


class RollRate(Rate, tag="roll_rate", kw_only=True, frozen=True):
    """Angular rate about x of the base."""


class PitchRate(Rate, tag="pitch_rate", kw_only=True, frozen=True):
    """Angular rate about y of the base."""


class SurgeAcceleration(Sensor, tag="surge_acceleration", kw_only=True, frozen=True):
    """Acceleration along x of the base."""

    m_s2_per_count: Positive
    noise_m_s2: NotNegative = 0.0
    bias_m_s2: NotNegative = 0.0  # standard deviation of the constant bias, which the seed draws


class Depth(Sensor, tag="depth", kw_only=True, frozen=True):
    """Depth of the base."""

    metres_per_count: Positive
    zero_counts: int = 0
    noise_m: NotNegative = 0.0


class Position(Sensor, kw_only=True, frozen=True):
    """A position as an overhead camera measures it, through the waves of the surface (Liu and Hu eq. 1)."""

    metres_per_count: Positive
    noise_m: NotNegative = 0.0
    wave_amplitude_m: NotNegative = 0.0
    wave_length_m: Positive = 1.0
    wave_hz: NotNegative = 0.0


class PositionX(Position, tag="position_x", kw_only=True, frozen=True):
    """x of the base, world frame."""


class PositionY(Position, tag="position_y", kw_only=True, frozen=True):
    """y of the base, world frame."""


class TargetX(Position, tag="target_x", kw_only=True, frozen=True):
    """x of the moving target, world frame."""


class TargetY(Position, tag="target_y", kw_only=True, frozen=True):
    """y of the moving target, world frame."""


class JointAngle(Sensor, tag="joint", kw_only=True, frozen=True):
    """Angle of a revolute joint."""

    joint: str
    rad_per_count: Positive
    zero_counts: int = 0
    noise_rad: NotNegative = 0.0


class Stroke(Sensor, tag="stroke", kw_only=True, frozen=True):
    """Position of a prismatic joint."""

    joint: str
    metres_per_count: Positive
    noise_m: NotNegative = 0.0


class Pressure(Sensor, tag="pressure", kw_only=True, frozen=True):
    """Pressure of a valve's chamber."""

    chamber: str  # the valve's name
    pascals_per_count: Positive
    zero_counts: int = 0
    noise_pa: NotNegative = 0.0


class Turns(Sensor, tag="turns", kw_only=True, frozen=True):
    """A thruster's revolutions per second, without sign, as its speed controller reports them; from `turn_n_s2`."""

    thruster: str
    turns_s_per_count: Positive
    noise_turns_s: NotNegative = 0.0


class Battery(Sensor, tag="battery", kw_only=True, frozen=True):
    """Voltage of `plant.battery` under load."""

    volts_per_count: Positive
    noise_v: NotNegative = 0.0


class Steady(Sensor, tag="steady", kw_only=True, frozen=True):
    """A quantity that the plant does not model and that stays constant, such as a leak sensor or a temperature."""

    value: Number
    si_per_count: Positive
    zero_counts: int = 0
    noise: NotNegative = 0.0


AnySensor = (
    Sonar | Bumper | Heading | Roll | Pitch | YawRate | RollRate | PitchRate | SurgeAcceleration | Depth
    | PositionX | PositionY | TargetX | TargetY | JointAngle | Stroke | Pressure | Turns | Battery | Steady
)  # fmt: skip


def check_channels(name: str, what: str, channels: Sequence[str], known: Mapping[str, object]) -> None:
    """Refuse channels that the plant does not have, or that are named twice."""
    for i, channel in enumerate(channels):
        if channel not in known:
            choices = ", ".join(known) or f"none; the plant has no {what}s"
            raise ValueError(
                f"{name}: the plant has no {what} {channel}; add [plant.{what}.{channel}] "
                f"to the vehicle file or choose from: {choices}."
            )
        if channel in channels[:i]:
            raise ValueError(f"{name}: {what} {channel} is named twice; name each channel once.")
