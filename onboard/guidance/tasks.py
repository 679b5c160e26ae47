"""Tasks of a vehicle that swims with its tail: the speed and turn rate that a task needs, obstacles left out.

    wander    swims freely on a gentle meander
    track     follows a closed path of waypoints
    pursue    follows a moving target at a distance

Portable; floats.
"""

import math

from caudal.hal.core.maps import clamp
from caudal.onboard.control.pid import Pid
from caudal.onboard.core.angles import wrap
from caudal.onboard.core.state import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import State
    from caudal.onboard.tables import scenario as tables


class SwimTask:
    """A task; `step` sets its speed and turn rate, and its remaining error (None if it has none)."""

    speed_m_s = 0.0
    turn_rate_rad_s = 0.0
    error_m: "float | None" = None

    def step(self, state: "State") -> None:
        """One step of guidance."""
        raise NotImplementedError

    def rest(self) -> None:
        """Sets speed and turn rate to zero."""
        self.speed_m_s = self.turn_rate_rad_s = 0.0


class Wander(SwimTask):
    """Swims at a speed; the turn rate is a sine of time."""

    def __init__(self, scenario: "tables.Wander", board: "Board", guidance_rate_hz: int) -> None:
        self.speed_m_s = scenario.speed_m_s
        self._meander_rad_s = scenario.meander_rad_s
        self._step_rad = 2 * math.pi / (scenario.meander_s * guidance_rate_hz)
        self._phase = 0.0

    def step(self, state: "State") -> None:
        """One step of guidance."""
        self._phase += self._step_rad
        self.turn_rate_rad_s = self._meander_rad_s * math.sin(self._phase)


class Steering:
    """Turn rate that points the vehicle at a position: PID of the heading error."""

    def __init__(self, table: "tables.SteeringTable", guidance_rate_hz: int) -> None:
        self.pid = Pid(table.kp, table.ki, table.kd, table.limit, guidance_rate_hz)

    def step(self, pose: list[float], turn_rate_rad_s: "float | None", x_m: float, y_m: float) -> float:
        """The turn rate towards a position; `pose` is x, y and heading."""
        bearing = math.atan2(y_m - pose[1], x_m - pose[0])
        return self.pid.step(wrap(bearing - pose[2]), turn_rate_rad_s or 0.0)


class Track(SwimTask):
    """Follows a closed path: steers to the point a look-ahead distance beyond the nearest one."""

    def __init__(self, scenario: "tables.Track", board: "Board", guidance_rate_hz: int) -> None:
        self._cruise_m_s = scenario.speed_m_s
        self._look_ahead_m = scenario.look_ahead_m
        self._path = ClosedPath(scenario.path_m)
        self._along_m: float | None = None
        self._steering = Steering(scenario.steering, guidance_rate_hz)

    def step(self, state: "State") -> None:
        """One step of guidance."""
        estimate = state.estimate
        pose = known(estimate.x_m, estimate.y_m, estimate.heading_rad)
        if pose is None:
            self.rest()
            return
        along_m, self.error_m = self._path.nearest(pose[0], pose[1], self._along_m)
        self._along_m = along_m
        x_m, y_m = self._path.point(along_m + self._look_ahead_m)
        self.speed_m_s = self._cruise_m_s
        self.turn_rate_rad_s = self._steering.step(pose, estimate.turn_rate_rad_s, x_m, y_m)


class Pursue(SwimTask):
    """Follows a moving target: steers to its position, keeps `distance_m` behind it at its own speed."""

    SMOOTH_S = 1.0  # time constant of the filter for the target's speed

    def __init__(self, scenario: "tables.Pursue", board: "Board", guidance_rate_hz: int) -> None:
        self._distance_m = scenario.distance_m
        self._speed_max_m_s = scenario.speed_m_s
        self._x = board.sensor(scenario.target_x)
        self._y = board.sensor(scenario.target_y)
        self._closing_per_s = scenario.closing_per_s
        self._steering = Steering(scenario.steering, guidance_rate_hz)
        self._share = 1 / (self.SMOOTH_S * guidance_rate_hz)
        self._tracking = False
        self._lagged_x = 0.0  # the target's position, filtered
        self._lagged_y = 0.0

    def step(self, state: "State") -> None:
        """One step of guidance."""
        estimate = state.estimate
        pose = known(estimate.x_m, estimate.y_m, estimate.heading_rad)
        target = known(state.board.reading(self._x), state.board.reading(self._y))
        if pose is None or target is None:
            self.rest()
            self.error_m = None
            self._tracking = False
            return
        x_m, y_m = target
        dx = x_m - pose[0]
        dy = y_m - pose[1]
        range_m = max(math.sqrt(dx * dx + dy * dy), 1e-6)
        self.error_m = range_m - self._distance_m
        target_m_s = self._target_speed(x_m, y_m, dx / range_m, dy / range_m)
        self.speed_m_s = clamp(target_m_s + self._closing_per_s * self.error_m, 0.0, self._speed_max_m_s)
        self.turn_rate_rad_s = self._steering.step(pose, estimate.turn_rate_rad_s, x_m, y_m)

    def _target_speed(self, x_m: float, y_m: float, along_x: float, along_y: float) -> float:
        """The target's speed away from the vehicle: its position less its lagged position, by the lag."""
        if not self._tracking:
            self._tracking = True
            self._lagged_x = x_m
            self._lagged_y = y_m
        lag_m = (x_m - self._lagged_x) * along_x + (y_m - self._lagged_y) * along_y
        self._lagged_x += (x_m - self._lagged_x) * self._share
        self._lagged_y += (y_m - self._lagged_y) * self._share
        return lag_m / self.SMOOTH_S


class ClosedPath:
    """A polygon of waypoints; positions on it are distances along it."""

    def __init__(self, points_m: list[list[float]]) -> None:
        self._points = points_m
        self._starts_m = [0.0]
        for k in range(len(points_m)):
            x0, y0 = points_m[k]
            x1, y1 = points_m[(k + 1) % len(points_m)]
            self._starts_m.append(self._starts_m[-1] + math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2))
        self.length_m = self._starts_m[-1]

    def point(self, along_m: float) -> tuple[float, float]:
        """x and y at a distance along the path."""
        along_m %= self.length_m
        k = 0
        while self._starts_m[k + 1] < along_m:
            k += 1
        part = (along_m - self._starts_m[k]) / (self._starts_m[k + 1] - self._starts_m[k])
        x0, y0 = self._points[k]
        x1, y1 = self._points[(k + 1) % len(self._points)]
        return x0 + part * (x1 - x0), y0 + part * (y1 - y0)

    def nearest(
        self, x_m: float, y_m: float, near_m: "float | None" = None, window_m: float = 0.6
    ) -> tuple[float, float]:
        """The nearest point: its distance along the path, and from the position.

        With `near_m`, only points within window_m of it along the path, so that a path that crosses itself is
        followed in order; all points if none of these exists.
        """
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
            gap_m = math.sqrt((x_m - x0 - part * (x1 - x0)) ** 2 + (y_m - y0 - part * (y1 - y0)) ** 2)
            if gap_m < best[1]:
                best = (along_m, gap_m)
        if best[1] == 1e9:
            return self.nearest(x_m, y_m)
        return best
