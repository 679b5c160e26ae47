"""Hulls of bodies: meshes, volumes, and the immersed share."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from caudal.sim_plant.tables.tree import Body, Ellipsoid, TreeSpec, Tube
from caudal.tools.log.poses import Pose, Skeleton
from caudal.tools.view.mesh import Mesh, circle, frame_along, superellipsoid, tube


def hull_mesh(hull: Tube | Ellipsoid, radius_m: float | None = None) -> Mesh:
    """Makes a hull; `radius_m` replaces the radius of a tube that only models displacement."""
    if isinstance(hull, Ellipsoid):
        return superellipsoid(hull.at_m, hull.semi_axes_m)
    if radius_m:
        low, high = np.array(hull.from_m, dtype=float), np.array(hull.to_m, dtype=float)
        low[1:], high[1:] = 0.0, 0.0
        return tube(low, high, circle(radius_m), bevel_m=0.15 * radius_m)
    return tube(hull.from_m, hull.to_m, hull.corners_m(), apex=hull.apex, bevel_m=0.12 * hull.radius_m)


def hull_volume(hull: Tube | Ellipsoid) -> tuple[np.ndarray, float]:
    """Returns the centre of a hull in its body's frame, and its volume in m3."""
    if isinstance(hull, Ellipsoid):
        return np.array(hull.at_m), 4 / 3 * math.pi * float(np.prod(hull.semi_axes_m))
    corners = hull.corners_m()
    after = np.roll(corners, -1, axis=0)
    area = 0.5 * float(np.abs(np.sum(corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0])))
    ends = np.array([hull.from_m, hull.to_m], dtype=float)
    return ends.mean(axis=0), area * float(np.linalg.norm(ends[1] - ends[0]))


def lobed(hull: Tube, mesh: Mesh) -> tuple[Mesh, Mesh]:
    """Splits the mesh of a lobed tube into the faces on its lobes and those between them."""
    vertices, faces = mesh
    rotation = frame_along(
        np.subtract(hull.to_m, hull.from_m).astype(float), np.array(hull.apex, dtype=float)
    )
    offset = (vertices[faces].mean(axis=1) - hull.from_m) @ rotation
    crest = np.cos(hull.lobes * np.arctan2(offset[:, 1], offset[:, 2])) > -0.5
    return (vertices, faces[crest]), (vertices, faces[~crest])


def immersed(hull: Tube | Ellipsoid, rotation: np.ndarray, height_m: float) -> float:
    """Returns the share of a hull below a level surface, for a centre at `height_m` above it.

    It is exact for an ellipsoid; a tube is taken as the ellipsoid of its size.
    """
    if isinstance(hull, Ellipsoid):
        semi = np.array(hull.semi_axes_m)
    else:
        half_m = 0.5 * float(np.linalg.norm(np.subtract(hull.to_m, hull.from_m)))
        along = np.subtract(hull.to_m, hull.from_m) / (2 * half_m)
        semi = hull.radius_m * np.ones(3) + (half_m - hull.radius_m) * np.abs(along)
    reach = float(np.linalg.norm(semi * rotation[2]))
    h = np.clip(-height_m / reach, -1, 1)
    return float((2 + 3 * h - h**3) / 4)


def immersed_volumes(
    tree: TreeSpec, skeleton: Skeleton, pose: Pose
) -> Iterator[tuple[Body, np.ndarray, float, float]]:
    """Yields for each hull its body, its centre in the base's frame (m), its volume and its immersed volume (m3)."""
    for body in tree.body:
        if body.hull is not None:
            k = skeleton.index[body.name]
            centre, volume_m3 = hull_volume(body.hull)
            at_m = pose.in_base(k, centre)
            height_m = float(pose.at_m[2] + (pose.rotation @ at_m)[2])
            share = immersed(body.hull, pose.rotation @ pose.rotations[k], height_m)
            yield body, at_m, volume_m3, volume_m3 * share
