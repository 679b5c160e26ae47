"""A tree of bodies as flat arrays, and the arrays its kernels work in.

A state is one vector of float64:

    0:3           position of the base's origin, world (m)
    3:7           attitude of the base, quaternion w x y z (base to world)
    7:10          velocity of the base's origin, base axes (m/s)
    10:13         angular velocity of the base, base axes (rad/s)
    13:13+nq      joint positions in file order (rad, m; a spherical joint: quaternion w x y z, body to parent)
    13+nq:        joint velocities in file order (rad/s, m/s; a spherical joint: angular velocity, body axes)

Velocities, accelerations and forces are vectors of 6 + nv: base linear, base angular, joints in file order.
An acceleration is the rate of the state's velocities. A force on the base acts at its origin, base axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim_plant.buoyancy import Hulls, pack_hulls
from sim_plant.layout import sources_digest
from sim_plant.tree_spec import Body, TreeSpec

REVOLUTE, PRISMATIC, SPHERICAL, FIXED = range(4)
KINDS = {"revolute": REVOLUTE, "prismatic": PRISMATIC, "spherical": SPHERICAL, "fixed": FIXED}
POSITIONS = {"revolute": 1, "prismatic": 1, "spherical": 4, "fixed": 0}
FREEDOMS = {"revolute": 1, "prismatic": 1, "spherical": 3, "fixed": 0}
JOINTS_AT = 13  # where the joints begin in a state

F, N = np.float64, np.int64
WATER = np.dtype(
    # As in layout.py: a name that changes with the sources keeps old compiled kernels from being found.
    [(f"sources_{sources_digest()}", N)]
    + [("gravity_m_s2", F), ("buoyancy_n_m3", F), ("current_x_m_s", F), ("current_y_m_s", F)]
    + [("current_z_m_s", F), ("yields", N)]
)


class Tree(NamedTuple):
    """All that is constant of a vehicle. Bodies are sorted, parents first."""

    water: np.ndarray  # one WATER record
    parent: np.ndarray  # (body)
    kind: np.ndarray  # (body): of its joint
    driven: np.ndarray  # (body): 1 when its joint moves as told
    q_at: np.ndarray  # (body): where its joint's positions begin in a state
    v_at: np.ndarray  # (body): where its joint's velocity begins in a vector of velocities
    velocities_at: np.ndarray  # (1): where joint velocities begin in a state
    at: np.ndarray  # (body, 3): joint in the parent's frame
    turn: np.ndarray  # (body, 9)
    axis: np.ndarray  # (body, 3)
    spring: np.ndarray  # (body, 3): stiffness, damping, rest
    mass: np.ndarray  # (body)
    com: np.ndarray  # (body, 3)
    about_com: np.ndarray  # (body, 9)
    inertia: np.ndarray  # (body, 6, 6): body and the water it carries, about the body's origin
    rigid: np.ndarray  # (body): 1 when it carries no water
    drags: np.ndarray  # (body): 1 when it has drag
    drag_at: np.ndarray  # (body, 3)
    linear: np.ndarray  # (body, 6)
    quadratic: np.ndarray  # (body, 6)
    told_q: np.ndarray  # (driven joint): its position in a state
    told_v: np.ndarray  # (driven joint): its velocity in a state
    hulls: Hulls


class Work(NamedTuple):
    """What the kernels write on the way; one each thread.

    Everything spatial is about one origin and axes: an inertial frame that stands at this instant where the
    base stands. It drifts with the water, so a uniform current needs no terms of its own.
    """

    frame: np.ndarray  # (4, 3): up, current, base velocity in the world, (height, 0, 0)
    turn: np.ndarray  # (body, 9)
    at: np.ndarray  # (body, 3)
    axes: np.ndarray  # (body, 6 times 3): motion for one unit of joint velocity
    velocity: np.ndarray  # (body, 6)
    coriolis: np.ndarray  # (body, 6): acceleration at no joint and no base acceleration
    acceleration: np.ndarray  # (body, 6)
    inertia: np.ndarray  # (body, 6, 6), becomes articulated or composite
    force: np.ndarray  # (body, 6): what the body asks for at no acceleration, then with its children's
    joint_force: np.ndarray  # (body, 3): of spring and damper
    u: np.ndarray  # (body, 6 times 3): inertia times axes
    d: np.ndarray  # (body, 9): inverse of the inertia that the joint feels
    left: np.ndarray  # (body, 3): force left over for the joint
    base: np.ndarray  # (6)
    rate: np.ndarray  # (state)
    stage: np.ndarray  # (state)
    sum: np.ndarray  # (state)
    keep: np.ndarray  # (state): the last sound one
    told: np.ndarray  # (6 + nv): accelerations in, for driven joints; accelerations out


def rpy_matrix(rpy_deg: tuple[float, float, float]) -> np.ndarray:
    """Roll about x, then pitch about y, then yaw about z, all fixed axes."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(np.radians(rpy_deg)), np.cos(np.radians(rpy_deg))
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip


def quaternion_turn(quaternion: np.ndarray) -> np.ndarray:
    """Turn 3x3 of a quaternion w x y z."""
    w, axis = quaternion[0], _skew(quaternion[1:])
    return np.eye(3) + 2 / np.dot(quaternion, quaternion) * (w * axis + axis @ axis)


def _skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], dtype=float)


def shifted(inertia: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A 6x6 inertia about `at`, taken about the origin."""
    motion = np.eye(6)
    motion[:3, 3:] = -_skew(at)
    return motion.T @ inertia @ motion


def body_inertia(body: Body, fluid: bool) -> np.ndarray:
    """6x6 about the body's origin, body axes, with the water it carries if there is fluid."""
    own = np.zeros((6, 6))
    own[:3, :3] = body.mass_kg * np.eye(3)
    own[3:, 3:] = body.inertia()
    own = shifted(own, np.array(body.com_m))
    if fluid and body.added_inertia is not None:
        own += shifted(body.added_inertia.matrix(), np.array(body.added_inertia.at_m))
    return own


def sorted_bodies(bodies: list[Body]) -> list[int]:
    """Indices, parents first, otherwise in file order."""
    order, placed = [0], {bodies[0].name}
    while len(order) < len(bodies):
        for i, body in enumerate(bodies):
            if i not in order and body.parent in placed:
                order.append(i)
                placed.add(body.name)
    return order


def pack_tree(spec: TreeSpec, gravity: bool, fluid: bool) -> tuple[Tree, list[int]]:
    """The flat tree, and for each of its bodies its place in the file."""
    order = sorted_bodies(spec.body)
    place = {spec.body[index].name: i for i, index in enumerate(order)}
    joints = [body.joint for body in spec.body if body.joint]
    q_counts = [POSITIONS[joint.kind] for joint in joints]
    v_counts = [FREEDOMS[joint.kind] for joint in joints]
    q_at = {joint.name: JOINTS_AT + sum(q_counts[:i]) for i, joint in enumerate(joints)}
    v_at = {joint.name: 6 + sum(v_counts[:i]) for i, joint in enumerate(joints)}
    velocities_at = JOINTS_AT + sum(q_counts)
    driven = [joint.name for joint in joints if joint.mode == "driven" and joint.kind != "fixed"]
    water = np.zeros(1, WATER)
    gravity_m_s2 = spec.gravity_m_s2 if gravity else 0.0
    water["gravity_m_s2"] = gravity_m_s2
    if fluid:
        water["buoyancy_n_m3"] = spec.density_kg_m3 * gravity_m_s2
        water["current_x_m_s"], water["current_y_m_s"], water["current_z_m_s"] = spec.current_m_s
    water["yields"] = any(j.kind != "fixed" and j.mode != "driven" for j in joints)
    n = len(order)
    tree = Tree(
        water=water,
        parent=np.zeros(n, N), kind=np.full(n, FIXED), driven=np.zeros(n, N), q_at=np.zeros(n, N),
        v_at=np.zeros(n, N), velocities_at=np.array([velocities_at]), at=np.zeros((n, 3)),
        turn=np.zeros((n, 9)), axis=np.zeros((n, 3)), spring=np.zeros((n, 3)), mass=np.zeros(n),
        com=np.zeros((n, 3)), about_com=np.zeros((n, 9)), inertia=np.zeros((n, 6, 6)), rigid=np.zeros(n, N),
        drags=np.zeros(n, N), drag_at=np.zeros((n, 3)), linear=np.zeros((n, 6)), quadratic=np.zeros((n, 6)),
        told_q=np.array([q_at[name] for name in driven], N),
        told_v=np.array([velocities_at + v_at[name] - 6 for name in driven], N),
        hulls=pack_hulls([(i, spec.body[k].hull) for i, k in enumerate(order) if fluid]),
    )  # fmt: skip
    for i, index in enumerate(order):
        body = spec.body[index]
        tree.mass[i], tree.com[i] = body.mass_kg, body.com_m
        tree.about_com[i] = body.inertia().ravel()
        tree.inertia[i] = body_inertia(body, fluid)
        tree.rigid[i] = not (fluid and body.added_inertia is not None)
        if fluid and body.drag is not None:
            tree.drags[i], tree.drag_at[i] = 1, body.drag.at_m
            tree.linear[i], tree.quadratic[i] = body.drag.linear, body.drag.quadratic
        joint = body.joint
        if joint is None or body.parent is None:
            continue
        tree.parent[i], tree.kind[i] = place[body.parent], KINDS[joint.kind]
        tree.driven[i] = joint.name in driven
        tree.q_at[i], tree.v_at[i] = q_at[joint.name], v_at[joint.name]
        tree.at[i], tree.turn[i] = joint.at_m, rpy_matrix(joint.rpy_deg).ravel()
        if joint.kind in ("revolute", "prismatic"):
            tree.axis[i] = np.array(joint.axis) / np.linalg.norm(joint.axis)
        tree.spring[i] = joint.stiffness, joint.damping, joint.rest
    return tree, order


def work_arrays(tree: Tree, states: int, velocities: int) -> Work:
    """Arrays for one thread; `states` and `velocities` are the lengths of those vectors."""
    n = len(tree.parent)
    return Work(
        frame=np.zeros((4, 3)), turn=np.zeros((n, 9)), at=np.zeros((n, 3)), axes=np.zeros((n, 18)),
        velocity=np.zeros((n, 6)), coriolis=np.zeros((n, 6)), acceleration=np.zeros((n, 6)),
        inertia=np.zeros((n, 6, 6)), force=np.zeros((n, 6)), joint_force=np.zeros((n, 3)),
        u=np.zeros((n, 18)), d=np.zeros((n, 9)), left=np.zeros((n, 3)), base=np.zeros(6),
        rate=np.zeros(states), stage=np.zeros(states), sum=np.zeros(states), keep=np.zeros(states), told=np.zeros(velocities),
    )  # fmt: skip
