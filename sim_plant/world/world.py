"""A world and its vehicles, stepped together: the plant's interface, below the HAL's maps.

    world = World(world_spec, seed=0)
    body = world.add(plant_spec, actuators=["tail_1"], sensors=["yaw"], name="one")
    body.write([1500]); world.step(10_000); body.read(counts)

Pulses in microseconds (currents in microamperes for valves) go in, integer counts come out. The same seed and the same
calls give the same counts, bit for bit. The world is a plane with a floor: hulls collide whatever the depth of their
vehicles.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.arrays import BODY, JOINT, Flat, pack_body, pack_tail
from caudal.sim_plant.base.noise import Streams
from caudal.sim_plant.base.types import Floats, Records
from caudal.sim_plant.parts.actuators import ACTUATOR, QUEUE_LENGTH, pack_actuator
from caudal.sim_plant.parts.motors import CURVE, add_motors
from caudal.sim_plant.parts.sensors import NO_READING, SENSOR, pack_sensor, sample_due, target_position
from caudal.sim_plant.scene.arrays import pack_cylinders, pack_spheres, pack_world
from caudal.sim_plant.scene.contact import clearance_m
from caudal.sim_plant.tables.devices import Servo, Thruster, Valve, check_channels
from caudal.sim_plant.tables.read import PlantSpec, Pose, WorldSpec, validate_plant, validate_world
from caudal.sim_plant.tree.equilibrium import find_equilibrium, rotated
from caudal.sim_plant.tree.model import Model, PlantDiverged
from caudal.sim_plant.water.tether import pack_tether
from caudal.sim_plant.world import clearance, forest, step_kernel, warm_up
from caudal.sim_plant.world.forest import Forest
from caudal.sim_plant.world.soft_joints import SOFT, pack_softs, set_rest_positions

CHUNK_US = 100_000  # longest step of one kernel call, so that the noise drawn ahead suffices
START_TRIES = 20_000
OPEN_WATER_M = 4.0  # vehicles without a start pose start in a square of this side around the origin
TRUTH_FIELDS = ["x_m", "y_m", "depth_m", "heading_rad", "speed_m_s", "yaw_rate_rad_s", "clearance_m"]
TAIL_TRUTH_FIELDS = ["tail_beat_hz", "tail_beat_m", "deflection_rad", "thrust_n"]
# Of a tree, speed_m_s is its centre of mass's speed along the heading, way_m_s that in the horizontal plane. surge_m_s,
# sway_m_s and heave_m_s are the base's over ground, along its own axes; its rates are about them, yaw_rate_rad_s too.
TREE_TRUTH_FIELDS = ["roll_rad", "pitch_rad", "climb_m_s", "way_m_s", "surge_m_s", "sway_m_s", "heave_m_s"]
TREE_TRUTH_FIELDS += ["roll_rate_rad_s", "pitch_rate_rad_s"]


class Body:
    """One vehicle in a world, with actuators and sensors in the order that World.add was given."""

    def __init__(
        self,
        world: World,
        index: int,
        name: str,
        truth_fields: list[str],
        actuators: list[str],
        sensors: list[str],
    ) -> None:
        self.name = name
        self.index = index
        self.actuators = actuators
        self.sensors = sensors
        self.truth_fields = truth_fields
        self._world = world
        self._new = True
        self._truth = np.zeros(len(self.truth_fields))

    @property
    def time_us(self) -> int:
        """Simulated time of its world (us)."""
        return self._world.time_us

    def _attach(self, flat: Flat) -> None:
        """Take views of the world's arrays, which move when a vehicle is added."""
        self._written = flat.written
        row = flat.bodies[self.index]
        first = int(row["first_actuator"])
        self._commands = flat.commands_us[first : first + len(self.actuators)]
        first = int(row["first_sensor"])
        self._counts = flat.counts[first : first + len(self.sensors)]

    def write(self, outputs: Sequence[int]) -> None:
        """Set one output per actuator from now on: pulses in us, of valves currents in uA.

        0 means none: the servo goes limp, thruster and valve are off.
        """
        if len(outputs) != len(self.actuators):
            raise ValueError(
                f"{self.name}: {len(outputs)} pulses for {len(self.actuators)} actuators; "
                f"give one for each of {', '.join(self.actuators)}."
            )
        try:
            pulses = array("q", outputs)
        except TypeError:
            raise ValueError(
                f"{self.name}: pulses must be whole microseconds, not {list(outputs)!r}; use round()."
            ) from None
        if pulses and min(pulses) < 0:
            raise ValueError(
                f"{self.name}: a pulse of {min(pulses)} us does not exist; write 0 for no pulse."
            )
        self._commands[:] = pulses
        self._written[self.index] = 1

    def read(self, counts: list[int | None]) -> None:
        """Fill `counts` with raw counts; None where there is no new reading since the last read."""
        if self._new:
            sample_due(self._world._flat, self.index)
            self._new = False
        counts[:] = [None if count == NO_READING else count for count in self._counts.tolist()]
        self._counts.fill(NO_READING)

    def truth(self) -> list[float]:
        """Present values of truth_fields, without noise; SI units, world frame."""
        self._world._observe(self.index, self._truth)
        return self._truth.tolist()

    def state(self) -> Floats:
        """State of a tree, laid out as tree/arrays.py describes."""
        first, end = self._world._trees().state_spans[self.index]
        return self._world._trees().states[first:end].copy()

    @property
    def clearance_m(self) -> float:
        """Distance (m) of the hull from the nearest wall, cylinder or other hull; infinite in open water."""
        return float(clearance_m(self._world._flat, self.index))

    @property
    def collisions(self) -> int:
        """Number of contact onsets that it took part in."""
        return int(self._world._flat.bodies[self.index]["collisions"])

    @property
    def hull_m(self) -> Floats:
        """Corners of the head and tail box now, (2, 4, 2), world frame (m)."""
        return self._world._flat.hulls[self.index, :].copy()


class World:
    """A pool (or open water) with its cylinders, spheres, moving target and vehicles."""

    def __init__(self, spec: WorldSpec, seed: int = 0) -> None:
        for key, problem in validate_world(spec):
            raise ValueError(f"world.{key}: {problem}")
        self.spec = spec
        self.seed = seed
        self.bodies: list[Body] = []
        self.models: list[Model] = []  # of the vehicles that are trees
        self._streams = Streams()
        self._forest: Forest | None = None
        self._step_us = CHUNK_US
        cylinders = pack_cylinders(spec)
        self._flat = Flat(
            world=pack_world(spec),
            bodies=np.zeros(0, BODY),
            joints=np.zeros(0, JOINT),
            actuators=np.zeros(0, ACTUATOR),
            written=np.zeros(0, np.int64),
            commands_us=np.zeros(0, np.int64),
            curves=np.zeros(0, CURVE),
            curve_points=np.zeros((0, 3)),
            softs=np.zeros(0, SOFT),
            due_us=np.zeros((0, QUEUE_LENGTH), np.int64),
            pulses_us=np.zeros((0, QUEUE_LENGTH), np.int64),
            sensors=np.zeros(0, SENSOR),
            counts=np.zeros(0, np.int64),
            normals=self._streams.normals,
            uniforms=self._streams.uniforms,
            cylinders=cylinders,
            spheres=pack_spheres(spec),
            skin=np.zeros(0, clearance.POINT),
            hulls=np.zeros((0, 2, 4, 2)),
            touching=np.zeros((0, 4 + len(cylinders)), np.int64),
        )

    @property
    def time_us(self) -> int:
        """Simulated time (us)."""
        return int(self._flat.world[0]["time_us"])

    @property
    def collisions(self) -> int:
        """Number of all contact onsets; a touch of two vehicles counts once."""
        return int(self._flat.world[0]["collisions"])

    @property
    def target_m(self) -> tuple[float, float] | None:
        """Position of the moving target now (x, y in m), or None if there is none."""
        if self.spec.target is None:
            return None
        x_m, y_m = target_position(self._flat.world[0])
        return float(x_m), float(y_m)

    def add(
        self, spec: PlantSpec, *, actuators: Sequence[str], sensors: Sequence[str], name: str = "vehicle"
    ) -> Body:
        """Add a vehicle with these channels, in this order.

        It starts at rest with a straight tail, at its pose in the world's `start`. Without one, the seed draws a pose
        with start_clearance_m to everything else. A servo that is not named never gets a pulse.
        """
        for key, problem in validate_plant(spec):
            raise ValueError(f"{name}: plant.{key}: {problem}")
        index = len(self.bodies)
        if index == self.spec.vehicles:
            raise ValueError(f"{name}: world.vehicles is {index}; raise it to add another vehicle.")
        check_channels(name, "actuator", actuators, spec.actuator)
        check_channels(name, "sensor", sensors, spec.sensor)
        self._check_floor(spec, name)
        flat = self._flat
        if self.bodies and (spec.model == "tree") != bool(self.models):
            raise ValueError(
                f"{name}: a world holds vehicles of one plant.model; give this one a world of its own."
            )
        model = None
        if spec.model == "tree":
            with warm_up.two_processes():
                row, joints, model = self._pack_tree(spec, actuators, name)
        else:
            assert spec.strouhal is not None, "validate_plant found the model's own table"
            row = pack_body(spec, sum(link.length_m for link in spec.strouhal.link))
            joints = pack_tail(row, spec.strouhal)
        row["first_joint"] = len(flat.joints)
        row["first_actuator"], row["actuators"] = len(flat.actuators), len(actuators)
        row["first_sensor"], row["sensors"] = len(flat.sensors), len(sensors)
        place = {joint: len(flat.joints) + i for i, joint in enumerate([*spec.joints, *spec.idle])}
        keys = [(self.seed, index, zlib.crc32(s.encode())) for s in sensors]
        shortest_us = min((1e6 / spec.sensor[s].rate_hz for s in sensors), default=math.inf)
        streams = self._streams.extended(keys, shortest_us)
        curves, points, motors = add_motors(flat, spec)
        packed_actuators = [
            pack_actuator(
                spec.actuator[a], place.get(a, -1), motors.get(a, (0, 0)), _pushed_body(spec, a, model)
            )
            for a in actuators
        ]
        acting = {a: len(flat.actuators) + k for k, a in enumerate(actuators)}
        valves = {a: at for a, at in acting.items() if a in spec.valves}
        softs = pack_softs(spec.soft, model, valves) if model else np.zeros(0, SOFT)
        row["first_soft"], row["softs"] = len(flat.softs), len(softs)
        points_of_skin = clearance.pack_skin(spec.skin, model)
        row["first_skin"], row["skin_points"] = len(flat.skin), len(points_of_skin)
        packed_sensors = [
            pack_sensor(spec.sensor[s], place, acting, self.time_us, bias)
            for s, bias in zip(sensors, streams.biases[len(flat.sensors) :], strict=True)
        ]
        lines = np.zeros((len(actuators), QUEUE_LENGTH), np.int64)
        walls_cylinders = 4 + len(flat.cylinders)
        touching = np.zeros((index + 1, walls_cylinders + index + 1), np.int64)
        touching[:index, : walls_cylinders + index] = flat.touching
        grown = flat._replace(
            bodies=np.concatenate([flat.bodies, row]),
            joints=np.concatenate([flat.joints, joints]),
            actuators=np.concatenate([flat.actuators, *packed_actuators]),
            written=np.concatenate([flat.written, np.zeros(1, np.int64)]),
            commands_us=np.concatenate([flat.commands_us, np.zeros(len(actuators), np.int64)]),
            curves=curves,
            curve_points=points,
            softs=np.concatenate([flat.softs, softs]),
            due_us=np.concatenate([flat.due_us, lines]),
            pulses_us=np.concatenate([flat.pulses_us, lines]),
            sensors=np.concatenate([flat.sensors, *packed_sensors]),
            counts=np.concatenate([flat.counts, np.full(len(sensors), NO_READING)]),
            normals=streams.normals,
            uniforms=streams.uniforms,
            skin=np.concatenate([flat.skin, points_of_skin]),
            hulls=np.concatenate([flat.hulls, np.zeros((1, 2, 4, 2))]),
            touching=touching,
        )
        self._place(grown, index, name)
        if model is not None:
            self._start_tree(model, spec, grown, index)
        self._flat, self._streams = grown, streams
        self._step_us = min(self._step_us, spec.step_us)
        fields = [*TRUTH_FIELDS, *(TREE_TRUTH_FIELDS if model else TAIL_TRUTH_FIELDS)]
        fields += [f"{joint}_{'m' if joint in spec.slides else 'rad'}" for joint in spec.joints]
        fields += [f"{a}_n" for a in actuators if isinstance(spec.actuator[a], Thruster)]
        fields += [f"{a}_pa" for a in actuators if isinstance(spec.actuator[a], Valve)]
        fields += [
            *(["battery_v"] if spec.battery else []),
            *(clearance.SKIN_TRUTH_FIELDS if spec.skin else []),
        ]
        body = Body(self, index, name, fields, list(actuators), list(sensors))
        self.bodies.append(body)
        for each in self.bodies:
            each._attach(grown)
        return body

    def _pack_tree(
        self, spec: PlantSpec, actuators: Sequence[str], name: str
    ) -> tuple[Records, Records, Model]:
        """A tree's BODY record, JOINT records and model."""
        assert spec.tree is not None, "validate_plant found the model's own table"
        model = Model(spec.tree, label=name)
        for actuator in actuators:
            servo = spec.actuator[actuator]
            if isinstance(servo, Servo) and actuator not in model.driven:
                forest.pack_servo(model, actuator, servo)
        tail_m = sum(link.length_m for link in spec.hull.tail) if spec.hull else 0.0
        return pack_body(spec, tail_m), forest.pack_joints(model, spec), model

    def _start_tree(self, model: Model, spec: PlantSpec, flat: Flat, index: int) -> None:
        """Start a tree at the pose in its BODY record, at rest, soft joints without pressure."""
        x, row = model.state(), flat.bodies[index]
        joints = flat.joints[row["first_joint"] :]
        x[2] = -spec.depth_m
        set_rest_positions(spec.soft, model, x)
        if spec.afloat:
            x = find_equilibrium(model, x)
        x = rotated(x, 0.0, 0.0, row["heading_rad"])
        x[0], x[1] = row["x_m"], row["y_m"]
        row["depth_m"], row["unwrapped_heading_rad"] = -x[2], row["heading_rad"]
        joints["angle_rad"] = x[joints["q_at"]]
        if spec.tether is not None:
            pack_tether(model.flat.water, spec.tether, row["heading_rad"])
        if spec.skin:
            clearance.check_start(spec, self.spec, model, flat, index, x)
        trees = [(self.models[i].flat, body.state()) for i, body in enumerate(self.bodies)]
        self._forest = forest.join_trees([*trees, (model.flat, x)])
        self.models.append(model)

    def _check_floor(self, spec: PlantSpec, name: str) -> None:
        keel_m = spec.depth_m + spec.hull.keel_m if spec.hull else 0.0
        if self.spec.depth_m is not None and keel_m > self.spec.depth_m:
            raise ValueError(
                f"{name}: plant.depth_m puts its keel at {keel_m:g} m, but the floor is at world.depth_m, "
                f"{self.spec.depth_m:g} m; start higher."
            )

    def _trees(self) -> Forest:
        if self._forest is None:
            raise ValueError("the vehicles of this world are not trees of bodies; they have no state.")
        return self._forest

    def _observe(self, index: int, out: Floats) -> None:
        if self._forest is None:
            step_kernel.observe(self._flat, index, out)
        else:
            forest.observe_tree(self._flat, self._forest, index, out)

    def _place(self, flat: Flat, index: int, name: str) -> None:
        if self.spec.start is not None:
            pose = self.spec.start[index]
            if step_kernel.place_at(flat, index, pose.x_m, pose.y_m, math.radians(pose.heading_deg)) <= 0.0:
                raise ValueError(
                    f"{name}: world.start.{index} at ({pose.x_m:g}, {pose.y_m:g}) m touches a wall, a "
                    f"cylinder or another vehicle; move it."
                )
            return
        rng = np.random.default_rng([self.seed, index])
        for _ in range(START_TRIES):
            pose = self._draw(rng)
            heading_rad = math.radians(pose.heading_deg)
            if (
                step_kernel.place_at(flat, index, pose.x_m, pose.y_m, heading_rad)
                >= self.spec.start_clearance_m
            ):
                return
        raise ValueError(
            f"{name}: found no place with {self.spec.start_clearance_m:g} m clearance in {START_TRIES} tries; "
            f"make the world larger, take vehicles or cylinders out, or give world.start."
        )

    def _draw(self, rng: np.random.Generator) -> Pose:
        u, v, turn = rng.random(3)
        heading_deg = 360.0 * turn - 180.0
        if self.spec.length_m is not None and self.spec.width_m is not None:
            return Pose(x_m=u * self.spec.length_m, y_m=v * self.spec.width_m, heading_deg=heading_deg)
        return Pose(x_m=(u - 0.5) * OPEN_WATER_M, y_m=(v - 0.5) * OPEN_WATER_M, heading_deg=heading_deg)

    def step(self, duration_us: int) -> None:
        """Advance time by duration_us, in steps of the smallest step_us of the vehicles (the last one shorter)."""
        if duration_us < 0:
            raise ValueError(f"step of {duration_us} us: time does not run backwards; give 0 or more.")
        left_us = duration_us
        while left_us > 0:
            chunk_us = min(left_us, CHUNK_US)
            self._streams.refill(self._flat.sensors, chunk_us)
            if self._forest is None:
                problem, index = step_kernel.advance(self._flat, chunk_us, self._step_us)
            else:
                problem, index = forest.advance_trees(self._flat, self._forest, chunk_us, self._step_us)
            if problem == step_kernel.QUEUE_FULL:
                raise ValueError(
                    f"{self.bodies[index].name}: more than {QUEUE_LENGTH} pulses wait for their delay_s; "
                    f"write less often."
                )
            if problem == step_kernel.DIVERGED:
                model, x = self.models[index], self.bodies[index].state()
                raise PlantDiverged(model.divergence(x, None, self.time_us * 1e-6, self._step_us * 1e-6))
            left_us -= chunk_us


def _pushed_body(spec: PlantSpec, actuator: str, model: Model | None) -> int:
    """Index of the body in its tree that a thruster pushes."""
    body = getattr(spec.actuator[actuator], "body", None)
    return model.place(body) if model and body else 0
