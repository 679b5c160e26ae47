"""A vehicle with closed chains: every body has its own coordinates, and impulses keep them together at the joints.

    model = sim_plant.load("vehicle.toml", impulses=True)
    state = model.state()
    state = model.step(state, None, 0.001)

It takes the same vehicle file, forces and argument shapes as Model (sim_plant/tree/model.py). Its state begins with the
tree's: state[model.q["bend"]] is a joint in both; maximal/arrays.py describes the rest. It is slower than the
recursions over a tree, and of second order in the step. It is for closed chains, and a check of the recursions.
"""

from __future__ import annotations

import numpy as np

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.maximal import bodies, integrate
from caudal.sim_plant.maximal.arrays import MAX_FREEDOMS, link_freedoms, massless_body_problem, pack_chains
from caudal.sim_plant.tables.closures import Length, Pair
from caudal.sim_plant.tables.tree import TreeSpec
from caudal.sim_plant.tree.arrays import SPHERICAL
from caudal.sim_plant.tree.model import Model, PlantDiverged

MAX_GAP_M = 1e-3  # a rollout refuses a state with larger gaps
SHUT_ROUNDS = 200  # of shut
SHUT_TOLERANCE_M = 1e-10


class ImpulseModel:
    """A vehicle in maximal coordinates, kept together by impulses.

    iterations: rounds over all links at each end of a step; more where gaps remain (maximal.integrate.TOLERANCE).
    driven: driven joints in file order, then driven rods and tendons (position and velocity of their length).
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
        # Indices in a state: force and torque of the link that ends at a body (by its name) or of a closure; ropes.
        self.load = {
            name: slice(row["load_at"], row["load_at"] + 6)
            for name, row in zip(by_place + pairs, self.flat.links, strict=True)
        }
        self.tension = {n: int(row["load_at"]) for n, row in zip(ropes, self.flat.ropes, strict=True)}
        self.length = {name: at + 1 for name, at in self.tension.items()}
        self._measure_lengths()

    def state(self) -> Floats:
        """State at rest at the origin, base level, joints at 0; closures where that puts them."""
        return self.from_tree(self.tree.state())

    def from_tree(self, tree_state: Floats) -> Floats:
        """The state that belongs to a tree's state; closures where that puts them (see shut)."""
        x = np.zeros(self.size)
        x[: self.tree.size] = self.tree._checked(tree_state)
        for joint in self.flat.joints:
            if joint["kind"] == SPHERICAL and joint["qd_at"] < 0:
                x[joint["q_at"]] = 1.0
        x[list(self.length.values())] = self.flat.ropes["length_m"]
        bodies.spread_state(self.flat, x)
        x[: self.tree.size] = tree_state
        return x

    def to_tree(self, state: Floats) -> Floats:
        """The tree's state, or states: the base, and the joints as measured between the bodies."""
        return np.array(state[..., : self.tree.size])

    def shut(self, state: Floats) -> Floats:
        """The nearest state with closed closures, and with velocities that keep them closed; driven joints stay."""
        x = self._checked(state).copy()
        for _ in range(SHUT_ROUNDS // 10):
            integrate.close_closures(self.flat, x, np.zeros(self.freedoms), 10)
            if self.gap_m(x) < SHUT_TOLERANCE_M:
                return x
        raise ValueError(
            f"{self.label}: closures stay open by {self.gap_m(x):.2g} m; start nearer to where they meet, or check "
            f"their points and lengths."
        )

    def gap_m(self, states: Floats) -> float:
        """Largest gap (m) of a joint or a closure, of one state or many; slack does not count."""
        return self._gaps(states)[0]

    def gap_rad(self, states: Floats) -> float:
        """Largest angle (rad) by which a joint or a closure is off, of one state or many."""
        return self._gaps(states)[1]

    def energy(self, state: Floats) -> float:
        """Sum of the energies (J), as Model.energy; closures have none."""
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
        """The state dt seconds later; driven is (3, 3, driven), as in a rollout of one step."""
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
        """(steps / every + 1, state): the given state (or that of a tree's state), then every `every`-th state after
        it.

        tau: one force for all steps, or (steps, 6 + nv). driven: (2 steps + 1, 3, driven), position, velocity and
        acceleration at every half step, as in Model; without it driven joints keep their velocity and driven ropes
        their length. time_s: how long the waves have run at the start.
        """
        forces, motion = self.tree._rollout_inputs(steps, dt, every, tau, driven, len(self.driven))
        x = self._checked(state, motion).copy()
        gap_m = self.gap_m(x)
        if gap_m > MAX_GAP_M:
            raise ValueError(
                f"{self.label}: closures or joints are open by {gap_m:.2g} m; start from shut(state)."
            )
        states = np.empty((steps // every + 1, self.size))
        states[0] = x
        own_time_s = self.tree.time_s
        done = integrate.roll_out(
            self.flat, x, forces, motion, dt, steps, every, self.iterations, states[1:], float(time_s)
        )
        self.tree.time_s = own_time_s
        if done < steps:
            last, force = self.to_tree(x), forces[min(done, len(forces) - 1)]
            raise PlantDiverged(self.tree.divergence(last, force, (done + 1) * dt, dt))
        return states

    def _checked(self, state: Floats, motion: Floats | None = None) -> Floats:
        x = np.ascontiguousarray(state, dtype=float)
        if x.shape == (self.tree.size,):
            x = x.copy()
            if motion is not None and len(motion):
                x[self.flat.tree.driven_q] = motion[0, 0, : len(self.tree.driven)]
                x[self.flat.tree.driven_v] = motion[0, 1, : len(self.tree.driven)]
            return self.from_tree(x)
        if x.shape != (self.size,) or not np.isfinite(x).all():
            raise ValueError(
                f"{self.label}: a state is {self.size} finite numbers, or {self.tree.size} of the tree; start from "
                f"state()."
            )
        return x

    def _gaps(self, states: Floats) -> tuple[float, float]:
        rows, out = np.atleast_2d(np.array(states, dtype=float)), np.zeros(2)
        worst = np.zeros(2)
        for row in rows:
            bodies.largest_gaps(self.flat, row, out)
            worst = np.maximum(worst, out)
        return float(worst[0]), float(worst[1])

    def _measure_lengths(self) -> None:
        """Give ropes without a length the one that they have with all joints at 0."""
        x = self.from_tree(self.tree.state())
        bodies.largest_gaps(self.flat, x, np.zeros(2))
        for rope in self.flat.ropes:
            if rope["length_m"] == 0:
                rope["length_m"] = rope["excess_m"]

    def _check(self, order: list[int]) -> None:
        for i, body in enumerate(self.spec.body):
            if body.mass_kg == 0:
                problem = massless_body_problem(self.spec.body, body)
                if problem:
                    raise VehicleFileError(
                        f"{self.label}: plant.tree.body.{i}: {problem}; give it mass, or load it without impulses."
                    )
        for name, count in link_freedoms(self.spec, order).items():
            if count > MAX_FREEDOMS:
                raise VehicleFileError(
                    f"{self.label}: the joints before {name} have {count} freedoms and no mass between them; "
                    f"give a body there mass."
                )
