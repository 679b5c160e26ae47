"""Decide: choose from a library of behaviours the one that serves the task and keeps the hull clear.

A behaviour is a turn rate and a speed to go for. Each is rolled out a few seconds ahead with the vehicle's
own lags and its hull as circles, tail bent into the turn, against the points the detector saw; the cheapest
wins. Near misses cost the more the sooner they come; of two equal ways round, starboard is cheaper, so that
two vehicles that meet head-on pass port to port. Portable; floats.
"""

import math


class Decider:
    def __init__(self, settings, comfort_m, law):
        self._law = law
        self._steps = settings["steps"]
        self._dt = settings["horizon_s"] / settings["steps"]
        self._horizon_s = settings["horizon_s"]
        self._margin_m = settings["margin_m"]
        self._comfort_m = comfort_m
        self._turn_keep = math.exp(-self._dt / settings["turn_lag_s"])
        self._speed_lag_s = settings["speed_lag_s"]
        self._brake_m_s2 = settings["brake_m_s2"]
        self._accelerate_m_s2 = settings["accelerate_m_s2"]
        self._hull = [
            (circle.x_m, circle.radius_m) for circle in settings["hull"]
        ]  # circles: x ahead of the first joint, radius
        self._hull_m = max([abs(along_m) + radius_m for along_m, radius_m in self._hull])
        self._turns = settings["turn_rates_rad_s"]
        self._shares = settings["speed_shares"]
        self._weights = settings["weights"]
        self._turn = 0.0

    def step(self, state, points, speed_m_s, turn_rad_s):
        """Set the wanted acceleration and turn rate; the task would like this speed and turn rate."""
        estimate = state.estimate
        now_m_s = estimate.speed_m_s or 0.0
        now_rad_s = estimate.turn_rate_rad_s or 0.0
        reach_m = max(now_m_s, speed_m_s) * self._horizon_s + self._comfort_m + self._hull_m
        near = []
        for x_m, y_m in points:
            off2 = x_m * x_m + y_m * y_m
            if off2 < reach_m * reach_m:
                near.append((off2, x_m, y_m))
        near.sort()  # the nearest first: a look at the others ends where none can be near enough
        best = 1e9
        best_goal_m_s = speed_m_s
        best_turn = turn_rad_s
        for share in self._shares:  # fastest first; slower ones only where that is not good enough
            goal_m_s = speed_m_s * share
            slow = self._weights["slow"] * (1 - share)
            if slow >= best:
                break
            for k in range(-1, len(self._turns) if near else 0):
                turn = turn_rad_s if k < 0 else self._turns[k]
                cost = slow + self._weights["task"] * abs(turn - turn_rad_s)
                cost += self._weights["change"] * abs(turn - self._turn)
                if turn * self._turn < 0:
                    cost += self._weights["flip"] * min(abs(turn), abs(self._turn))
                if turn > 0:
                    cost += self._weights["port"]
                if near and cost < best:
                    cost = self._rolled_out(cost, best, near, now_m_s, goal_m_s, now_rad_s, turn)
                if cost < best:
                    best = cost
                    best_goal_m_s = goal_m_s
                    best_turn = turn
        self._turn = best_turn
        state.setpoint.turn_rate_rad_s = best_turn
        state.setpoint.acceleration_m_s2 = self._acceleration(now_m_s, best_goal_m_s)

    def _acceleration(self, now_m_s, goal_m_s):
        wanted = (goal_m_s - now_m_s) / self._speed_lag_s
        if wanted < -self._brake_m_s2:
            return -self._brake_m_s2
        return wanted if wanted < self._accelerate_m_s2 else self._accelerate_m_s2

    def _rolled_out(self, cost, best, points, speed_m_s, goal_m_s, turn_now, turn):
        """The cost with what the way there adds; stops counting once it is above `best`."""
        dt = self._dt
        bend = self._law.bend(turn, speed_m_s)  # the tail bends to the side of the turn
        straight = math.sqrt(1 - bend * bend)
        circles = [
            (at_m * straight, -at_m * bend, radius_m) if at_m < 0 else (at_m, 0.0, radius_m)
            for at_m, radius_m in self._hull
        ]
        x_m = y_m = heading = time_s = way_m = 0.0
        rate = turn_now
        for _ in range(self._steps):
            speed_m_s += self._acceleration(speed_m_s, goal_m_s) * dt
            most = self._law.turn_most_rad_s(speed_m_s)
            goal = min(max(turn, -most), most)
            rate = goal + (rate - goal) * self._turn_keep
            heading += rate * dt
            ahead = math.cos(heading)
            port = math.sin(heading)
            x_m += speed_m_s * ahead * dt
            y_m += speed_m_s * port * dt
            way_m += abs(speed_m_s) * dt
            time_s += dt
            gap_m = self._gap_m(points, circles, way_m, x_m, y_m, ahead, port)
            if gap_m < self._comfort_m:
                cost += self._weights["near"] * (self._comfort_m - gap_m) / (time_s + 0.5)
                if gap_m < self._margin_m:
                    cost += self._weights["touch"] * (self._margin_m - gap_m) / (time_s + 0.3)
                if cost > best:
                    return cost
        return cost

    def _gap_m(self, points, circles, way_m, x_m, y_m, ahead, port):
        """From the hull at a place, `way_m` from here, to the nearest point; comfort where none is near."""
        gap_m = self._comfort_m
        care_m = self._hull_m + gap_m
        care2 = care_m * care_m
        farthest2 = (way_m + care_m) * (way_m + care_m)
        for off2, point_x, point_y in points:
            if off2 > farthest2:
                break
            dx = point_x - x_m
            dy = point_y - y_m
            if dx * dx + dy * dy < care2:
                along = dx * ahead + dy * port
                across = dy * ahead - dx * port
                for circle_x, circle_y, radius_m in circles:
                    off_x = along - circle_x
                    off_y = across - circle_y
                    reach_m = gap_m + radius_m
                    off2 = off_x * off_x + off_y * off_y
                    if reach_m > 0 and off2 < reach_m * reach_m:
                        gap_m = math.sqrt(off2) - radius_m
                        care2 = (self._hull_m + gap_m) ** 2
        return gap_m
