"""Modes of a vehicle that holds any pose: sticks, station where it is, a place, a mission. Portable; floats."""

from caudal.onboard.guidance.pose import PoseTask, Sticks, approach, off_m
from caudal.onboard.guidance.waypoints import Visits

NOTHING = {"rock": None}  # no task's settings


class ManualMode(PoseTask):
    """A pilot's sticks as they come: each commands a speed, and what is let go is held."""

    def __init__(self, control, guide_hz):
        super().__init__(NOTHING, control, guide_hz)
        self._sticks = Sticks(control, guide_hz)

    def begin(self, state):
        super().begin(state)
        self._sticks.rest()

    def lead(self, state):
        self._sticks.move(state.estimate, state.setpoint, state.manual_input)


class HoldMode(PoseTask):
    """Station where it was when it was told to."""

    def __init__(self, control, guide_hz):
        super().__init__(NOTHING, control, guide_hz)
        self._goal = None

    def begin(self, state):
        super().begin(state)
        self._goal = None

    def lead(self, state):
        want = state.setpoint
        if self._goal is None:
            self._goal = [want.x_m, want.y_m, want.depth_m, want.heading_rad]
        approach(want, self._goal, self._cruise, self._dt)
        self.error_m = off_m(state.estimate, self._goal)


class GoTo(PoseTask):
    """A place: what is not said of it stays as it was."""

    def __init__(self, control, guide_hz):
        super().__init__(NOTHING, control, guide_hz)
        self._asked = None
        self._goal = None

    def begin(self, state):
        super().begin(state)
        self._asked = None

    def lead(self, state):
        want = state.setpoint
        if self._asked is not state.goto_pose:
            self._asked = state.goto_pose
            here = (want.x_m, want.y_m, want.depth_m, want.heading_rad)
            self._goal = [own if told is None else told for told, own in zip(state.goto_pose, here)]
        approach(want, self._goal, self._cruise, self._dt)
        self.error_m = off_m(state.estimate, self._goal)


class MissionMode(PoseTask):
    """The mission's way-points, with the heading it has."""

    def __init__(self, near_m, control, guide_hz):
        super().__init__(NOTHING, control, guide_hz)
        self._visits = Visits(near_m, guide_hz)

    def lead(self, state):
        goal = self._visits.goal(state)
        if goal is None:
            return
        goal = (goal[0], goal[1], goal[2], state.setpoint.heading_rad)
        approach(state.setpoint, goal, self._cruise, self._dt)
        self.error_m = off_m(state.estimate, goal)


class IdleMode:
    """Wants nothing: another stage commands."""

    def begin(self, state):
        pass

    def step(self, state):
        pass
