"""Tasks: what a vehicle is out to do, compared with where it is.

    wander    free swimming: a gentle meander
    track     follow a closed path of way-points
    pursue    follow a moving target at a distance

Each gives `speed_m_s` and `turn_rad_s` it would like, and `error_m` it has left (None if it has no place to
be). Obstacles are not their business. Portable; floats.
"""

import math

from caudal.hal.core.maps import clamp
from caudal.onboard.control.pid import Pid
from caudal.onboard.core.angles import wrap


class Wander:
    def __init__(self, settings, board, guide_hz):
        self.speed_m_s = settings["speed_m_s"]
        self.turn_rad_s = 0.0
        self.error_m = None
        self._meander_rad_s = settings["meander_rad_s"]
        self._step_rad = 2 * math.pi / (settings["meander_s"] * guide_hz)
        self._phase = 0.0

    def step(self, state):
        self._phase += self._step_rad
        self.turn_rad_s = self._meander_rad_s * math.sin(self._phase)


class Steering:
    """Turn rate that points the vehicle somewhere: PID on the heading."""

    def __init__(self, gains, guide_hz):
        self.pid = Pid(gains["kp"], gains["ki"], gains["kd"], gains["limit"], guide_hz)

    def towards(self, estimate, x_m, y_m):
        bearing = math.atan2(y_m - estimate.y_m, x_m - estimate.x_m)
        error = wrap(bearing - estimate.heading_rad)
        return self.pid.step(error, estimate.turn_rate_rad_s or 0.0)


class Track:
    """Closed path: aim at the point a look-ahead further along it than the nearest one."""

    def __init__(self, settings, board, guide_hz):
        self.speed_m_s = 0.0
        self.turn_rad_s = 0.0
        self.error_m = None
        self._cruise_m_s = settings["speed_m_s"]
        self._look_ahead_m = settings["look_ahead_m"]
        self._path = ClosedPath(settings["path_m"])
        self._along_m = None
        self._steering = Steering(settings["steering"], guide_hz)

    def step(self, state):
        estimate = state.estimate
        if estimate.x_m is None or estimate.heading_rad is None:
            self.speed_m_s = self.turn_rad_s = 0.0
            return
        self._along_m, self.error_m = self._path.nearest(estimate.x_m, estimate.y_m, self._along_m)
        aim_x, aim_y = self._path.point(self._along_m + self._look_ahead_m)
        self.speed_m_s = self._cruise_m_s
        self.turn_rad_s = self._steering.towards(estimate, aim_x, aim_y)


class Pursue:
    """A moving target: keep `distance_m` behind it, at its own speed once there, steering at where it is."""

    SMOOTH_S = 1.0  # over which the target's speed is taken from its fixes

    def __init__(self, settings, board, guide_hz):
        self.speed_m_s = 0.0
        self.turn_rad_s = 0.0
        self.error_m = None
        self._distance_m = settings["distance_m"]
        self._speed_max_m_s = settings["speed_m_s"]
        self._x = board.sensor(settings["target_x"])
        self._y = board.sensor(settings["target_y"])
        self._closing_per_s = settings["closing_per_s"]
        self._steering = Steering(settings["steering"], guide_hz)
        self._share = 1 / (self.SMOOTH_S * guide_hz)
        self._follow_x = None
        self._follow_y = None

    def step(self, state):
        estimate = state.estimate
        x_m = state.board.reading(self._x)
        y_m = state.board.reading(self._y)
        if x_m is None or y_m is None or estimate.x_m is None or estimate.heading_rad is None:
            self.speed_m_s = self.turn_rad_s = 0.0
            self.error_m = self._follow_x = None
            return
        ahead_x = x_m - estimate.x_m
        ahead_y = y_m - estimate.y_m
        away_m = max(math.sqrt(ahead_x * ahead_x + ahead_y * ahead_y), 1e-6)
        self.error_m = away_m - self._distance_m
        fleeing_m_s = self._target_speed(x_m, y_m, ahead_x / away_m, ahead_y / away_m)
        wanted = fleeing_m_s + self._closing_per_s * self.error_m
        self.speed_m_s = clamp(wanted, 0.0, self._speed_max_m_s)
        self.turn_rad_s = self._steering.towards(estimate, x_m, y_m)

    def _target_speed(self, x_m, y_m, along_x, along_y):
        """How fast the target moves away: a point that follows it with a lag trails by speed times lag."""
        if self._follow_x is None:
            self._follow_x = x_m
            self._follow_y = y_m
        trail = (x_m - self._follow_x) * along_x + (y_m - self._follow_y) * along_y
        self._follow_x += (x_m - self._follow_x) * self._share
        self._follow_y += (y_m - self._follow_y) * self._share
        return trail / self.SMOOTH_S


class ClosedPath:
    """A polygon of way-points, by the distance along it."""

    def __init__(self, points_m):
        self._points = points_m
        self._starts_m = [0.0]
        for k in range(len(points_m)):
            x0, y0 = points_m[k]
            x1, y1 = points_m[(k + 1) % len(points_m)]
            self._starts_m.append(self._starts_m[-1] + math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2))
        self.length_m = self._starts_m[-1]

    def point(self, along_m):
        along_m %= self.length_m
        k = 0
        while self._starts_m[k + 1] < along_m:
            k += 1
        part = (along_m - self._starts_m[k]) / (self._starts_m[k + 1] - self._starts_m[k])
        x0, y0 = self._points[k]
        x1, y1 = self._points[(k + 1) % len(self._points)]
        return x0 + part * (x1 - x0), y0 + part * (y1 - y0)

    def nearest(self, x_m, y_m, near_m=None, window_m=0.6):
        """(distance along, distance off) of the nearest point; of those near `near_m`, if given, so that a
        path that crosses itself is followed in order."""
        best = (0.0, 1e9)
        for k in range(len(self._points)):
            x0, y0 = self._points[k]
            x1, y1 = self._points[(k + 1) % len(self._points)]
            length_m = self._starts_m[k + 1] - self._starts_m[k]
            part = ((x_m - x0) * (x1 - x0) + (y_m - y0) * (y1 - y0)) / (length_m * length_m)
            part = min(max(part, 0.0), 1.0)
            along_m = self._starts_m[k] + part * length_m
            if near_m is not None:
                apart_m = abs((along_m - near_m + self.length_m / 2) % self.length_m - self.length_m / 2)
                if apart_m > window_m:
                    continue
            off_m = math.sqrt((x_m - x0 - part * (x1 - x0)) ** 2 + (y_m - y0 - part * (y1 - y0)) ** 2)
            if off_m < best[1]:
                best = (along_m, off_m)
        if best[1] == 1e9:  # lost the window: look everywhere
            return self.nearest(x_m, y_m)
        return best
