"""Recursions over a floating tree of bodies: forward dynamics, inverse dynamics, mass matrix.

All spatial vectors are in one frame (tree.arrays.BODY), so that passing an inertia or a force to a parent is an
addition. A body's inertia includes its whole added mass. Its momentum h = I v then changes by I a + v x* h, which is
also the added mass's own Coriolis force (Kirchhoff), and needs no other term. Forward dynamics is the articulated-body
algorithm (Featherstone 2008, table 7.1; section 9.2 for driven joints).
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (
    add,
    axis_angle_matrix,
    cross,
    dot,
    inertia_times,
    inverse,
    matrix,
    product,
    quaternion_matrix,
    rigid_body_inertia,
    rotate,
    rotate_back,
    rotation_vector,
    scale,
    solve_cholesky_6,
    store,
    store_matrix,
    subtract,
    transform_inertia,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record, Vec3
from caudal.sim_plant.tree.arrays import FIXED, PRISMATIC, REVOLUTE, SPHERICAL
from caudal.sim_plant.water.buoyancy import buoyancy_energy
from caudal.sim_plant.water.drag import apply_water_forces
from caudal.sim_plant.water.waves import apply_carried_water, set_still_water, set_wave_motion


@inner
def freedoms(kind: int) -> int:
    """Number of freedoms of a joint kind."""
    return 3 if kind == SPHERICAL else 0 if kind == FIXED else 1


@inner
def place_base(water: Record, base: Record, x: Floats) -> None:
    """Place the base, and write to `water` the common frame: the base's, drifting with the water."""
    turn = quaternion_matrix(x[3], x[4], x[5], x[6])
    current = rotate_back(turn, vector(water.current_m_s, 0))
    v = (x[7], x[8], x[9])
    store(water.up, 0, (turn[6], turn[7], turn[8]))
    store(water.drift, 0, current)
    store(water.base_velocity, 0, rotate(turn, v))
    water.height_m = x[2]
    store_matrix(water.turn, turn)
    store(water.at, 0, (x[0], x[1], x[2]))
    store_matrix(base.turn, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    store(base.at, 0, (0.0, 0.0, 0.0))
    store(base.velocity, 0, subtract(v, current))
    store(base.velocity, 3, (x[10], x[11], x[12]))


@inner
def servo_torque(body: Record, angle: float, rate: float) -> float:
    """Torque (N m) of a servo on a joint with mode "torque".

    A spring to its goal behind the backlash of its gear, a damper, and a motor whose torque falls to zero at its free
    rate.
    """
    gap = body.servo_goal - angle
    stretch = math.copysign(max(abs(gap) - body.servo_play, 0.0), gap)
    torque: float = body.servo_stiffness * stretch - body.servo_damping * rate
    most: float = body.servo_torque
    if torque * rate > 0.0:
        most *= max(1.0 - abs(rate) / body.servo_rate, 0.0)
    return min(max(torque, -most), most)


@inner
def place_body(body: Record, parent: Record, x: Floats) -> None:
    """Set pose, velocity, joint axes, Coriolis acceleration and joint force of a body whose parent is placed."""
    kind, q, qd = body.kind, body.q_at, body.qd_at
    outer = matrix(parent.turn)
    at = add(vector(parent.at, 0), rotate(outer, vector(body.joint_at, 0)))
    turn = product(outer, matrix(body.joint_turn))
    joint_v, joint_w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if kind == REVOLUTE:
        axis = rotate(turn, vector(body.axis, 0))
        turn = product(turn, axis_angle_matrix(vector(body.axis, 0), x[q]))
        store(body.axes, 0, cross(at, axis))
        store(body.axes, 3, axis)
        joint_w = scale(x[qd], axis)
        joint_v = cross(at, joint_w)
    elif kind == PRISMATIC:
        axis = rotate(turn, vector(body.axis, 0))
        at = add(at, scale(x[q], axis))
        store(body.axes, 0, axis)
        store(body.axes, 3, (0.0, 0.0, 0.0))
        joint_v = scale(x[qd], axis)
    elif kind == SPHERICAL:
        turn = product(turn, quaternion_matrix(x[q], x[q + 1], x[q + 2], x[q + 3]))
        for k in range(3):
            axis = (turn[k], turn[3 + k], turn[6 + k])
            store(body.axes, 6 * k, cross(at, axis))
            store(body.axes, 6 * k + 3, axis)
        joint_w = rotate(turn, (x[qd], x[qd + 1], x[qd + 2]))
        joint_v = cross(at, joint_w)
        # The gradient of half the stiffness times the angle squared is along the rotation vector, in any axes.
        angle = rotation_vector(x[q], x[q + 1], x[q + 2], x[q + 3])
        for k in range(3):
            body.joint_force[k] = -body.stiffness * angle[k] - body.damping * x[qd + k]
    if kind in (REVOLUTE, PRISMATIC):
        body.joint_force[0] = -body.stiffness * (x[q] - body.rest) - body.damping * x[qd]
        if body.servo_powered:
            body.joint_force[0] += servo_torque(body, x[q], x[qd])
    v, w = vector(parent.velocity, 0), vector(parent.velocity, 3)
    store_matrix(body.turn, turn)
    store(body.at, 0, at)
    store(body.velocity, 0, add(v, joint_v))
    store(body.velocity, 3, add(w, joint_w))
    store(body.coriolis, 0, add(cross(w, joint_v), cross(v, joint_w)))
    store(body.coriolis, 3, cross(w, joint_w))


@inner
def body_bias(water: Record, body: Record) -> None:
    """Set the inertia of a placed body, and its bias force with weight and thrust."""
    turn, at = matrix(body.turn), vector(body.at, 0)
    com = add(at, rotate(turn, vector(body.com_m, 0)))
    v, w = vector(body.velocity, 0), vector(body.velocity, 3)
    if body.rigid:
        about = rigid_body_inertia(body.mass_kg, body.about_com, turn, com, body.inertia)
        f = scale(body.mass_kg, add(v, cross(w, com)))
        n = add(rotate(about, w), cross(com, f))
    else:
        transform_inertia(body.own_inertia, turn, at, body.inertia)
        f, n = inertia_times(body.inertia, v, w)
    weight = scale(-body.mass_kg * water.gravity_m_s2, vector(water.up, 0))
    push = rotate(turn, vector(body.push, 0))
    moment = add(rotate(turn, vector(body.push, 3)), add(cross(com, weight), cross(at, push)))
    store(body.force, 0, subtract(cross(w, f), add(weight, push)))
    store(body.force, 3, subtract(add(cross(w, n), cross(v, f)), moment))


@inner
def tree_bias(tree: Tree) -> None:
    """Set inertia and bias force of every placed body: the force it needs for no acceleration, with weight and water.

    Needs each body's turn, at and velocity, what place_base writes, and the lags of the foils in their records.
    """
    water, bodies = tree.water[0], tree.bodies
    if len(tree.waves) > 0:
        set_wave_motion(water, bodies, tree.waves)
    else:
        set_still_water(water, bodies)
    for i in range(len(bodies)):
        body_bias(water, bodies[i])
        if len(tree.waves) > 0 and not bodies[i].rigid:
            apply_carried_water(bodies[i])
    buoyancy_energy(tree, True)
    apply_water_forces(water, bodies, tree.foils, tree.links, tree.link_points, tree.edges)


@inner
def place_bodies(tree: Tree, x: Floats) -> None:
    """Place every body, from the base to the tips."""
    bodies = tree.bodies
    place_base(tree.water[0], bodies[0], x)
    for i in range(1, len(bodies)):
        place_body(bodies[i], bodies[bodies[i].parent], x)


@inner
def load_lags(tree: Tree, x: Floats) -> None:
    """Copy the lags of the foils from a state to their records."""
    for i in range(len(tree.foils)):
        foil = tree.foils[i]
        if foil.lags:
            foil.lag[0], foil.lag[1] = x[foil.lag_at], x[foil.lag_at + 1]


@compiled
def update_tree(tree: Tree, x: Floats) -> None:
    """Place every body of a state, and set its inertia and bias force."""
    place_bodies(tree, x)
    load_lags(tree, x)
    tree_bias(tree)


@inner
def add_inertia(parent: Record, body: Record) -> None:
    """Add a body's inertia to its parent's."""
    for r in range(6):
        for k in range(6):
            parent.inertia[r, k] += body.inertia[r, k]


@inner
def add_to_parent(parent: Record, body: Record, c: Vec3, cw: Vec3) -> None:
    """Add a body's inertia, and its bias force at the acceleration (c, cw), to its parent."""
    f, n = inertia_times(body.inertia, c, cw)
    for r in range(3):
        parent.force[r] += body.force[r] + f[r]
        parent.force[r + 3] += body.force[r + 3] + n[r]
    add_inertia(parent, body)


@inner
def pass_rigid(body: Record, parent: Record, acceleration: Floats) -> None:
    """Pass a body's inertia and bias force to its parent over a joint that is fixed or driven."""
    c, cw = vector(body.coriolis, 0), vector(body.coriolis, 3)
    if body.driven:
        joint_acceleration = acceleration[body.v_at]
        c = add(c, scale(joint_acceleration, vector(body.axes, 0)))
        cw = add(cw, scale(joint_acceleration, vector(body.axes, 3)))
    add_to_parent(parent, body, c, cw)


@inner
def pass_articulated(body: Record, parent: Record, count: int, tau: Floats) -> None:
    """Pass them over a joint that moves freely, less the part that moves the joint."""
    c, cw = vector(body.coriolis, 0), vector(body.coriolis, 3)
    for k in range(count):
        axis_v, axis_w = vector(body.axes, 6 * k), vector(body.axes, 6 * k + 3)
        f, n = inertia_times(body.inertia, axis_v, axis_w)
        store(body.u, 6 * k, f)
        store(body.u, 6 * k + 3, n)
        needed = dot(axis_v, vector(body.force, 0)) + dot(axis_w, vector(body.force, 3))
        body.residual[k] = tau[body.v_at + k] + body.joint_force[k] - needed
        for m in range(k + 1):
            joint_inertia = dot(vector(body.axes, 6 * m), f) + dot(vector(body.axes, 6 * m + 3), n)
            body.d[3 * k + m] = body.d[3 * m + k] = joint_inertia
    if count == 1:
        body.d[0] = 1.0 / body.d[0]
    else:
        store_matrix(body.d, inverse(matrix(body.d)))
    add_to_parent(parent, body, c, cw)
    for k in range(count):
        # What the joint's own acceleration takes off, with the parent not accelerating.
        own = 0.0
        for m in range(count):
            rest = body.residual[m] - dot(vector(body.u, 6 * m), c) - dot(vector(body.u, 6 * m + 3), cw)
            own += body.d[3 * k + m] * rest
        for r in range(6):
            parent.force[r] += body.u[6 * k + r] * own
            share = 0.0
            for m in range(count):
                share += body.d[3 * k + m] * body.u[6 * m + r]
            for s in range(6):
                parent.inertia[s, r] -= body.u[6 * k + s] * share


@inner
def accelerate_body(body: Record, parent: Record, acceleration: Floats) -> None:
    """Set a body's acceleration from its parent's, and its joint's if that moves freely."""
    count = freedoms(body.kind)
    for r in range(6):
        body.acceleration[r] = parent.acceleration[r] + body.coriolis[r]
    if not body.driven:
        a, aw = vector(body.acceleration, 0), vector(body.acceleration, 3)
        for k in range(count):
            body.residual[k] -= dot(vector(body.u, 6 * k), a) + dot(vector(body.u, 6 * k + 3), aw)
        for k in range(count):
            acceleration[body.v_at + k] = 0.0
            for m in range(count):
                acceleration[body.v_at + k] += body.d[3 * k + m] * body.residual[m]
    for k in range(count):
        for r in range(6):
            body.acceleration[r] += body.axes[6 * k + r] * acceleration[body.v_at + k]


@compiled
def forward_dynamics(tree: Tree, tau: Floats, acceleration: Floats) -> None:
    """Accelerations of an updated tree under the forces tau: of driven joints given on entry, of all on return."""
    water, bodies = tree.water[0], tree.bodies
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        count = freedoms(body.kind)
        if count == 0 or body.driven:
            pass_rigid(body, bodies[body.parent], acceleration)
        else:
            pass_articulated(body, bodies[body.parent], count, tau)
    base = bodies[0]
    for r in range(6):
        base.acceleration[r] = tau[r] - base.force[r]
    solve_cholesky_6(base.inertia, base.acceleration)
    if water.has_free_joints:
        for i in range(1, len(bodies)):
            accelerate_body(bodies[i], bodies[bodies[i].parent], acceleration)
    # The frame drifts with the water; relative to the world, the same motion has this rate in base axes.
    turning = cross(vector(base.velocity, 3), vector(water.drift, 0))
    for r in range(3):
        acceleration[r] = base.acceleration[r] - turning[r]
        acceleration[r + 3] = base.acceleration[r + 3]


@compiled
def inverse_dynamics(tree: Tree, acceleration: Floats, tau: Floats) -> None:
    """Write to tau the forces that give these accelerations, for an updated tree."""
    water, bodies = tree.water[0], tree.bodies
    turning = cross(vector(bodies[0].velocity, 3), vector(water.drift, 0))
    for i in range(len(bodies)):
        body = bodies[i]
        if i == 0:
            store(body.acceleration, 0, add(vector(acceleration, 0), turning))
            store(body.acceleration, 3, vector(acceleration, 3))
        else:
            parent = bodies[body.parent]
            for r in range(6):
                body.acceleration[r] = parent.acceleration[r] + body.coriolis[r]
                for k in range(freedoms(body.kind)):
                    body.acceleration[r] += body.axes[6 * k + r] * acceleration[body.v_at + k]
        f, n = inertia_times(body.inertia, vector(body.acceleration, 0), vector(body.acceleration, 3))
        store(body.force, 0, add(vector(body.force, 0), f))
        store(body.force, 3, add(vector(body.force, 3), n))
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        parent = bodies[body.parent]
        f, n = vector(body.force, 0), vector(body.force, 3)
        for k in range(freedoms(body.kind)):
            on_axis = dot(vector(body.axes, 6 * k), f) + dot(vector(body.axes, 6 * k + 3), n)
            tau[body.v_at + k] = on_axis - body.joint_force[k]
        store(parent.force, 0, add(vector(parent.force, 0), f))
        store(parent.force, 3, add(vector(parent.force, 3), n))
    for r in range(6):
        tau[r] = bodies[0].force[r]


@compiled
def mass_matrix(tree: Tree, mass: Floats) -> None:
    """Write the mass matrix of an updated tree to `mass` (zeros on entry), by the composite-rigid-body algorithm."""
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
