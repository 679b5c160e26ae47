"""Sums over a swept tree: energy, momentum, centre of mass. As seen by one who drifts with the water."""

from __future__ import annotations

from sim_plant.buoyancy import buoyancy
from sim_plant.compiled import compiled
from sim_plant.spatial import (
    inner, add, cross, dot, inertia_times, matrix, quaternion_matrix, rotation_vector, scale, turned, vector,
)  # fmt: skip
from sim_plant.tree_layout import FIXED, SPHERICAL


@compiled
def energies(tree, work, x, out):
    """Fill out (J): kinetic with the water that is carried, weight, buoyancy, springs."""
    up = vector(work.frame, 0, 0)
    out[:] = 0.0
    out[2] = buoyancy(tree, work, False)
    for i in range(len(tree.parent)):
        v, w = vector(work.velocity, i, 0), vector(work.velocity, i, 3)
        f, n = inertia_times(work.inertia, i, v, w)
        out[0] += 0.5 * (dot(v, f) + dot(w, n))
        com = add(vector(work.at, i, 0), turned(matrix(work.turn, i), vector(tree.com, i, 0)))
        out[1] += tree.mass[i] * tree.water[0].gravity_m_s2 * (work.frame[3, 0] + dot(up, com))
        q = tree.q_at[i]
        if tree.kind[i] == SPHERICAL:
            angle = rotation_vector(x[q], x[q + 1], x[q + 2], x[q + 3])
            out[3] += 0.5 * tree.spring[i, 0] * dot(angle, angle)
        elif tree.kind[i] != FIXED:
            out[3] += 0.5 * tree.spring[i, 0] * (x[q] - tree.spring[i, 2]) ** 2


@compiled
def momenta(tree, work, x, out):
    """Fill out with linear momentum (kg m/s) and angular momentum about the world's origin, world axes."""
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(len(tree.parent)):
        f, n = inertia_times(work.inertia, i, vector(work.velocity, i, 0), vector(work.velocity, i, 3))
        force, torque = add(force, f), add(torque, n)
    turn = quaternion_matrix(x[3], x[4], x[5], x[6])
    linear = turned(turn, force)
    angular = add(turned(turn, torque), cross((x[0], x[1], x[2]), linear))
    for r in range(3):
        out[r], out[r + 3] = linear[r], angular[r]


@compiled
def mass_centre(tree, work, x, out):
    """Fill out with the centre of mass of the bodies, world (m)."""
    total, sum_ = 0.0, (0.0, 0.0, 0.0)
    for i in range(len(tree.parent)):
        com = add(vector(work.at, i, 0), turned(matrix(work.turn, i), vector(tree.com, i, 0)))
        total, sum_ = total + tree.mass[i], add(sum_, scale(tree.mass[i], com))
    centre = turned(quaternion_matrix(x[3], x[4], x[5], x[6]), scale(1.0 / total, sum_))
    for r in range(3):
        out[r] = x[r] + centre[r]
