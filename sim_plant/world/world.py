"""A world and the vehicles in it, stepped together: the plant's door, below the HAL's maps.

    world = World(world_spec, seed=0)
    body = world.add(plant_spec, actuators=["tail_1"], sensors=["yaw"], name="one")
    body.write([1500]); world.step(10_000); body.read(counts)

Pulses in microseconds (of valves, currents in microamperes) go in, integer counts come out. The same seed and the
same calls give the same counts bit for bit. The world is a plane with a floor: hulls meet whatever depth their
vehicles swim at.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.arrays import BODY, JOINT, Flat, pack_body, pack_law
from caudal.sim_plant.base.noise import Streams
from caudal.sim_plant.base.types import Floats, Records
from caudal.sim_plant.parts.actuators import ACTUATOR, LINE, pack_actuator
from caudal.sim_plant.parts.motors import CURVE, with_motors
from caudal.sim_plant.parts.sensors import NO_READING, SENSOR, pack_sensor
from caudal.sim_plant.scene.arrays import pack_cylinders, pack_spheres, pack_world
from caudal.sim_plant.tables.devices import Servo, Thruster, Valve, check_channels
from caudal.sim_plant.tables.read import PlantSpec, Pose, WorldSpec, disagreements, world_disagreements
from caudal.sim_plant.tree.equilibrium import afloat
from caudal.sim_plant.tree.equilibrium import rolled as turned_state
from caudal.sim_plant.tree.model import Model, PlantDiverged
from caudal.sim_plant.water.tether import pack_tether
from caudal.sim_plant.world import clearance, forest, step_kernel, warm_up
from caudal.sim_plant.world.forest import Forest
from caudal.sim_plant.world.soft_joints import SOFT, lay_out, pack_softs

CHUNK_US = 100_000  # most a kernel call steps, so that the noise drawn ahead suffices
START_TRIES = 20_000
OPEN_WATER_M = 4.0  # vehicles without a place start in a square of this side round the origin
SEEN = ["x_m", "y_m", "depth_m", "heading_rad", "speed_m_s", "yaw_rate_rad_s", "clearance_m"]
TAIL_SEEN = ["tail_beat_hz", "tail_beat_m", "deflection_rad", "thrust_n"]
# Of a tree, speed_m_s is its centre of mass's along the heading, way_m_s in any direction of the plane.
# The others' are the base's: along its own axes, over ground. yaw_rate_rad_s is about its axis too.
TREE_SEEN = ["roll_rad", "pitch_rad", "climb_m_s", "way_m_s", "surge_m_s", "sway_m_s", "heave_m_s"]
TREE_SEEN += ["roll_rate_rad_s", "pitch_rate_rad_s"]


class Body:
    """One vehicle in a world: its actuators and sensors in the order that was asked for."""

    def __init__(
        self, world: World, index: int, name: str, seen: list[str], actuators: list[str], sensors: list[str]
    ) -> None:
        self.name = name
        self.index = index
        self.actuators = actuators
        self.sensors = sensors
        self.truth_fields = seen
        self._world = world
        self._new = True
        self._truth = np.zeros(len(self.truth_fields))

    @property
    def time_us(self) -> int:
        """Of its world."""
        return self._world.time_us

    def _attach(self, flat: Flat) -> None:
        """Take the views of the world's arrays, which move when a vehicle is added."""
        self._written = flat.written
        row = flat.bodies[self.index]
        first = int(row["first_actuator"])
        self._commands = flat.commands_us[first : first + len(self.actuators)]
        first = int(row["first_sensor"])
        self._counts = flat.counts[first : first + len(self.sensors)]

    def write(self, outputs: Sequence[int]) -> None:
        """Pulses in us, of valves currents in uA, one each actuator, from now on; 0 is none (servo limp, thruster and
        valve off)."""
        if len(outputs) != len(self.actuators):
            raise ValueError(
                f"{self.name}: {len(outputs)} pulses for {len(self.actuators)} actuators; "
                f"give one each for {', '.join(self.actuators)}."
            )
        try:
            pulses = array("q", outputs)
        except TypeError:
            raise ValueError(
                f"{self.name}: pulses are whole microseconds, not {list(outputs)!r}; round them."
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
            step_kernel.sample_due(self._world._flat, self.index)
            self._new = False
        counts[:] = [None if count == NO_READING else count for count in self._counts.tolist()]
        self._counts.fill(NO_READING)

    def truth(self) -> list[float]:
        """What truth_fields name, as it is now; SI units, world frame."""
        self._world._observe(self.index, self._truth)
        return self._truth.tolist()

    def state(self) -> Floats:
        """Of a tree: its state, laid out as tree/arrays.py says."""
        first, end = self._world._planted().state_spans[self.index]
        return self._world._planted().states[first:end].copy()

    @property
    def clearance_m(self) -> float:
        """From the hull to the nearest wall, cylinder or other hull; infinite in open water."""
        return float(step_kernel.clearance_m(self._world._flat, self.index))

    @property
    def collisions(self) -> int:
        """Contact onsets it took part in."""
        return int(self._world._flat.bodies[self.index]["collisions"])

    @property
    def hull_m(self) -> Floats:
        """Corners of head and tail box now, (2, 4, 2), world frame."""
        return self._world._flat.hulls[self.index, :].copy()


class World:
    """A pool (or open water), its cylinders, a moving target and the vehicles."""

    def __init__(self, spec: WorldSpec, seed: int = 0) -> None:
        for key, problem in world_disagreements(spec):
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
            due_us=np.zeros((0, LINE), np.int64),
            pulses_us=np.zeros((0, LINE), np.int64),
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
        return int(self._flat.world[0]["time_us"])

    @property
    def collisions(self) -> int:
        """All contact onsets; a touch of two vehicles counts once."""
        return int(self._flat.world[0]["collisions"])

    @property
    def target_m(self) -> tuple[float, float] | None:
        """Where the moving target is now (x, y), or None if there is none."""
        if self.spec.target is None:
            return None
        x_m, y_m = step_kernel.target_at(self._flat.world[0])
        return float(x_m), float(y_m)

    def add(
        self, spec: PlantSpec, *, actuators: Sequence[str], sensors: Sequence[str], name: str = "vehicle"
    ) -> Body:
        """Put a vehicle into the world, with the channels named and in their order.

        It starts at rest with a straight tail, at its pose of the world's `start`, else at a place drawn from
        the seed with start_clearance_m to all else. A servo that is not named never gets a pulse.
        """
        for key, problem in disagreements(spec):
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
            with warm_up.two_at_once():
                row, joints, model = self._tree(spec, actuators, name)
        else:
            assert spec.strouhal is not None, "disagreements() found the model's own table"
            row = pack_body(spec, sum(link.length_m for link in spec.strouhal.link))
            joints = pack_law(row, spec.strouhal)
        row["first_joint"] = len(flat.joints)
        row["first_actuator"], row["actuators"] = len(flat.actuators), len(actuators)
        row["first_sensor"], row["sensors"] = len(flat.sensors), len(sensors)
        place = {joint: len(flat.joints) + i for i, joint in enumerate([*spec.joints, *spec.idle])}
        keys = [(self.seed, index, zlib.crc32(s.encode())) for s in sensors]
        shortest_us = min((1e6 / spec.sensor[s].rate_hz for s in sensors), default=math.inf)
        streams = self._streams.extended(keys, shortest_us)
        curves, points, motors = with_motors(flat, spec)
        packed_actuators = [
            pack_actuator(spec.actuator[a], place.get(a, -1), motors.get(a, (0, 0)), _carrier(spec, a, model))
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
        lines = np.zeros((len(actuators), LINE), np.int64)
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
            self._plant(model, spec, grown, index)
        self._flat, self._streams = grown, streams
        self._step_us = min(self._step_us, spec.step_us)
        seen = [*SEEN, *(TREE_SEEN if model else TAIL_SEEN)]
        seen += [f"{joint}_{'m' if joint in spec.slides else 'rad'}" for joint in spec.joints]
        seen += [f"{a}_n" for a in actuators if isinstance(spec.actuator[a], Thruster)]
        seen += [f"{a}_pa" for a in actuators if isinstance(spec.actuator[a], Valve)]
        seen += [*(["battery_v"] if spec.battery else []), *(clearance.SEEN if spec.skin else [])]
        body = Body(self, index, name, seen, list(actuators), list(sensors))
        self.bodies.append(body)
        for each in self.bodies:
            each._attach(grown)
        return body

    def _tree(self, spec: PlantSpec, actuators: Sequence[str], name: str) -> tuple[Records, Records, Model]:
        """A tree's BODY record, JOINT records and model."""
        assert spec.tree is not None, "disagreements() found the model's own table"
        model = Model(spec.tree, label=name)
        for actuator in actuators:
            servo = spec.actuator[actuator]
            if isinstance(servo, Servo) and actuator not in model.driven:
                forest.pack_torque(model, actuator, servo)
        tail_m = sum(link.length_m for link in spec.hull.tail) if spec.hull else 0.0
        return pack_body(spec, tail_m), forest.pack_joints(model, spec), model

    def _plant(self, model: Model, spec: PlantSpec, flat: Flat, index: int) -> None:
        """Put a tree where its BODY record says, at rest, soft joints without pressure."""
        x, row = model.state(), flat.bodies[index]
        joints = flat.joints[row["first_joint"] :]
        x[2] = -spec.depth_m
        lay_out(spec.soft, model, x)
        if spec.afloat:
            x = afloat(model, x)
        x = turned_state(x, 0.0, 0.0, row["heading_rad"])
        x[0], x[1] = row["x_m"], row["y_m"]
        row["depth_m"], row["wound_rad"] = -x[2], row["heading_rad"]
        joints["angle_rad"] = x[joints["q_at"]]
        if spec.tether is not None:
            pack_tether(model.flat.water, spec.tether, row["heading_rad"])
        if spec.skin:
            clearance.begin_clear(spec, self.spec, model, flat, index, x)
        planted = [(self.models[i].flat, body.state()) for i, body in enumerate(self.bodies)]
        self._forest = forest.forest_of([*planted, (model.flat, x)])
        self.models.append(model)

    def _check_floor(self, spec: PlantSpec, name: str) -> None:
        keel_m = spec.depth_m + spec.hull.keel_m if spec.hull else 0.0
        if self.spec.depth_m is not None and keel_m > self.spec.depth_m:
            raise ValueError(
                f"{name}: plant.depth_m puts its keel at {keel_m:g} m, but the floor is at world.depth_m, "
                f"{self.spec.depth_m:g} m; start higher."
            )

    def _planted(self) -> Forest:
        if self._forest is None:
            raise ValueError("this world's vehicles are no trees of bodies; they have no state of that kind.")
        return self._forest

    def _observe(self, index: int, out: Floats) -> None:
        if self._forest is None:
            step_kernel.observe(self._flat, index, out)
        else:
            forest.observe_tree(self._flat, self._forest, index, out)

    def _place(self, flat: Flat, index: int, name: str) -> None:
        if self.spec.start is not None:
            pose = self.spec.start[index]
            if step_kernel.put(flat, index, pose.x_m, pose.y_m, math.radians(pose.heading_deg)) <= 0.0:
                raise ValueError(
                    f"{name}: world.start.{index} at ({pose.x_m:g}, {pose.y_m:g}) m touches a wall, a "
                    f"cylinder or another vehicle; move it."
                )
            return
        rng = np.random.default_rng([self.seed, index])
        for _ in range(START_TRIES):
            pose = self._draw(rng)
            heading_rad = math.radians(pose.heading_deg)
            if step_kernel.put(flat, index, pose.x_m, pose.y_m, heading_rad) >= self.spec.start_clearance_m:
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
        """Move time on by duration_us, in steps of the vehicles' smallest step_us (the last shorter)."""
        if duration_us < 0:
            raise ValueError(f"step of {duration_us} us: time does not run backwards; give 0 or more.")
        left_us = duration_us
        while left_us > 0:
            chunk_us = min(left_us, CHUNK_US)
            self._streams.refill(self._flat.sensors, chunk_us)
            if self._forest is None:
                wrong, whose = step_kernel.advance(self._flat, chunk_us, self._step_us)
            else:
                wrong, whose = forest.advance_trees(self._flat, self._forest, chunk_us, self._step_us)
            if wrong == step_kernel.LINE_FULL:
                raise ValueError(
                    f"{self.bodies[whose].name}: over {LINE} pulses wait for their delay_s; write less often."
                )
            if wrong == step_kernel.DIVERGED:
                model, x = self.models[whose], self.bodies[whose].state()
                raise PlantDiverged(model.divergence(x, None, self.time_us * 1e-6, self._step_us * 1e-6))
            left_us -= chunk_us


def _carrier(spec: PlantSpec, actuator: str, model: Model | None) -> int:
    """The body in its tree that a thruster pushes."""
    body = getattr(spec.actuator[actuator], "body", None)
    return model.place(body) if model and body else 0
