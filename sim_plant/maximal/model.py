"""The door to a vehicle whose chains may be closed: every body on its own, kept at its joints by impulses.

    model = sim_plant.load("vehicle.toml", impulses=True)
    state = model.state()
    state = model.step(state, None, 0.001)

The same vehicle file, forces and argument shapes as Model's (sim_plant/tree/model.py), and a state that begins with
the tree's: state[model.q["bend"]] reads a joint in both. What follows in it stands in maximal/arrays.py. Slower
than recursions over a tree, and of second order in the step; it is there for closed chains, and as a check.
"""

from __future__ import annotations

import numpy as np

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.maximal import bodies, integrate
from caudal.sim_plant.maximal.arrays import MOST_WAYS, carrier_problem, pack_chains, ways_of
from caudal.sim_plant.tables.closures import Length, Pair
from caudal.sim_plant.tables.tree import TreeSpec
from caudal.sim_plant.tree.arrays import SPHERICAL
from caudal.sim_plant.tree.model import Model, PlantDiverged

OPEN_M = 1e-3  # a state whose gaps are wider is not one to step from
ROUNDS = 200  # of shut
SHUT_M = 1e-10


class ImpulseModel:
    """A vehicle in maximal coordinates.

    iterations: rounds over all links, at each end of a step; more where a gap would be left (impulse_step.CLOSE).
    driven: driven joints in file order, then driven rods and tendons (position, velocity: of their length).
    """

    def __init__(
        self,
        spec: TreeSpec,
        gravity: bool = True,
        fluid: bool = True,
        label: str = "tree",
        iterations: int = 5,
    ) -> None:
        if iterations < 1:
            raise ValueError(f"{label}: iterations ({iterations}) must be above 0.")
        self.tree = Model(spec, gravity, fluid, label, closures=False)
        self.spec, self.label, self.iterations = spec, label, iterations
        order = sorted(range(len(spec.body)), key=lambda index: self.tree.place(spec.body[index].name))
        self._check(order)
        self.flat, self.size = pack_chains(spec, self.tree.flat, order, self.tree.size)
        self.bodies, self.joints = self.tree.bodies, self.tree.joints
        self.q, self.qd, self.v, self.freedoms = self.tree.q, self.tree.qd, self.tree.v, self.tree.freedoms
        self.driven = self.tree.driven + [
            closure.name
            for closure in spec.closure
            if isinstance(closure, Length) and closure.mode == "driven"
        ]
        links = [body.name for body in spec.body[1:] if body.mass_kg > 0]
        by_place = sorted(links, key=self.tree.place)
        pairs = [closure.name for closure in spec.closure if isinstance(closure, Pair)]
        ropes = [closure.name for closure in spec.closure if isinstance(closure, Length)]
        # What a link puts on a body (by that body's name) or closure does on body b; a rope's tension and length.
        self.load = {
            name: slice(row["load_at"], row["load_at"] + 6)
            for name, row in zip(by_place + pairs, self.flat.links, strict=True)
        }
        self.tension = {n: int(row["load_at"]) for n, row in zip(ropes, self.flat.ropes, strict=True)}
        self.length = {name: at + 1 for name, at in self.tension.items()}
        self._measure_lengths()

    def state(self) -> Floats:
        """At rest at the origin, base level, joints at 0; closures as that leaves them."""
        return self.from_tree(self.tree.state())

    def from_tree(self, tree_state: Floats) -> Floats:
        """The state of a tree's state; closures as that leaves them (see shut)."""
        x = np.zeros(self.size)
        x[: self.tree.size] = self.tree._checked(tree_state)
        for joint in self.flat.joints:
            if joint["kind"] == SPHERICAL and joint["qd_at"] < 0:
                x[joint["q_at"]] = 1.0
        x[list(self.length.values())] = self.flat.ropes["length_m"]
        bodies.spread(self.flat, x)
        x[: self.tree.size] = tree_state
        return x

    def to_tree(self, state: Floats) -> Floats:
        """The tree's state: the base, and the joints as the bodies have them; or those of many states."""
        return np.array(state[..., : self.tree.size])

    def shut(self, state: Floats) -> Floats:
        """The state near this one whose closures hold, with velocities that they let be; driven joints stay."""
        x = self._checked(state).copy()
        for _ in range(ROUNDS // 10):
            integrate.shut(self.flat, x, np.zeros(self.freedoms), 10)
            if self.gap_m(x) < SHUT_M:
                return x
        raise ValueError(
            f"{self.label}: closures stay open by {self.gap_m(x):.2g} m; begin nearer to where they meet, or check "
            f"their points and lengths."
        )

    def gap_m(self, states: Floats) -> float:
        """Largest distance by which a joint or a closure gives, of a state or of many; slack gives none."""
        return self._gaps(states)[0]

    def gap_rad(self, states: Floats) -> float:
        """Largest angle by which a joint or a closure gives."""
        return self._gaps(states)[1]

    def energy(self, state: Floats) -> float:
        """J, as Model.energy; closures hold none."""
        return self.tree.energy(self.to_tree(state))

    def step(
        self,
        state: Floats,
        tau: Floats | None,
        dt: float,
        *,
        driven: Floats | None = None,
        time_s: float = 0.0,
    ) -> Floats:
        """The state dt seconds on. driven: (3, 3, driven), as for rollout with one step."""
        return self.rollout(state, 1, dt, tau, driven, time_s=time_s)[-1, :]

    def rollout(
        self,
        state: Floats,
        steps: int,
        dt: float,
        tau: Floats | None = None,
        driven: Floats | None = None,
        *,
        every: int = 1,
        time_s: float = 0.0,
    ) -> Floats:
        """(steps / every + 1, state): the state given, or that of the tree's state given, then every `every`-th.

        tau: one force for all steps, or (steps, 6 + nv). driven: (2 steps + 1, 3, driven): position, velocity and
        acceleration at every half step, as for Model; without it what is driven keeps its rate, or its length.
        time_s: for how long the waves have gone at the start.
        """
        if not (dt > 0 and np.isfinite(dt)) or steps < 1 or every < 1:
            raise ValueError(f"{self.label}: dt ({dt} s), steps ({steps}), every ({every}) must be above 0.")
        told = np.zeros((0, 3, len(self.driven)))
        if driven is not None:
            told = self._shaped("driven", driven, [(2 * steps + 1, 3, len(self.driven))])
        forces = np.zeros((1, self.freedoms))
        if tau is not None:
            forces = self._shaped("tau", np.atleast_2d(tau), [(1, self.freedoms), (steps, self.freedoms)])
        x = self._checked(state, told).copy()
        gap_m = self.gap_m(x)
        if gap_m > OPEN_M:
            raise ValueError(
                f"{self.label}: closures or joints stand open by {gap_m:.2g} m; begin with shut(state)."
            )
        states = np.empty((steps // every + 1, self.size))
        states[0] = x
        asked_s = self.tree.time_s
        done = integrate.roll_out(
            self.flat, x, forces, told, dt, steps, every, self.iterations, states[1:], float(time_s)
        )
        self.tree.time_s = asked_s
        if done < steps:
            last, force = self.to_tree(x), forces[min(done, len(forces) - 1)]
            raise PlantDiverged(self.tree.divergence(last, force, (done + 1) * dt, dt))
        return states

    def _checked(self, state: Floats, told: Floats | None = None) -> Floats:
        x = np.ascontiguousarray(state, dtype=float)
        if x.shape == (self.tree.size,):
            x = x.copy()
            if told is not None and len(told):
                x[self.flat.tree.told_q] = told[0, 0, : len(self.tree.driven)]
                x[self.flat.tree.told_v] = told[0, 1, : len(self.tree.driven)]
            return self.from_tree(x)
        if x.shape != (self.size,) or not np.isfinite(x).all():
            raise ValueError(
                f"{self.label}: a state is {self.size} finite numbers, or {self.tree.size} of the tree; begin with "
                f"state()."
            )
        return x

    def _shaped(self, what: str, given: Floats, shapes: list[tuple[int, ...]]) -> Floats:
        numbers = np.ascontiguousarray(given, dtype=float)
        if numbers.shape not in shapes or not np.isfinite(numbers).all():
            wanted = " or ".join(str(shape) for shape in shapes)
            raise ValueError(
                f"{self.label}: {what} is {numbers.shape}; give finite numbers of shape {wanted}."
            )
        return numbers

    def _gaps(self, states: Floats) -> tuple[float, float]:
        rows, out = np.atleast_2d(np.array(states, dtype=float)), np.zeros(2)
        worst = np.zeros(2)
        for row in rows:
            bodies.gaps(self.flat, row, out)
            worst = np.maximum(worst, out)
        return float(worst[0]), float(worst[1])

    def _measure_lengths(self) -> None:
        """Ropes without a length are as long as they are now."""
        x = self.from_tree(self.tree.state())
        bodies.gaps(self.flat, x, np.zeros(2))
        for rope in self.flat.ropes:
            if rope["length_m"] == 0:
                rope["length_m"] = rope["over_m"]

    def _check(self, order: list[int]) -> None:
        for i, body in enumerate(self.spec.body):
            if body.mass_kg == 0:
                problem = carrier_problem(self.spec.body, body)
                if problem:
                    raise VehicleFileError(
                        f"{self.label}: plant.tree.body.{i}: {problem}; give it mass, or do without impulses."
                    )
        for name, ways in ways_of(self.spec, order).items():
            if ways > MOST_WAYS:
                raise VehicleFileError(
                    f"{self.label}: the joints before {name} move in {ways} ways with no mass between them; "
                    f"give a body there mass."
                )
