"""How near a tree's skin comes to what stands in the world: the least distance of its points since the last look.

A point is a ball on one of the tree's bodies. Its clearance is its distance from a sphere, from a cylinder (upright,
without ends), from the pool's walls and from the floor, less both radii; below 0 it is inside. The surface is no
obstacle. After every step the least of all points is kept if it is the least so far, so that what happens between two
looks is seen. Nothing here pushes: contacts are the hull's affair (scene/contact.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.arrays import Flat, Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import add, matrix, turned, vector
from caudal.sim_plant.base.types import F, Floats, N, Records, Vec3
from caudal.sim_plant.tables.read import PlantSpec, WorldSpec
from caudal.sim_plant.tables.skin import Piece
from caudal.sim_plant.tree.model import Model
from caudal.sim_plant.tree.recursion import place

SEEN = [
    "skin_clearance_m",
    "skin_point",
]  # the point's number counts through the pieces; -1 without an obstacle
SOLID = [
    "the wall at x = 0",
    "the wall at x = world.length_m",
    "the wall at y = 0",
    "the wall at y = world.width_m",
]
SOLID += ["the floor"]

POINT = np.dtype([("body", N), ("at_m", F, 3), ("radius_m", F)])  # at_m in its body's frame


def pack_skin(skin: Sequence[Piece], model: Model | None) -> Records:
    """POINT records, piece by piece."""
    if model is None:  # disagreements() has found no skin there
        return np.zeros(0, POINT)
    points = np.zeros(sum(piece.points for piece in skin), POINT)
    first = 0
    for piece in skin:
        rows = points[first : first + piece.points]
        rows["body"], rows["radius_m"] = model.place(piece.body), piece.radius_m
        rows["at_m"] = np.linspace(piece.from_m, piece.to_m, piece.points)
        first += piece.points
    return points


def begin_clear(spec: PlantSpec, world: WorldSpec, model: Model, flat: Flat, i: int, x: Floats) -> None:
    """Refuse a vehicle whose skin is inside something where it starts, in state x."""
    gap_m, point, obstacle = begin(flat, model.flat, i, x)
    if gap_m < 0.0:
        raise ValueError(
            f"{model.label}: it starts {-gap_m:.3g} m inside {_obstacle_name(obstacle, len(world.cylinders))} with "
            f"{_point_name(spec.skin, point)}; move its start, or the obstacle."
        )


def _point_name(skin: Sequence[Piece], point: int) -> str:
    for k, piece in enumerate(skin):
        if point < piece.points:
            return f"point {point} of plant.skin.{k}, on {piece.body}"
        point -= piece.points
    raise IndexError("a skin has no more points than its pieces")


def _obstacle_name(obstacle: int, cylinders: int) -> str:
    if obstacle < len(SOLID):
        return SOLID[obstacle]
    obstacle -= len(SOLID)
    return f"world.cylinders.{obstacle}" if obstacle < cylinders else f"world.spheres.{obstacle - cylinders}"


@inner
def obstacle_gap(flat: Flat, p: Vec3, most: float) -> tuple[float, int]:
    """(gap of a point of no size from the nearest obstacle, which) if nearer than `most`; else (most, -1).

    Obstacles are numbered: four walls, the floor, cylinders, spheres.
    """
    world = flat.world[0]
    gap, which = most, -1
    if world.pool:
        if p[0] < gap:
            gap, which = p[0], 0
        if world.length_m - p[0] < gap:
            gap, which = world.length_m - p[0], 1
        if p[1] < gap:
            gap, which = p[1], 2
        if world.width_m - p[1] < gap:
            gap, which = world.width_m - p[1], 3
    if world.floor and world.depth_m + p[2] < gap:
        gap, which = world.depth_m + p[2], 4
    for k in range(len(flat.cylinders)):
        x, y, radius = flat.cylinders[k, 0], flat.cylinders[k, 1], flat.cylinders[k, 2]
        one = math.hypot(p[0] - x, p[1] - y) - radius
        if one < gap:
            gap, which = one, 5 + k
    for k in range(len(flat.spheres)):
        x, y, z = p[0] - flat.spheres[k, 0], p[1] - flat.spheres[k, 1], p[2] - flat.spheres[k, 2]
        one = math.sqrt(x * x + y * y + z * z) - flat.spheres[k, 3]
        if one < gap:
            gap, which = one, 5 + len(flat.cylinders) + k
    return gap, which


@inner
def nearest(flat: Flat, tree: Tree, i: int) -> tuple[float, int, int]:
    """(clearance of body i's skin, which of its points, which obstacle); its tree is placed."""
    body, water = flat.bodies[i], tree.water[0]
    base_turn, base_at = matrix(water.turn), vector(water.at, 0)
    least, whose, what = np.inf, -1, -1
    for k in range(body.skin_points):
        point = flat.skin[body.first_skin + k]
        one = tree.bodies[point.body]
        p = add(vector(one.at, 0), turned(matrix(one.turn), vector(point.at_m, 0)))
        p = add(base_at, turned(base_turn, p))
        gap, which = obstacle_gap(flat, p, least + point.radius_m)
        if which >= 0:
            least, whose, what = gap - point.radius_m, k, which
    return least, whose, what


@inner
def feel(flat: Flat, tree: Tree, i: int, x: Floats) -> None:
    """Keep body i's clearance if it is the least since the last look."""
    place(tree, x)
    gap, point, _ = nearest(flat, tree, i)
    body = flat.bodies[i]
    if gap < body.skin_m:
        body.skin_m, body.skin_point = gap, point


@inner
def tell_skin(flat: Flat, tree: Tree, i: int, out: Floats) -> None:
    """Put SEEN at the end of `out`, and begin afresh with what is now; the tree is placed."""
    body, last = flat.bodies[i], len(out) - 1
    gap, point, _ = nearest(flat, tree, i)
    if gap < body.skin_m:
        body.skin_m, body.skin_point = gap, point
    out[last - 1], out[last] = body.skin_m, body.skin_point
    body.skin_m, body.skin_point = gap, point


@compiled
def begin(flat: Flat, tree: Tree, i: int, x: Floats) -> tuple[float, int, int]:
    """Body i's skin at its start: (clearance, point, obstacle)."""
    place(tree, x)
    gap, point, obstacle = nearest(flat, tree, i)
    flat.bodies[i].skin_m, flat.bodies[i].skin_point = gap, point
    return gap, point, obstacle
