"""Detect: from range readings to points that the hull must keep away from.

Each range sensor sees a wedge and gives the nearest echo in it, not where in the wedge it was: the echo is
taken as an arc, three points of it. Between readings the points are carried along by dead reckoning. Points
are in the vehicle's frame, x ahead, y to port, metres. Portable; floats.
"""

import math

ARC = (-0.8, 0.0, 0.8)  # shares of the half angle


class Wedge:
    """One range sensor as mounted, and the arc it last saw."""

    def __init__(self, index, place):
        self.index = index
        self.x_m = place["x_m"]
        self.y_m = place["y_m"]
        self.range_m = place["range_m"]
        bearing = math.radians(place["bearing_deg"])
        half = math.radians(place["half_angle_deg"])
        self.directions = [(math.cos(bearing + k * half), math.sin(bearing + k * half)) for k in ARC]
        self.seen = False
        self.points = [[0.0, 0.0] for _ in ARC]

    def see(self, range_m):
        self.seen = range_m < 0.98 * self.range_m  # at full range nothing came back
        for point, (ahead, port) in zip(self.points, self.directions):
            point[0] = self.x_m + range_m * ahead
            point[1] = self.y_m + range_m * port

    def carry(self, forward_m, cosine, sine):
        """Where the points are after the vehicle went forward and then turned."""
        for point in self.points:
            x_m = point[0] - forward_m
            y_m = point[1]
            point[0] = x_m * cosine + y_m * sine
            point[1] = y_m * cosine - x_m * sine


class Detector:
    def __init__(self, sensors, board, guide_hz):
        """`sensors`: the settings of all channels; those with a `place` look around."""
        self._wedges = [Wedge(board.sensor(s["name"]), s["place"]) for s in sensors if s["place"]]
        self._board = board
        self._dt = 1 / guide_hz

    def step(self, state):
        """The points seen now; a sensor without a valid reading sees nothing."""
        estimate = state.estimate
        forward_m = (estimate.speed_m_s or 0.0) * self._dt
        turn_rad = (estimate.turn_rate_rad_s or 0.0) * self._dt
        cosine = math.cos(turn_rad)
        sine = math.sin(turn_rad)
        points = []
        for wedge in self._wedges:
            if wedge.seen:
                wedge.carry(forward_m, cosine, sine)
            range_m = self._board.reading(wedge.index)
            if range_m is None:
                wedge.seen = False
            elif self._board.age[wedge.index] * state.period_us < 1000000 * self._dt:
                wedge.see(range_m)
            if wedge.seen:
                points.extend(wedge.points)
        return points
