"""A tree of bodies: loads a vehicle's `plant.tree`, computes its dynamics and steps it.

    model = sim_plant.load("vehicle.toml")
    state = model.state()
    state = model.step(state, None, 0.001)

tree/arrays.py describes the layout of a state, an acceleration and a force. No argument is changed; every result is a
new array. A model has its own work space: use one model per thread.
"""

from __future__ import annotations

import os
from typing import Literal

import numpy as np

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tables.tree import TreeSpec, validate_tree, with_buoyancy_only
from caudal.sim_plant.tree import energy as tree_energy
from caudal.sim_plant.tree import integrate, recursion, water_forces
from caudal.sim_plant.tree.arrays import FREEDOMS, JOINTS_AT, POSITIONS, pack_tree, rotation_matrix

Source = str | os.PathLike[str] | VehicleFile
Method = Literal["rk4", "semi-implicit"]
METHODS = ("rk4", "semi-implicit")
BASE_COMPONENTS = [
    "x",
    "y",
    "z",
    "quaternion w",
    "quaternion x",
    "quaternion y",
    "quaternion z",
    "velocity x",
]
BASE_COMPONENTS += [
    "velocity y",
    "velocity z",
    "angular velocity x",
    "angular velocity y",
    "angular velocity z",
]
SINGULAR = 1e-11  # of a mass matrix scaled to ones on its diagonal


class PlantDiverged(ArithmeticError):
    """The numbers of a step diverged; the message says when, at which body and what to do."""


def read(file: VehicleFile) -> TreeSpec:
    """The tree of a vehicle file; raises a VehicleFileError that says what is wrong, where, and what to do."""
    spec = file.read("plant.tree", TreeSpec)
    for key, problem in validate_tree(spec):
        raise file.error(f"plant.tree.{key}", problem)
    return spec


class Model:
    """A vehicle as a tree of bodies, with the bodies and joints named in file order."""

    def __init__(
        self,
        spec: TreeSpec,
        gravity: bool = True,
        fluid: bool = True,
        label: str = "tree",
        closures: bool = True,
    ) -> None:
        """With closures=False, joints that close a chain stay open; otherwise a vehicle that has some is refused."""
        for key, problem in validate_tree(spec):
            raise VehicleFileError(f"{label}: plant.tree.{key}: {problem}")
        if spec.closure and closures:
            raise VehicleFileError(
                f"{label}: plant.tree.closure: a tree cannot hold {spec.closure[0].name}; load it with impulses=True."
            )
        self.spec, self.label = spec, label
        self.bodies = [body.name for body in spec.body]
        joints = [body.joint for body in spec.body if body.joint and body.joint.kind != "fixed"]
        self.joints = [joint.name for joint in joints]
        self.driven = [joint.name for joint in joints if joint.mode == "driven"]
        packed = with_buoyancy_only(spec) if spec.water == "buoyant" else spec
        self.flat, order = pack_tree(packed, gravity, fluid and spec.water != "none")
        self._place = {index: i for i, index in enumerate(order)}
        self.q: dict[str, slice] = {}  # joint -> its positions in a state
        self.qd: dict[str, slice] = {}  # joint -> its velocities in a state
        self.v: dict[str, slice] = {}  # joint -> its part of an acceleration or a force
        q, v = JOINTS_AT, 6
        for joint in joints:
            self.q[joint.name] = slice(q, q + POSITIONS[joint.kind])
            self.v[joint.name] = slice(v, v + FREEDOMS[joint.kind])
            q, v = q + POSITIONS[joint.kind], v + FREEDOMS[joint.kind]
        for name in self.joints:
            self.qd[name] = slice(q + self.v[name].start - 6, q + self.v[name].stop - 6)
        self.size, self.freedoms = len(self.flat.rate), v
        self.lags = slice(q + v - 6, self.size)  # of foils, in a state
        self._quaternions = [3, *(part.start for part in self.q.values() if part.stop - part.start == 4)]
        self._check_inertia()

    def place(self, body: str) -> int:
        """Index of a body in the tree's arrays."""
        if body not in self.bodies:
            raise KeyError(f"{self.label}: there is no body {body}; choose from {', '.join(self.bodies)}.")
        return self._place[self.bodies.index(body)]

    def state(self) -> Floats:
        """State at rest at the origin, base level, joints at 0."""
        x = np.zeros(self.size)
        x[self._quaternions] = 1.0
        return x

    @property
    def time_s(self) -> float:
        """How long the waves have run (s) in calls that take a state; step and rollout have their own time."""
        return float(self.flat.water["time_s"][0])

    @time_s.setter
    def time_s(self, time_s: float) -> None:
        if not np.isfinite(time_s):
            raise ValueError(f"{self.label}: time_s is {time_s}; give a finite number of seconds.")
        self.flat.water["time_s"] = time_s

    def mass_matrix(self, state: Floats) -> Floats:
        """Mass matrix (6 + nv, 6 + nv), with the added mass."""
        self._update(state)
        mass = np.zeros((self.freedoms, self.freedoms))
        recursion.mass_matrix(self.flat, mass)
        return mass

    def bias(self, state: Floats) -> Floats:
        """Force that keeps all accelerations at 0: mass_matrix @ acceleration + bias = force."""
        return self.inverse_dynamics(state, np.zeros(self.freedoms))

    def forward_dynamics(
        self, state: Floats, tau: Floats | None = None, driven: Floats | None = None
    ) -> Floats:
        """Acceleration under the force tau; driven joints accelerate by `driven` (file order), or not at all."""
        force = self._vector("tau", tau)
        acceleration = np.zeros(self.freedoms)
        if driven is not None:
            given = self._shaped("driven", driven, (len(self.driven),))
            for name, value in zip(self.driven, given, strict=True):
                acceleration[self.v[name]] = value
        self._update(state)
        recursion.forward_dynamics(self.flat, force, acceleration)
        return acceleration

    def inverse_dynamics(self, state: Floats, acceleration: Floats) -> Floats:
        """Force on base and joints for this acceleration, in addition to springs, dampers, weight and water."""
        wanted = self._vector("acceleration", acceleration)
        self._update(state)
        tau = np.zeros(self.freedoms)
        recursion.inverse_dynamics(self.flat, wanted, tau)
        return tau

    def energies(self, state: Floats) -> dict[str, float]:
        """Energies (J) by kind, relative to water that drifts with the current; 0 is at rest on the surface."""
        self._update(state)
        out = np.zeros(4)
        tree_energy.energies(self.flat, self._checked(state), out)
        return dict(zip(("kinetic", "weight", "buoyancy", "springs"), out.tolist(), strict=True))

    def energy(self, state: Floats) -> float:
        """Sum of the energies (J); constant without drag, dampers, forces and driven joints."""
        return sum(self.energies(state).values())

    def momentum(self, state: Floats) -> Floats:
        """Linear and angular momentum about the world's origin (kg m/s, kg m2/s), world axes, with added mass."""
        self._update(state)
        out = np.zeros(6)
        tree_energy.momenta(self.flat, self._checked(state), out)
        return out

    def centre_of_mass(self, state: Floats) -> Floats:
        """Centre of mass of the bodies without water, world (m)."""
        self._update(state)
        out = np.zeros(3)
        tree_energy.centre_of_mass(self.flat, self._checked(state), out)
        return out

    def pose(self, state: Floats, body: str) -> tuple[Floats, Floats]:
        """(rotation from body to world 3x3, position of the body's origin in the world (m))."""
        i = self.place(body)
        self._update(state)
        base = rotation_matrix(state[3:7])
        return base @ self.flat.bodies["turn"][i].reshape(3, 3), state[:3] + base @ self.flat.bodies["at"][i]

    def water_forces(self, state: Floats) -> Floats:
        """Force (N) and moment about the body's origin (N m) of the moving water, world axes: (body in file order, 6).

        Without buoyancy and the inertia of the added mass; see tree/water_forces.py.
        """
        out = np.zeros((len(self.bodies), 6))
        water_forces.water_forces(self.flat, self._checked(state), out)
        return out[[self._place[k] for k in range(len(self.bodies))]]

    def step(
        self,
        state: Floats,
        tau: Floats | None,
        dt: float,
        method: Method = "rk4",
        driven: Floats | None = None,
        time_s: float = 0.0,
    ) -> Floats:
        """The state dt seconds later; driven is (3, 3, joint), as in a rollout of one step."""
        return self.rollout(state, 1, dt, tau, driven, method, time_s=time_s)[-1, :]

    def rollout(
        self,
        state: Floats,
        steps: int,
        dt: float,
        tau: Floats | None = None,
        driven: Floats | None = None,
        method: Method = "rk4",
        every: int = 1,
        time_s: float = 0.0,
    ) -> Floats:
        """(steps / every + 1, state): the given state, then every `every`-th state after it.

        tau: one force for all steps, or (steps, 6 + nv). driven: (2 steps + 1, 3, driven joint), position, velocity and
        acceleration at every half step; without it driven joints keep their velocity. time_s: how long the waves have
        run at the start.
        """
        if method not in METHODS:
            raise ValueError(f"{self.label}: there is no method {method}; choose {' or '.join(METHODS)}.")
        forces, motion = self._rollout_inputs(steps, dt, every, tau, driven, len(self.driven))
        x = self._checked(state).copy()
        states = np.empty((steps // every + 1, self.size))
        states[0] = x
        own_time_s, fourth = self.time_s, method == "rk4"
        self.time_s = time_s
        done = integrate.roll_out(
            self.flat, x, forces, motion, dt, steps, every, fourth, states[1:], float(time_s)
        )
        self.time_s = own_time_s
        if done < steps:
            raise PlantDiverged(self.divergence(x, forces[min(done, len(forces) - 1)], (done + 1) * dt, dt))
        return states

    def divergence(self, last: Floats, tau: Floats | None, at_s: float, dt: float) -> str:
        """Message for a PlantDiverged: names the body whose joint (or, for the base, the water) accelerated it most."""
        self._update(last)
        self.flat.bodies["acceleration"] = 0.0
        recursion.forward_dynamics(self.flat, self._vector("tau", tau), np.zeros(self.freedoms))
        relative = self.flat.bodies["acceleration"].copy()
        relative[1:] -= self.flat.bodies["acceleration"][self.flat.bodies["parent"][1:]]
        worst = int(np.abs(relative).max(axis=1).argmax())
        name = next(name for k, name in enumerate(self.bodies) if self._place[k] == worst)
        return (
            f"{self.label}: diverged {at_s:g} s into the run, at body {name}; take a step shorter than "
            f"{dt:g} s, or softer springs, dampers and drag at this body."
        )

    def _update(self, state: Floats) -> None:
        recursion.update_tree(self.flat, self._checked(state))

    def _checked(self, state: Floats) -> Floats:
        x = np.ascontiguousarray(state, dtype=float)
        if x.shape != (self.size,):
            raise ValueError(
                f"{self.label}: a state is {self.size} numbers, not {x.shape}; begin with state()."
            )
        if not np.isfinite(x).all():
            k = int(np.flatnonzero(~np.isfinite(x))[0])
            raise ValueError(f"{self.label}: state[{k}], {self._part(k)}, is {x[k]}; give a finite number.")
        for k in self._quaternions:
            if np.dot(x[k : k + 4], x[k : k + 4]) < 1e-6:
                raise ValueError(
                    f"{self.label}: the quaternion state[{k}:{k + 4}] has no length; no turn is [1, 0, 0, 0]."
                )
        return x

    def _part(self, k: int) -> str:
        if k < JOINTS_AT:
            return f"{self.bodies[0]}'s {BASE_COMPONENTS[k]}"
        for name in self.joints:
            if self.q[name].start <= k < self.q[name].stop:
                return f"the position of {name}"
        if k >= self.lags.start:
            return "the lag of a foil"
        return "the velocity of " + next(n for n in self.joints if self.qd[n].start <= k < self.qd[n].stop)

    def _vector(self, what: str, given: Floats | None) -> Floats:
        return np.zeros(self.freedoms) if given is None else self._shaped(what, given, (self.freedoms,))

    def _shaped(self, what: str, given: Floats, *shapes: tuple[int, ...]) -> Floats:
        numbers = np.ascontiguousarray(given, dtype=float)
        if numbers.shape not in shapes or not np.isfinite(numbers).all():
            wanted = " or ".join(str(shape) for shape in dict.fromkeys(shapes))
            raise ValueError(
                f"{self.label}: {what} is {numbers.shape}; give finite numbers of shape {wanted}."
            )
        return numbers

    def _rollout_inputs(
        self, steps: int, dt: float, every: int, tau: Floats | None, driven: Floats | None, count: int
    ) -> tuple[Floats, Floats]:
        """Checked forces (one row, or one per step) and motion of `count` driven joints (two rows per step and one)."""
        if not (dt > 0 and np.isfinite(dt)) or steps < 1 or every < 1:
            raise ValueError(f"{self.label}: dt ({dt} s), steps ({steps}), every ({every}) must be above 0.")
        motion, forces = np.zeros((0, 3, count)), np.zeros((1, self.freedoms))
        if driven is not None:
            motion = self._shaped("driven", driven, (2 * steps + 1, 3, count))
        if tau is not None:
            forces = self._shaped("tau", np.atleast_2d(tau), (1, self.freedoms), (steps, self.freedoms))
        return forces, motion

    def _check_inertia(self) -> None:
        """Refuse joints that can move without moving any mass; bodies without mass can cause this."""
        free = [name for name in self.joints if name not in self.driven]
        kept = [*range(6), *(k for name in free for k in range(self.v[name].start, self.v[name].stop))]
        rng = np.random.default_rng(0)
        for spread in (0.0, 0.3, 0.6):
            x = self.state()
            positions = x[JOINTS_AT : self.lags.start - self.freedoms + 6]
            positions += spread * rng.standard_normal(len(positions))
            mass = self.mass_matrix(x)[np.ix_(kept, kept)]
            size = np.sqrt(np.maximum(mass.diagonal(), 1e-300))
            shares, motions = np.linalg.eigh(mass / np.outer(size, size))
            if shares[0] < SINGULAR:
                where = kept[int(np.abs(motions[:, 0]).argmax())]
                name = next((n for n in free if self.v[n].start <= where < self.v[n].stop), self.bodies[0])
                raise VehicleFileError(
                    f"{self.label}: {name} can move without moving any mass; give the bodies behind it mass and "
                    f"inertia, or make its joint driven or fixed."
                )
