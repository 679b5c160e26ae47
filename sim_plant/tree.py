"""Recursions over a floating tree of bodies: forward and inverse dynamics, mass matrix, energy, momentum.

All spatial vectors stand in one frame (tree_layout.Work), so that passing an inertia or a force to a parent
is an addition. A body's inertia holds the water it carries, whole; its momentum h = I v then changes by
I a + v x* h, which is the added inertia's own Coriolis force too (Kirchhoff), and needs no other term.
Forward dynamics is the articulated-body algorithm (Featherstone 2008, table 7.1 and, for joints that move
as told, section 9.2).
"""

from __future__ import annotations

from sim_plant.buoyancy import buoyancy
from sim_plant.compiled import compiled
from sim_plant.hydro import drag
from sim_plant.spatial import (
    inner, add, axis_matrix, cross, dot, inertia_times, inverse, matrix, minus, placed_inertia, placed_rigid,
    product, put, quaternion_matrix, rotation_vector, scale, solve_6, turned, turned_back, vector,
)  # fmt: skip
from sim_plant.tree_layout import FIXED, PRISMATIC, REVOLUTE, SPHERICAL


@inner
def freedoms(kind):
    return 3 if kind == SPHERICAL else 0 if kind == FIXED else 1


@inner
def put_matrix(array, i, m):
    for k in range(9):
        array[i, k] = m[k]


@inner
def place_base(tree, work, x):
    """The frame of all else: the base's, drifting with the water."""
    water = tree.water[0]
    turn = quaternion_matrix(x[3], x[4], x[5], x[6])
    current = turned_back(turn, (water.current_x_m_s, water.current_y_m_s, water.current_z_m_s))
    v, w = (x[7], x[8], x[9]), (x[10], x[11], x[12])
    put(work.frame, 0, 0, (turn[6], turn[7], turn[8]))
    put(work.frame, 1, 0, current)
    put(work.frame, 2, 0, turned(turn, v))
    work.frame[3, 0] = x[2]
    put_matrix(work.turn, 0, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    put(work.at, 0, 0, (0.0, 0.0, 0.0))
    put(work.velocity, 0, 0, minus(v, current))
    put(work.velocity, 0, 3, w)


@inner
def place_body(tree, work, x, i):
    """Pose, velocity, joint axes, Coriolis acceleration and spring of body i, its parent being placed."""
    p, kind, q = tree.parent[i], tree.kind[i], tree.q_at[i]
    outer = matrix(work.turn, p)
    at = add(vector(work.at, p, 0), turned(outer, vector(tree.at, i, 0)))
    turn = product(outer, matrix(tree.turn, i))
    v_at = tree.velocities_at[0] + tree.v_at[i] - 6
    stiffness, damping, rest = tree.spring[i, 0], tree.spring[i, 1], tree.spring[i, 2]
    joint_v, joint_w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if kind == REVOLUTE:
        axis = turned(turn, vector(tree.axis, i, 0))
        turn = product(turn, axis_matrix(vector(tree.axis, i, 0), x[q]))
        put(work.axes, i, 0, cross(at, axis))
        put(work.axes, i, 3, axis)
        joint_w = scale(x[v_at], axis)
        joint_v = cross(at, joint_w)
    elif kind == PRISMATIC:
        axis = turned(turn, vector(tree.axis, i, 0))
        at = add(at, scale(x[q], axis))
        put(work.axes, i, 0, axis)
        put(work.axes, i, 3, (0.0, 0.0, 0.0))
        joint_v = scale(x[v_at], axis)
    elif kind == SPHERICAL:
        turn = product(turn, quaternion_matrix(x[q], x[q + 1], x[q + 2], x[q + 3]))
        for k in range(3):
            axis = (turn[k], turn[3 + k], turn[6 + k])
            put(work.axes, i, 6 * k, cross(at, axis))
            put(work.axes, i, 6 * k + 3, axis)
        joint_w = turned(turn, (x[v_at], x[v_at + 1], x[v_at + 2]))
        joint_v = cross(at, joint_w)
        # The gradient of half the stiffness times the angle squared is along the angle, in any axes.
        angle = rotation_vector(x[q], x[q + 1], x[q + 2], x[q + 3])
        for k in range(3):
            work.joint_force[i, k] = -stiffness * angle[k] - damping * x[v_at + k]
    if kind == REVOLUTE or kind == PRISMATIC:
        work.joint_force[i, 0] = -stiffness * (x[q] - rest) - damping * x[v_at]
    v, w = vector(work.velocity, p, 0), vector(work.velocity, p, 3)
    put_matrix(work.turn, i, turn)
    put(work.at, i, 0, at)
    put(work.velocity, i, 0, add(v, joint_v))
    put(work.velocity, i, 3, add(w, joint_w))
    put(work.coriolis, i, 0, add(cross(w, joint_v), cross(v, joint_w)))
    put(work.coriolis, i, 3, cross(w, joint_w))


@inner
def weigh_body(tree, work, i):
    """Inertia of body i where it stands, and the force it asks for at no acceleration."""
    turn, at = matrix(work.turn, i), vector(work.at, i, 0)
    com = add(at, turned(turn, vector(tree.com, i, 0)))
    if tree.rigid[i]:
        placed_rigid(tree.mass[i], tree.about_com, i, turn, com, work.inertia)
    else:
        placed_inertia(tree.inertia, i, turn, at, work.inertia)
    v, w = vector(work.velocity, i, 0), vector(work.velocity, i, 3)
    f, n = inertia_times(work.inertia, i, v, w)
    weight = scale(-tree.mass[i] * tree.water[0].gravity_m_s2, vector(work.frame, 0, 0))
    put(work.force, i, 0, minus(cross(w, f), weight))
    put(work.force, i, 3, minus(add(cross(w, n), cross(v, f)), cross(com, weight)))
    if tree.drags[i]:
        drag(tree, work, i)


@compiled
def sweep(tree, work, x):
    """Place and weigh every body; base to tips."""
    for i in range(len(tree.parent)):
        if i == 0:
            place_base(tree, work, x)
        else:
            place_body(tree, work, x, i)
        weigh_body(tree, work, i)
    buoyancy(tree, work, True)


@inner
def pass_rigidly(tree, work, i, told):
    """Hand body i's inertia and force to its parent over a joint that is fixed, or moves with `told`."""
    p = tree.parent[i]
    c, cw = vector(work.coriolis, i, 0), vector(work.coriolis, i, 3)
    if tree.driven[i]:
        acceleration = told[tree.v_at[i]]
        c = add(c, scale(acceleration, vector(work.axes, i, 0)))
        cw = add(cw, scale(acceleration, vector(work.axes, i, 3)))
    f, n = inertia_times(work.inertia, i, c, cw)
    for r in range(3):
        work.force[p, r] += work.force[i, r] + f[r]
        work.force[p, r + 3] += work.force[i, r + 3] + n[r]
    for r in range(6):
        for k in range(6):
            work.inertia[p, r, k] += work.inertia[i, r, k]


@inner
def pass_yielding(tree, work, i, count, tau):
    """The same over a joint of `count` freedoms that yields: less what the joint takes up."""
    p, v_at = tree.parent[i], tree.v_at[i]
    felt = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    for k in range(count):
        f, n = inertia_times(work.inertia, i, vector(work.axes, i, 6 * k), vector(work.axes, i, 6 * k + 3))
        put(work.u, i, 6 * k, f)
        put(work.u, i, 6 * k + 3, n)
        work.left[i, k] = tau[v_at + k] + work.joint_force[i, k]
        for r in range(6):
            work.left[i, k] -= work.axes[i, 6 * k + r] * work.force[i, r]
    if count == 1:
        work.d[i, 0] = 1.0 / (
            dot(vector(work.axes, i, 0), vector(work.u, i, 0))
            + dot(vector(work.axes, i, 3), vector(work.u, i, 3))
        )
    else:
        for k in range(3):
            for l in range(3):  # noqa: E741
                work.d[i, 3 * k + l] = 0.0
                for r in range(6):
                    work.d[i, 3 * k + l] += work.axes[i, 6 * k + r] * work.u[i, 6 * l + r]
        felt = inverse(matrix(work.d, i))
        put_matrix(work.d, i, felt)
    f, n = inertia_times(work.inertia, i, vector(work.coriolis, i, 0), vector(work.coriolis, i, 3))
    for r in range(3):
        work.force[p, r] += work.force[i, r] + f[r]
        work.force[p, r + 3] += work.force[i, r + 3] + n[r]
    for r in range(6):
        for s in range(6):
            work.inertia[p, r, s] += work.inertia[i, r, s]
    for k in range(count):
        # What the joint's own acceleration leaves to pass on, at no acceleration of the parent.
        own = 0.0
        for m in range(count):
            rest = work.left[i, m]
            for r in range(6):
                rest -= work.u[i, 6 * m + r] * work.coriolis[i, r]
            own += work.d[i, 3 * k + m] * rest
        for r in range(6):
            work.force[p, r] += work.u[i, 6 * k + r] * own
            taken = 0.0
            for m in range(count):
                taken += work.d[i, 3 * k + m] * work.u[i, 6 * m + r]
            for s in range(6):
                work.inertia[p, s, r] -= work.u[i, 6 * k + s] * taken


@compiled
def forward(tree, work, tau, told):
    """Accelerations, from a swept tree: told holds those of driven joints on entry, all on return."""
    for i in range(len(tree.parent) - 1, 0, -1):
        count = freedoms(tree.kind[i])
        if count == 0 or tree.driven[i]:
            pass_rigidly(tree, work, i, told)
        else:
            pass_yielding(tree, work, i, count, tau)
    for r in range(6):
        work.base[r] = tau[r] - work.force[0, r]
    solve_6(work.inertia, 0, work.base)
    for r in range(6):
        told[r] = work.acceleration[0, r] = work.base[r]
    if tree.water[0].yields:
        for i in range(1, len(tree.parent)):
            p, count, v_at = tree.parent[i], freedoms(tree.kind[i]), tree.v_at[i]
            for r in range(6):
                work.acceleration[i, r] = work.acceleration[p, r] + work.coriolis[i, r]
            if count > 0 and not tree.driven[i]:
                for k in range(count):
                    for r in range(6):
                        work.left[i, k] -= work.u[i, 6 * k + r] * work.acceleration[i, r]
                for k in range(count):
                    told[v_at + k] = 0.0
                    for m in range(count):
                        told[v_at + k] += work.d[i, 3 * k + m] * work.left[i, m]
            for k in range(count):
                for r in range(6):
                    work.acceleration[i, r] += work.axes[i, 6 * k + r] * told[v_at + k]
    # The frame drifts with the water; seen from land, the same motion has this rate in base axes.
    turning = cross(vector(work.velocity, 0, 3), vector(work.frame, 1, 0))
    for r in range(3):
        told[r] -= turning[r]


@compiled
def inverse_forces(tree, work, acceleration, tau):
    """Forces (out: tau) that give these accelerations, from a swept tree."""
    turning = cross(vector(work.velocity, 0, 3), vector(work.frame, 1, 0))
    for r in range(6):
        work.acceleration[0, r] = acceleration[r] + (turning[r] if r < 3 else 0.0)
    for i in range(len(tree.parent)):
        p, v_at = tree.parent[i], tree.v_at[i]
        if i > 0:
            for r in range(6):
                work.acceleration[i, r] = work.acceleration[p, r] + work.coriolis[i, r]
                for k in range(freedoms(tree.kind[i])):
                    work.acceleration[i, r] += work.axes[i, 6 * k + r] * acceleration[v_at + k]
        a, aw = vector(work.acceleration, i, 0), vector(work.acceleration, i, 3)
        f, n = inertia_times(work.inertia, i, a, aw)
        put(work.force, i, 0, add(vector(work.force, i, 0), f))
        put(work.force, i, 3, add(vector(work.force, i, 3), n))
    for i in range(len(tree.parent) - 1, 0, -1):
        p, v_at = tree.parent[i], tree.v_at[i]
        for k in range(freedoms(tree.kind[i])):
            tau[v_at + k] = -work.joint_force[i, k]
            for r in range(6):
                tau[v_at + k] += work.axes[i, 6 * k + r] * work.force[i, r]
        for r in range(6):
            work.force[p, r] += work.force[i, r]
    for r in range(6):
        tau[r] = work.force[0, r]


@compiled
def composite(tree, work, mass):
    """Mass matrix (out), from a swept tree, by the composite-rigid-body algorithm."""
    mass[:] = 0.0
    for i in range(len(tree.parent) - 1, 0, -1):
        p = tree.parent[i]
        for r in range(6):
            for k in range(6):
                work.inertia[p, r, k] += work.inertia[i, r, k]
    for r in range(6):
        for k in range(6):
            mass[r, k] = work.inertia[0, r, k]
    for i in range(1, len(tree.parent)):
        for k in range(freedoms(tree.kind[i])):
            row = tree.v_at[i] + k
            f, n = inertia_times(work.inertia, i, vector(work.axes, i, 6 * k), vector(work.axes, i, 6 * k + 3))
            for r in range(3):
                mass[row, r] = mass[r, row] = f[r]
                mass[row, r + 3] = mass[r + 3, row] = n[r]
            j = i
            while j > 0:
                for m in range(freedoms(tree.kind[j])):
                    value = dot(vector(work.axes, j, 6 * m), f) + dot(vector(work.axes, j, 6 * m + 3), n)
                    mass[row, tree.v_at[j] + m] = mass[tree.v_at[j] + m, row] = value
                j = tree.parent[j]
