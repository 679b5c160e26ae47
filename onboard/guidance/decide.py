"""Decision: the best of a set of behaviours for the task, with the hull clear of obstacles.

A behaviour is a turn rate and a speed to reach. Each is simulated a few seconds ahead with the vehicle's lags and its
hull as circles, the tail deflected by the turn, against the detector's points. The cheapest one wins. An approach costs
more the sooner it comes. Of two equal ways around an obstacle, the one to starboard is cheaper, so that two vehicles
that meet head-on pass port to port. Portable; floats.
"""

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.control.swim_model import SwimModel
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.stack import GuidanceTable

    Obstacle = tuple[float, float, float]  # distance squared, x, y
    Hull = list[tuple[float, float, float]]  # circles: x, y, radius


class Decider:
    """Keeps preferred_clearance_m between hull and obstacles where it can, and min_clearance_m where it must."""

    def __init__(self, table: "GuidanceTable", preferred_clearance_m: float, model: "SwimModel") -> None:
        self._model = model
        self._steps = table.steps
        self._dt = table.horizon_s / table.steps
        self._horizon_s = table.horizon_s
        self._margin_m = table.min_clearance_m
        self._comfort_m = preferred_clearance_m
        self._turn_keep = math.exp(-self._dt / table.turn_lag_s)
        self._speed_lag_s = table.speed_lag_s
        self._brake_m_s2 = table.brake_m_s2
        self._accelerate_m_s2 = table.accelerate_m_s2
        self._hull = [(circle.x_m, circle.radius_m) for circle in table.hull]  # x: ahead of the first joint
        self._hull_m = max([abs(x_m) + radius_m for x_m, radius_m in self._hull])
        self._turn_rates = table.turn_rates_rad_s
        self._speed_shares = table.speed_shares
        weights = table.weights
        self._task_weight = weights.task
        self._change_weight = weights.change
        self._flip_weight = weights.flip
        self._port_weight = weights.port
        self._slow_weight = weights.slow
        self._near_weight = weights.near
        self._touch_weight = weights.touch
        self._turn_rate = 0.0  # of the last decision

    def step(
        self, state: "State", points: list[list[float]], speed_m_s: float, turn_rate_rad_s: float
    ) -> None:
        """Sets the setpoint's acceleration and turn rate, for a task's speed and turn rate."""
        estimate = state.estimate
        now_m_s = estimate.speed_m_s or 0.0
        now_rad_s = estimate.turn_rate_rad_s or 0.0
        reach_m = max(now_m_s, speed_m_s) * self._horizon_s + self._comfort_m + self._hull_m
        near: list[Obstacle] = []
        for x_m, y_m in points:
            range2 = x_m * x_m + y_m * y_m
            if range2 < reach_m * reach_m:
                near.append((range2, x_m, y_m))
        near.sort()  # so that _clearance_m can stop at the first point that is too far
        best = 1e9
        best_m_s = speed_m_s
        best_rad_s = turn_rate_rad_s
        for share in self._speed_shares:  # fastest first; slower ones only if they can be cheaper
            goal_m_s = speed_m_s * share
            slow = self._slow_weight * (1 - share)
            if slow >= best:
                break
            for k in range(-1, len(self._turn_rates) if near else 0):
                turn = turn_rate_rad_s if k < 0 else self._turn_rates[k]
                cost = slow + self._task_weight * abs(turn - turn_rate_rad_s)
                cost += self._change_weight * abs(turn - self._turn_rate)
                if turn * self._turn_rate < 0:
                    cost += self._flip_weight * min(abs(turn), abs(self._turn_rate))
                if turn > 0:
                    cost += self._port_weight
                if near and cost < best:
                    cost = self._simulated_cost(cost, best, near, now_m_s, goal_m_s, now_rad_s, turn)
                if cost < best:
                    best = cost
                    best_m_s = goal_m_s
                    best_rad_s = turn
        self._turn_rate = best_rad_s
        state.setpoint.turn_rate_rad_s = best_rad_s
        state.setpoint.acceleration_m_s2 = self._acceleration(now_m_s, best_m_s)

    def _acceleration(self, now_m_s: float, goal_m_s: float) -> float:
        """The acceleration towards a speed, within limits."""
        needed = (goal_m_s - now_m_s) / self._speed_lag_s
        if needed < -self._brake_m_s2:
            return -self._brake_m_s2
        return needed if needed < self._accelerate_m_s2 else self._accelerate_m_s2

    def _simulated_cost(
        self,
        cost: float,
        best: float,
        obstacles: "list[Obstacle]",
        speed_m_s: float,
        goal_m_s: float,
        turn_rate_rad_s: float,
        goal_rad_s: float,
    ) -> float:
        """The cost plus that of approaching obstacles within the horizon; stops once it is above `best`."""
        dt = self._dt
        model = self._model
        sine = model.deflection_sine(goal_rad_s, speed_m_s)
        cosine = math.sqrt(1 - sine * sine)
        hull = [
            (along_m * cosine, -along_m * sine, radius_m) if along_m < 0 else (along_m, 0.0, radius_m)
            for along_m, radius_m in self._hull
        ]
        x_m = y_m = heading = time_s = travelled_m = 0.0
        rate = turn_rate_rad_s
        for _ in range(self._steps):
            speed_m_s += self._acceleration(speed_m_s, goal_m_s) * dt
            most = model.turn_rate_max_rad_s(speed_m_s)
            goal = min(max(goal_rad_s, -most), most)
            rate = goal + (rate - goal) * self._turn_keep
            heading += rate * dt
            ahead = math.cos(heading)
            port = math.sin(heading)
            x_m += speed_m_s * ahead * dt
            y_m += speed_m_s * port * dt
            travelled_m += abs(speed_m_s) * dt
            time_s += dt
            gap_m = self._clearance_m(obstacles, hull, travelled_m, x_m, y_m, ahead, port)
            if gap_m < self._comfort_m:
                cost += self._near_weight * (self._comfort_m - gap_m) / (time_s + 0.5)
                if gap_m < self._margin_m:
                    cost += self._touch_weight * (self._margin_m - gap_m) / (time_s + 0.3)
                if cost > best:
                    return cost
        return cost

    def _clearance_m(
        self,
        obstacles: "list[Obstacle]",
        hull: "Hull",
        travelled_m: float,
        x_m: float,
        y_m: float,
        ahead: float,
        port: float,
    ) -> float:
        """Distance from the hull to the nearest obstacle, at most preferred_clearance_m, with the vehicle at x, y.

        `ahead` and `port` are cosine and sine of its heading there.
        """
        gap_m = self._comfort_m
        care_m = self._hull_m + gap_m
        care2 = care_m * care_m
        farthest2 = (travelled_m + care_m) * (travelled_m + care_m)
        for range2, point_x, point_y in obstacles:
            if range2 > farthest2:
                break
            dx = point_x - x_m
            dy = point_y - y_m
            if dx * dx + dy * dy < care2:
                along = dx * ahead + dy * port
                across = dy * ahead - dx * port
                for circle_x, circle_y, radius_m in hull:
                    circle_dx = along - circle_x
                    circle_dy = across - circle_y
                    reach_m = gap_m + radius_m
                    distance2 = circle_dx * circle_dx + circle_dy * circle_dy
                    if reach_m > 0 and distance2 < reach_m * reach_m:
                        gap_m = math.sqrt(distance2) - radius_m
                        care2 = (self._hull_m + gap_m) ** 2
        return gap_m
