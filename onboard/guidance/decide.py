"""Decide: choose from a library of behaviours the one that serves the task and keeps the hull clear.

A behaviour is a turn rate and a speed to go for. Each is rolled out a few seconds ahead with the vehicle's
own lags and its hull as circles, tail bent into the turn, against the points the detector saw; the cheapest
wins. Near misses cost the more the sooner they come; of two equal ways round, starboard is cheaper, so that
two vehicles that meet head-on pass port to port. Portable; floats.
"""

import math

FAR_M = 9.0


class Decider:
    def __init__(self, settings, law, guide_hz):
        self._law = law
        self._horizon = settings["horizon_s"]
        self._steps = settings["steps"]
        self._margin_m = settings["margin_m"]
        self._comfort_m = settings["comfort_m"]
        self._turn_lag_s = settings["turn_lag_s"]
        self._speed_lag_s = settings["speed_lag_s"]
        self._brake_m_s2 = settings["brake_m_s2"]
        self._accelerate_m_s2 = settings["accelerate_m_s2"]
        self._hull = settings["hull"]  # circles: x ahead of the first joint, radius
        self._turns = settings["turn_rates_rad_s"]
        self._speeds = settings["speed_shares"]
        self._turn = 0.0
        self.clearance_m = FAR_M

    def step(self, state, points, speed_m_s, turn_rad_s):
        """Set the wanted acceleration and turn rate; the task would like this speed and turn rate."""
        estimate = state.estimate
        now_m_s = estimate.speed_m_s or 0.0
        now_rad_s = estimate.turn_rate_rad_s or 0.0
        reach_m = (max(now_m_s, 0.0) + 0.05) * self._horizon + self._comfort_m + 0.35
        near = [p for p in points if p[0] * p[0] + p[1] * p[1] < reach_m * reach_m]
        best = None
        for share in self._speeds:
            goal_m_s = speed_m_s * share
            for turn in self._turns if near else ():
                cost = self._cost(near, now_m_s, goal_m_s, now_rad_s, turn, turn_rad_s)
                cost += 1.5 * (1 - share)
                if best is None or cost < best[0]:
                    best = (cost, goal_m_s, turn)
            cost = self._cost(near, now_m_s, goal_m_s, now_rad_s, turn_rad_s, turn_rad_s)
            cost += 1.5 * (1 - share)
            if best is None or cost < best[0]:
                best = (cost, goal_m_s, turn_rad_s)
        _, goal_m_s, self._turn = best
        state.want.turn_rate_rad_s = self._turn
        state.want.acceleration_m_s2 = self._acceleration(now_m_s, goal_m_s)

    def _acceleration(self, now_m_s, goal_m_s):
        wanted = (goal_m_s - now_m_s) / self._speed_lag_s
        return min(max(wanted, -self._brake_m_s2), self._accelerate_m_s2)

    def _cost(self, points, speed_m_s, goal_m_s, turn_now, turn, turn_task):
        cost = 0.4 * abs(turn - turn_task) + 0.15 * abs(turn - self._turn)
        if turn > 0:
            cost += 0.05  # starboard first
        if not points:
            return cost
        dt = self._horizon / self._steps
        keep = math.exp(-dt / self._turn_lag_s)
        bend = min(max(turn / (2.4 * self._law.turn_rad_per_beat), -0.9), 0.9)
        tail_x = -math.sqrt(1 - bend * bend)
        x_m = y_m = heading = 0.0
        rate = turn_now
        time_s = 0.0
        for _ in range(self._steps):
            speed_m_s += self._acceleration(speed_m_s, goal_m_s) * dt
            rate = turn + (rate - turn) * keep
            heading += rate * dt
            ahead = math.cos(heading)
            port = math.sin(heading)
            x_m += speed_m_s * ahead * dt
            y_m += speed_m_s * port * dt
            time_s += dt
            nearest = FAR_M
            for along_m, radius_m in self._hull:
                if along_m < 0:  # the tail bends to the side of the turn
                    local_x = -along_m * tail_x
                    local_y = -along_m * bend
                else:
                    local_x = along_m
                    local_y = 0.0
                cx = x_m + local_x * ahead - local_y * port
                cy = y_m + local_x * port + local_y * ahead
                for point in points:
                    dx = point[0] - cx
                    dy = point[1] - cy
                    gap = math.sqrt(dx * dx + dy * dy) - radius_m
                    if gap < nearest:
                        nearest = gap
            if nearest < self._comfort_m:
                short = self._comfort_m - nearest
                cost += 3.0 * short / (time_s + 0.5)
                if nearest < self._margin_m:
                    cost += 200.0 * (self._margin_m - nearest) / (time_s + 0.3)
        return cost
