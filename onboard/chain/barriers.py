"""Constraints on the chain's accelerations: clearance of the whole hull, and the joints' limits. Needs numpy.

A barrier is a quantity h that must not fall below 0. With both poles at k (1/s),

    h'' + 2 k h' + k^2 h >= 0

keeps it above 0 (Ames and others), and demands nothing while h is large. `rows` gives BarrierRows, G dv/dt <= g.
"""

import math
from collections.abc import Sequence

import numpy as np

from caudal.onboard.chain.arrays import Flags, Floats, Indexes
from caudal.onboard.chain.model import JOINT, ChainModel
from caudal.onboard.tables.chain import ClearanceTable, Limits, Obstacle


class BarrierRows:
    """Rows of barriers: G dv/dt <= limit, each with its h and its owner.

    The owner is a joint's number, or the number of joints plus an obstacle's; -1 for a limit on rates.
    """

    def __init__(self, g: Floats, limit: Floats, h: Floats, owner: Indexes) -> None:
        self.g, self.limit, self.h, self.owner = g, limit, h, owner

    def __len__(self) -> int:
        return len(self.limit)


def stacked(parts: Sequence[BarrierRows]) -> BarrierRows:
    """All rows of the parts, in order."""
    return BarrierRows(
        np.concatenate([part.g for part in parts]),
        np.concatenate([part.limit for part in parts]),
        np.concatenate([part.h for part in parts]),
        np.concatenate([part.owner for part in parts]),
    )


class Clearance:
    """Keeps points along the hull clear of obstacles; only the nearest few give rows."""

    def __init__(self, chain: ChainModel, table: ClearanceTable, obstacles: Sequence[Obstacle]) -> None:
        self._pole = table.pole_per_s
        self._influence_distance_m = table.influence_distance_m
        self._most_rows = table.most_rows
        self._first = len(chain.chambers)  # owner number of the first obstacle
        self.upright: Flags = np.array([o.depth_m is None for o in obstacles], dtype=bool)
        self.centres: Floats = np.array([[o.x_m, o.y_m, -(o.depth_m or 0.0)] for o in obstacles]).reshape(
            -1, 3
        )
        hull = table.hull_radius_m + table.clear_m + table.guard_m
        self.radii: Floats = np.array([o.radius_m + hull for o in obstacles])  # for the hull's axis
        self.least_m = math.inf  # of the last rows: from the hull's axis to its limit, guard included
        points: list[tuple[int, float]] = []  # (body, position along its axis)
        for k, length_m in enumerate(chain.lengths_m):
            points += [(3 * k, at_m) for at_m in np.linspace(0.0, length_m, table.points_a_module)]
            points += [(3 * k + 1, 0.0)] if k + 1 < len(chain.lengths_m) else []  # the joint's bend
        self._body: Indexes = np.array([body for body, _ in points])
        self._along: Floats = np.array([at_m for _, at_m in points])[:, None]

    def gaps(self, points: Floats) -> Floats:
        """(points, obstacles): distance of points of the hull's axis from the obstacles' limits; world axes."""
        return self._distances(points)[1] - self.radii

    def _distances(self, points: Floats) -> tuple[Floats, Floats]:
        """(vectors from the obstacles' centres or axes, their lengths)."""
        arm = points[:, None, :] - self.centres[None]
        arm[:, self.upright, 2] = 0.0
        return arm, np.sqrt((arm * arm).sum(axis=2))

    def rows(self, chain: ChainModel, position: Floats) -> BarrierRows:
        """A row for each of the nearest points; `position`: the base's, in world axes."""
        point, obstacle = np.zeros(0, dtype=int), np.zeros(0, dtype=int)
        if len(self.radii):
            rotations, origins = chain.body_frames()
            at = origins[self._body] + self._along * rotations[self._body, :, 0]
            arm, distance = self._distances(position + at @ chain.rotation.T)
            gap = distance - self.radii
            self.least_m = float(gap.min())
            point, obstacle = np.nonzero(gap < self._influence_distance_m)
            if len(point) > self._most_rows:
                order = np.argsort(gap[point, obstacle])[: self._most_rows]
                point, obstacle = point[order], obstacle[order]
        if not len(point):
            return BarrierRows(np.zeros((0, chain.freedoms)), np.zeros(0), np.zeros(0), obstacle)
        distance, gap = distance[point, obstacle], gap[point, obstacle]
        out = (arm[point, obstacle] / distance[:, None]) @ chain.rotation
        rows, drift, velocity = chain.point_rows(self._body[point], at[point])
        rate = np.einsum("ij,ij->i", out, velocity)
        across = velocity - rate[:, None] * out
        if self.upright[obstacle].any():  # moving along a pipe does not change the direction out of it
            up = chain.rotation[2]
            across = across - np.where(self.upright[obstacle], across @ up, 0.0)[:, None] * up
        slide = np.einsum("ij,ij->i", across, across) / distance
        pole = self._pole
        limit = np.einsum("ij,ij->i", out, drift) + slide + 2 * pole * rate + pole * pole * gap
        return BarrierRows(-np.einsum("ij,ijk->ik", out, rows), limit, gap, self._first + obstacle)


class JointLimits:
    """Keeps the bending angle of each soft joint below bend_max_deg, its rates below bend_rate_max_rad_s."""

    def __init__(self, chain: ChainModel, table: Limits, bend_max_deg: float) -> None:
        self._least = math.cos(math.radians(bend_max_deg))
        self._rate = table.bend_rate_max_rad_s
        self._pole = table.pole_per_s
        self._count = len(chain.chambers)
        self._owner: Indexes = np.concatenate([np.arange(self._count), np.full(4 * self._count, -1)])

    def rows(self, chain: ChainModel) -> BarrierRows:
        """A row for each joint's bending angle, then four for its two rates."""
        count, pole = self._count, self._pole
        g = np.zeros((5 * count, chain.freedoms))
        limit, h = np.zeros(5 * count), np.zeros(5 * count)
        for k in range(count):
            _, y, z, _ = chain.q[JOINT * k : JOINT * k + JOINT].tolist()
            _, yd, zd, _ = chain.qd[JOINT * k : JOINT * k + JOINT].tolist()
            c1, s1, c2, s2 = math.cos(y), math.sin(y), math.cos(z), math.sin(z)
            at = 6 + JOINT * k + 1
            g[k, at], g[k, at + 1] = s1 * c2, c1 * s2
            h[k], rate = c1 * c2 - self._least, -s1 * c2 * yd - c1 * s2 * zd
            turning = -c1 * c2 * (yd * yd + zd * zd) + 2 * s1 * s2 * yd * zd
            limit[k] = turning + 2 * pole * rate + pole * pole * h[k]
            for i, speed in enumerate((yd, zd)):
                for sign, row in ((1.0, count + 4 * k + 2 * i), (-1.0, count + 4 * k + 2 * i + 1)):
                    g[row, at + i], h[row] = sign, self._rate - sign * speed
                    limit[row] = 2 * pole * h[row]
        return BarrierRows(g, limit, h, self._owner)
