"""Clearance of a tree's skin from the obstacles of the world: the least of its points since the last observation.

A point is a ball on one of the tree's bodies. Its clearance is its distance from the nearest obstacle, less both
radii; below 0 it is inside. Obstacles are spheres, upright cylinders of unlimited height, the pool's walls and the
floor. The water's surface is no obstacle. The least clearance of all points since the last observation is stored after
every step, so that an observation includes the steps before it. No force acts here: contacts are those of hulls
(scene/contact.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.arrays import Flat, Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import add, matrix, rotate, vector
from caudal.sim_plant.base.types import Floats, Records, Vec3, floats, ints
from caudal.sim_plant.tables.read import PlantSpec, WorldSpec
from caudal.sim_plant.tables.skin import SkinPiece
from caudal.sim_plant.tree.model import Model
from caudal.sim_plant.tree.recursion import place_bodies

SKIN_TRUTH_FIELDS = [
    "skin_clearance_m",
    "skin_point",
]  # points are numbered through the pieces; -1: no obstacle
WALL_NAMES = ["the wall at x = 0", "the wall at x = world.length_m", "the wall at y = 0"]
WALL_NAMES += ["the wall at y = world.width_m", "the floor"]

POINT = np.dtype(ints("body") + floats("at_m", 3) + floats("radius_m"))  # at_m in its body's frame


def pack_skin(skin: Sequence[SkinPiece], model: Model | None) -> Records:
    """POINT records, piece by piece."""
    if model is None:  # validate_plant refuses a skin there
        return np.zeros(0, POINT)
    points = np.zeros(sum(piece.points for piece in skin), POINT)
    first = 0
    for piece in skin:
        rows = points[first : first + piece.points]
        rows["body"], rows["radius_m"] = model.place(piece.body), piece.radius_m
        rows["at_m"] = np.linspace(piece.from_m, piece.to_m, piece.points)
        first += piece.points
    return points


def check_start(spec: PlantSpec, world: WorldSpec, model: Model, flat: Flat, i: int, x: Floats) -> None:
    """Refuse a vehicle whose skin is inside an obstacle in its first state x."""
    gap_m, point, obstacle = start_clearance(flat, model.flat, i, x)
    if gap_m < 0.0:
        raise ValueError(
            f"{model.label}: it starts {-gap_m:.3g} m inside {_obstacle_name(obstacle, len(world.cylinders))} with "
            f"{_point_name(spec.skin, point)}; move its start, or the obstacle."
        )


def _point_name(skin: Sequence[SkinPiece], point: int) -> str:
    for k, piece in enumerate(skin):
        if point < piece.points:
            return f"point {point} of plant.skin.{k}, on {piece.body}"
        point -= piece.points
    raise IndexError("the skin's pieces have fewer points")


def _obstacle_name(obstacle: int, cylinders: int) -> str:
    if obstacle < len(WALL_NAMES):
        return WALL_NAMES[obstacle]
    obstacle -= len(WALL_NAMES)
    return f"world.cylinders.{obstacle}" if obstacle < cylinders else f"world.spheres.{obstacle - cylinders}"


@inner
def nearest_obstacle(flat: Flat, p: Vec3, limit_m: float) -> tuple[float, int]:
    """(gap of a point from the nearest obstacle in m, the obstacle) if less than limit_m; else (limit_m, -1).

    Obstacles are numbered: four walls, the floor, cylinders, spheres.
    """
    world = flat.world[0]
    gap, which = limit_m, -1
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
def nearest_skin_point(flat: Flat, tree: Tree, i: int) -> tuple[float, int, int]:
    """(clearance of body i's skin in m, the point, the obstacle) at the least clearance; its tree is placed."""
    body, water = flat.bodies[i], tree.water[0]
    base_turn, base_at = matrix(water.turn), vector(water.at, 0)
    least, nearest, obstacle = np.inf, -1, -1
    for k in range(body.skin_points):
        point = flat.skin[body.first_skin + k]
        one = tree.bodies[point.body]
        p = add(vector(one.at, 0), rotate(matrix(one.turn), vector(point.at_m, 0)))
        p = add(base_at, rotate(base_turn, p))
        gap, which = nearest_obstacle(flat, p, least + point.radius_m)
        if which >= 0:
            least, nearest, obstacle = gap - point.radius_m, k, which
    return least, nearest, obstacle


@inner
def update_clearance(flat: Flat, tree: Tree, i: int, x: Floats) -> None:
    """Keep body i's clearance if it is the least since the last observation."""
    place_bodies(tree, x)
    gap, point, _ = nearest_skin_point(flat, tree, i)
    body = flat.bodies[i]
    if gap < body.skin_clearance_m:
        body.skin_clearance_m, body.skin_point = gap, point


@inner
def observe_skin(flat: Flat, tree: Tree, i: int, out: Floats) -> None:
    """Write SKIN_TRUTH_FIELDS to the end of `out` and restart from the present clearance; the tree is placed."""
    body, last = flat.bodies[i], len(out) - 1
    gap, point, _ = nearest_skin_point(flat, tree, i)
    if gap < body.skin_clearance_m:
        body.skin_clearance_m, body.skin_point = gap, point
    out[last - 1], out[last] = body.skin_clearance_m, body.skin_point
    body.skin_clearance_m, body.skin_point = gap, point


@compiled
def start_clearance(flat: Flat, tree: Tree, i: int, x: Floats) -> tuple[float, int, int]:
    """Start body i's skin: (clearance in m, point, obstacle)."""
    place_bodies(tree, x)
    gap, point, obstacle = nearest_skin_point(flat, tree, i)
    flat.bodies[i].skin_clearance_m, flat.bodies[i].skin_point = gap, point
    return gap, point, obstacle
