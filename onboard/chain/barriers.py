"""What must hold whatever is aimed at: clearance of every part of the hull, and the joints' limits. Needs numpy.

A barrier is a quantity h that must not fall below 0. With poles at k (1/s), twice,

    h'' + 2 k h' + k^2 h >= 0

keeps it above 0 (Ames and others), and asks for nothing while h is large. `rows` gives Rows: G dv/dt <= g, each with h,
its rate, and whose it is: a joint's number, then those of the obstacles, -1 of a limit on rates.
"""

import math

import numpy as np

from caudal.onboard.chain.model import JOINT


class Rows:
    """Rows of barriers, one below the other."""

    def __init__(self, g, most, h, rate, whose):
        self.g, self.most, self.h, self.rate, self.whose = g, most, h, rate, whose

    def __len__(self):
        return len(self.most)


def stacked(parts):
    return Rows(
        *(np.concatenate([getattr(p, key) for p in parts]) for key in ("g", "most", "h", "rate", "whose"))
    )


class Clearance:
    """Points along the hull keep clear of obstacles; only the nearest few count."""

    def __init__(self, chain, settings, obstacles):
        self._pole = settings["pole_per_s"]
        self._near_m = settings["near_m"]
        self._most = settings["most_rows"]
        self._first = len(chain.chambers)  # number of the first obstacle
        self.upright = np.array([o["depth_m"] is None for o in obstacles], dtype=bool)
        self.centres = np.array([[o["x_m"], o["y_m"], -(o["depth_m"] or 0.0)] for o in obstacles]).reshape(
            -1, 3
        )
        hull = settings["hull_radius_m"] + settings["clear_m"] + settings["guard_m"]
        self.radii = np.array([o["radius_m"] + hull for o in obstacles])  # for the hull's axis
        self.least_m = math.inf  # of the last rows: to the axis's own limit, guard included
        places = []  # (body, along its axis)
        for k, length_m in enumerate(chain.lengths_m):
            places += [(3 * k, at_m) for at_m in np.linspace(0.0, length_m, settings["points_a_module"])]
            places += [(3 * k + 1, 0.0)] if k + 1 < len(chain.lengths_m) else []  # the joint's kink
        self._body = np.array([body for body, _ in places])
        self._along = np.array([at_m for _, at_m in places])[:, None]

    def gaps(self, points):
        """(points, obstacles): how far points of the hull's axis are from where they must not be; world, z up."""
        return self._ways(points)[1] - self.radii

    def _ways(self, points):
        way = points[:, None, :] - self.centres[None]
        way[:, self.upright, 2] = 0.0
        return way, np.sqrt((way * way).sum(axis=2))

    def rows(self, chain, place):
        point, obstacle = np.zeros(0, dtype=int), np.zeros(0, dtype=int)
        if len(self.radii):
            turns, origins = chain.bodies_seen()
            at = origins[self._body] + self._along * turns[self._body, :, 0]
            way, far = self._ways(place + at @ chain.turn.T)
            gap = far - self.radii
            self.least_m = float(gap.min())
            point, obstacle = np.nonzero(gap < self._near_m)
            if len(point) > self._most:
                order = np.argsort(gap[point, obstacle])[: self._most]
                point, obstacle = point[order], obstacle[order]
        if not len(point):
            return Rows(np.zeros((0, chain.freedoms)), np.zeros(0), np.zeros(0), np.zeros(0), obstacle)
        far, gap = far[point, obstacle], gap[point, obstacle]
        out = (way[point, obstacle] / far[:, None]) @ chain.turn
        rows, drift, speed = chain.point_rows(self._body[point], at[point])
        rate = np.einsum("ij,ij->i", out, speed)
        across = speed - rate[:, None] * out
        if self.upright[obstacle].any():  # along a pipe nothing turns the way out
            up = chain.turn[2]
            across = across - np.where(self.upright[obstacle], across @ up, 0.0)[:, None] * up
        slide = np.einsum("ij,ij->i", across, across) / far
        pole = self._pole
        most = np.einsum("ij,ij->i", out, drift) + slide + 2 * pole * rate + pole * pole * gap
        return Rows(-np.einsum("ij,ijk->ik", out, rows), most, gap, rate, self._first + obstacle)


class JointLimits:
    """The whole bend of each soft joint stays below bend_max_deg, its rates below bend_rate_max_rad_s."""

    def __init__(self, chain, settings, bend_max_deg):
        self._least = math.cos(math.radians(bend_max_deg))
        self._rate = settings["bend_rate_max_rad_s"]
        self._pole = settings["pole_per_s"]
        self._count = len(chain.chambers)
        self._whose = np.concatenate([np.arange(self._count), np.full(4 * self._count, -1)])

    def rows(self, chain):
        """A row for each joint's bend, then four for its two rates."""
        count, pole = self._count, self._pole
        g = np.zeros((5 * count, chain.freedoms))
        most, h, rates = np.zeros(5 * count), np.zeros(5 * count), np.zeros(5 * count)
        for k in range(count):
            _, y, z, _ = chain.q[JOINT * k : JOINT * k + JOINT].tolist()
            _, yd, zd, _ = chain.qd[JOINT * k : JOINT * k + JOINT].tolist()
            c1, s1, c2, s2 = math.cos(y), math.sin(y), math.cos(z), math.sin(z)
            at = 6 + JOINT * k + 1
            g[k, at], g[k, at + 1] = s1 * c2, c1 * s2
            h[k], rates[k] = c1 * c2 - self._least, -s1 * c2 * yd - c1 * s2 * zd
            turning = -c1 * c2 * (yd * yd + zd * zd) + 2 * s1 * s2 * yd * zd
            most[k] = turning + 2 * pole * rates[k] + pole * pole * h[k]
            for i, speed in enumerate((yd, zd)):
                for sign, row in ((1.0, count + 4 * k + 2 * i), (-1.0, count + 4 * k + 2 * i + 1)):
                    g[row, at + i], h[row] = sign, self._rate - sign * speed
                    most[row] = 2 * pole * h[row]
        return Rows(g, most, h, rates, self._whose)
