"""Estimator of a vehicle that swims in a plane: heading, speed, position and depth.

The heading is the compass's, carried on by the gyro between its readings. A tail-swimmer's speed has no cheap sensor:
the swim model predicts it, and position measurements correct it. Between them, heading and speed predict the position.
The depth is the pressure sensor's. A reading that is absent is not used. Portable; floats.
"""

import math

from caudal.onboard.core.angles import wrap
from caudal.onboard.core.state import known
from caudal.onboard.estimate.channel import Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.control.swim_model import SwimModel
    from caudal.onboard.core.state import Estimate, State
    from caudal.onboard.tables.stack import EstimateTable


class PlanarEstimator:
    """Fills the state's estimate every tick."""

    def __init__(self, table: "EstimateTable", board: "Board", model: "SwimModel", rate_hz: int) -> None:
        self._model = model
        self._dt = 1 / rate_hz
        self._turn_share = 1 / (1 + table.turn_smooth_s * rate_hz)
        self._turn_rate_rad_s = 0.0  # filtered
        self._fix_gain = table.position_gain
        self._speed_gain_per_s = table.speed_gain_per_s
        self._heading = Channel(board, table.heading)
        self._turn_rate = Channel(board, table.turn_rate)
        self._x = Channel(board, table.x)
        self._y = Channel(board, table.y)
        self._depth = Channel(board, table.depth)

    def step(self, state: "State") -> None:
        """One tick."""
        estimate = state.estimate
        self._step_heading(estimate)
        estimate.speed_m_s = self._step_position(estimate, self._predicted_speed(state))
        estimate.depth_m = self._depth.reading()

    def _step_heading(self, estimate: "Estimate") -> None:
        rate_rad_s = self._turn_rate.reading()
        heading_rad = self._heading.fresh()
        if heading_rad is not None:
            estimate.heading_rad = heading_rad
        elif estimate.heading_rad is not None and rate_rad_s is not None:
            estimate.heading_rad = wrap(estimate.heading_rad + rate_rad_s * self._dt)
        estimate.turn_rate_rad_s = None
        if rate_rad_s is not None:
            self._turn_rate_rad_s += (rate_rad_s - self._turn_rate_rad_s) * self._turn_share
            estimate.turn_rate_rad_s = self._turn_rate_rad_s

    def _predicted_speed(self, state: "State") -> float:
        speed_m_s = state.estimate.speed_m_s or 0.0
        if state.commands_applied:
            acceleration_m_s2 = self._model.acceleration_m_s2(state.setpoint, speed_m_s)
        else:
            acceleration_m_s2 = -self._model.drag_n(speed_m_s) / self._model.mass_kg
        return speed_m_s + acceleration_m_s2 * self._dt

    def _step_position(self, estimate: "Estimate", speed_m_s: float) -> float:
        """Sets the position; the speed, corrected by a position measurement."""
        measured = known(self._x.fresh(), self._y.fresh())
        x_m, y_m = estimate.x_m, estimate.y_m
        if x_m is None or y_m is None:
            if measured:
                estimate.x_m, estimate.y_m = measured
            return speed_m_s
        if estimate.heading_rad is None:
            return speed_m_s
        ahead_x = math.cos(estimate.heading_rad)
        ahead_y = math.sin(estimate.heading_rad)
        x_m += speed_m_s * ahead_x * self._dt
        y_m += speed_m_s * ahead_y * self._dt
        if measured:
            error_x = measured[0] - x_m
            error_y = measured[1] - y_m
            x_m += self._fix_gain * error_x
            y_m += self._fix_gain * error_y
            speed_m_s += self._speed_gain_per_s * (error_x * ahead_x + error_y * ahead_y)
        estimate.x_m, estimate.y_m = x_m, y_m
        return speed_m_s
