"""Energy, momentum and centre of mass of an updated tree, relative to water that drifts with the current."""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (
    add,
    cross,
    dot,
    inertia_times,
    matrix,
    quaternion_matrix,
    rotate,
    rotation_vector,
    scale,
    store,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record, Vec3
from caudal.sim_plant.tree.arrays import FIXED, SPHERICAL
from caudal.sim_plant.water.buoyancy import buoyancy_energy


@inner
def body_centre_of_mass(body: Record) -> Vec3:
    """Centre of mass of a placed body (m), in the common frame."""
    return add(vector(body.at, 0), rotate(matrix(body.turn), vector(body.com_m, 0)))


@compiled
def energies(tree: Tree, x: Floats, out: Floats) -> None:
    """Write to `out` (J): kinetic energy with the added mass, weight, buoyancy, springs."""
    water = tree.water[0]
    out[:] = 0.0
    out[2] = buoyancy_energy(tree, False)
    for i in range(len(tree.bodies)):
        body = tree.bodies[i]
        v, w = vector(body.velocity, 0), vector(body.velocity, 3)
        f, n = inertia_times(body.inertia, v, w)
        out[0] += 0.5 * (dot(v, f) + dot(w, n))
        height_m = water.height_m + dot(vector(water.up, 0), body_centre_of_mass(body))
        out[1] += body.mass_kg * water.gravity_m_s2 * height_m
        q = body.q_at
        if body.kind == SPHERICAL:
            angle = rotation_vector(x[q], x[q + 1], x[q + 2], x[q + 3])
            out[3] += 0.5 * body.stiffness * dot(angle, angle)
        elif body.kind != FIXED:
            out[3] += 0.5 * body.stiffness * (x[q] - body.rest) ** 2


@compiled
def momenta(tree: Tree, x: Floats, out: Floats) -> None:
    """Write to `out` the linear momentum (kg m/s) and the angular momentum about the world's origin, world axes."""
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(len(tree.bodies)):
        body = tree.bodies[i]
        f, n = inertia_times(body.inertia, vector(body.velocity, 0), vector(body.velocity, 3))
        force, torque = add(force, f), add(torque, n)
    turn = quaternion_matrix(x[3], x[4], x[5], x[6])
    linear = rotate(turn, force)
    store(out, 0, linear)
    store(out, 3, add(rotate(turn, torque), cross((x[0], x[1], x[2]), linear)))


@compiled
def centre_of_mass(tree: Tree, x: Floats, out: Floats) -> None:
    """Write to `out` the centre of mass of the bodies, world (m)."""
    total, moment = 0.0, (0.0, 0.0, 0.0)
    for i in range(len(tree.bodies)):
        body = tree.bodies[i]
        total, moment = total + body.mass_kg, add(moment, scale(body.mass_kg, body_centre_of_mass(body)))
    centre = rotate(quaternion_matrix(x[3], x[4], x[5], x[6]), scale(1.0 / total, moment))
    store(out, 0, add((x[0], x[1], x[2]), centre))
