"""Modes of a vehicle that holds any pose: manual, hold, goto, mission and surface. Portable; floats."""

from caudal.onboard.guidance.pose import PoseTask, Sticks
from caudal.onboard.guidance.waypoints import WaypointSequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.thrusters import Wrench


class ManualMode(PoseTask):
    """Manual control: each stick commands a speed, and a released stick holds."""

    def __init__(self, control: "Wrench", guidance_rate_hz: int) -> None:
        super().__init__(None, control, guidance_rate_hz)
        self._sticks = Sticks(control, guidance_rate_hz)

    def begin(self, state: "State") -> None:
        """Starts from rest at the present pose."""
        super().begin(state)
        self._sticks.reset()

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Moves the setpoint by the sticks."""
        self._sticks.move(state.setpoint, pose, target, state.manual_input)


class HoldMode(PoseTask):
    """Station keeping at the pose where the mode began."""

    def __init__(self, control: "Wrench", guidance_rate_hz: int) -> None:
        super().__init__(None, control, guidance_rate_hz)
        self._goal: list[float] | None = None

    def begin(self, state: "State") -> None:
        """Forgets the pose of the last time."""
        super().begin(state)
        self._goal = None

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Holds the pose."""
        if self._goal is None:
            self._goal = list(target)
        self.approach(state.setpoint, target, self._goal)


class GoTo(PoseTask):
    """Goes to the requested pose; coordinates that the request leaves out stay as they are."""

    def __init__(self, control: "Wrench", guidance_rate_hz: int) -> None:
        super().__init__(None, control, guidance_rate_hz)
        self._request: list[float | None] | None = None
        self._goal: list[float] = []

    def begin(self, state: "State") -> None:
        """Reads the request again."""
        super().begin(state)
        self._request = None

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Approaches the requested pose."""
        if state.goto_pose is None:
            return
        if self._request is not state.goto_pose:
            self._request = state.goto_pose
            self._goal = [here if one is None else one for one, here in zip(self._request, target)]
        self.approach(state.setpoint, target, self._goal)


class MissionMode(PoseTask):
    """Visits the mission's waypoints, with the heading at its begin."""

    def __init__(self, acceptance_radius_m: float, control: "Wrench", guidance_rate_hz: int) -> None:
        super().__init__(None, control, guidance_rate_hz)
        self._waypoints = WaypointSequence(acceptance_radius_m, guidance_rate_hz)

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Approaches the current waypoint."""
        item = self._waypoints.current(state)
        if item is not None:
            self.approach(state.setpoint, target, [item[0], item[1], item[2], target[3]])


class IdleMode:
    """No guidance: another stage commands."""

    def begin(self, state: "State") -> None:
        """Nothing to start."""

    def step(self, state: "State") -> None:
        """Nothing to do."""
