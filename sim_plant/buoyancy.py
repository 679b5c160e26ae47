"""Buoyancy of hulls that are in, out of, or partly in the water; smooth, and with a potential energy.

A tube is cut into sections at Gauss points, each a polygon clipped exactly at the water plane. A section's
lift, its immersed area at the centroid of that area, is the gradient of the potential it displaces, so the
sum conserves energy whatever the number of sections. An ellipsoid's immersed cap has a closed form.
Limit: the sections of a tube that stands exactly upright meet the surface all at once, one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim_plant.compiled import compiled
from sim_plant.spatial import inner, add, cross, dot, matrix, minus, put, scale, turned, turned_back, vector
from sim_plant.tree_spec import Ellipsoid, Tube


class Hulls(NamedTuple):
    """Tubes and ellipsoids of a vehicle. Axes of a tube: along, across, towards its apex."""

    body: np.ndarray  # (tube)
    frame: np.ndarray  # (tube, 12): from_m, and its axes in the body
    corner: np.ndarray  # (tube, 2): first corner, corners; each polygon stands four times in a row
    section: np.ndarray  # (tube, 2): first section, sections
    area: np.ndarray  # (tube, 3): of a whole section, and its first moments
    corners: np.ndarray  # (corner, 2)
    sums: np.ndarray  # (corner, 3): twice the area, six times the moments, from the first corner to this
    along: np.ndarray  # (section, 2): place along the tube (m), weight (m)
    round_body: np.ndarray  # (ellipsoid)
    round_at: np.ndarray  # (ellipsoid, 3)
    semi_axes: np.ndarray  # (ellipsoid, 3)


def pack_hulls(hulls: Sequence[tuple[int, Tube | Ellipsoid | None]]) -> Hulls:
    """Flat arrays of (place of the body, hull)."""
    tubes = [(i, hull) for i, hull in hulls if isinstance(hull, Tube)]
    rounds = [(i, hull) for i, hull in hulls if isinstance(hull, Ellipsoid)]
    frame, corner, section, area = [], [], [], []
    corners, sums, along = [np.zeros((0, 2))], [np.zeros((0, 3))], [np.zeros((0, 2))]
    for _, tube in tubes:
        start, end = np.array(tube.from_m), np.array(tube.to_m)
        length = float(np.linalg.norm(end - start))
        e1 = (end - start) / length
        e3 = np.array(tube.apex) - e1 * np.dot(tube.apex, e1)
        e3 /= np.linalg.norm(e3)
        frame.append(np.concatenate([start, e1, np.cross(e3, e1), e3]))
        corner.append((sum(map(len, corners)), tube.sections))
        section.append((sum(map(len, along)), tube.gauss))
        p = np.tile(tube.corners_m(), (4, 1))
        q = np.roll(p, -1, axis=0)
        twice = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
        edges = np.column_stack([twice, twice * (p[:, 0] + q[:, 0]), twice * (p[:, 1] + q[:, 1])])
        corners.append(p)
        sums.append(np.concatenate([np.zeros((1, 3)), np.cumsum(edges, axis=0)[:-1]]))
        area.append(sums[-1][tube.sections] / (2, 6, 6))
        x, weight = np.polynomial.legendre.leggauss(tube.gauss)
        along.append(0.5 * length * np.column_stack([1 + x, weight]))
    return Hulls(
        body=np.array([i for i, _ in tubes], np.int64),
        frame=np.array(frame).reshape(-1, 12),
        corner=np.array(corner, np.int64).reshape(-1, 2),
        section=np.array(section, np.int64).reshape(-1, 2),
        area=np.array(area).reshape(-1, 3),
        corners=np.concatenate(corners),
        sums=np.concatenate(sums),
        along=np.concatenate(along),
        round_body=np.array([i for i, _ in rounds], np.int64),
        round_at=np.array([hull.at_m for _, hull in rounds], float).reshape(-1, 3),
        semi_axes=np.array([hull.semi_axes_m for _, hull in rounds], float).reshape(-1, 3),
    )


@inner
def lowest_corner(corners, first, count, ny, nz):
    """The corner near the middle of the row that is lowest where height is ny y + nz z."""
    # Corners stand at equal angles from the apex, so that this one is at most a few off.
    angle = math.atan2(ny, -nz)
    k = first + 2 * count + int(math.floor(angle / (2.0 * math.pi) * count + 0.5))
    here = ny * corners[k, 0] + nz * corners[k, 1]
    for step in (1, -1):
        for _ in range(count):
            there = ny * corners[k + step, 0] + nz * corners[k + step, 1]
            if there >= here:
                break
            k, here = k + step, there
    return k


@inner
def tube_immersed(hulls, t, height, n1, ny, nz):
    """(volume, its first moments along the tube's three axes) below the water.

    The start of the tube's axis stands at `height`; (n1, ny, nz) is up, along the tube's axes.
    """
    corners, sums = hulls.corners, hulls.sums
    first, count = hulls.corner[t, 0], hulls.corner[t, 1]
    low = lowest_corner(corners, first, count, ny, nz)
    bottom = ny * corners[low, 0] + nz * corners[low, 1]
    start, end = low, low  # first and last corner under water, counter-clockwise
    volume, along, across, up = 0.0, 0.0, 0.0, 0.0
    for s in range(hulls.section[t, 0], hulls.section[t, 0] + hulls.section[t, 1]):
        x, weight = hulls.along[s, 0], hulls.along[s, 1]
        h = height + n1 * x
        if h + bottom >= 0.0:
            continue  # dry
        # Walk from the last section's corners: along a tube they move little.
        while end > low and h + ny * corners[end, 0] + nz * corners[end, 1] >= 0.0:
            end -= 1
        while end < low + count and h + ny * corners[end + 1, 0] + nz * corners[end + 1, 1] < 0.0:
            end += 1
        if end >= low + count:
            end = low
            area, my, mz = hulls.area[t, 0], hulls.area[t, 1], hulls.area[t, 2]
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
def ellipsoid_immersed(semi, height, up):
    """(volume, its first moment in body axes about the centre) below the water; centre at `height`."""
    # Stretched to a unit ball, the water plane stays a plane: the immersed part is the image of a cap.
    reach = (semi[0] * up[0], semi[1] * up[1], semi[2] * up[2])
    size = math.sqrt(dot(reach, reach))
    depth = min(max(1.0 - height / size, 0.0), 2.0)  # of the cap; 2 is the whole ball
    stretch = semi[0] * semi[1] * semi[2]
    volume = stretch * math.pi * depth * depth * (3.0 - depth) / 3.0
    moment = -stretch * math.pi / 4.0 * (depth * (2.0 - depth)) ** 2 / size  # along reach
    return volume, (moment * semi[0] * reach[0], moment * semi[1] * reach[1], moment * semi[2] * reach[2])


@inner
def lift(tree, work, i, volume, moment, lifts):
    """Put a body's buoyancy on it, or give its potential (J); `moment` in body axes about its origin."""
    weight = tree.water[0].buoyancy_n_m3
    up, at = vector(work.frame, 0, 0), vector(work.at, i, 0)
    centre = add(turned(matrix(work.turn, i), moment), scale(volume, at))
    if lifts:
        force = scale(weight * volume, up)
        torque = scale(weight, cross(centre, up))
        put(work.force, i, 0, minus(vector(work.force, i, 0), force))
        put(work.force, i, 3, minus(vector(work.force, i, 3), torque))
    return -weight * (volume * work.frame[3, 0] + dot(up, centre))


@inner
def buoyancy(tree, work, lifts):
    """Potential energy (J) of all hulls in the water; with `lifts`, also puts their forces on the bodies."""
    hulls, energy = tree.hulls, 0.0
    if tree.water[0].buoyancy_n_m3 == 0.0:
        return energy
    for t in range(len(hulls.body)):
        i = hulls.body[t]
        up = turned_back(matrix(work.turn, i), vector(work.frame, 0, 0))
        height = work.frame[3, 0] + dot(vector(work.frame, 0, 0), vector(work.at, i, 0))
        start = vector(hulls.frame, t, 0)
        e1, e2, e3 = vector(hulls.frame, t, 3), vector(hulls.frame, t, 6), vector(hulls.frame, t, 9)
        volume, along, across, towards = tube_immersed(
            hulls, t, height + dot(up, start), dot(up, e1), dot(up, e2), dot(up, e3)
        )
        if volume > 0.0:
            moment = add(scale(volume, start), scale(along, e1))
            moment = add(moment, add(scale(across, e2), scale(towards, e3)))
            energy += lift(tree, work, i, volume, moment, lifts)
    for t in range(len(hulls.round_body)):
        i = hulls.round_body[t]
        up = turned_back(matrix(work.turn, i), vector(work.frame, 0, 0))
        centre = vector(hulls.round_at, t, 0)
        height = work.frame[3, 0] + dot(vector(work.frame, 0, 0), vector(work.at, i, 0)) + dot(up, centre)
        volume, moment = ellipsoid_immersed(vector(hulls.semi_axes, t, 0), height, up)
        if volume > 0.0:
            energy += lift(tree, work, i, volume, add(moment, scale(volume, centre)), lifts)
    return energy
