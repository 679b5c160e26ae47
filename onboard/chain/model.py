"""A chain of rigid modules with soft joints between them, afloat: what the controller believes of it. Needs numpy.

    M(q) a + h(q, v) = B(q) f + s(q, p)          v = (base: u v w p q r, then d1 th1 th2 d2 of each joint)
                                                 f: thrusters' forces, s: the joints' springs under pressures p

A soft joint is a prismatic, two revolute and a prismatic joint in a row (soft_joint.Universal), and has half its mass
before and half behind the bend. All spatial vectors (linear part first) stand in one frame: the base's axes at the
base's origin, at rest at this instant. A body's Jacobian is then the unit matrix beside the axes of the joints before
it, M and h are sums over bodies, and everything is worked out for all bodies at once.

Slides are stiff: a push along the chain moves them by millimetres, at once, and then no more. A controller that
counted on accelerating them would push ever harder. So it works with the freedoms in `free`, the base's and the bends,
and takes the slides as they are: free_mass, free_load (h less what springs give) and free_b are the rows for these.
"""

import math

import numpy as np

from caudal.onboard.chain.chamber import Chambers, bend_vector
from caudal.onboard.chain.soft_joint import universal_turn

JOINT = 4  # coordinates of a soft joint
GRAVITY_M_S2 = 9.81
WATER_KG_M3 = 1000.0


def cross_matrix(a):
    """[a]x of one vector, or of each row of many."""
    out = np.zeros(a.shape[:-1] + (3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return out


def cross(a, b):
    """Row by row; numpy's own costs ten times as much for small arrays."""
    out = np.empty(np.broadcast(a, b).shape)
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def body_inertia(mass_kg, com_m, inertia_kg_m2, added, added_at_m):
    """6 x 6 about the body's origin: the mass, and the water it carries (diagonal about its own point)."""
    out = np.zeros((6, 6))
    for share, at_m, turning in (
        (np.diag([mass_kg] * 3), com_m, np.diag(inertia_kg_m2)),
        (np.diag(added[:3]), added_at_m, np.diag(added[3:])),
    ):
        arm = cross_matrix(np.array(at_m, dtype=float))
        out[:3, :3] += share
        out[:3, 3:] -= share @ arm
        out[3:, :3] += arm @ share
        out[3:, 3:] += turning - arm @ share @ arm
    return out


class Chain:
    """`update(turn, velocity, q, qd, pressures)` works everything out; then read the arrays.

    mass (n, n), bias (n), b (n, thrusters), spring (n), and the places of points by `point_rows`.
    """

    def __init__(self, control):
        modules, softs = control["module"], control["soft"]
        self.modules = [module["name"] for module in modules]
        self.joints = JOINT * len(softs)
        self.freedoms = 6 + self.joints
        self.lengths_m = [module["length_m"] for module in modules]
        self.chambers = [Chambers(soft) for soft in softs]
        self.damping = np.array([d for soft in softs for d in self._damping(soft)])
        self._thrusters(control["thruster"])
        self._bodies(modules, softs)
        n = self.freedoms
        self.mass = np.zeros((n, n))
        self.bias = np.zeros(n)
        self.b = np.zeros((n, len(self._axis)))
        self.spring = np.zeros(n)
        self.axes = np.zeros((self.joints, 6))
        self.bends = np.array(
            [JOINT * k + i for k in range(len(softs)) for i in (1, 2)]
        )  # th1, th2 among joints
        self.bend = np.zeros(2 * len(softs))
        self.bend_rate = np.zeros(2 * len(softs))
        self.bend_rows = np.zeros((2 * len(softs), n))
        self.free = np.concatenate([np.arange(6), 6 + self.bends])
        self._free = np.ix_(self.free, self.free)
        self.turn = np.eye(3)  # base to world
        self.velocity = np.zeros(6)
        self._turns = np.zeros((self._count, 3, 3))
        self._turns[0] = np.eye(3)
        self._at = np.zeros((self._count, 3))
        self._x = np.zeros((self._count, 6, 6))

    @staticmethod
    def _damping(soft):
        bend, axial = soft["damping_n_m_s_rad"], soft["damping_n_s_m"]
        return axial, bend, bend, axial

    def _thrusters(self, thrusters):
        self.thrusters = [t["name"] for t in thrusters]
        module = self.thruster_modules = [self.modules.index(t["module"]) for t in thrusters]
        axis = np.array([t["axis"] for t in thrusters], dtype=float)
        self._axis = self.thruster_axes = axis / np.linalg.norm(axis, axis=1, keepdims=True)
        self._thruster_at = np.array([t["at_m"] for t in thrusters], dtype=float)
        self._thruster_body = np.array([3 * m for m in module])  # a module, then two halves of a joint, ...
        self._thruster_mask = np.array(
            [[j < JOINT * m for m in module] for j in range(self.joints)], dtype=float
        )

    def _bodies(self, modules, softs):
        inertia, before, weight, lift, com, lift_at, points = [], [], [], [], [], [], []
        roll_drag = []

        def add(table, joints_before, from_m, to_m):
            middle = [0.5 * (from_m + to_m), 0.0, 0.0]
            inertia.append(
                body_inertia(table["mass_kg"], middle, table["inertia_kg_m2"], table["added"], middle)
            )
            before.append(joints_before)
            weight.append(table["mass_kg"] * GRAVITY_M_S2)
            lift.append(table["volume_m3"] * WATER_KG_M3 * GRAVITY_M_S2)
            com.append(middle)
            roll_drag.append(table["roll_drag_n_m_s_rad"])
            lift_at.append([middle[0], 0.0, table["lift_above_m"]])
            for share in (0.5 - 0.5 / math.sqrt(3), 0.5 + 0.5 / math.sqrt(3)):  # two Gauss points
                at = [from_m + share * (to_m - from_m), 0.0, 0.0]
                cross_drag = 0.5 * (to_m - from_m) * table["cross_drag_n_s2_m3"]
                points.append((len(inertia) - 1, at, cross_drag, 0.5 * table["axial_drag_n_s2_m2"]))

        for k, module in enumerate(modules):
            add(module, JOINT * k, 0.0, module["length_m"])
            if k < len(softs):
                half = 0.5 * softs[k]["length_m"]
                add(softs[k]["half"], JOINT * k + 1, -half, 0.0)
                add(softs[k]["half"], JOINT * k + 3, 0.0, half)
        self._count = len(inertia)
        self._inertia = np.array(inertia)
        self._before = np.array(before)  # joint coordinates before each body
        self._mask = np.array([[j < b for j in range(self.joints)] for b in before], dtype=float)
        self._roll_drag = np.array(roll_drag)
        self._weight, self._lift = np.array(weight), np.array(lift)
        self._com, self._lift_at = np.array(com), np.array(lift_at)
        self._point_body = np.array([p[0] for p in points])
        self._point_at = np.array([p[1] for p in points])
        self._cross_drag = np.array([p[2] for p in points])[:, None]
        self._axial_drag = np.array([p[3] for p in points])[:, None]
        self._gather = np.array([[p[0] == b for p in points] for b in range(self._count)], dtype=float)
        self._later = np.triu(np.ones((self.joints, self.joints)))
        self._first_body = np.array(
            [before.index(min(b for b in before if b > j)) for j in range(self.joints)]
        )

    def update(self, turn, velocity, q, qd, pressures):
        """`turn` from base to world, `velocity` of the base in its own axes, joints, pressures of all chambers (Pa)."""
        self.turn, self.velocity, self.q, self.qd = turn, velocity, q, qd
        self._place(q)
        self._weigh(velocity, qd)
        self._inputs(q, qd, pressures)
        self._bend(q, qd)
        self.free_mass = self.mass[self._free]
        self.free_load = (self.bias - self.spring)[self.free]
        self.free_b = self.b[self.free]

    def _place(self, q):
        """Turns and places of the bodies and the joints' axes, base to tip."""
        turn, at = np.eye(3), np.zeros(3)
        for k in range(len(self.chambers)):
            d1, y, z, d2 = q[JOINT * k : JOINT * k + JOINT].tolist()
            centre = at + (self.lengths_m[k] + d1) * turn[:, 0]
            bent = turn @ universal_turn(y, z)
            about_z = bent[:, 2]
            axes = self.axes[JOINT * k : JOINT * k + JOINT]
            axes[0, :3], axes[3, :3] = turn[:, 0], bent[:, 0]
            axes[1, 3:], axes[2, 3:] = turn[:, 1], about_z
            axes[1:3, :3] = cross(centre, axes[1:3, 3:])
            b = 3 * k
            self._turns[b + 1], self._at[b + 1] = turn, centre
            self._turns[b + 2], self._at[b + 2] = bent, centre
            turn, at = bent, centre + d2 * bent[:, 0]
            self._turns[b + 3], self._at[b + 3] = turn, at

    def _weigh(self, velocity, qd):
        """Mass matrix and bias."""
        turns, at = self._turns, self._at
        back = turns.transpose(0, 2, 1)
        x = self._x
        x[:, :3, :3] = x[:, 3:, 3:] = back
        x[:, :3, 3:] = -back @ cross_matrix(at)
        inertia = x.transpose(0, 2, 1) @ self._inertia @ x
        moved = self.axes * qd[:, None]
        steps = np.concatenate([velocity[None], moved])
        twists = np.cumsum(steps, axis=0)  # behind each joint
        w, v = twists[1:, 3:], twists[1:, :3]
        turning = np.concatenate(
            [cross(w, moved[:, :3]) + cross(v, moved[:, 3:]), cross(w, moved[:, 3:])], axis=1
        )
        drift = np.concatenate([np.zeros((1, 6)), np.cumsum(turning, axis=0)])
        self.twists, self.drift = twists[self._before], drift[self._before]
        momentum = (inertia @ self.twists[:, :, None])[:, :, 0]
        force = (inertia @ self.drift[:, :, None])[:, :, 0]
        v, w = self.twists[:, :3], self.twists[:, 3:]
        force[:, :3] += cross(w, momentum[:, :3])
        force[:, 3:] += cross(w, momentum[:, 3:]) + cross(v, momentum[:, :3])
        force -= self._outside()
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

    def _outside(self):
        """Weight, buoyancy and drag on each body."""
        up = self.turn[2]
        out = np.empty((self._count, 6))
        com = self._at + (self._turns @ self._com[:, :, None])[:, :, 0]
        lift_at = self._at + (self._turns @ self._lift_at[:, :, None])[:, :, 0]
        out[:, :3] = (self._lift - self._weight)[:, None] * up
        out[:, 3:] = cross(self._lift[:, None] * lift_at - self._weight[:, None] * com, up)
        axes = self._turns[:, :, 0]
        out[:, 3:] -= (self._roll_drag * np.einsum("ij,ij->i", self.twists[:, 3:], axes))[:, None] * axes
        body = self._point_body
        turns = self._turns[body]
        at = self._at[body] + (turns @ self._point_at[:, :, None])[:, :, 0]
        speed = self.twists[body, :3] + cross(self.twists[body, 3:], at)
        along = turns[:, :, 0]
        ahead = np.einsum("ij,ij->i", speed, along)[:, None]
        across = speed - ahead * along
        size = np.sqrt(np.einsum("ij,ij->i", across, across))[:, None]
        drag = -self._cross_drag * size * across - self._axial_drag * np.abs(ahead) * ahead * along
        out[:, :3] += self._gather @ drag
        out[:, 3:] += self._gather @ cross(at, drag)
        return out

    def _inputs(self, q, qd, pressures):
        body = self._thruster_body
        turns = self._turns[body]
        push = (turns @ self._axis[:, :, None])[:, :, 0]
        at = self._at[body] + (turns @ self._thruster_at[:, :, None])[:, :, 0]
        self.b[:3], self.b[3:6] = push.T, cross(at, push).T
        self.b[6:] = (self.axes @ self.b[:6]) * self._thruster_mask
        self.spring[6:] = -self.damping * qd
        for k, chambers in enumerate(self.chambers):
            own = slice(JOINT * k, JOINT * k + JOINT)
            self.spring[6:][own] += chambers.force(q[own].tolist(), pressures[3 * k : 3 * k + 3].tolist())

    def _bend(self, q, qd):
        """Bend vectors of the joints, their rates, and their rows over all freedoms."""
        for k in range(len(self.chambers)):
            at = JOINT * k + 1
            port, up, slopes = bend_vector(float(q[at]), float(q[at + 1]))
            self.bend[2 * k : 2 * k + 2] = port, up
            self.bend_rows[2 * k, 6 + at : 8 + at] = slopes[:2]
            self.bend_rows[2 * k + 1, 6 + at : 8 + at] = slopes[2:]
        self.bend_rate = self.bend_rows[:, 6:] @ qd

    def bodies_seen(self):
        """(turns, places) of all bodies' own frames, base axes: a module's at its end nearer to the base, then those of
        the joint's two halves, both at the kink, and so on."""
        return self._turns, self._at

    def module_end(self, module):
        """(turn, place) of a module's own frame, at its end nearer to the base; base axes."""
        return self._turns[3 * module], self._at[3 * module]

    def point_rows(self, body, at):
        """(Jacobians (k, 3, n), accelerations that are there without any (k, 3), velocities (k, 3)) of points.

        `body` and `at`: for each point the body it moves with, and its place in base axes.
        """
        count = len(body)
        rows = np.zeros((count, 3, self.freedoms))
        rows[:, 0, 0] = rows[:, 1, 1] = rows[:, 2, 2] = 1.0
        rows[:, :, 3:6] = -cross_matrix(at)
        moved = self.axes[None, :, :3] + cross(self.axes[None, :, 3:], at[:, None, :])
        rows[:, :, 6:] = (moved * self._mask[body][:, :, None]).transpose(0, 2, 1)
        turning = self.twists[body, 3:]
        speed = self.twists[body, :3] + cross(turning, at)
        drift = self.drift[body, :3] + cross(self.drift[body, 3:], at) + cross(turning, speed)
        return rows, drift, speed

    def turn_rows(self, body):
        """(Jacobian (3, n), angular acceleration that is there without any (3), angular velocity (3)) of a body."""
        rows = np.zeros((3, self.freedoms))
        rows[:, 3:6] = np.eye(3)
        rows[:, 6:] = (self.axes[:, 3:] * self._mask[body][:, None]).T
        return rows, self.drift[body, 3:], self.twists[body, 3:]
