"""Slender bodies: the resistance of the water along a link, and its momentum that is shed at an edge.

Resistance (Taylor 1952): a length of a link of diameter d that moves by v_t along itself and v_n across meets
1/2 rho d (cn |v_n| v_n + pi ct |v_t| v_t) against it.

Edge (Lighthill 1971, large-amplitude elongated-body theory). The water at a slender body of span s has the momentum
m w n per length, with m = rho pi s^2 / 4 and w the body's velocity along the normal n. The rate of change of this
momentum is in the tree: it is the added mass of the slender bodies, m per length across, zero along. What remains is
the plane through the trailing edge. With t the tangent, towards the body, and u > 0 the edge's velocity along t, the
momentum m w n is shed at the rate u. The pressure in that plane, lower by the water's energy 1/2 m w^2 per length,
pulls the body forward:

    F = 1/2 m w^2 t - m w u n,     F.v = -1/2 m w^2 u <= 0: the power that goes into the wake.

Where u <= 0 no water is shed and there is no force. Over u < w / 10 the force grows from zero, so that it does not
jump. The theory assumes that w is small compared with u and does not hold there. Links of a chain pass the water on
to the next: an edge at the last one gives the right force on the whole chain. The force on the joints in between
(m u w n, out of one link and into the next) is left out; driven joints do not feel it.

Both forces are scaled by the immersed share of a circle, of the link's diameter or the edge's span.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import add, cross, dot, matrix, rotate, scale, subtract, vector
from caudal.sim_plant.base.types import Floats, Records, floats, ints
from caudal.sim_plant.tables.water import Edge, Slender, unit, unit_across
from caudal.sim_plant.water.wrench import apply_force, velocity_through_water

LINK = np.dtype(ints("body point points") + floats("start along", 3) + floats("radius_m cn ct"))
EDGE = np.dtype(ints("body") + floats("at t n", 3) + floats("radius_m added_mass_kg_m"))
RAMP_SHARE = 0.1  # an edge's force is full from this share of the speed across


def pack_links(links: Sequence[tuple[int, Slender]], density_kg_m3: float) -> tuple[Records, Floats]:
    """LINK records of (index of the body, link), and (point, 2) of all links: distance along it and weight, in m."""
    rows, points = np.zeros(len(links), LINK), np.zeros((0, 2))
    for row, (body, link) in zip(rows, links, strict=True):
        length = float(np.linalg.norm(np.subtract(link.to_m, link.from_m)))
        row["body"], row["start"] = body, link.from_m
        row["along"] = unit(np.subtract(link.to_m, link.from_m))
        row["radius_m"] = 0.5 * link.diameter_m
        row["cn"] = 0.5 * density_kg_m3 * link.diameter_m * link.cn
        row["ct"] = 0.5 * density_kg_m3 * np.pi * link.diameter_m * link.ct
        row["point"], row["points"] = len(points), link.points
        x, weight = np.polynomial.legendre.leggauss(link.points)
        points = np.concatenate([points, 0.5 * length * np.column_stack([1 + x, weight])])
    return rows, points


def pack_edges(edges: Sequence[tuple[int, Edge]], density_kg_m3: float) -> Records:
    """EDGE records of (index of the body, edge)."""
    rows = np.zeros(len(edges), EDGE)
    for row, (body, edge) in zip(rows, edges, strict=True):
        row["body"], row["at"], row["t"] = body, edge.at_m, -unit(edge.out)
        row["n"] = np.cross(unit_across(edge.across, row["t"]), row["t"])
        row["radius_m"] = 0.5 * edge.span_m
        row["added_mass_kg_m"] = density_kg_m3 * np.pi * edge.span_m**2 / 4
    return rows


@inner
def immersed_share(height: float, radius: float) -> float:
    """Share of a circle's area that is under water, with its centre at `height` (m)."""
    x = -height / radius
    if x <= -1.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    return 0.5 + (math.asin(x) + x * math.sqrt(1.0 - x * x)) / math.pi


@inner
def apply_links(bodies: Records, links: Records, link_points: Floats, surface: bool) -> None:
    """Apply the resistance of slender links to their bodies; `surface`: the water has a surface."""
    for i in range(len(links)):
        link = links[i]
        body = bodies[link.body]
        turn = matrix(body.turn)
        along = rotate(turn, vector(link.along, 0))
        start = add(vector(body.at, 0), rotate(turn, vector(link.start, 0)))
        v = velocity_through_water(body, start)
        v_t = dot(v, along)
        v = subtract(v, scale(v_t, along))
        turning = cross(vector(body.velocity, 3), along)  # across the link: v_t is the same all along it
        height, slope = body.height_m + dot(vector(body.up, 0), start), dot(vector(body.up, 0), along)
        force, moment, wet = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
        for p in range(link.point, link.point + link.points):
            x, weight = link_points[p, 0], link_points[p, 1]
            if surface:
                weight *= immersed_share(height + slope * x, link.radius_m)
            v_n = add(v, scale(x, turning))
            here = scale(-link.cn * weight * math.sqrt(dot(v_n, v_n)), v_n)
            force, moment = add(force, here), add(moment, scale(x, here))
            wet += weight
        force = add(force, scale(-link.ct * wet * abs(v_t) * v_t, along))
        apply_force(body, force, add(cross(start, force), cross(along, moment)))


@inner
def apply_edges(bodies: Records, edges: Records, surface: bool) -> None:
    """Apply the forces at edges to their bodies; `surface`: the water has a surface."""
    for i in range(len(edges)):
        edge = edges[i]
        body = bodies[edge.body]
        turn = matrix(body.turn)
        t = rotate(turn, vector(edge.t, 0))
        at = add(vector(body.at, 0), rotate(turn, vector(edge.at, 0)))
        v = velocity_through_water(body, at)
        u = dot(v, t)
        if u <= 0.0:
            continue
        n = rotate(turn, vector(edge.n, 0))
        w = dot(v, n)
        across = math.sqrt(max(dot(v, v) - u * u, 0.0))
        k = edge.added_mass_kg_m * (u / (RAMP_SHARE * across) if u < RAMP_SHARE * across else 1.0)
        if surface:
            k *= immersed_share(body.height_m + dot(vector(body.up, 0), at), edge.radius_m)
        force = subtract(scale(0.5 * k * w * w, t), scale(k * w * u, n))
        apply_force(body, force, cross(at, force))
