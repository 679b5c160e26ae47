"""Slender bodies: the water's resistance along a link, and its momentum that leaves at an edge.

Resistance (Taylor 1952): a length of a link of diameter d that moves by v_t along itself and v_n across meets
1/2 rho d (cn |v_n| v_n + pi ct |v_t| v_t) against it.

Edge (Lighthill 1971, large-amplitude elongated-body theory). Beside a slender body of span s the water has the
momentum m w n a length, m = rho pi s^2 / 4, with w the body's velocity along the normal n. Its rate of change
stands in the tree: it is the added inertia of the slender bodies, m a length across, nothing along. What is
left is the plane through the rear edge. With t the tangent, towards the body, and u > 0 the edge's velocity
along t, the momentum m w n is left behind at the rate u, and the pressure in that plane, lower by the water's
energy 1/2 m w^2 a length, pulls back on the water and so forward on the body:

    F = 1/2 m w^2 t - m w u n,     F.v = -1/2 m w^2 u <= 0: what the wake takes along.

Where u <= 0 no water leaves and there is no force. In between it grows over u < w / 10, so that the force does
not jump; the theory, for which w is small beside u, has ended long before. Links of a chain hand the water on
from one to the next: an edge at the last one makes the forces on the whole chain right. What joints in between
feel of the handing on (m u w n, out of one link and into the next) is left out; driven joints do not notice.

Both forces are scaled by the share of a circle, of the link's diameter or the edge's span, that is under water
when its middle is at that height.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import add, cross, dot, matrix, minus, put, scale, turned, vector
from caudal.sim_plant.base.types import F, Floats, N, Records
from caudal.sim_plant.tables.water import Edge, Slender, unit, unit_across

LINK = np.dtype(
    [("body", N), ("start", F, 3), ("along", F, 3), ("radius_m", F), ("cn", F), ("ct", F)]
    + [("point", N), ("points", N)]
)
EDGE = np.dtype([("body", N), ("at", F, 3), ("t", F, 3), ("n", F, 3), ("radius_m", F), ("carried_kg_m", F)])
GROWS = 0.1  # share of the speed across at which an edge's force is whole


def pack_links(links: Sequence[tuple[int, Slender]], density_kg_m3: float) -> tuple[Records, Floats]:
    """Of (place of the body, link): LINK, and (point, 2) of all: place along the link and weight, in metres."""
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
    """Of (place of the body, edge)."""
    rows = np.zeros(len(edges), EDGE)
    for row, (body, edge) in zip(rows, edges, strict=True):
        row["body"], row["at"], row["t"] = body, edge.at_m, -unit(edge.out)
        row["n"] = np.cross(unit_across(edge.across, row["t"]), row["t"])
        row["radius_m"] = 0.5 * edge.span_m
        row["carried_kg_m"] = density_kg_m3 * np.pi * edge.span_m**2 / 4
    return rows


@inner
def circle_share(height: float, radius: float) -> float:
    """Share of a circle's area that is under water, its middle at `height`."""
    x = -height / radius
    if x <= -1.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    return 0.5 + (math.asin(x) + x * math.sqrt(1.0 - x * x)) / math.pi


@inner
def resist_links(bodies: Records, links: Records, link_points: Floats, surface: bool) -> None:
    """Take the resistance of slender links off what their bodies ask for; surface says if the water has one."""
    for i in range(len(links)):
        link = links[i]
        body = bodies[link.body]
        turn = matrix(body.turn)
        along = turned(turn, vector(link.along, 0))
        start = add(vector(body.at, 0), turned(turn, vector(link.start, 0)))
        w = vector(body.velocity, 3)
        v = minus(add(vector(body.velocity, 0), cross(w, start)), vector(body.stream, 0))
        v_t = dot(v, along)
        v = minus(v, scale(v_t, along))
        turning = cross(w, along)  # across the link: v_t is the same all along it
        height, slope = body.height_m + dot(vector(body.up, 0), start), dot(vector(body.up, 0), along)
        force, moment, wet = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
        for p in range(link.point, link.point + link.points):
            x, weight = link_points[p, 0], link_points[p, 1]
            if surface:
                weight *= circle_share(height + slope * x, link.radius_m)
            v_n = add(v, scale(x, turning))
            here = scale(-link.cn * weight * math.sqrt(dot(v_n, v_n)), v_n)
            force, moment = add(force, here), add(moment, scale(x, here))
            wet += weight
        force = add(force, scale(-link.ct * wet * abs(v_t) * v_t, along))
        put(body.force, 0, minus(vector(body.force, 0), force))
        torque = add(cross(start, force), cross(along, moment))
        put(body.force, 3, minus(vector(body.force, 3), torque))


@inner
def shed_edges(bodies: Records, edges: Records, surface: bool) -> None:
    """Take the forces at edges off what their bodies ask for; surface says if the water has one."""
    for i in range(len(edges)):
        edge = edges[i]
        body = bodies[edge.body]
        turn = matrix(body.turn)
        t = turned(turn, vector(edge.t, 0))
        at = add(vector(body.at, 0), turned(turn, vector(edge.at, 0)))
        v = minus(add(vector(body.velocity, 0), cross(vector(body.velocity, 3), at)), vector(body.stream, 0))
        u = dot(v, t)
        if u <= 0.0:
            continue
        n = turned(turn, vector(edge.n, 0))
        w = dot(v, n)
        across = math.sqrt(max(dot(v, v) - u * u, 0.0))
        k = edge.carried_kg_m * (u / (GROWS * across) if u < GROWS * across else 1.0)
        if surface:
            k *= circle_share(body.height_m + dot(vector(body.up, 0), at), edge.radius_m)
        force = minus(scale(0.5 * k * w * w, t), scale(k * w * u, n))
        put(body.force, 0, minus(vector(body.force, 0), force))
        put(body.force, 3, minus(vector(body.force, 3), cross(at, force)))
