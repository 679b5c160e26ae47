"""Frames and order of the bodies in a tree. Has no kernels, so that it does not import numba."""

from __future__ import annotations

import numpy as np

from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tables.tree import Body


def rpy_matrix(rpy_deg: tuple[float, float, float]) -> Floats:
    """Rotation matrix 3x3: roll about x, then pitch about y, then yaw about z, all fixed axes."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(np.radians(rpy_deg)), np.cos(np.radians(rpy_deg))
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip


def sorted_bodies(bodies: list[Body]) -> list[int]:
    """Indices of the bodies, parents first, otherwise in file order."""
    order, placed = [0], {bodies[0].name}
    while len(order) < len(bodies):
        for i, body in enumerate(bodies):
            if i not in order and body.parent in placed:
                order.append(i)
                placed.add(body.name)
    return order
