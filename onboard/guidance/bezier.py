"""Trajectories in time: segments of Bezier curves for x, y, depth and heading.

A segment of order n has n + 1 control points. It starts at the first, ends at the last, and stays within their convex
hull. De Casteljau's scheme, evaluated at once down to the level of three points:

    b[k] = sum over i of  C(n-2, i) t^i (1-t)^(n-2-i)  point[i + k]        k = 0, 1, 2

The curve is the parabola that these three span; their differences give velocity and acceleration. World frame, depth
positive down. Portable; floats.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.tables.trajectory import TrajectoryTable


class Trajectory:
    """`at(t_s)` sets `pose`, `velocity` and `acceleration`: each x, y, depth, heading."""

    def __init__(self, table: "TrajectoryTable") -> None:
        self._segment_s = table.segment_s
        self._points = table.points
        self.duration_s = 0.0
        for segment_s in self._segment_s:
            self.duration_s += segment_s
        self.pose = [0.0, 0.0, 0.0, 0.0]
        self.velocity = [0.0, 0.0, 0.0, 0.0]
        self.acceleration = [0.0, 0.0, 0.0, 0.0]
        most = max([len(points) for points in self._points])
        self._weights = [0.0] * (most - 2)
        self.at(0.0)

    def at(self, t_s: float) -> None:
        """Evaluates the trajectory; before its start and after its end it rests at the first and the last point."""
        if t_s <= 0.0:
            self._rest(self._points[0][0])
            return
        if t_s >= self.duration_s:
            self._rest(self._points[-1][-1])
            return
        k = 0
        while t_s > self._segment_s[k]:
            if (
                k == len(self._segment_s) - 1
            ):  # the sum and the differences may round to different last digits
                t_s = self._segment_s[k]
                break
            t_s -= self._segment_s[k]
            k += 1
        self._evaluate(self._points[k], self._segment_s[k], t_s / self._segment_s[k])

    def _rest(self, point: list[float]) -> None:
        for d in range(4):
            self.pose[d] = point[d]
            self.velocity[d] = 0.0
            self.acceleration[d] = 0.0

    def _evaluate(self, points: list[list[float]], segment_s: float, t: float) -> None:
        """One segment, at a share t of its time."""
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
