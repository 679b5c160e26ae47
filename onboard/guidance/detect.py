"""Obstacle detection: range readings become points in the vehicle's frame, x ahead, y to port, metres.

A range sensor sees a wedge and measures the nearest echo in it, at an unknown bearing: the echo is taken as an arc of
three points. Between readings the points move by the estimated speed and turn rate. Portable; floats.
"""

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.hal.tables.channels import Place, Sensor
    from caudal.onboard.core.state import State

ARC = (-0.8, 0.0, 0.8)  # shares of the half angle


class Wedge:
    """One range sensor as mounted, and the arc of its last echo."""

    def __init__(self, index: int, place: "Place") -> None:
        self.index = index
        self.x_m = place.x_m
        self.y_m = place.y_m
        self.range_m = place.range_m
        bearing = math.radians(place.bearing_deg)
        half = math.radians(place.half_angle_deg)
        self.directions = [(math.cos(bearing + k * half), math.sin(bearing + k * half)) for k in ARC]
        self.has_echo = False
        self.points = [[0.0, 0.0] for _ in ARC]

    def update(self, range_m: float) -> None:
        """Takes a reading."""
        self.has_echo = range_m < 0.98 * self.range_m  # the full range means no echo
        for point, (ahead, port) in zip(self.points, self.directions):
            point[0] = self.x_m + range_m * ahead
            point[1] = self.y_m + range_m * port

    def move(self, forward_m: float, cosine: float, sine: float) -> None:
        """Moves the points: the vehicle has gone forward, then turned."""
        for point in self.points:
            x_m = point[0] - forward_m
            y_m = point[1]
            point[0] = x_m * cosine + y_m * sine
            point[1] = y_m * cosine - x_m * sine


class Detector:
    """The range sensors: all channels with a `place`."""

    def __init__(self, sensors: "list[Sensor]", board: "Board", guidance_rate_hz: int) -> None:
        self._wedges = [Wedge(board.sensor(s.name), s.place) for s in sensors if s.place]
        self._board = board
        self._dt = 1 / guidance_rate_hz

    def step(self, state: "State") -> list[list[float]]:
        """One step of guidance: the points of all echoes; none of a sensor without a valid reading."""
        estimate = state.estimate
        forward_m = (estimate.speed_m_s or 0.0) * self._dt
        turn_rad = (estimate.turn_rate_rad_s or 0.0) * self._dt
        cosine = math.cos(turn_rad)
        sine = math.sin(turn_rad)
        points: list[list[float]] = []
        for wedge in self._wedges:
            if wedge.has_echo:
                wedge.move(forward_m, cosine, sine)
            range_m = self._board.reading(wedge.index)
            if range_m is None:
                wedge.has_echo = False
            elif self._board.age[wedge.index] * state.period_us < 1000000 * self._dt:
                wedge.update(range_m)
            if wedge.has_echo:
                points.extend(wedge.points)
        return points
