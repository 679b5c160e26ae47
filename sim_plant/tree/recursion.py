"""Recursions over a floating tree of bodies: forward and inverse dynamics, mass matrix, energy, momentum.

All spatial vectors stand in one frame (tree_layout.BODY), so that passing an inertia or a force to a parent
is an addition. A body's inertia holds the water it carries, whole; its momentum h = I v then changes by
I a + v x* h, which is the added inertia's own Coriolis force too (Kirchhoff), and needs no other term.
Forward dynamics is the articulated-body algorithm (Featherstone 2008, table 7.1 and, for joints that move
as told, section 9.2).
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (  # fmt: skip
    add,
    axis_matrix,
    cross,
    dot,
    inertia_times,
    inverse,
    matrix,
    minus,
    placed_inertia,
    placed_rigid,
    product,
    put,
    put_matrix,
    quaternion_matrix,
    rotation_vector,
    scale,
    solve_6,
    turned,
    turned_back,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record
from caudal.sim_plant.tree.arrays import FIXED, PRISMATIC, REVOLUTE, SPHERICAL
from caudal.sim_plant.water.buoyancy import buoyancy
from caudal.sim_plant.water.drag import resist
from caudal.sim_plant.water.waves import calm, carry, ride


@inner
def freedoms(kind: int) -> int:
    return 3 if kind == SPHERICAL else 0 if kind == FIXED else 1


@inner
def place_base(water: Record, base: Record, x: Floats) -> None:
    """The frame of all else: the base's, drifting with the water."""
    turn = quaternion_matrix(x[3], x[4], x[5], x[6])
    current = turned_back(turn, vector(water.current_m_s, 0))
    v = (x[7], x[8], x[9])
    put(water.up, 0, (turn[6], turn[7], turn[8]))
    put(water.drift, 0, current)
    put(water.base_velocity, 0, turned(turn, v))
    water.height_m = x[2]
    put_matrix(water.turn, turn)
    put(water.at, 0, (x[0], x[1], x[2]))
    put_matrix(base.turn, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    put(base.at, 0, (0.0, 0.0, 0.0))
    put(base.velocity, 0, minus(v, current))
    put(base.velocity, 3, (x[10], x[11], x[12]))


@inner
def servo_torque(body: Record, angle: float, rate: float) -> float:
    """Of a servo on a joint that yields: a spring to its goal behind the play of its gear, a damper, and a motor
    whose torque falls to none at its free rate."""
    gap = body.servo_goal - angle
    taut = math.copysign(max(abs(gap) - body.servo_play, 0.0), gap)
    torque: float = body.servo_stiffness * taut - body.servo_damping * rate
    most: float = body.servo_torque
    if torque * rate > 0.0:
        most *= max(1.0 - abs(rate) / body.servo_rate, 0.0)
    return min(max(torque, -most), most)


@inner
def place_body(body: Record, parent: Record, x: Floats) -> None:
    """Pose, velocity, joint axes, Coriolis acceleration and spring of a body whose parent is placed."""
    kind, q, qd = body.kind, body.q_at, body.qd_at
    outer = matrix(parent.turn)
    at = add(vector(parent.at, 0), turned(outer, vector(body.joint_at, 0)))
    turn = product(outer, matrix(body.joint_turn))
    joint_v, joint_w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if kind == REVOLUTE:
        axis = turned(turn, vector(body.axis, 0))
        turn = product(turn, axis_matrix(vector(body.axis, 0), x[q]))
        put(body.axes, 0, cross(at, axis))
        put(body.axes, 3, axis)
        joint_w = scale(x[qd], axis)
        joint_v = cross(at, joint_w)
    elif kind == PRISMATIC:
        axis = turned(turn, vector(body.axis, 0))
        at = add(at, scale(x[q], axis))
        put(body.axes, 0, axis)
        put(body.axes, 3, (0.0, 0.0, 0.0))
        joint_v = scale(x[qd], axis)
    elif kind == SPHERICAL:
        turn = product(turn, quaternion_matrix(x[q], x[q + 1], x[q + 2], x[q + 3]))
        for k in range(3):
            axis = (turn[k], turn[3 + k], turn[6 + k])
            put(body.axes, 6 * k, cross(at, axis))
            put(body.axes, 6 * k + 3, axis)
        joint_w = turned(turn, (x[qd], x[qd + 1], x[qd + 2]))
        joint_v = cross(at, joint_w)
        # The gradient of half the stiffness times the angle squared is along the angle, in any axes.
        angle = rotation_vector(x[q], x[q + 1], x[q + 2], x[q + 3])
        for k in range(3):
            body.joint_force[k] = -body.stiffness * angle[k] - body.damping * x[qd + k]
    if kind in (REVOLUTE, PRISMATIC):
        body.joint_force[0] = -body.stiffness * (x[q] - body.rest) - body.damping * x[qd]
        if body.servo_live:
            body.joint_force[0] += servo_torque(body, x[q], x[qd])
    v, w = vector(parent.velocity, 0), vector(parent.velocity, 3)
    put_matrix(body.turn, turn)
    put(body.at, 0, at)
    put(body.velocity, 0, add(v, joint_v))
    put(body.velocity, 3, add(w, joint_w))
    put(body.coriolis, 0, add(cross(w, joint_v), cross(v, joint_w)))
    put(body.coriolis, 3, cross(w, joint_w))


@inner
def weigh_body(water: Record, body: Record) -> None:
    """Inertia of a body where it stands, and the force it asks for at no acceleration, beside its thrusters'."""
    turn, at = matrix(body.turn), vector(body.at, 0)
    com = add(at, turned(turn, vector(body.com_m, 0)))
    v, w = vector(body.velocity, 0), vector(body.velocity, 3)
    if body.rigid:
        about = placed_rigid(body.mass_kg, body.about_com, turn, com, body.inertia)
        f = scale(body.mass_kg, add(v, cross(w, com)))
        n = add(turned(about, w), cross(com, f))
    else:
        placed_inertia(body.own_inertia, turn, at, body.inertia)
        f, n = inertia_times(body.inertia, v, w)
    weight = scale(-body.mass_kg * water.gravity_m_s2, vector(water.up, 0))
    push = turned(turn, vector(body.push, 0))
    moment = add(turned(turn, vector(body.push, 3)), add(cross(com, weight), cross(at, push)))
    put(body.force, 0, minus(cross(w, f), add(weight, push)))
    put(body.force, 3, minus(add(cross(w, n), cross(v, f)), moment))


@inner
def weigh(tree: Tree) -> None:
    """Weigh every placed body: its inertia, and the force it asks for with weight and water, at no acceleration.

    Needs each body's turn, at and velocity, and of the water what place_base writes; foils with lag stand in
    their own records (foils.FOIL).
    """
    water, bodies = tree.water[0], tree.bodies
    if len(tree.waves) > 0:
        ride(water, bodies, tree.waves)
    else:
        calm(water, bodies)
    for i in range(len(bodies)):
        weigh_body(water, bodies[i])
        if len(tree.waves) > 0 and not bodies[i].rigid:
            carry(bodies[i])
    buoyancy(tree, True)
    resist(water, bodies, tree.foils, tree.links, tree.link_points, tree.edges)


@inner
def place(tree: Tree, x: Floats) -> None:
    """Place every body; base to tips."""
    bodies = tree.bodies
    place_base(tree.water[0], bodies[0], x)
    for i in range(1, len(bodies)):
        place_body(bodies[i], bodies[bodies[i].parent], x)


@inner
def take_lags(tree: Tree, x: Floats) -> None:
    """Put the foils' lags where their kernel looks for them."""
    for i in range(len(tree.foils)):
        foil = tree.foils[i]
        if foil.lags:
            foil.lag[0], foil.lag[1] = x[foil.lag_at], x[foil.lag_at + 1]


@compiled
def sweep(tree: Tree, x: Floats) -> None:
    """Place and weigh every body."""
    place(tree, x)
    take_lags(tree, x)
    weigh(tree)


@inner
def pass_rigidly(body: Record, parent: Record, told: Floats) -> None:
    """Hand a body's inertia and force to its parent over a joint that is fixed, or moves with `told`."""
    c, cw = vector(body.coriolis, 0), vector(body.coriolis, 3)
    if body.driven:
        acceleration = told[body.v_at]
        c = add(c, scale(acceleration, vector(body.axes, 0)))
        cw = add(cw, scale(acceleration, vector(body.axes, 3)))
    f, n = inertia_times(body.inertia, c, cw)
    for r in range(3):
        parent.force[r] += body.force[r] + f[r]
        parent.force[r + 3] += body.force[r + 3] + n[r]
    add_inertia(parent, body)


@inner
def add_inertia(parent: Record, body: Record) -> None:
    for r in range(6):
        for k in range(6):
            parent.inertia[r, k] += body.inertia[r, k]


@inner
def pass_yielding(body: Record, parent: Record, count: int, tau: Floats) -> None:
    """The same over a joint of `count` freedoms that yields: less what the joint takes up."""
    c, cw = vector(body.coriolis, 0), vector(body.coriolis, 3)
    for k in range(count):
        axis_v, axis_w = vector(body.axes, 6 * k), vector(body.axes, 6 * k + 3)
        f, n = inertia_times(body.inertia, axis_v, axis_w)
        put(body.u, 6 * k, f)
        put(body.u, 6 * k + 3, n)
        asked = dot(axis_v, vector(body.force, 0)) + dot(axis_w, vector(body.force, 3))
        body.left[k] = tau[body.v_at + k] + body.joint_force[k] - asked
        for m in range(k + 1):
            felt = dot(vector(body.axes, 6 * m), f) + dot(vector(body.axes, 6 * m + 3), n)
            body.d[3 * k + m] = body.d[3 * m + k] = felt
    if count == 1:
        body.d[0] = 1.0 / body.d[0]
    else:
        put_matrix(body.d, inverse(matrix(body.d)))
    f, n = inertia_times(body.inertia, c, cw)
    for r in range(3):
        parent.force[r] += body.force[r] + f[r]
        parent.force[r + 3] += body.force[r + 3] + n[r]
    add_inertia(parent, body)
    for k in range(count):
        # What the joint's own acceleration takes off, at no acceleration of the parent.
        own = 0.0
        for m in range(count):
            rest = body.left[m] - dot(vector(body.u, 6 * m), c) - dot(vector(body.u, 6 * m + 3), cw)
            own += body.d[3 * k + m] * rest
        for r in range(6):
            parent.force[r] += body.u[6 * k + r] * own
            taken = 0.0
            for m in range(count):
                taken += body.d[3 * k + m] * body.u[6 * m + r]
            for s in range(6):
                parent.inertia[s, r] -= body.u[6 * k + s] * taken


@inner
def move_on(body: Record, parent: Record, told: Floats) -> None:
    """Acceleration of a body whose parent's is known, and of its joint if that yields."""
    count = freedoms(body.kind)
    for r in range(6):
        body.acceleration[r] = parent.acceleration[r] + body.coriolis[r]
    if not body.driven:
        a, aw = vector(body.acceleration, 0), vector(body.acceleration, 3)
        for k in range(count):
            body.left[k] -= dot(vector(body.u, 6 * k), a) + dot(vector(body.u, 6 * k + 3), aw)
        for k in range(count):
            told[body.v_at + k] = 0.0
            for m in range(count):
                told[body.v_at + k] += body.d[3 * k + m] * body.left[m]
    for k in range(count):
        for r in range(6):
            body.acceleration[r] += body.axes[6 * k + r] * told[body.v_at + k]


@compiled
def forward(tree: Tree, tau: Floats, told: Floats) -> None:
    """Accelerations, from a swept tree: told holds those of driven joints on entry, all on return."""
    water, bodies = tree.water[0], tree.bodies
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        count = freedoms(body.kind)
        if count == 0 or body.driven:
            pass_rigidly(body, bodies[body.parent], told)
        else:
            pass_yielding(body, bodies[body.parent], count, tau)
    base = bodies[0]
    for r in range(6):
        base.acceleration[r] = tau[r] - base.force[r]
    solve_6(base.inertia, base.acceleration)
    if water.yields:
        for i in range(1, len(bodies)):
            move_on(bodies[i], bodies[bodies[i].parent], told)
    # The frame drifts with the water; seen from land, the same motion has this rate in base axes.
    turning = cross(vector(base.velocity, 3), vector(water.drift, 0))
    for r in range(3):
        told[r] = base.acceleration[r] - turning[r]
        told[r + 3] = base.acceleration[r + 3]


@compiled
def inverse_forces(tree: Tree, acceleration: Floats, tau: Floats) -> None:
    """Forces (out: tau) that give these accelerations, from a swept tree."""
    water, bodies = tree.water[0], tree.bodies
    turning = cross(vector(bodies[0].velocity, 3), vector(water.drift, 0))
    for i in range(len(bodies)):
        body = bodies[i]
        if i == 0:
            put(body.acceleration, 0, add(vector(acceleration, 0), turning))
            put(body.acceleration, 3, vector(acceleration, 3))
        else:
            parent = bodies[body.parent]
            for r in range(6):
                body.acceleration[r] = parent.acceleration[r] + body.coriolis[r]
                for k in range(freedoms(body.kind)):
                    body.acceleration[r] += body.axes[6 * k + r] * acceleration[body.v_at + k]
        f, n = inertia_times(body.inertia, vector(body.acceleration, 0), vector(body.acceleration, 3))
        put(body.force, 0, add(vector(body.force, 0), f))
        put(body.force, 3, add(vector(body.force, 3), n))
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        parent = bodies[body.parent]
        f, n = vector(body.force, 0), vector(body.force, 3)
        for k in range(freedoms(body.kind)):
            on_axis = dot(vector(body.axes, 6 * k), f) + dot(vector(body.axes, 6 * k + 3), n)
            tau[body.v_at + k] = on_axis - body.joint_force[k]
        put(parent.force, 0, add(vector(parent.force, 0), f))
        put(parent.force, 3, add(vector(parent.force, 3), n))
    for r in range(6):
        tau[r] = bodies[0].force[r]


@compiled
def composite(tree: Tree, mass: Floats) -> None:
    """Mass matrix (out, zeros on entry), from a swept tree, by the composite-rigid-body algorithm."""
    bodies = tree.bodies
    for i in range(len(bodies) - 1, 0, -1):
        add_inertia(bodies[bodies[i].parent], bodies[i])
    for r in range(6):
        for k in range(6):
            mass[r, k] = bodies[0].inertia[r, k]
    for i in range(1, len(bodies)):
        body = bodies[i]
        for k in range(freedoms(body.kind)):
            row = body.v_at + k
            f, n = inertia_times(body.inertia, vector(body.axes, 6 * k), vector(body.axes, 6 * k + 3))
            for r in range(3):
                mass[row, r] = mass[r, row] = f[r]
                mass[row, r + 3] = mass[r + 3, row] = n[r]
            j = i
            while j > 0:
                other = bodies[j]
                for m in range(freedoms(other.kind)):
                    value = dot(vector(other.axes, 6 * m), f) + dot(vector(other.axes, 6 * m + 3), n)
                    mass[row, other.v_at + m] = mass[other.v_at + m, row] = value
                j = other.parent
