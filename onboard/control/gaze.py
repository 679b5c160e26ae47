"""Gaze stabilisation: the neck's joints hold the head level and on its heading while the body undulates.

The inertial unit sits in the head. The motion of the neck's base is the head's motion less the joint's own. The joint's
command is the opposite of that motion, `lead_s` ahead, which is when the servo gets there. Portable; integers in
2**-20 rad and rad/s, so that a tick allocates nothing.
"""

from caudal.hal.core.fixed_point import BITS, Q20_BITS, Gain, q20_to_q14, to_q20
from caudal.hal.core.maps import clamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.stack import NeckTable

_TURN = 6588397  # one turn
_HALF_TURN = _TURN // 2


class Gaze:
    """One axis of the gaze. `sign` is +1 where a positive joint angle turns the head the positive way."""

    def __init__(self, table: "NeckTable", board: "Board", joint: str, sign: int, rate_hz: int) -> None:
        self._joint = board.actuator(joint)
        self._sign = sign
        self._lead = Gain(table.lead_s)
        self._limit = to_q20(table.limit_rad)
        self._keep = Gain(table.lag_s * rate_hz / (1 + table.lag_s * rate_hz))
        self._rate_hz = rate_hz
        self._angle = 0  # of the servo, estimated by its lag
        self._base_rate = 0

    def step(
        self, commands: "list[int | None]", head: "int | None", head_rate: "int | None", goal: int
    ) -> None:
        """One tick: `head` is the head's angle about this axis, `goal` the angle it should have."""
        command = (commands[self._joint] or 0) << (Q20_BITS - BITS)
        before = self._angle
        self._angle = command + self._keep.apply(before - command)
        joint_rate = (self._angle - before) * self._rate_hz
        if head is None or head_rate is None:
            return
        error = (head - goal + _HALF_TURN) % _TURN - _HALF_TURN  # the short way
        base = error - self._sign * self._angle
        base_rate = head_rate - self._sign * joint_rate
        self._base_rate += (base_rate - self._base_rate) >> 1
        predicted = base + self._lead.apply(self._base_rate)
        commands[self._joint] = q20_to_q14(clamp(-self._sign * predicted, -self._limit, self._limit))


class GazeHold:
    """Both axes: level, and at the heading of the table, or else the first one measured."""

    def __init__(self, table: "NeckTable", board: "Board", rate_hz: int) -> None:
        self._yaw = Gaze(table, board, table.yaw, table.yaw_sign, rate_hz) if table.yaw else None
        self._pitch = Gaze(table, board, table.pitch, table.pitch_sign, rate_hz) if table.pitch else None
        self._heading: int | None = None
        if table.heading_deg is not None:
            self._heading = to_q20(table.heading_deg * 0.017453292519943295)

    def step(self, state: "State") -> None:
        """One tick: commands the neck's joints."""
        estimate = state.estimate
        heading = estimate.q20("heading_rad")
        if self._heading is None:
            self._heading = heading
        if self._yaw and self._heading is not None:
            self._yaw.step(state.commands, heading, estimate.q20("turn_rate_rad_s"), self._heading)
        if self._pitch:
            self._pitch.step(state.commands, estimate.q20("pitch_rad"), estimate.q20("pitch_rate_rad_s"), 0)
