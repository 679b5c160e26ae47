"""Sums over a swept tree: energy, momentum, centre of mass. As seen by one who drifts with the water."""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (  # fmt: skip
    add,
    cross,
    dot,
    inertia_times,
    matrix,
    put,
    quaternion_matrix,
    rotation_vector,
    scale,
    turned,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record, Vec3
from caudal.sim_plant.tree.arrays import FIXED, SPHERICAL
from caudal.sim_plant.water.buoyancy import buoyancy


@inner
def com_at(body: Record) -> Vec3:
    """Centre of mass of a placed body (m), in the common frame."""
    return add(vector(body.at, 0), turned(matrix(body.turn), vector(body.com_m, 0)))


@compiled
def energies(tree: Tree, x: Floats, out: Floats) -> None:
    """Fill out (J): kinetic with the water that is carried, weight, buoyancy, springs."""
    water = tree.water[0]
    out[:] = 0.0
    out[2] = buoyancy(tree, False)
    for i in range(len(tree.bodies)):
        body = tree.bodies[i]
        v, w = vector(body.velocity, 0), vector(body.velocity, 3)
        f, n = inertia_times(body.inertia, v, w)
        out[0] += 0.5 * (dot(v, f) + dot(w, n))
        height_m = water.height_m + dot(vector(water.up, 0), com_at(body))
        out[1] += body.mass_kg * water.gravity_m_s2 * height_m
        q = body.q_at
        if body.kind == SPHERICAL:
            angle = rotation_vector(x[q], x[q + 1], x[q + 2], x[q + 3])
            out[3] += 0.5 * body.stiffness * dot(angle, angle)
        elif body.kind != FIXED:
            out[3] += 0.5 * body.stiffness * (x[q] - body.rest) ** 2


@compiled
def momenta(tree: Tree, x: Floats, out: Floats) -> None:
    """Fill out with linear momentum (kg m/s) and angular momentum about the world's origin, world axes."""
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(len(tree.bodies)):
        body = tree.bodies[i]
        f, n = inertia_times(body.inertia, vector(body.velocity, 0), vector(body.velocity, 3))
        force, torque = add(force, f), add(torque, n)
    turn = quaternion_matrix(x[3], x[4], x[5], x[6])
    linear = turned(turn, force)
    put(out, 0, linear)
    put(out, 3, add(turned(turn, torque), cross((x[0], x[1], x[2]), linear)))


@compiled
def mass_centre(tree: Tree, x: Floats, out: Floats) -> None:
    """Fill out with the centre of mass of the bodies, world (m)."""
    total, moment = 0.0, (0.0, 0.0, 0.0)
    for i in range(len(tree.bodies)):
        body = tree.bodies[i]
        total, moment = total + body.mass_kg, add(moment, scale(body.mass_kg, com_at(body)))
    centre = turned(quaternion_matrix(x[3], x[4], x[5], x[6]), scale(1.0 / total, moment))
    put(out, 0, add((x[0], x[1], x[2]), centre))
