"""The plant's tables of a vehicle file, `plant` and `world`: what they may hold, and what must agree.

Lengths in metres, angles in the unit of the key's suffix. Base frame: origin at the first joint (where head
and tail meet), x forward, y left. World frame: x east and y north in the plane of the pool, the heading
counter-clockwise from x.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, field

if TYPE_CHECKING:
    from hal.vehicle_file import VehicleFile

Positive = Annotated[float, Meta(gt=0, le=1e6)]
Number = Annotated[float, Meta(ge=-1e6, le=1e6)]
AtLeastZero = Annotated[float, Meta(ge=0, le=1e6)]
PulseUs = Annotated[int, Meta(ge=500, le=2500)]
Side = Literal[1, -1]
TABLES = ("plant", "world")


class Table(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A table whose every key is known."""


class Kind(Table, tag_field="kind", kw_only=True, frozen=True):
    """A table that says by its `kind` which keys it has."""


class Servo(Kind, tag="servo", kw_only=True, frozen=True):
    neutral_us: PulseUs
    us_per_rad: Positive
    direction: Side = 1  # as mounted
    travel_rad: Annotated[float, Meta(gt=0, le=3.2)]  # mechanical end stop, both sides
    rate_rad_s: Positive  # fastest turn
    lag_s: AtLeastZero = 0.005  # of its position loop; 0 runs at full rate to the goal
    delay_s: Annotated[float, Meta(ge=0, le=0.25)] = 0.0
    resolution_us: AtLeastZero = 0.0  # the servo's own step; 0 is as fine as the pulse


class Thruster(Kind, tag="thruster", kw_only=True, frozen=True):
    """Pushes along the heading through the base point."""

    neutral_us: PulseUs
    dead_band_us: AtLeastZero
    force_n_per_us: Positive  # beyond the dead-band
    direction: Side = 1
    lag_s: AtLeastZero = 0.0


class Sensor(Kind, kw_only=True, frozen=True):
    rate_hz: Annotated[float, Meta(gt=0, le=1000)]
    drop_out: Annotated[float, Meta(ge=0, le=1)] = 0.0  # probability that a reading is absent


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


class Heading(Sensor, tag="heading", kw_only=True, frozen=True):
    rad_per_count: Positive
    noise_rad: AtLeastZero = 0.0


class YawRate(Sensor, tag="yaw_rate", kw_only=True, frozen=True):
    rad_s_per_count: Positive
    noise_rad_s: AtLeastZero = 0.0
    bias_rad_s: AtLeastZero = 0.0  # standard deviation of the constant bias, drawn from the seed


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
    noise_rad: AtLeastZero = 0.0


class Battery(Sensor, tag="battery", kw_only=True, frozen=True):
    """The pack's voltage; it does not sag yet."""

    volts: Positive
    volts_per_count: Positive
    noise_v: AtLeastZero = 0.0


AnySensor = (
    Sonar | Bumper | Heading | YawRate | SurgeAcceleration | Depth
    | PositionX | PositionY | TargetX | TargetY | JointAngle | Battery
)  # fmt: skip


class Link(Table, kw_only=True, frozen=True):
    joint: str  # the joint at the link's front end; its servo has the same name
    length_m: Positive


class Hull(Table, kw_only=True, frozen=True):
    """Two boxes (Liu and Hu fig. 8): the head ahead of the first joint, the tail from there to its tip."""

    head_length_m: Positive
    head_width_m: Positive
    tail_width_m: Positive


class PlantSpec(Table, kw_only=True, frozen=True):
    """Table `plant`."""

    model: Literal["strouhal"]
    step_us: Annotated[int, Meta(ge=100, le=20_000)] = 2000
    mass_kg: Positive
    wetted_area_m2: Positive
    strouhal: Annotated[float, Meta(ge=0.05, le=2)] = 0.3
    turn_rad_per_beat: AtLeastZero = 1.2
    viscosity_m2_s: Positive = 1.12e-6
    density_kg_m3: Positive = 1000.0
    depth_m: AtLeastZero = 0.0  # plane it swims in
    deflection_joints: list[str] = field(default_factory=list)  # the sum of their means is theta_d
    reynolds_length_m: Positive
    # What the law's A is, times the tail tip's own peak-to-peak; strouhal.py says why it is not 1.
    tail_beat_scale: Annotated[float, Meta(ge=0.5, le=2)] = 1.0
    hull: Hull
    link: Annotated[list[Link], Meta(min_length=1)]
    actuator: dict[str, Servo | Thruster] = field(default_factory=dict)
    sensor: dict[str, AnySensor] = field(default_factory=dict)


class Cylinder(Table, kw_only=True, frozen=True):
    x_m: Number
    y_m: Number
    radius_m: Positive


class Pose(Table, kw_only=True, frozen=True):
    x_m: Number
    y_m: Number
    heading_deg: Number = 0.0


class Target(Table, kw_only=True, frozen=True):
    """A point that moves and collides with nothing: round (x_m, y_m), or to and fro from it."""

    x_m: Number
    y_m: Number
    path: Literal["still", "circle", "line"] = "still"
    speed_m_s: AtLeastZero = 0.0
    radius_m: AtLeastZero = 0.0  # of the circle
    heading_deg: Number = 0.0  # of the line; where on the circle it starts
    length_m: AtLeastZero = 0.0  # of the line


class WorldSpec(Table, kw_only=True, frozen=True):
    """Table `world.NAME`. Without length and width it is open water."""

    length_m: Positive | None = None
    width_m: Positive | None = None
    cylinders: list[Cylinder] = field(default_factory=list)
    vehicles: Annotated[int, Meta(ge=1, le=1000)] = 1
    start: list[Pose] | None = None
    target: Target | None = None


def disagreements(spec: PlantSpec) -> Iterator[tuple[str, str]]:
    """Where tables that are sound one by one do not fit together: (key below `plant`, what to do)."""
    joints = [link.joint for link in spec.link]
    listed = ", ".join(joints)
    for i, name in enumerate(joints):
        if name in joints[:i]:
            yield f"link.{i}.joint", f"{name} is the joint of two links; name each joint once."
        elif not isinstance(spec.actuator.get(name), Servo):
            yield f"link.{i}.joint", f'{name} has no servo; add [plant.actuator.{name}] with kind = "servo".'
    for name, actuator in spec.actuator.items():
        if isinstance(actuator, Servo) and name not in joints:
            yield f"actuator.{name}", f"this servo moves no link; its name must be a link's joint: {listed}."
    for name in spec.deflection_joints:
        if name not in joints:
            yield "deflection_joints", f"{name} is not the joint of a link; choose from {listed}."
    if len(set(spec.deflection_joints)) < len(spec.deflection_joints):
        yield "deflection_joints", "a joint stands here twice; name each once."
    for name, sensor in spec.sensor.items():
        if isinstance(sensor, JointAngle) and sensor.joint not in joints:
            yield f"sensor.{name}.joint", f"{sensor.joint} is not the joint of a link; choose from {listed}."
        if isinstance(sensor, Sonar) and sensor.metres_per_count > sensor.range_m:
            yield f"sensor.{name}.metres_per_count", "one count is more than range_m; make the count finer."


def world_disagreements(spec: WorldSpec) -> Iterator[tuple[str, str]]:
    """The same for a world: (key below `world`, what to do)."""
    if spec.length_m is None and spec.width_m is not None:
        yield "length_m", "a pool needs length_m and width_m; give both, or neither for open water."
    if spec.width_m is None and spec.length_m is not None:
        yield "width_m", "a pool needs length_m and width_m; give both, or neither for open water."
    if spec.length_m is not None and spec.width_m is not None:
        for i, c in enumerate(spec.cylinders):
            if not (0 <= c.x_m <= spec.length_m and 0 <= c.y_m <= spec.width_m):
                pool = f"{spec.length_m:g} x {spec.width_m:g} m"
                yield f"cylinders.{i}", f"({c.x_m:g}, {c.y_m:g}) m is outside the pool of {pool}; move it."
    if spec.start is not None and len(spec.start) != spec.vehicles:
        yield (
            "start",
            f"{len(spec.start)} poses for {spec.vehicles} vehicles; give one each, or leave start out.",
        )
    if spec.target is not None:
        if spec.target.path == "circle" and spec.target.radius_m == 0:
            yield "target.radius_m", "a target on a circle needs radius_m above 0."
        if spec.target.path == "line" and spec.target.length_m == 0:
            yield "target.length_m", "a target on a line needs length_m above 0."


def read(vehicle_file: VehicleFile) -> PlantSpec:
    """The plant of a vehicle file; a VehicleFileError says in one sentence what is wrong."""
    spec = vehicle_file.read("plant", PlantSpec)
    for key, problem in disagreements(spec):
        raise vehicle_file.error(f"plant.{key}", problem)
    return spec


def read_worlds(vehicle_file: VehicleFile) -> dict[str, WorldSpec]:
    """The worlds of a vehicle file by name."""
    worlds = vehicle_file.read("world", dict[str, WorldSpec])
    for name, spec in worlds.items():
        for part, problem in world_disagreements(spec):
            raise vehicle_file.error(f"world.{name}.{part}", problem)
    return worlds
