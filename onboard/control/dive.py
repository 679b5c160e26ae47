"""Depth control with one servo that pitches the vehicle or lifts it: a tail that pitches, fins on a shaft.

    angle = direction (PID of the depth error, on the measured depth rate + pitch_gain x pitch)

A positive error is too shallow. Without a depth reading the servo keeps its last command. Portable; integers in
2**-20 m, m/s and rad, so that a step allocates nothing.
"""

from caudal.hal.core.fixed_point import Gain, q20_to_q14, to_q20_or_none
from caudal.onboard.control.pid import Q20Pid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.stack import DiveTable

RATE_S = 0.25  # time constant of the depth rate's filter: a pressure sensor resolves millimetres


class Dive:
    """Holds the setpoint's depth; without one, `depth_m` or else the first depth measured."""

    def __init__(self, table: "DiveTable", board: "Board", depth_m: "float | None", rate_hz: int) -> None:
        self._actuator = board.actuator(table.actuator)
        self._direction = table.direction
        self._pitch_gain = Gain(table.pitch_gain)
        self._pid = Q20Pid(
            table.kp_rad_per_m, table.ki_rad_per_m_s, table.kd_rad_s_per_m, table.limit_rad, rate_hz
        )
        self._smooth = Gain(1 / (1 + RATE_S * rate_hz))
        self._rate_hz = rate_hz
        self._first_m = depth_m
        self._depth: int | None = None  # filtered
        self._rate = 0

    def step(self, state: "State") -> None:
        """One step of guidance: commands the servo."""
        depth = state.estimate.q20("depth_m")
        if depth is None:
            return
        if self._depth is None:
            self._depth = depth
        setpoint = state.setpoint
        if setpoint.depth_m is None:
            setpoint.depth_m = state.estimate.depth_m if self._first_m is None else self._first_m
        if setpoint.depth_q20 is None:
            setpoint.depth_q20 = to_q20_or_none(setpoint.depth_m)
        target = setpoint.depth_q20
        if target is None:  # the setpoint's depth is not a number
            return
        before = self._depth
        self._depth += self._smooth.apply(depth - before)
        self._rate += self._smooth.apply((self._depth - before) * self._rate_hz - self._rate)
        pitch = state.estimate.q20("pitch_rad")
        feed_forward = 0 if pitch is None else self._pitch_gain.apply(pitch)
        angle = self._pid.step(target - self._depth, self._rate, feed_forward)
        state.commands[self._actuator] = self._direction * q20_to_q14(angle)
