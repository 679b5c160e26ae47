"""Buoyancy of hulls that are in, out of, or partly in the water; smooth, and with a potential energy.

A tube is cut into sections at Gauss points, each a polygon clipped exactly at the water plane. A section's
lift, its immersed area at the centroid of that area, is the gradient of the potential it displaces, so the
sum conserves energy whatever the number of sections. An ellipsoid's immersed cap has a closed form.
Force and potential are those of a plane of its own for each body (water/waves.py); in still water it is the world's.
Limit: a section of a tube that stands exactly upright meets the surface all at once, so that the lift of such
a tube goes in steps, one a section; lean it, or give it more.
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
    minus,
    put,
    scale,
    turned,
    turned_back,
    vector,
)
from caudal.sim_plant.base.types import F, Floats, N, Record, Records, Vec3
from caudal.sim_plant.tables.tree import Ellipsoid, Tube

# Axes of a tube: along (e1), across (e2), towards its apex (e3). Corners and sections stand in arrays of their
# own, each polygon four times in a row, so that a part of one is a run of corners wherever it begins.
TUBE = np.dtype(
    [("body", N), ("start", F, 3), ("e1", F, 3), ("e2", F, 3), ("e3", F, 3), ("corner", N), ("corners", N)]
    + [("section", N), ("sections", N), ("area_m2", F), ("across_m3", F), ("up_m3", F), ("whole_m3", F)]
    # of the corner farthest from the axis; whether the section is convex
    + [("reach_m", F), ("convex", N)]
)
ROUND = np.dtype([("body", N), ("at", F, 3), ("semi_axes", F, 3), ("whole_m3", F)])


def pack_hulls(
    hulls: Sequence[tuple[int, Tube | Ellipsoid | None]],
) -> tuple[Records, Records, Floats, Floats, Floats]:
    """Of (place of the body, hull): TUBE, ROUND, and of all tubes

    corners (corner, 2) in metres, sums (corner, 3): twice the area and six times its first moments from the
    polygon's first corner to this one, along (section, 2): place along the tube and weight, in metres.
    """
    rounds = np.array(
        [
            (i, h.at_m, h.semi_axes_m, 4 / 3 * np.pi * np.prod(h.semi_axes_m))
            for i, h in hulls
            if isinstance(h, Ellipsoid)
        ],
        ROUND,
    )
    tubes, corners, sums, along = [], np.zeros((0, 2)), np.zeros((0, 3)), np.zeros((0, 2))
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
        counts = (len(corners), tube.sections, len(along), tube.gauss)
        shape = (np.linalg.norm(p, axis=1).max(), _convex(p))
        tubes.append((i, start, e1, np.cross(e3, e1), e3, *counts, *whole, whole[0] * length, *shape))
        x, weight = np.polynomial.legendre.leggauss(tube.gauss)
        corners, sums = np.concatenate([corners, p]), np.concatenate([sums, own_sums])
        along = np.concatenate([along, 0.5 * length * np.column_stack([1 + x, weight])])
    return np.array(tubes, TUBE), rounds, corners, sums, along


def _convex(corners: Floats) -> bool:
    """Whether a closed polygon, counter-clockwise, turns left at every corner."""
    ways = np.roll(corners, -1, axis=0) - corners
    on = np.roll(ways, -1, axis=0)
    return bool((ways[:, 0] * on[:, 1] >= ways[:, 1] * on[:, 0]).all())


@inner
def lowest_corner(corners: Floats, first: int, count: int, ny: float, nz: float) -> int:
    """The corner near the middle of the row that is lowest where height is ny y + nz z."""
    # Corners stand at equal angles from the apex, so that the one at the angle of (-nz, ny) is at most a few off.
    # As a share of a quarter turn ny / (|ny| + |nz|) is near enough to it, and costs less than an arc tangent.
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
def rises(corners: Floats, k: int, on: int, ny: float, nz: float) -> bool:
    """Whether corner `on` is higher than corner k."""
    higher: bool = ny * corners[on, 0] + nz * corners[on, 1] > ny * corners[k, 0] + nz * corners[k, 1]
    return higher


@inner
def tube_immersed(
    tube: Record,
    corners: Floats,
    sums: Floats,
    along_m: Floats,
    height: float,
    n1: float,
    ny: float,
    nz: float,
) -> tuple[float, float, float, float]:
    """(volume, its first moments along the tube's three axes) below the water.

    The start of the tube's axis stands at `height`; (n1, ny, nz) is up, along the tube's axes.
    """
    count = tube.corners
    low = lowest_corner(corners, tube.corner, count, ny, nz)
    bottom = ny * corners[low, 0] + nz * corners[low, 1]
    top = tube.reach_m * math.sqrt(ny * ny + nz * nz)  # no corner is higher
    start, end = low, low  # first and last corner under water, counter-clockwise
    h = height + n1 * along_m[tube.section, 0]
    if tube.convex and abs(h) < -bottom:
        # Those of a circle, by a cubic instead of its arc cosine; the walk below puts it right, if each is on its
        # side of the highest corner.
        c = h / -bottom
        away = int(count * (0.25 - c * (0.16 + 0.09 * c * c)))
        if rises(corners, low + away, low + away + 1, ny, nz):
            end = low + away
        if rises(corners, low - away, low - away - 1, ny, nz):
            start = low - away
    volume, along, across, up = 0.0, 0.0, 0.0, 0.0
    for s in range(tube.section, tube.section + tube.sections):
        x, weight = along_m[s, 0], along_m[s, 1]
        h = height + n1 * x
        if h + bottom >= 0.0:
            continue  # dry
        if h + top < 0.0:
            volume += weight * tube.area_m2
            along += weight * tube.area_m2 * x
            across += weight * tube.across_m3
            up += weight * tube.up_m3
            continue
        # Walk from the last section's corners: along a tube they move little.
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
            area = (sums[end, 0] - sums[start, 0] + out + surface + back) / 2.0
            my = sums[end, 1] - sums[start, 1] + out * (py + ay) + surface * (ay + by) + back * (by + qy)
            mz = sums[end, 2] - sums[start, 2] + out * (pz + az) + surface * (az + bz) + back * (bz + qz)
            my, mz = my / 6.0, mz / 6.0
        volume += weight * area
        along += weight * area * x
        across += weight * my
        up += weight * mz
    return volume, along, across, up


@inner
def ellipsoid_immersed(hull: Record, height: float, up: Vec3) -> tuple[float, Vec3]:
    """(volume, its first moment in body axes about the centre) below the water; centre at `height`."""
    semi = vector(hull.semi_axes, 0)
    # Stretched to a unit ball, the water plane stays a plane: the immersed part is the image of a cap.
    reach = (semi[0] * up[0], semi[1] * up[1], semi[2] * up[2])
    size = math.sqrt(dot(reach, reach))
    depth = min(max(1.0 - height / size, 0.0), 2.0)  # of the cap; 2 is the whole ball
    stretch = semi[0] * semi[1] * semi[2]
    volume = stretch * math.pi * depth * depth * (3.0 - depth) / 3.0
    moment = -stretch * math.pi / 4.0 * (depth * (2.0 - depth)) ** 2 / size  # along reach
    return volume, (moment * semi[0] * reach[0], moment * semi[1] * reach[1], moment * semi[2] * reach[2])


@inner
def lift(water: Record, body: Record, volume: float, moment: Vec3, lifts: bool) -> float:
    """Potential (J) of a body's buoyancy; with `lifts`, also puts its force on the body.

    Volume (m3) and its first moment (m4) about the body's origin, body axes.
    """
    up = vector(body.up, 0)
    centre = add(turned(matrix(body.turn), moment), scale(volume, vector(body.at, 0)))
    if lifts:
        force = scale(water.buoyancy_n_m3 * volume, up)
        torque = scale(water.buoyancy_n_m3, cross(centre, up))
        put(body.force, 0, minus(vector(body.force, 0), force))
        put(body.force, 3, minus(vector(body.force, 3), torque))
    potential_j: float = -water.buoyancy_n_m3 * (volume * body.height_m + dot(up, centre))
    return potential_j


@inner
def buoyancy(tree: Tree, lifts: bool) -> float:
    """Potential energy (J) of all hulls in the water; with `lifts`, also puts their forces on the bodies.

    Writes each body's share under water too.
    """
    water, energy = tree.water[0], 0.0
    if water.buoyancy_n_m3 == 0.0:
        return energy
    for t in range(len(tree.tubes)):
        tube = tree.tubes[t]
        body = tree.bodies[tube.body]
        up = turned_back(matrix(body.turn), vector(body.up, 0))
        start, e1, e2, e3 = vector(tube.start, 0), vector(tube.e1, 0), vector(tube.e2, 0), vector(tube.e3, 0)
        height = body.height_m + dot(vector(body.up, 0), vector(body.at, 0)) + dot(up, start)
        volume, along, across, towards = tube_immersed(
            tube, tree.corners, tree.sums, tree.along, height, dot(up, e1), dot(up, e2), dot(up, e3)
        )
        body.share = volume / tube.whole_m3
        if volume > 0.0:
            moment = add(scale(volume, start), scale(along, e1))
            moment = add(moment, add(scale(across, e2), scale(towards, e3)))
            energy += lift(water, body, volume, moment, lifts)
    for t in range(len(tree.rounds)):
        hull = tree.rounds[t]
        body = tree.bodies[hull.body]
        up, centre = turned_back(matrix(body.turn), vector(body.up, 0)), vector(hull.at, 0)
        height = body.height_m + dot(vector(body.up, 0), vector(body.at, 0)) + dot(up, centre)
        volume, moment = ellipsoid_immersed(hull, height, up)
        body.share = volume / hull.whole_m3
        if volume > 0.0:
            energy += lift(water, body, volume, add(moment, scale(volume, centre)), lifts)
    return energy
