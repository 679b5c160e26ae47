"""Waypoints in order, or a single position, for missions and for mode goto. Portable; floats."""

import math

from caudal.onboard.core.state import known
from caudal.onboard.guidance.tasks import Steering, SwimTask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.core.state import Estimate, State
    from caudal.onboard.tables.modes import MissionTable


class WaypointSequence:
    """Goes through a mission's items, and holds each waypoint for its time; the last one stays current.

    An item that names a mode requests that mode. If the mission is resumed later, it goes on with the next item.
    """

    def __init__(self, acceptance_radius_m: float, guidance_rate_hz: int) -> None:
        self._acceptance_radius_m = acceptance_radius_m
        self._guide_hz = guidance_rate_hz
        self._held = 0  # steps of guidance at the current waypoint
        self._index = 0

    def current(self, state: "State") -> "list[float] | None":
        """One step of guidance: x, y, depth and hold time of the current waypoint; None if there is none."""
        if not state.mission or state.mission_mode is not None:
            return None
        if self._index != state.mission_index:
            self._index = state.mission_index
            self._held = 0
        last = len(state.mission) - 1
        item = state.mission[min(self._index, last)]
        if isinstance(item, str):
            state.mission_mode = item
            if self._index <= last:
                self._complete(state)
            return None
        if self._index <= last and self._reached(state.estimate, item):
            self._held += 1
            if self._held > item[3] * self._guide_hz:
                self._complete(state)
        return item

    def _complete(self, state: "State") -> None:
        state.mission_index += 1  # one past the last: the mission is done
        state.mission_completed += 1

    def _reached(self, estimate: "Estimate", item: list[float]) -> bool:
        if estimate.x_m is None or estimate.y_m is None:
            return False
        dx, dy = item[0] - estimate.x_m, item[1] - estimate.y_m
        dz = 0.0 if estimate.depth_m is None else item[2] - estimate.depth_m
        return math.sqrt(dx * dx + dy * dy + dz * dz) < self._acceptance_radius_m


class SwimTo(SwimTask):
    """Swims to a mission's waypoints, or else to the requested position, and rests there."""

    def __init__(self, table: "MissionTable", guidance_rate_hz: int, mission: bool) -> None:
        assert table.speed_m_s is not None and table.steering is not None, "the reader makes sure of it"
        self._cruise_m_s = table.speed_m_s
        self._acceptance_radius_m = table.acceptance_radius_m
        self._steering = Steering(table.steering, guidance_rate_hz)
        self._waypoints = WaypointSequence(table.acceptance_radius_m, guidance_rate_hz) if mission else None

    def step(self, state: "State") -> None:
        """One step of guidance."""
        estimate, setpoint = state.estimate, state.setpoint
        pose = known(estimate.x_m, estimate.y_m, estimate.heading_rad)
        goal = self._waypoints.current(state) if self._waypoints else state.goto_pose
        if goal is None or pose is None:
            self.rest()
            return
        x_m = pose[0] if goal[0] is None else goal[0]
        y_m = pose[1] if goal[1] is None else goal[1]
        if goal[2] is not None and setpoint.depth_m != goal[2]:
            setpoint.depth_m = goal[2]
            setpoint.depth_q20 = None
        dx, dy = x_m - pose[0], y_m - pose[1]
        self.error_m = math.sqrt(dx * dx + dy * dy)
        done = self._waypoints is None or state.mission_index >= len(state.mission)
        if done and self.error_m < self._acceptance_radius_m:
            self.rest()
            return
        self.speed_m_s = self._cruise_m_s
        self.turn_rate_rad_s = self._steering.step(pose, estimate.turn_rate_rad_s, x_m, y_m)
