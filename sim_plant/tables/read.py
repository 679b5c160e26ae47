"""The plant's tables of a vehicle file, `plant` and `world`: what they may hold, and what must agree.

Lengths in metres, angles in the unit of the key's suffix. Base frame: origin at the first joint (where head
and tail meet), x forward, y left. World frame: x east and y north in the plane of the pool, the heading
counter-clockwise from x.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, field

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
from caudal.sim_plant.tables.motors import Motor, Pack, motor_problems, pack_problems, thruster_problems
from caudal.sim_plant.tables.skin import Piece, skin_problems
from caudal.sim_plant.tables.soft_joints import Soft, soft_problems
from caudal.sim_plant.tables.tree import TreeSpec, scalar_joints
from caudal.sim_plant.tables.tree import disagreements as tree_disagreements
from caudal.sim_plant.tables.trial import Trial, trial_disagreements
from caudal.sim_plant.tables.types import AtLeastZero, Number, Positive, Table
from caudal.sim_plant.tables.water import ORIGIN, Three

if TYPE_CHECKING:
    from caudal.hal.vehicle_file.reader import VehicleFile

TABLES = ("plant", "world", "trial")


class Link(Table, kw_only=True, frozen=True):
    joint: str  # the joint at the link's front end; its servo has the same name
    length_m: Positive


class Strouhal(Table, kw_only=True, frozen=True):
    """Table `plant.strouhal`: a tail that swims by the quick law of water/strouhal.py, in a plane."""

    mass_kg: Positive
    wetted_area_m2: Positive
    number: Annotated[float, Meta(ge=0.05, le=2)] = 0.3
    turn_rad_per_beat: AtLeastZero = 1.2
    viscosity_m2_s: Positive = 1.12e-6
    density_kg_m3: Positive = 1000.0
    deflection_joints: list[str] = field(default_factory=list)  # the sum of their means is theta_d
    reynolds_length_m: Positive
    # What the law's A is, times the tail tip's own peak-to-peak; water/strouhal.py says why it is not 1.
    tail_beat_scale: Annotated[float, Meta(ge=0.5, le=2)] = 1.0
    link: Annotated[list[Link], Meta(min_length=1)]
    idle: list[str] = field(default_factory=list)  # joints that turn, and of which this law knows nothing


class Hull(Table, kw_only=True, frozen=True):
    """Two boxes (Liu and Hu fig. 8): the head ahead of the base's origin, the tail from there to its tip.

    It meets a floor level, keel_m below the base's origin.
    """

    head_length_m: Positive
    head_width_m: Positive
    tail_width_m: Positive
    stern_length_m: AtLeastZero = 0.0  # of the tail's box before its first joint, or all of it without joints
    keel_m: AtLeastZero = 0.0
    tail: list[Link] = field(
        default_factory=list
    )  # of a tree: its joints, front to tip; positive bends to port


class Tether(Table, kw_only=True, frozen=True):
    """Table `plant.tether`, of a tree. x_m, y_m, depth_m: where its other end is held, in the world."""

    at_m: Three = ORIGIN  # on the base
    x_m: Number
    y_m: Number
    depth_m: Number = 0.0
    slack_m: AtLeastZero  # its length: nearer to its end the vehicle feels no pull
    stiffness_n_per_m: AtLeastZero = 0.0  # beyond that
    drag_n_s_per_m: AtLeastZero = 0.0  # against the way of at_m through the water
    twist_n_m_per_rad: AtLeastZero = 0.0  # back to the heading at the start, however many turns away


class PlantSpec(Table, kw_only=True, frozen=True):
    """Table `plant`: what any model of a vehicle has, and the models themselves; `model` says which one swims."""

    model: Literal["strouhal", "tree"]
    step_us: Annotated[int, Meta(ge=100, le=20_000)] = 2000
    depth_m: AtLeastZero = 0.0  # at which it starts
    afloat: bool = False  # a tree starts where it floats, not at depth_m
    hull: Hull | None = None  # without one it meets nothing
    skin: list[Piece] = field(default_factory=list)  # of a tree: where its clearance is taken from
    tether: Tether | None = None
    battery: Pack | None = None  # a must with thrusters, and with a sensor of its voltage
    motor: dict[str, Motor] = field(default_factory=dict)
    actuator: dict[str, Servo | Thruster | Valve | Release] = field(default_factory=dict)
    soft: dict[str, Soft] = field(default_factory=dict)  # of a tree
    sensor: dict[str, AnySensor] = field(default_factory=dict)
    strouhal: Strouhal | None = None
    tree: TreeSpec | None = None

    @property
    def joints(self) -> list[str]:
        """The joints of the model that swims, in file order."""
        if self.model == "strouhal":
            return [link.joint for link in self.strouhal.link] if self.strouhal else []
        return scalar_joints(self.tree) if self.tree else []

    @property
    def slides(self) -> list[str]:
        """Those of them that are prismatic."""
        bodies = self.tree.body if self.model == "tree" and self.tree else []
        return [body.joint.name for body in bodies if body.joint and body.joint.kind == "prismatic"]

    @property
    def valves(self) -> list[str]:
        return [name for name, actuator in self.actuator.items() if isinstance(actuator, Valve)]

    @property
    def idle(self) -> list[str]:
        """Joints behind these that turn and do nothing."""
        return self.strouhal.idle if self.model == "strouhal" and self.strouhal else []


class Cylinder(Table, kw_only=True, frozen=True):
    x_m: Number
    y_m: Number
    radius_m: Positive


class Sphere(Table, kw_only=True, frozen=True):
    """Something to keep clear of: a skin's clearance tells how well (world/clearance.py). It stops no hull, no sonar
    hears it."""

    x_m: Number
    y_m: Number
    depth_m: Number
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
    """Table `world.NAME`. Without length and width it is open water, without depth it has no floor."""

    length_m: Positive | None = None
    width_m: Positive | None = None
    depth_m: Positive | None = None
    cylinders: list[Cylinder] = field(default_factory=list)
    spheres: list[Sphere] = field(default_factory=list)
    vehicles: Annotated[int, Meta(ge=1, le=1000)] = 1
    start: list[Pose] | None = None
    start_clearance_m: AtLeastZero = 0.35  # to all else, of places drawn from the seed
    target: Target | None = None


def disagreements(spec: PlantSpec) -> Iterator[tuple[str, str]]:
    """Where tables that are sound one by one do not fit together: (key below `plant`, what to do)."""
    if getattr(spec, spec.model) is None:
        yield (
            "model",
            f'it is "{spec.model}", but there is no [plant.{spec.model}]; add it or choose the other.',
        )
    if spec.strouhal is not None:
        yield from ((f"strouhal.{key}", problem) for key, problem in _links(spec.strouhal))
    if spec.tree is not None:
        yield from ((f"tree.{key}", problem) for key, problem in tree_disagreements(spec.tree))
    yield from _powered(spec)
    yield from _hydraulic(spec)
    bodies = [body.name for body in spec.tree.body] if spec.tree else []
    yield from skin_problems(spec.skin, bodies, spec.model)
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
            yield f"sensor.{name}", "there is no battery whose voltage it reads; add [plant.battery]."
        if isinstance(sensor, Sonar) and sensor.metres_per_count > sensor.range_m:
            yield f"sensor.{name}.metres_per_count", "one count is more than range_m; make the count finer."


def _powered(spec: PlantSpec) -> Iterator[tuple[str, str]]:
    thrusters = {name: a for name, a in spec.actuator.items() if isinstance(a, Thruster)}
    unsound = list(motor_problems(spec.motor))
    yield from unsound
    yield from thruster_problems(thrusters, spec.motor)
    for name, thruster in thrusters.items():
        yield from ((f"actuator.{name}.body", problem) for problem in _carrier(spec, thruster))
    if thrusters and spec.battery is None:
        yield "battery", f"nothing feeds the thruster {next(iter(thrusters))}; add [plant.battery]."
    if spec.battery is not None and not unsound:
        problems = pack_problems(spec.battery, thrusters.values(), spec.motor, spec.step_us * 1e-6)
        yield from ((f"battery.{key}", problem) for key, problem in problems)
    if spec.tether is not None and spec.model != "tree":
        yield "tether", f'the model "{spec.model}" knows no tether; take it out, or choose "tree".'


def _carrier(spec: PlantSpec, thruster: Thruster) -> Iterator[str]:
    if thruster.body is None:
        return
    bodies = [body.name for body in spec.tree.body] if spec.tree else []
    if spec.model == "strouhal":
        yield 'the model "strouhal" has no bodies; leave it out, or choose "tree".'
    elif thruster.body not in bodies:
        yield f"there is no body {thruster.body} in plant.tree; choose from {', '.join(bodies)}."


def _hydraulic(spec: PlantSpec) -> Iterator[tuple[str, str]]:
    if spec.model == "tree":
        yield from soft_problems(spec.soft, spec.tree, spec.valves)
        return
    at = [*(f"soft.{name}" for name in spec.soft), *(f"actuator.{name}" for name in spec.valves)]
    for key in at:
        yield key, 'the model "strouhal" knows no chambers; take it out, or choose "tree".'


def _links(spec: Strouhal) -> Iterator[tuple[str, str]]:
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
        yield "deflection_joints", "a joint stands here twice; name each once."


def world_disagreements(spec: WorldSpec) -> Iterator[tuple[str, str]]:
    """The same for a world: (key below `world`, what to do)."""
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


def read_trials(vehicle_file: VehicleFile, plant: PlantSpec) -> dict[str, Trial]:
    """The trials of a vehicle file by name; most have none."""
    trials = vehicle_file.read("trial", dict[str, Trial])
    for name, trial in trials.items():
        for part, problem in trial_disagreements(trial, plant.tree):
            raise vehicle_file.error(f"trial.{name}.{part}", problem)
    return trials
