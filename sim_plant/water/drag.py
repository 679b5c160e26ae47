"""Forces of the water on moving bodies, but for buoyancy and for the inertia of the water they carry.

That inertia stands in the tree's own (tree_layout.body_inertia), where the recursions meet it. Drag is here;
water/foils.py and water/slender.py have lift and the forces on slender bodies. A body that has a hull is dragged by the
share of it that is under water.
"""

from __future__ import annotations

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (  # fmt: skip
    add,
    cross,
    inertia_times,
    matrix,
    minus,
    put,
    scale,
    turned,
    turned_back,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record, Records, Vec3
from caudal.sim_plant.water.foils import lift_foils
from caudal.sim_plant.water.slender import resist_links, shed_edges
from caudal.sim_plant.water.tether import hold


@inner
def opposed(linear: Floats, quadratic: Floats, first: int, v: Vec3) -> Vec3:
    """Drag against v, axis by axis."""
    return (
        -(linear[first] + quadratic[first] * abs(v[0])) * v[0],
        -(linear[first + 1] + quadratic[first + 1] * abs(v[1])) * v[1],
        -(linear[first + 2] + quadratic[first + 2] * abs(v[2])) * v[2],
    )


@inner
def drag(body: Record) -> None:
    """Take a body's drag off what it asks for. Its velocity is already relative to the water but for waves."""
    turn = matrix(body.turn)
    centre = add(vector(body.at, 0), turned(turn, vector(body.drag_at, 0)))
    v, w = minus(vector(body.velocity, 0), vector(body.stream, 0)), vector(body.velocity, 3)
    v_there = turned_back(turn, add(v, cross(w, centre)))
    w_there = turned_back(turn, w)
    force = opposed(body.linear, body.quadratic, 0, v_there)
    torque = opposed(body.linear, body.quadratic, 3, w_there)
    if body.mixes:
        f, n = inertia_times(body.mixed, v_there, w_there)
        force, torque = minus(force, f), minus(torque, n)
    force, torque = turned(turn, force), turned(turn, torque)
    torque = scale(body.share, add(torque, cross(centre, force)))
    put(body.force, 0, minus(vector(body.force, 0), scale(body.share, force)))
    put(body.force, 3, minus(vector(body.force, 3), torque))


@inner
def resist(
    water: Record, bodies: Records, foils: Records, links: Records, link_points: Floats, edges: Records
) -> None:
    """Take all these forces off what weighed bodies ask for; after buoyancy, which says what is under water."""
    surface = water.buoyancy_n_m3 > 0.0
    for i in range(len(bodies)):
        if bodies[i].drags:
            drag(bodies[i])
    lift_foils(bodies, foils)
    resist_links(bodies, links, link_points, surface)
    shed_edges(bodies, edges, surface)
    if water.tethered:
        hold(water, bodies[0])
