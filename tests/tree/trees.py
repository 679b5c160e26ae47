"""Random trees of bodies and their states, and the same tree built in Pinocchio."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
import pinocchio as pin

from caudal.sim_plant.tables.tree import Body, TreeSpec
from caudal.sim_plant.tree.frames import rpy_matrix
from caudal.sim_plant.tree.model import Model

KINDS = ["revolute", "prismatic", "spherical", "fixed"]


def random_inertia(rng: np.random.Generator, mass_kg: float) -> list[float]:
    """Of a box of random sides, turned at random."""
    sides = rng.uniform(0.05, 0.3, 3)
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    i = turn @ np.diag(mass_kg / 12 * (np.sum(sides**2) - sides**2)) @ turn.T
    return i[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()


def random_body(rng: np.random.Generator, i: int, kinds: list[str], modes: list[str]) -> dict:
    mass_kg = float(rng.uniform(0.2, 2.0))
    body = {
        "name": f"body_{i}",
        "mass_kg": mass_kg,
        "com_m": rng.uniform(-0.1, 0.1, 3).tolist(),
        "inertia_kg_m2": random_inertia(rng, mass_kg),
    }
    if i > 0:
        kind = str(rng.choice(kinds))
        body["parent"] = f"body_{rng.integers(i)}"
        body["joint"] = {
            "name": f"joint_{i}",
            "kind": kind,
            "mode": "free" if kind == "spherical" else str(rng.choice(modes)),
            "axis": rng.standard_normal(3).tolist(),
            "at_m": rng.uniform(-0.3, 0.3, 3).tolist(),
            "rpy_deg": rng.uniform(-180, 180, 3).tolist(),
        }
    return body


def random_tables(
    seed: int, count: int, kinds: list[str] = KINDS, modes: tuple[str, ...] = ("free",)
) -> dict:
    rng = np.random.default_rng(seed)
    return {"body": [random_body(rng, i, kinds, list(modes)) for i in range(count)]}


def add_water(tables: dict, seed: int, drag: bool = True, springs: bool = True) -> dict:
    """Full added inertia, hulls across the surface, springs, and drag on every body."""
    rng = np.random.default_rng(seed)
    for i, body in enumerate(tables["body"]):
        root = rng.standard_normal((6, 6)) * np.array([1, 1, 1, 0.1, 0.1, 0.1])
        body["added_inertia"] = {
            "at_m": rng.uniform(-0.1, 0.1, 3).tolist(),
            "full": (0.2 * root.T @ root)[np.triu_indices(6)].tolist(),
        }
        if i % 2:
            body["hull"] = {"kind": "ellipsoid", "at_m": rng.uniform(-0.05, 0.05, 3).tolist()}
            body["hull"]["semi_axes_m"] = rng.uniform(0.05, 0.12, 3).tolist()
        else:
            ends = rng.uniform(0.05, 0.15, (2, 3)) * np.array([[1.0], [-1.0]])
            body["hull"] = {"kind": "tube", "from_m": ends[0].tolist(), "to_m": ends[1].tolist()}
            body["hull"] |= {"radius_m": float(rng.uniform(0.05, 0.08)), "lobe_share": 0.06}
        if drag:
            body["drag"] = {"at_m": rng.uniform(-0.1, 0.1, 3).tolist()}
            body["drag"] |= {k: rng.uniform(0, 0.5, 6).tolist() for k in ("linear", "quadratic")}
        if springs and "joint" in body:
            body["joint"]["stiffness"] = 20.0 if body["joint"]["kind"] == "prismatic" else 2.0
            if drag:
                body["joint"]["damping"] = 0.1
    return tables


def model_of(tables: dict, **options) -> Model:
    return Model(msgspec.convert(tables, TreeSpec), **options)


def random_state(model: Model, rng: np.random.Generator, pace: float = 1.0) -> np.ndarray:
    x = model.state() + rng.standard_normal(model.size)
    x[2] *= 0.1  # across the surface
    x[7:13] *= pace
    for name in model.joints:
        x[model.qd[name]] *= pace
        if model.q[name].stop - model.q[name].start == 4:
            x[model.q[name]] /= np.linalg.norm(x[model.q[name]])
    x[3:7] /= np.linalg.norm(x[3:7])
    return x


def branch_by_branch(bodies: list[Body], first: Body) -> Iterator[Body]:
    """A body, then each of its branches whole: Pinocchio's mass matrix is wrong in any other order."""
    yield first
    for body in bodies:
        if body.parent == first.name:
            yield from branch_by_branch(bodies, body)


class Twin:
    """A tree of rigid bodies in Pinocchio; added inertia as bodies where `carried` (exact if isotropic)."""

    def __init__(self, model: Model, carried: bool = False) -> None:
        self.model, bodies = model, model.spec.body
        self.pin = pin.Model()
        self.pin.gravity = pin.Motion(np.array([0.0, 0.0, -9.81]), np.zeros(3))
        base = self.pin.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        where = {bodies[0].name: (base, pin.SE3.Identity())}
        self.order: list[str] = []
        for body in branch_by_branch(bodies, bodies[0]):
            if body.joint is not None:
                parent, on_parent = where[body.parent]
                place = on_parent * pin.SE3(rpy_matrix(body.joint.rpy_deg), np.array(body.joint.at_m))
                axis = np.array(body.joint.axis) / np.linalg.norm(body.joint.axis)
                if body.joint.kind == "fixed":
                    where[body.name] = (parent, place)
                else:
                    kind = {
                        "revolute": lambda a: pin.JointModelRevoluteUnaligned(a),
                        "prismatic": lambda a: pin.JointModelPrismaticUnaligned(a),
                        "spherical": lambda _: pin.JointModelSpherical(),
                    }[body.joint.kind](axis)
                    joint = self.pin.addJoint(parent, kind, place, body.joint.name)
                    where[body.name] = (joint, pin.SE3.Identity())
                    self.order.append(body.joint.name)
            joint, place = where[body.name]
            if body.mass_kg > 0:
                own = pin.Inertia(body.mass_kg, np.array(body.com_m), body.inertia())
                self.pin.appendBodyToJoint(joint, own, place)
            if carried and body.added_inertia is not None:
                m = body.added_inertia.matrix()
                water = pin.Inertia(m[0, 0], np.array(body.added_inertia.at_m), m[3:, 3:])
                self.pin.appendBodyToJoint(joint, water, place)
        self.data = self.pin.createData()
        # Where each of Pinocchio's velocities stands among ours.
        joints = [k for name in self.order for k in range(model.v[name].start, model.v[name].stop)]
        self.rows = np.array([*range(6), *joints])

    def q_v(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pinocchio's position and velocity of a state of ours; its quaternions are x y z w."""
        q = [x[:3], x[[4, 5, 6, 3]]]
        for name in self.order:
            own = x[self.model.q[name]]
            q.append(own[[1, 2, 3, 0]] if len(own) == 4 else own)
        end = self.model.lags.start
        v = np.concatenate([x[7:13], x[end - self.model.freedoms + 6 : end]])[self.rows]
        return np.concatenate(q), v

    def ours(self, vector: np.ndarray) -> np.ndarray:
        out = np.zeros_like(vector)
        out[self.rows] = vector
        return out

    def mass_matrix(self, x: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(self.pin, self.data, self.q_v(x)[0]))
        out = np.zeros_like(upper)
        out[np.ix_(self.rows, self.rows)] = upper + np.triu(upper, 1).T
        return out

    def bias(self, x: np.ndarray) -> np.ndarray:
        return self.ours(pin.nonLinearEffects(self.pin, self.data, *self.q_v(x)))

    def forward_dynamics(self, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return self.ours(pin.aba(self.pin, self.data, *self.q_v(x), tau[self.rows]))

    def inverse_dynamics(self, x: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        return self.ours(pin.rnea(self.pin, self.data, *self.q_v(x), acceleration[self.rows]))


def apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference, relative to the largest number."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
