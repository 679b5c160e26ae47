"""Walls, floor, moving target, cylinders and spheres of a world, as arrays."""

from __future__ import annotations

import math

import numpy as np

from caudal.sim_plant.base.arrays import WORLD
from caudal.sim_plant.base.types import Floats, Records
from caudal.sim_plant.tables.read import WorldSpec

NO_TARGET, STILL, CIRCLE, LINE = range(4)
PATHS = {"still": STILL, "circle": CIRCLE, "line": LINE}


def pack_world(spec: WorldSpec) -> Records:
    """One WORLD record at time 0."""
    world = np.zeros(1, WORLD)
    if spec.length_m is not None and spec.width_m is not None:
        world["pool"], world["length_m"], world["width_m"] = 1, spec.length_m, spec.width_m
    if spec.depth_m is not None:
        world["floor"], world["depth_m"] = 1, spec.depth_m
    if spec.target is not None:
        world["target"] = PATHS[spec.target.path]
        world["target_x_m"], world["target_y_m"] = spec.target.x_m, spec.target.y_m
        world["target_speed_m_s"], world["target_radius_m"] = spec.target.speed_m_s, spec.target.radius_m
        world["target_heading_rad"] = math.radians(spec.target.heading_deg)
        world["target_length_m"] = spec.target.length_m
    return world


def pack_cylinders(spec: WorldSpec) -> Floats:
    """(cylinder, 3): x, y, radius (m)."""
    return np.array([(c.x_m, c.y_m, c.radius_m) for c in spec.cylinders], dtype=float).reshape(-1, 3)


def pack_spheres(spec: WorldSpec) -> Floats:
    """(sphere, 4): x, y, z, radius (m)."""
    spheres = [(s.x_m, s.y_m, -s.depth_m, s.radius_m) for s in spec.spheres]
    return np.array(spheres, dtype=float).reshape(-1, 4)
