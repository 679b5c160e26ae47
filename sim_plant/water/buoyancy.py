"""Buoyancy of hulls above, below or across the surface; it is smooth and has a potential energy.

A tube is cut into sections at Gauss points, each a polygon clipped exactly at the water plane. The lift of a section,
its immersed area at the centroid of that area, is the gradient of a potential. So the sum conserves energy whatever
the number of sections. An ellipsoid's immersed cap has a closed form. Each body has a water plane of its own
(water/waves.py); in still water it is the world's surface.
Limit: a section of a tube that is exactly upright crosses the surface all at once. The lift of such a tube changes in
steps, one per section; tilt it, or give it more sections.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (
    add,
    cross,
    dot,
    matrix,
    rotate,
    rotate_back,
    scale,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record, Records, Vec3, floats, ints
from caudal.sim_plant.tables.tree import Ellipsoid, Tube
from caudal.sim_plant.water.wrench import apply_force

# Axes of a tube: along (e1), across (e2), towards its apex (e3). Corners and sections are in arrays of their own. Each
# polygon is there four times in a row, so that any part of it is one run of corners.
TUBE = np.dtype(
    ints("body")
    + floats("start e1 e2 e3", 3)
    + ints("corner corners section sections")
    # reach_m: of the corner farthest from the axis
    + floats("area_m2 across_m3 up_m3 whole_m3 reach_m")
    + ints("convex")
)
ELLIPSOID = np.dtype(ints("body") + floats("at semi_axes", 3) + floats("whole_m3"))


def pack_hulls(
    hulls: Sequence[tuple[int, Tube | Ellipsoid | None]],
) -> tuple[Records, Records, Floats, Floats, Floats]:
    """Of (index of the body, hull): TUBE and ELLIPSOID records, and of all tubes corners, sums and sections.

    corners (corner, 2): metres across and up. sums (corner, 3): twice the area and six times its first moments, from
    the polygon's first corner to this one. sections (section, 2): distance along the tube and weight, in metres.
    """
    ellipsoids = np.array(
        [
            (i, h.at_m, h.semi_axes_m, 4 / 3 * np.pi * np.prod(h.semi_axes_m))
            for i, h in hulls
            if isinstance(h, Ellipsoid)
        ],
        ELLIPSOID,
    )
    tubes, corners, sums, sections = [], np.zeros((0, 2)), np.zeros((0, 3)), np.zeros((0, 2))
    for i, tube in hulls:
        if not isinstance(tube, Tube):
            continue
        start, end = np.array(tube.from_m), np.array(tube.to_m)
        length = float(np.linalg.norm(end - start))
        e1 = (end - start) / length
        e3 = np.array(tube.apex) - e1 * np.dot(tube.apex, e1)
        e3 /= np.linalg.norm(e3)
        p = np.tile(tube.corners_m(), (4, 1))
        q = np.roll(p, -1, axis=0)
        twice = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
        edges = np.column_stack([twice, twice * (p[:, 0] + q[:, 0]), twice * (p[:, 1] + q[:, 1])])
        own_sums = np.concatenate([np.zeros((1, 3)), np.cumsum(edges, axis=0)[:-1]])
        whole = own_sums[tube.sections] / (2, 6, 6)
        counts = (len(corners), tube.sections, len(sections), tube.gauss)
        shape = (np.linalg.norm(p, axis=1).max(), _is_convex(p))
        tubes.append((i, start, e1, np.cross(e3, e1), e3, *counts, *whole, whole[0] * length, *shape))
        x, weight = np.polynomial.legendre.leggauss(tube.gauss)
        corners, sums = np.concatenate([corners, p]), np.concatenate([sums, own_sums])
        sections = np.concatenate([sections, 0.5 * length * np.column_stack([1 + x, weight])])
    return np.array(tubes, TUBE), ellipsoids, corners, sums, sections


def _is_convex(corners: Floats) -> bool:
    """True if a closed polygon, counter-clockwise, turns left at every corner."""
    edges = np.roll(corners, -1, axis=0) - corners
    following = np.roll(edges, -1, axis=0)
    return bool((edges[:, 0] * following[:, 1] >= edges[:, 1] * following[:, 0]).all())


@inner
def lowest_corner(corners: Floats, first: int, count: int, ny: float, nz: float) -> int:
    """Index of the lowest corner near the middle of the row, where height is ny y + nz z."""
    # Corners have equal angles about the axis, so the one at the angle of (-nz, ny) is at most a few corners off.
    # ny / (|ny| + |nz|), as a share of a quarter turn, is close enough to that angle and cheaper than an arc tangent.
    size, quarters = abs(ny) + abs(nz), 0.0
    if 0.0 < size < math.inf:
        quarters = ny / size if nz <= 0.0 else math.copysign(2.0, ny) - ny / size
    k = first + 2 * count + math.floor(0.25 * quarters * count + 0.5)
    here = ny * corners[k, 0] + nz * corners[k, 1]
    for step in (1, -1):
        for _ in range(count):
            there = ny * corners[k + step, 0] + nz * corners[k + step, 1]
            if there >= here:
                break
            k, here = k + step, there
    return k


@inner
def is_higher(corners: Floats, k: int, on: int, ny: float, nz: float) -> bool:
    """True if corner `on` is higher than corner k, where height is ny y + nz z."""
    higher: bool = ny * corners[on, 0] + nz * corners[on, 1] > ny * corners[k, 0] + nz * corners[k, 1]
    return higher


@inner
def tube_immersed(
    tube: Record,
    corners: Floats,
    corner_sums: Floats,
    sections: Floats,
    height: float,
    n1: float,
    ny: float,
    nz: float,
) -> tuple[float, float, float, float]:
    """(volume, its first moments along the tube's three axes) below the water, in m3 and m4.

    The start of the tube's axis is at `height` (m); (n1, ny, nz) is the upward direction, along the tube's axes.
    """
    count = tube.corners
    low = lowest_corner(corners, tube.corner, count, ny, nz)
    bottom = ny * corners[low, 0] + nz * corners[low, 1]
    top = tube.reach_m * math.sqrt(ny * ny + nz * nz)  # at least the height of the highest corner
    start, end = low, low  # first and last corner under water, counter-clockwise
    h = height + n1 * sections[tube.section, 0]
    if tube.convex and abs(h) < -bottom:
        # First guess: the corners of a circle, by a cubic instead of its arc cosine. The walk below corrects it, if
        # each corner is on its side of the highest one.
        c = h / -bottom
        away = int(count * (0.25 - c * (0.16 + 0.09 * c * c)))
        if is_higher(corners, low + away, low + away + 1, ny, nz):
            end = low + away
        if is_higher(corners, low - away, low - away - 1, ny, nz):
            start = low - away
    volume, along, across, up = 0.0, 0.0, 0.0, 0.0
    for s in range(tube.section, tube.section + tube.sections):
        x, weight = sections[s, 0], sections[s, 1]
        h = height + n1 * x
        if h + bottom >= 0.0:
            continue  # above the water
        if h + top < 0.0:
            volume += weight * tube.area_m2
            along += weight * tube.area_m2 * x
            across += weight * tube.across_m3
            up += weight * tube.up_m3
            continue
        # Walk from the corners of the last section: they change little along a tube.
        while end > low and h + ny * corners[end, 0] + nz * corners[end, 1] >= 0.0:
            end -= 1
        while end < low + count and h + ny * corners[end + 1, 0] + nz * corners[end + 1, 1] < 0.0:
            end += 1
        if end >= low + count:
            end = low
            area, my, mz = tube.area_m2, tube.across_m3, tube.up_m3
        else:
            while start < low and h + ny * corners[start, 0] + nz * corners[start, 1] >= 0.0:
                start += 1
            while h + ny * corners[start - 1, 0] + nz * corners[start - 1, 1] < 0.0:
                start -= 1
            py, pz, qy, qz = corners[end, 0], corners[end, 1], corners[start, 0], corners[start, 1]
            here, there = h + ny * py + nz * pz, h + ny * corners[end + 1, 0] + nz * corners[end + 1, 1]
            k = here / (here - there)
            ay, az = py + k * (corners[end + 1, 0] - py), pz + k * (corners[end + 1, 1] - pz)
            here, there = h + ny * qy + nz * qz, h + ny * corners[start - 1, 0] + nz * corners[start - 1, 1]
            k = here / (here - there)
            by, bz = qy + k * (corners[start - 1, 0] - qy), qz + k * (corners[start - 1, 1] - qz)
            out, surface, back = py * az - pz * ay, ay * bz - az * by, by * qz - bz * qy
            area = (corner_sums[end, 0] - corner_sums[start, 0] + out + surface + back) / 2.0
            my = (
                corner_sums[end, 1]
                - corner_sums[start, 1]
                + out * (py + ay)
                + surface * (ay + by)
                + back * (by + qy)
            )
            mz = (
                corner_sums[end, 2]
                - corner_sums[start, 2]
                + out * (pz + az)
                + surface * (az + bz)
                + back * (bz + qz)
            )
            my, mz = my / 6.0, mz / 6.0
        volume += weight * area
        along += weight * area * x
        across += weight * my
        up += weight * mz
    return volume, along, across, up


@inner
def ellipsoid_immersed(hull: Record, height: float, up: Vec3) -> tuple[float, Vec3]:
    """(volume, its first moment in body axes about the centre) below the water; centre at `height` (m)."""
    semi = vector(hull.semi_axes, 0)
    # A unit ball, stretched: the water plane stays a plane, and the immersed part is the image of a cap.
    reach = (semi[0] * up[0], semi[1] * up[1], semi[2] * up[2])
    size = math.sqrt(dot(reach, reach))
    depth = min(max(1.0 - height / size, 0.0), 2.0)  # of the cap; 2 is the whole ball
    stretch = semi[0] * semi[1] * semi[2]
    volume = stretch * math.pi * depth * depth * (3.0 - depth) / 3.0
    moment = -stretch * math.pi / 4.0 * (depth * (2.0 - depth)) ** 2 / size  # along reach
    return volume, (moment * semi[0] * reach[0], moment * semi[1] * reach[1], moment * semi[2] * reach[2])


@inner
def apply_buoyancy(water: Record, body: Record, volume: float, moment: Vec3, apply: bool) -> float:
    """Potential energy (J) of a body's buoyancy; with `apply`, also applies its force.

    Volume (m3) and its first moment (m4) are about the body's origin, body axes.
    """
    up = vector(body.up, 0)
    centre = add(rotate(matrix(body.turn), moment), scale(volume, vector(body.at, 0)))
    if apply:
        force = scale(water.buoyancy_n_m3 * volume, up)
        apply_force(body, force, scale(water.buoyancy_n_m3, cross(centre, up)))
    potential_j: float = -water.buoyancy_n_m3 * (volume * body.height_m + dot(up, centre))
    return potential_j


@inner
def buoyancy_energy(tree: Tree, apply: bool) -> float:
    """Potential energy (J) of all hulls in the water; with `apply`, also applies their forces.

    Writes the immersed share of each body with a hull.
    """
    water, energy = tree.water[0], 0.0
    if water.buoyancy_n_m3 == 0.0:
        return energy
    for t in range(len(tree.tubes)):
        tube = tree.tubes[t]
        body = tree.bodies[tube.body]
        up = rotate_back(matrix(body.turn), vector(body.up, 0))
        start, e1, e2, e3 = vector(tube.start, 0), vector(tube.e1, 0), vector(tube.e2, 0), vector(tube.e3, 0)
        height = body.height_m + dot(vector(body.up, 0), vector(body.at, 0)) + dot(up, start)
        volume, along, across, towards = tube_immersed(
            tube, tree.corners, tree.corner_sums, tree.sections, height, dot(up, e1), dot(up, e2), dot(up, e3)
        )
        body.immersed_share = volume / tube.whole_m3
        if volume > 0.0:
            moment = add(scale(volume, start), scale(along, e1))
            moment = add(moment, add(scale(across, e2), scale(towards, e3)))
            energy += apply_buoyancy(water, body, volume, moment, apply)
    for t in range(len(tree.ellipsoids)):
        hull = tree.ellipsoids[t]
        body = tree.bodies[hull.body]
        up, centre = rotate_back(matrix(body.turn), vector(body.up, 0)), vector(hull.at, 0)
        height = body.height_m + dot(vector(body.up, 0), vector(body.at, 0)) + dot(up, centre)
        volume, moment = ellipsoid_immersed(hull, height, up)
        body.immersed_share = volume / hull.whole_m3
        if volume > 0.0:
            energy += apply_buoyancy(water, body, volume, add(moment, scale(volume, centre)), apply)
    return energy
