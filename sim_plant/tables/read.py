"""The plant's tables of a vehicle file, `plant`, `world` and `trial`: their keys, and what must agree.

Lengths in metres, angles in the unit of the key's suffix. Base frame: origin at the first joint (between head and
tail), x forward, y left. World frame: x east and y north in the plane of the pool, heading counter-clockwise from x.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, field

from caudal.hal.tables.types import NotNegative, Number, Positive, Table
from caudal.sim_plant.tables.devices import (
    AnySensor,
    Battery,
    JointAngle,
    Pressure,
    Release,
    Servo,
    Sonar,
    Stroke,
    Thruster,
    Turns,
    Valve,
)
from caudal.sim_plant.tables.motors import (
    BatteryPack,
    Motor,
    validate_battery,
    validate_motors,
    validate_thrusters,
)
from caudal.sim_plant.tables.skin import SkinPiece, validate_skin
from caudal.sim_plant.tables.soft_joints import SoftJoint, validate_soft_joints
from caudal.sim_plant.tables.tree import TreeSpec, scalar_joints, validate_tree
from caudal.sim_plant.tables.trial import Trial, validate_trial
from caudal.sim_plant.tables.water import ORIGIN, Three

if TYPE_CHECKING:
    from caudal.hal.vehicle_file.reader import VehicleFile

TABLES = ("plant", "world", "trial")


class TailLink(Table, kw_only=True, frozen=True):
    """A link of a tail, behind its joint."""

    joint: str  # at the link's front end; its servo has the same name
    length_m: Positive


class Strouhal(Table, kw_only=True, frozen=True):
    """Table `plant.strouhal`: a tail by the Strouhal model (water/strouhal.py), in a plane."""

    mass_kg: Positive
    wetted_area_m2: Positive
    number: Annotated[float, Meta(ge=0.05, le=2)] = 0.3
    turn_rad_per_beat: NotNegative = 1.2
    viscosity_m2_s: Positive = 1.12e-6
    density_kg_m3: Positive = 1000.0
    deflection_joints: list[str] = field(default_factory=list)  # the sum of their means is theta_d
    reynolds_length_m: Positive
    # The model's A, divided by the peak-to-peak motion of the tail's tip; water/strouhal.py says why it is not 1.
    tail_beat_scale: Annotated[float, Meta(ge=0.5, le=2)] = 1.0
    link: Annotated[list[TailLink], Meta(min_length=1)]
    idle: list[str] = field(default_factory=list)  # joints that turn without effect in this model


class Hull(Table, kw_only=True, frozen=True):
    """Two boxes (Liu and Hu fig. 8): the head before the base's origin, the tail from there to its tip.

    A floor stops it keel_m below the base's origin.
    """

    head_length_m: Positive
    head_width_m: Positive
    tail_width_m: Positive
    stern_length_m: NotNegative = (
        0.0  # of the tail's box before its first joint; without joints, of the whole box
    )
    keel_m: NotNegative = 0.0
    # of a tree: its joints, front to tip; positive angles bend to port
    tail: list[TailLink] = field(default_factory=list)


class Tether(Table, kw_only=True, frozen=True):
    """Table `plant.tether`, of a tree; its far end is fixed at x_m, y_m, depth_m in the world."""

    at_m: Three = ORIGIN  # on the base
    x_m: Number
    y_m: Number
    depth_m: Number = 0.0
    slack_m: NotNegative  # its length: nearer to its end it does not pull
    stiffness_n_per_m: NotNegative = 0.0  # beyond that
    drag_n_s_per_m: NotNegative = 0.0  # against the motion of at_m through the water
    twist_n_m_per_rad: NotNegative = 0.0  # back to the heading at the start, whole turns included


class PlantSpec(Table, kw_only=True, frozen=True):
    """Table `plant`: what any model of a vehicle has, and the models; `model` chooses the one that swims."""

    model: Literal["strouhal", "tree"]
    step_us: Annotated[int, Meta(ge=100, le=20_000)] = 2000
    depth_m: NotNegative = 0.0  # at the start
    afloat: bool = False  # a tree starts in its equilibrium, not at depth_m
    hull: Hull | None = None  # without one it collides with nothing
    skin: list[SkinPiece] = field(default_factory=list)  # of a tree: the points whose clearance is measured
    tether: Tether | None = None
    battery: BatteryPack | None = None  # required with thrusters, and with a sensor of its voltage
    motor: dict[str, Motor] = field(default_factory=dict)
    actuator: dict[str, Servo | Thruster | Valve | Release] = field(default_factory=dict)
    soft: dict[str, SoftJoint] = field(default_factory=dict)  # of a tree
    sensor: dict[str, AnySensor] = field(default_factory=dict)
    strouhal: Strouhal | None = None
    tree: TreeSpec | None = None

    @property
    def joints(self) -> list[str]:
        """Names of the joints of the chosen model, in file order."""
        if self.model == "strouhal":
            return [link.joint for link in self.strouhal.link] if self.strouhal else []
        return scalar_joints(self.tree) if self.tree else []

    @property
    def slides(self) -> list[str]:
        """Names of those joints that are prismatic."""
        bodies = self.tree.body if self.model == "tree" and self.tree else []
        return [body.joint.name for body in bodies if body.joint and body.joint.kind == "prismatic"]

    @property
    def valves(self) -> list[str]:
        """Names of the valves."""
        return [name for name, actuator in self.actuator.items() if isinstance(actuator, Valve)]

    @property
    def idle(self) -> list[str]:
        """Names of further joints that turn without effect."""
        return self.strouhal.idle if self.model == "strouhal" and self.strouhal else []


class Cylinder(Table, kw_only=True, frozen=True):
    """An upright cylinder in the world, of unlimited height."""

    x_m: Number
    y_m: Number
    radius_m: Positive


class Sphere(Table, kw_only=True, frozen=True):
    """An obstacle that only a skin's clearance sees (world/clearance.py).

    It does not stop hulls and returns no sonar echo.
    """

    x_m: Number
    y_m: Number
    depth_m: Number
    radius_m: Positive


class Pose(Table, kw_only=True, frozen=True):
    """A vehicle's start pose."""

    x_m: Number
    y_m: Number
    heading_deg: Number = 0.0


class Target(Table, kw_only=True, frozen=True):
    """A moving point without contact: around (x_m, y_m) in a circle, or to and fro from there."""

    x_m: Number
    y_m: Number
    path: Literal["still", "circle", "line"] = "still"
    speed_m_s: NotNegative = 0.0
    radius_m: NotNegative = 0.0  # of the circle
    heading_deg: Number = 0.0  # of the line; where on the circle it starts
    length_m: NotNegative = 0.0  # of the line


class WorldSpec(Table, kw_only=True, frozen=True):
    """Table `world.NAME`. Without length and width it is open water, without depth it has no floor."""

    length_m: Positive | None = None
    width_m: Positive | None = None
    depth_m: Positive | None = None
    cylinders: list[Cylinder] = field(default_factory=list)
    spheres: list[Sphere] = field(default_factory=list)
    vehicles: Annotated[int, Meta(ge=1, le=1000)] = 1
    start: list[Pose] | None = None
    start_clearance_m: NotNegative = 0.35  # to everything else, of start poses that the seed draws
    target: Target | None = None


def validate_plant(spec: PlantSpec) -> Iterator[tuple[str, str]]:
    """Yield where tables do not fit together: (key below `plant`, what is wrong and what to do)."""
    if getattr(spec, spec.model) is None:
        yield (
            "model",
            f'it is "{spec.model}", but there is no [plant.{spec.model}]; add it or choose the other model.',
        )
    if spec.strouhal is not None:
        yield from ((f"strouhal.{key}", problem) for key, problem in _validate_links(spec.strouhal))
    if spec.tree is not None:
        yield from ((f"tree.{key}", problem) for key, problem in validate_tree(spec.tree))
    yield from _validate_power(spec)
    yield from _validate_hydraulics(spec)
    bodies = [body.name for body in spec.tree.body] if spec.tree else []
    yield from validate_skin(spec.skin, bodies, spec.model)
    joints = [*spec.joints, *spec.idle]
    listed = ", ".join(joints)
    for name, actuator in spec.actuator.items():
        if isinstance(actuator, Servo) and name not in joints:
            yield f"actuator.{name}", f"this servo moves no joint; its name must be one of {listed}."
    for name in joints if spec.model == "strouhal" else ():
        if not isinstance(spec.actuator.get(name), Servo):
            yield (
                f"actuator.{name}",
                f'the joint has no servo; add [plant.actuator.{name}] with kind = "servo".',
            )
    for name, sensor in spec.sensor.items():
        if isinstance(sensor, JointAngle | Stroke) and sensor.joint not in joints:
            yield f"sensor.{name}.joint", f"{sensor.joint} is not a joint; choose from {listed}."
        elif isinstance(sensor, JointAngle | Stroke):
            slides = sensor.joint in spec.slides
            if slides != isinstance(sensor, Stroke):
                kind, other = ("prismatic", "stroke") if slides else ("revolute", "joint")
                yield (
                    f"sensor.{name}.joint",
                    f'{sensor.joint} is {kind}; read it by a sensor of kind "{other}".',
                )
        if isinstance(sensor, Pressure) and sensor.chamber not in spec.valves:
            choices = f"choose from {', '.join(spec.valves)}" if spec.valves else "add it to plant.actuator"
            yield f"sensor.{name}.chamber", f"{sensor.chamber} is not a valve; {choices}."
        if isinstance(sensor, Turns) and not isinstance(spec.actuator.get(sensor.thruster), Thruster):
            yield (
                f"sensor.{name}.thruster",
                f"{sensor.thruster} is not a thruster; name one of plant.actuator.",
            )
        if isinstance(sensor, Battery) and spec.battery is None:
            yield (
                f"sensor.{name}",
                "it reads the voltage of a battery, but there is none; add [plant.battery].",
            )
        if isinstance(sensor, Sonar) and sensor.metres_per_count > sensor.range_m:
            yield f"sensor.{name}.metres_per_count", "one count is more than range_m; make the count finer."


def _validate_power(spec: PlantSpec) -> Iterator[tuple[str, str]]:
    thrusters = {name: a for name, a in spec.actuator.items() if isinstance(a, Thruster)}
    motor_problems = list(validate_motors(spec.motor))
    yield from motor_problems
    yield from validate_thrusters(thrusters, spec.motor)
    for name, thruster in thrusters.items():
        yield from ((f"actuator.{name}.body", problem) for problem in _validate_thruster_body(spec, thruster))
    if thrusters and spec.battery is None:
        yield "battery", f"the thruster {next(iter(thrusters))} has no battery; add [plant.battery]."
    if spec.battery is not None and not motor_problems:
        problems = validate_battery(spec.battery, thrusters.values(), spec.motor, spec.step_us * 1e-6)
        yield from ((f"battery.{key}", problem) for key, problem in problems)
    if spec.tether is not None and spec.model != "tree":
        yield "tether", f'the model "{spec.model}" has no tether; remove it, or choose "tree".'


def _validate_thruster_body(spec: PlantSpec, thruster: Thruster) -> Iterator[str]:
    if thruster.body is None:
        return
    bodies = [body.name for body in spec.tree.body] if spec.tree else []
    if spec.model == "strouhal":
        yield 'the model "strouhal" has no bodies; remove the key, or choose "tree".'
    elif thruster.body not in bodies:
        yield f"there is no body {thruster.body} in plant.tree; choose from {', '.join(bodies)}."


def _validate_hydraulics(spec: PlantSpec) -> Iterator[tuple[str, str]]:
    if spec.model == "tree":
        yield from validate_soft_joints(spec.soft, spec.tree, spec.valves)
        return
    at = [*(f"soft.{name}" for name in spec.soft), *(f"actuator.{name}" for name in spec.valves)]
    for key in at:
        yield key, 'the model "strouhal" has no chambers; remove it, or choose "tree".'


def _validate_links(spec: Strouhal) -> Iterator[tuple[str, str]]:
    joints = [link.joint for link in spec.link]
    for name in spec.idle:
        if name in joints:
            yield "idle", f"{name} is the joint of a link; it is not idle."
    for i, name in enumerate(joints):
        if name in joints[:i]:
            yield f"link.{i}.joint", f"{name} is the joint of two links; name each joint once."
    for name in spec.deflection_joints:
        if name not in joints:
            yield "deflection_joints", f"{name} is not the joint of a link; choose from {', '.join(joints)}."
    if len(set(spec.deflection_joints)) < len(spec.deflection_joints):
        yield "deflection_joints", "a joint is here twice; name each once."


def validate_world(spec: WorldSpec) -> Iterator[tuple[str, str]]:
    """Yield where a world does not fit together: (key below `world`, what is wrong and what to do)."""
    if spec.length_m is None and spec.width_m is not None:
        yield "length_m", "a pool needs length_m and width_m; give both, or neither for open water."
    if spec.width_m is None and spec.length_m is not None:
        yield "width_m", "a pool needs length_m and width_m; give both, or neither for open water."
    if spec.length_m is not None and spec.width_m is not None:
        obstacles = [(f"cylinders.{i}", c.x_m, c.y_m) for i, c in enumerate(spec.cylinders)]
        obstacles += [(f"spheres.{i}", s.x_m, s.y_m) for i, s in enumerate(spec.spheres)]
        for key, x_m, y_m in obstacles:
            if not (0 <= x_m <= spec.length_m and 0 <= y_m <= spec.width_m):
                pool = f"{spec.length_m:g} x {spec.width_m:g} m"
                yield key, f"({x_m:g}, {y_m:g}) m is outside the pool of {pool}; move it."
    if spec.start is not None and len(spec.start) != spec.vehicles:
        yield (
            "start",
            f"{len(spec.start)} poses for {spec.vehicles} vehicles; give one per vehicle, or remove start.",
        )
    if spec.target is not None:
        if spec.target.path == "circle" and spec.target.radius_m == 0:
            yield "target.radius_m", "a target on a circle needs radius_m above 0."
        if spec.target.path == "line" and spec.target.length_m == 0:
            yield "target.length_m", "a target on a line needs length_m above 0."


def read(vehicle_file: VehicleFile) -> PlantSpec:
    """The plant of a vehicle file; raises a VehicleFileError that says what is wrong, where, and what to do."""
    spec = vehicle_file.read("plant", PlantSpec)
    for key, problem in validate_plant(spec):
        raise vehicle_file.error(f"plant.{key}", problem)
    return spec


def read_worlds(vehicle_file: VehicleFile) -> dict[str, WorldSpec]:
    """The worlds of a vehicle file by name."""
    worlds = vehicle_file.read("world", dict[str, WorldSpec])
    for name, spec in worlds.items():
        for part, problem in validate_world(spec):
            raise vehicle_file.error(f"world.{name}.{part}", problem)
    return worlds


def read_trials(vehicle_file: VehicleFile, plant: PlantSpec) -> dict[str, Trial]:
    """The trials of a vehicle file by name; empty without any."""
    trials = vehicle_file.read("trial", dict[str, Trial])
    for name, trial in trials.items():
        for part, problem in validate_trial(trial, plant.tree):
            raise vehicle_file.error(f"trial.{name}.{part}", problem)
    return trials
