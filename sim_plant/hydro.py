"""Forces of the water on moving bodies, but for buoyancy and for the inertia of the water they carry.

That inertia stands in the tree's own (tree_layout.body_inertia), where the recursions meet it.
"""

from __future__ import annotations

from sim_plant.compiled import compiled
from sim_plant.spatial import inner, add, cross, matrix, minus, put, turned, turned_back, vector


@inner
def opposed(linear, quadratic, i, first, v):
    """Drag against v, axis by axis."""
    return (
        -(linear[i, first] + quadratic[i, first] * abs(v[0])) * v[0],
        -(linear[i, first + 1] + quadratic[i, first + 1] * abs(v[1])) * v[1],
        -(linear[i, first + 2] + quadratic[i, first + 2] * abs(v[2])) * v[2],
    )


@inner
def drag(tree, work, i):
    """Take the drag of body i off what it asks for. Its velocity is already relative to the water."""
    turn = matrix(work.turn, i)
    centre = add(vector(work.at, i, 0), turned(turn, vector(tree.drag_at, i, 0)))
    v, w = vector(work.velocity, i, 0), vector(work.velocity, i, 3)
    v_there = turned_back(turn, add(v, cross(w, centre)))
    force = turned(turn, opposed(tree.linear, tree.quadratic, i, 0, v_there))
    torque = turned(turn, opposed(tree.linear, tree.quadratic, i, 3, turned_back(turn, w)))
    torque = add(torque, cross(centre, force))
    put(work.force, i, 0, minus(vector(work.force, i, 0), force))
    put(work.force, i, 3, minus(vector(work.force, i, 3), torque))
