"""Model of a floating chain of rigid modules with soft joints between them, as the controller knows it. Needs numpy.

    M(q) a + h(q, v) = B(q) f + s(q, p)          v = (base: u v w p q r, then d1 th1 th2 d2 of each joint)
                                                 f: thrusters' forces, s: the joints' springs under pressures p

A soft joint is a prismatic, two revolute and a prismatic joint in series (soft_joint.Universal). Half of its mass lies
before the bend and half behind it. All spatial vectors (linear part first) are in one frame: the base's axes at the
base's origin, at rest at this instant. So a body's Jacobian is the unit matrix next to the axes of the joints before
it, M and h are sums over bodies, and one array operation computes them for all bodies.

Slides are stiff: a thrust along the chain moves them by millimetres, at once, and then no more. A controller that
relied on accelerating them would push ever harder. So it works with the freedoms in `free`, those of the base and of
the bends, and takes the slides as they are: free_mass, free_load (h minus the springs' forces) and free_b are the rows
for these.
"""

import math
from collections.abc import Sequence

import numpy as np

from caudal.onboard.chain.arrays import Floats, Indexes
from caudal.onboard.chain.chamber import Chambers, bend_vector
from caudal.onboard.chain.rotations import cross, cross_matrix
from caudal.onboard.chain.soft_joint import universal_rotation
from caudal.onboard.tables.chain import Chain, ChainThruster, Module, Part, Soft

JOINT = 4  # coordinates of a soft joint
GRAVITY_M_S2 = 9.81
WATER_KG_M3 = 1000.0


def body_inertia(
    mass_kg: float,
    com_m: Sequence[float],
    inertia_kg_m2: Sequence[float],
    added: Sequence[float],
    added_at_m: Sequence[float],
) -> Floats:
    """6 x 6 inertia about the body's origin: the mass, and the added mass (diagonal about its own point)."""
    out = np.zeros((6, 6))
    for share, at_m, rotational in (
        (np.diag([mass_kg] * 3), com_m, np.diag(inertia_kg_m2)),
        (np.diag(added[:3]), added_at_m, np.diag(added[3:])),
    ):
        arm = cross_matrix(np.array(at_m, dtype=float))
        out[:3, :3] += share
        out[:3, 3:] -= share @ arm
        out[3:, :3] += arm @ share
        out[3:, 3:] += rotational - arm @ share @ arm
    return out


class ChainModel:
    """The chain's equations of motion. `update(...)` computes everything for one state; then read the arrays.

    mass (n, n), bias (n), b (n, thrusters), spring (n), and Jacobians of points by `point_rows`.
    """

    def __init__(self, control: Chain) -> None:
        modules, softs = control.module, control.soft
        self.modules = [module.name for module in modules]
        self.joints = JOINT * len(softs)
        self.freedoms = 6 + self.joints
        self.lengths_m = [module.length_m for module in modules]
        self.chambers = [Chambers(soft) for soft in softs]
        self.damping: Floats = np.array([d for soft in softs for d in self._damping(soft)])
        self._build_thrusters(control.thruster)
        self._build_bodies(modules, softs)
        n = self.freedoms
        self.mass: Floats = np.zeros((n, n))
        self.bias: Floats = np.zeros(n)
        self.b: Floats = np.zeros((n, len(self.thruster_axes)))
        self.spring: Floats = np.zeros(n)
        self.axes: Floats = np.zeros((self.joints, 6))
        # th1 and th2 of each joint, among the joints' coordinates
        self.bends: Indexes = np.array([JOINT * k + i for k in range(len(softs)) for i in (1, 2)])
        self.bend: Floats = np.zeros(2 * len(softs))
        self.bend_rate: Floats = np.zeros(2 * len(softs))
        self.bend_rows: Floats = np.zeros((2 * len(softs), n))
        self.free: Indexes = np.concatenate([np.arange(6), 6 + self.bends])
        self._free = np.ix_(self.free, self.free)
        self.rotation: Floats = np.eye(3)  # base to world
        self.velocity: Floats = np.zeros(6)
        self._rotations: Floats = np.zeros((self._count, 3, 3))
        self._rotations[0] = np.eye(3)
        self._origins: Floats = np.zeros((self._count, 3))
        self._x: Floats = np.zeros((self._count, 6, 6))

    @staticmethod
    def _damping(soft: Soft) -> tuple[float, float, float, float]:
        bend, axial = soft.damping_n_m_s_rad, soft.damping_n_s_m
        return axial, bend, bend, axial

    def _build_thrusters(self, thrusters: Sequence[ChainThruster]) -> None:
        self.thrusters = [t.name for t in thrusters]
        module = self.thruster_modules = [self.modules.index(t.module) for t in thrusters]
        axis: Floats = np.array([t.axis for t in thrusters], dtype=float)
        self.thruster_axes: Floats = axis / np.linalg.norm(axis, axis=1, keepdims=True)
        self._thruster_at: Floats = np.array([t.at_m for t in thrusters], dtype=float)
        self._thruster_body: Indexes = np.array(
            [3 * m for m in module]
        )  # a module, then two halves of a joint, ...
        self._thruster_mask: Floats = np.array(
            [[j < JOINT * m for m in module] for j in range(self.joints)], dtype=float
        )

    def _build_bodies(self, modules: Sequence[Module], softs: Sequence[Soft]) -> None:
        inertia: list[Floats] = []
        before: list[int] = []
        weight, lift, com, lift_at, roll_drag = [], [], [], [], []
        points: list[tuple[int, list[float], float, float]] = []

        def add(part: Part, joints_before: int, from_m: float, to_m: float) -> None:
            middle = [0.5 * (from_m + to_m), 0.0, 0.0]
            inertia.append(body_inertia(part.mass_kg, middle, part.inertia_kg_m2, part.added, middle))
            before.append(joints_before)
            weight.append(part.mass_kg * GRAVITY_M_S2)
            lift.append(part.volume_m3 * WATER_KG_M3 * GRAVITY_M_S2)
            com.append(middle)
            roll_drag.append(part.roll_drag_n_m_s_rad)
            lift_at.append([middle[0], 0.0, part.lift_above_m])
            for share in (0.5 - 0.5 / math.sqrt(3), 0.5 + 0.5 / math.sqrt(3)):  # two Gauss points
                at = [from_m + share * (to_m - from_m), 0.0, 0.0]
                cross_drag = 0.5 * (to_m - from_m) * part.cross_drag_n_s2_m3
                points.append((len(inertia) - 1, at, cross_drag, 0.5 * part.axial_drag_n_s2_m2))

        for k, module in enumerate(modules):
            add(module, JOINT * k, 0.0, module.length_m)
            if k < len(softs):
                half = 0.5 * softs[k].length_m
                add(softs[k].half, JOINT * k + 1, -half, 0.0)
                add(softs[k].half, JOINT * k + 3, 0.0, half)
        self._count = len(inertia)
        self._inertia: Floats = np.array(inertia)
        self._before: Indexes = np.array(before)  # joint coordinates before each body
        self._mask: Floats = np.array([[j < b for j in range(self.joints)] for b in before], dtype=float)
        self._roll_drag: Floats = np.array(roll_drag)
        self._weight: Floats = np.array(weight)
        self._lift: Floats = np.array(lift)
        self._com: Floats = np.array(com)
        self._lift_at: Floats = np.array(lift_at)
        self._point_body: Indexes = np.array([p[0] for p in points])
        self._point_at: Floats = np.array([p[1] for p in points])
        self._cross_drag: Floats = np.array([p[2] for p in points])[:, None]
        self._axial_drag: Floats = np.array([p[3] for p in points])[:, None]
        self._sum_points: Floats = np.array(
            [[p[0] == b for p in points] for b in range(self._count)], dtype=float
        )
        self._later = np.triu(np.ones((self.joints, self.joints)))
        self._first_body: Indexes = np.array(
            [before.index(min(b for b in before if b > j)) for j in range(self.joints)]
        )

    def update(self, rotation: Floats, velocity: Floats, q: Floats, qd: Floats, pressures: Floats) -> None:
        """Compute everything for a state: `rotation` from base to world, `velocity` of the base in its own axes, joint
        coordinates and their rates, pressures of all chambers (Pa)."""
        self.rotation, self.velocity, self.q, self.qd = rotation, velocity, q, qd
        self._update_frames(q)
        self._update_mass(velocity, qd)
        self._update_inputs(q, qd, pressures)
        self._update_bends(q, qd)
        self.free_mass = self.mass[self._free]
        self.free_load = (self.bias - self.spring)[self.free]
        self.free_b = self.b[self.free]

    def _update_frames(self, q: Floats) -> None:
        """Rotations and origins of the bodies and the joints' axes, base to tip."""
        rotation, at = np.eye(3), np.zeros(3)
        for k in range(len(self.chambers)):
            d1, y, z, d2 = q[JOINT * k : JOINT * k + JOINT].tolist()
            centre = at + (self.lengths_m[k] + d1) * rotation[:, 0]
            bent = rotation @ universal_rotation(y, z)
            about_z = bent[:, 2]
            axes = self.axes[JOINT * k : JOINT * k + JOINT]
            axes[0, :3], axes[3, :3] = rotation[:, 0], bent[:, 0]
            axes[1, 3:], axes[2, 3:] = rotation[:, 1], about_z
            axes[1:3, :3] = cross(centre, axes[1:3, 3:])
            b = 3 * k
            self._rotations[b + 1], self._origins[b + 1] = rotation, centre
            self._rotations[b + 2], self._origins[b + 2] = bent, centre
            rotation, at = bent, centre + d2 * bent[:, 0]
            self._rotations[b + 3], self._origins[b + 3] = rotation, at

    def _update_mass(self, velocity: Floats, qd: Floats) -> None:
        """Mass matrix and bias."""
        rotations, origins = self._rotations, self._origins
        back = rotations.transpose(0, 2, 1)
        x = self._x
        x[:, :3, :3] = x[:, 3:, 3:] = back
        x[:, :3, 3:] = -back @ cross_matrix(origins)
        inertia = x.transpose(0, 2, 1) @ self._inertia @ x
        moved = self.axes * qd[:, None]
        steps = np.concatenate([velocity[None], moved])
        twists = np.cumsum(steps, axis=0)  # behind each joint
        w, v = twists[1:, 3:], twists[1:, :3]
        added = np.concatenate(
            [cross(w, moved[:, :3]) + cross(v, moved[:, 3:]), cross(w, moved[:, 3:])], axis=1
        )
        drift = np.concatenate([np.zeros((1, 6)), np.cumsum(added, axis=0)])
        self.twists, self.drift = twists[self._before], drift[self._before]
        momentum = (inertia @ self.twists[:, :, None])[:, :, 0]
        force = (inertia @ self.drift[:, :, None])[:, :, 0]
        v, w = self.twists[:, :3], self.twists[:, 3:]
        force[:, :3] += cross(w, momentum[:, :3])
        force[:, 3:] += cross(w, momentum[:, 3:]) + cross(v, momentum[:, :3])
        force -= self._external_forces()
        composite = np.cumsum(inertia[::-1], axis=0)[::-1]
        total = np.cumsum(force[::-1], axis=0)[::-1]
        moving = (composite[self._first_body] @ self.axes[:, :, None])[:, :, 0]
        self.mass[:6, :6] = composite[0]
        self.mass[6:, :6] = moving
        self.mass[:6, 6:] = moving.T
        joints = (self.axes @ moving.T) * self._later  # axis k with what moves behind joint j, k <= j
        self.mass[6:, 6:] = joints + np.triu(joints, 1).T
        self.bias[:6] = total[0]
        self.bias[6:] = np.einsum("ij,ij->i", self.axes, total[self._first_body])

    def _external_forces(self) -> Floats:
        """Weight, buoyancy and drag on each body."""
        up = self.rotation[2]
        out = np.empty((self._count, 6))
        com = self._origins + (self._rotations @ self._com[:, :, None])[:, :, 0]
        lift_at = self._origins + (self._rotations @ self._lift_at[:, :, None])[:, :, 0]
        out[:, :3] = (self._lift - self._weight)[:, None] * up
        out[:, 3:] = cross(self._lift[:, None] * lift_at - self._weight[:, None] * com, up)
        axes = self._rotations[:, :, 0]
        out[:, 3:] -= (self._roll_drag * np.einsum("ij,ij->i", self.twists[:, 3:], axes))[:, None] * axes
        body = self._point_body
        rotations = self._rotations[body]
        at = self._origins[body] + (rotations @ self._point_at[:, :, None])[:, :, 0]
        speed = self.twists[body, :3] + cross(self.twists[body, 3:], at)
        along = rotations[:, :, 0]
        ahead = np.einsum("ij,ij->i", speed, along)[:, None]
        across = speed - ahead * along
        size = np.sqrt(np.einsum("ij,ij->i", across, across))[:, None]
        drag = -self._cross_drag * size * across - self._axial_drag * np.abs(ahead) * ahead * along
        out[:, :3] += self._sum_points @ drag
        out[:, 3:] += self._sum_points @ cross(at, drag)
        return out

    def _update_inputs(self, q: Floats, qd: Floats, pressures: Floats) -> None:
        """Columns of the thrusters, and the joints' spring and damping forces."""
        body = self._thruster_body
        rotations = self._rotations[body]
        thrust = (rotations @ self.thruster_axes[:, :, None])[:, :, 0]
        at = self._origins[body] + (rotations @ self._thruster_at[:, :, None])[:, :, 0]
        self.b[:3], self.b[3:6] = thrust.T, cross(at, thrust).T
        self.b[6:] = (self.axes @ self.b[:6]) * self._thruster_mask
        self.spring[6:] = -self.damping * qd
        for k, chambers in enumerate(self.chambers):
            own = slice(JOINT * k, JOINT * k + JOINT)
            self.spring[6:][own] += chambers.force(q[own].tolist(), pressures[3 * k : 3 * k + 3].tolist())

    def _update_bends(self, q: Floats, qd: Floats) -> None:
        """Bend vectors of the joints, their rates, and their rows over all freedoms."""
        for k in range(len(self.chambers)):
            at = JOINT * k + 1
            port, up, slopes = bend_vector(float(q[at]), float(q[at + 1]))
            self.bend[2 * k : 2 * k + 2] = port, up
            self.bend_rows[2 * k, 6 + at : 8 + at] = slopes[:2]
            self.bend_rows[2 * k + 1, 6 + at : 8 + at] = slopes[2:]
        self.bend_rate = self.bend_rows[:, 6:] @ qd

    def body_frames(self) -> tuple[Floats, Floats]:
        """(rotations, origins) of all bodies' own frames in base axes: a module's at its end nearer to the base, then
        those of the joint's two halves, both at the bend, and so on."""
        return self._rotations, self._origins

    def module_frame(self, module: int) -> tuple[Floats, Floats]:
        """(rotation, origin) of a module's own frame, at its end nearer to the base; base axes."""
        return self._rotations[3 * module], self._origins[3 * module]

    def point_rows(self, body: Indexes, at: Floats) -> tuple[Floats, Floats, Floats]:
        """(Jacobians (k, 3, n), accelerations at zero joint and base acceleration (k, 3), velocities (k, 3)) of points.

        `body` and `at`: for each point the body it moves with, and its position in base axes.
        """
        count = len(body)
        rows = np.zeros((count, 3, self.freedoms))
        rows[:, 0, 0] = rows[:, 1, 1] = rows[:, 2, 2] = 1.0
        rows[:, :, 3:6] = -cross_matrix(at)
        moved = self.axes[None, :, :3] + cross(self.axes[None, :, 3:], at[:, None, :])
        rows[:, :, 6:] = (moved * self._mask[body][:, :, None]).transpose(0, 2, 1)
        angular_velocity = self.twists[body, 3:]
        velocity = self.twists[body, :3] + cross(angular_velocity, at)
        drift = self.drift[body, :3] + cross(self.drift[body, 3:], at) + cross(angular_velocity, velocity)
        return rows, drift, velocity

    def rotation_rows(self, body: int) -> tuple[Floats, Floats, Floats]:
        """(Jacobian (3, n), angular acceleration at zero joint and base acceleration (3), angular velocity (3)) of a
        body."""
        rows = np.zeros((3, self.freedoms))
        rows[:, 3:6] = np.eye(3)
        rows[:, 6:] = (self.axes[:, 3:] * self._mask[body][:, None]).T
        return rows, self.drift[body, 3:], self.twists[body, 3:]
