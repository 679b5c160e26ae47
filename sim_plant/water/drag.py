"""Drag of the water on moving bodies, and the order of all forces of moving water.

Lift and the forces on slender bodies are in water/foils.py and water/slender.py. The inertia of the added mass is part
of a tree's own inertia (tree.arrays.body_inertia). The drag of a body with a hull is scaled by its immersed share.
"""

from __future__ import annotations

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (
    add,
    cross,
    inertia_times,
    matrix,
    rotate,
    rotate_back,
    scale,
    subtract,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record, Records, Vec3
from caudal.sim_plant.water.foils import apply_foils
from caudal.sim_plant.water.slender import apply_edges, apply_links
from caudal.sim_plant.water.tether import apply_tether
from caudal.sim_plant.water.wrench import apply_force


@inner
def axis_drag(linear: Floats, quadratic: Floats, first: int, v: Vec3) -> Vec3:
    """Drag against the motion v, axis by axis, for the three axes from `first`."""
    return (
        -(linear[first] + quadratic[first] * abs(v[0])) * v[0],
        -(linear[first + 1] + quadratic[first + 1] * abs(v[1])) * v[1],
        -(linear[first + 2] + quadratic[first + 2] * abs(v[2])) * v[2],
    )


@inner
def apply_drag(body: Record) -> None:
    """Apply a body's drag. Its velocity is relative to the current, but not yet to the waves."""
    turn = matrix(body.turn)
    centre = add(vector(body.at, 0), rotate(turn, vector(body.drag_at, 0)))
    v, w = subtract(vector(body.velocity, 0), vector(body.water_velocity, 0)), vector(body.velocity, 3)
    v_there = rotate_back(turn, add(v, cross(w, centre)))
    w_there = rotate_back(turn, w)
    force = axis_drag(body.linear, body.quadratic, 0, v_there)
    torque = axis_drag(body.linear, body.quadratic, 3, w_there)
    if body.has_mixed_drag:
        f, n = inertia_times(body.mixed, v_there, w_there)
        force, torque = subtract(force, f), subtract(torque, n)
    force, torque = rotate(turn, force), rotate(turn, torque)
    torque = scale(body.immersed_share, add(torque, cross(centre, force)))
    apply_force(body, scale(body.immersed_share, force), torque)


@inner
def apply_water_forces(
    water: Record, bodies: Records, foils: Records, links: Records, link_points: Floats, edges: Records
) -> None:
    """Apply drag, foils, slender links, edges and tether. Buoyancy must come first: it sets the immersed shares."""
    surface = water.buoyancy_n_m3 > 0.0
    for i in range(len(bodies)):
        if bodies[i].has_drag:
            apply_drag(bodies[i])
    apply_foils(bodies, foils)
    apply_links(bodies, links, link_points, surface)
    apply_edges(bodies, edges, surface)
    if water.tethered:
        apply_tether(water, bodies[0])
