"""Guidance that avoids obstacles: task, detection, decision and bumper recoil, in this order. Portable."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import State
    from caudal.onboard.guidance.decide import Decider
    from caudal.onboard.guidance.detect import Detector
    from caudal.onboard.guidance.tasks import SwimTask
    from caudal.onboard.tables.stack import GuidanceTable


class AvoidanceGuidance:
    """Sets the setpoint's acceleration and turn rate for a task among obstacles."""

    def __init__(
        self, task: "SwimTask", detector: "Detector", decider: "Decider", recoil: "BumperRecoil"
    ) -> None:
        self.task = task
        self._detector = detector
        self._decider = decider
        self._recoil = recoil

    def step(self, state: "State") -> None:
        """One step of guidance."""
        self.task.step(state)
        points = self._detector.step(state)
        self._decider.step(state, points, self.task.speed_m_s, self.task.turn_rate_rad_s)
        self._recoil.step(state)


class BumperRecoil:
    """Backs off for recoil_s after the bumper has touched something, whatever the decision was.

    `watch` reads the bumper every tick, because a touch may be shorter than a step of guidance.
    """

    def __init__(self, table: "GuidanceTable", board: "Board", guidance_rate_hz: int) -> None:
        self._bumper = board.sensor(table.bumper) if table.bumper else None
        self._steps = int(table.recoil_s * guidance_rate_hz + 0.5)
        self._brake_m_s2 = table.recoil_m_s2
        self._left = 0  # steps

    def watch(self, state: "State") -> None:
        """One tick: reads the bumper."""
        if self._bumper is not None and state.board.reading(self._bumper):
            self._left = self._steps

    def step(self, state: "State") -> None:
        """One step of guidance: replaces the setpoint while it backs off."""
        state.setpoint.reverse = self._left > 0
        if self._left:
            self._left -= 1
            state.setpoint.acceleration_m_s2 = -self._brake_m_s2
            state.setpoint.turn_rate_rad_s = 0.0
