"""Trajectories in time: pieces of Bezier curves for x, y, depth and heading.

A segment of order n has n + 1 control points; it starts at the first and ends at the last, and never leaves the hull
of them all. De Casteljau's scheme, taken at once to the level where three points are left:

    b[k] = sum over i of  C(n-2, i) t^i (1-t)^(n-2-i)  point[i + k]        k = 0, 1, 2

The curve is the parabola these three span; its slope and bend are the differences between them. World frame, depth
positive down. Portable; floats.
"""


class Trajectory:
    """`at(t_s)` sets `pose`, `velocity` and `acceleration`: four numbers each, x, y, depth, heading."""

    def __init__(self, settings):
        self._segment_s = settings["segment_s"]
        self._points = settings["points"]
        self.duration_s = 0.0
        for segment_s in self._segment_s:
            self.duration_s += segment_s
        self.pose = [0.0, 0.0, 0.0, 0.0]
        self.velocity = [0.0, 0.0, 0.0, 0.0]
        self.acceleration = [0.0, 0.0, 0.0, 0.0]
        most = max([len(points) for points in self._points])
        self._weights = [0.0] * (most - 2)
        self.at(0.0)

    def at(self, t_s):
        """Before its start and after its end it stands still at what it starts and ends with."""
        if t_s <= 0.0:
            self._stand(self._points[0][0])
            return
        if t_s >= self.duration_s:
            self._stand(self._points[-1][-1])
            return
        k = 0
        while t_s > self._segment_s[k]:
            if k == len(self._segment_s) - 1:  # the sum's last digit may be another than the differences'
                t_s = self._segment_s[k]
                break
            t_s -= self._segment_s[k]
            k += 1
        self._on(self._points[k], self._segment_s[k], t_s / self._segment_s[k])

    def _stand(self, point):
        for d in range(4):
            self.pose[d] = point[d]
            self.velocity[d] = 0.0
            self.acceleration[d] = 0.0

    def _on(self, points, segment_s, t):
        order = len(points) - 1
        low = order - 2
        rest = 1.0 - t
        weights = self._weights
        weight = 1.0
        for i in range(low + 1):  # C(low, i) t^i, then (1-t)^(low-i) from the other end
            weights[i] = weight
            weight *= t * (low - i) / (i + 1)
        weight = 1.0
        for i in range(low, -1, -1):
            weights[i] *= weight
            weight *= rest
        per_s = order / segment_s
        per_s2 = per_s * (order - 1) / segment_s
        for d in range(4):
            b0 = b1 = b2 = 0.0
            for i in range(low + 1):
                weight = weights[i]
                b0 += weight * points[i][d]
                b1 += weight * points[i + 1][d]
                b2 += weight * points[i + 2][d]
            self.pose[d] = rest * (rest * b0 + t * b1) + t * (rest * b1 + t * b2)
            self.velocity[d] = per_s * (rest * (b1 - b0) + t * (b2 - b1))
            self.acceleration[d] = per_s2 * (b2 - 2.0 * b1 + b0)
