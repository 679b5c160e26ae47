"""Way-points, one after the other, or a single place: what a mission asks of guidance. Portable; floats."""

import math

from caudal.onboard.guidance.tasks import Steering


class Visits:
    """Goes through the mission's items: at each for as long as it says, then on; the last one stays wanted.

    An item that names a mode asks for it; who asks for the mission again afterwards gets what follows.
    """

    def __init__(self, near_m, guide_hz):
        self._near_m = near_m
        self._guide_hz = guide_hz
        self._stayed = 0
        self._at = 0

    def goal(self, state):
        """x, y, depth of the item that is wanted now; None if it is no place, or there is no mission."""
        if not state.mission or state.mission_mode is not None:
            return None
        if self._at != state.mission_index:
            self._at = state.mission_index
            self._stayed = 0
        last = len(state.mission) - 1
        item = state.mission[min(self._at, last)]
        if isinstance(item, str):
            state.mission_mode = item
            if self._at <= last:
                self._pass(state)
            return None
        if self._at <= last and self._there(state.estimate, item):
            self._stayed += 1
            if self._stayed > item[3] * self._guide_hz:
                self._pass(state)
        return item

    def _pass(self, state):
        state.mission_index += 1  # one past the last: the mission is done
        state.mission_completed += 1

    def _there(self, estimate, item):
        deep_m = 0.0 if estimate.depth_m is None else item[2] - estimate.depth_m
        dx, dy = item[0] - estimate.x_m, item[1] - estimate.y_m
        return math.sqrt(dx * dx + dy * dy + deep_m * deep_m) < self._near_m


class SwimTo:
    """A task of guidance/tasks.py: swims to the mission's items, or to the place asked for, and rests there."""

    def __init__(self, settings, guide_hz, mission):
        self.speed_m_s = 0.0
        self.turn_rad_s = 0.0
        self.error_m = None
        self._cruise_m_s = settings["speed_m_s"]
        self._near_m = settings["near_m"]
        self._steering = Steering(settings["steering"], guide_hz)
        self._visits = Visits(settings["near_m"], guide_hz) if mission else None

    def step(self, state):
        estimate = state.estimate
        goal = self._goal(state)
        if goal is None or estimate.x_m is None or estimate.heading_rad is None:
            self.speed_m_s = self.turn_rad_s = 0.0
            return
        if goal[2] is not None and state.setpoint.depth_m != goal[2]:
            state.setpoint.depth_m = goal[2]
            state.setpoint.depth_q20 = None
        dx, dy = goal[0] - estimate.x_m, goal[1] - estimate.y_m
        self.error_m = math.sqrt(dx * dx + dy * dy)
        done = self._visits is None or state.mission_index >= len(state.mission)
        if done and self.error_m < self._near_m:
            self.speed_m_s = self.turn_rad_s = 0.0
            return
        self.speed_m_s = self._cruise_m_s
        self.turn_rad_s = self._steering.towards(estimate, goal[0], goal[1])

    def _goal(self, state):
        if self._visits:
            return self._visits.goal(state)
        x_m, y_m, depth_m, _ = state.goto_pose
        estimate = state.estimate
        return estimate.x_m if x_m is None else x_m, estimate.y_m if y_m is None else y_m, depth_m
