"""A schedule: tail settings by time, from a table of rows. Portable."""

from caudal.hal.core.fixed_point import to_q14, to_q20_or_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.scenario import Row


class Schedule:
    """Applies each row when its time comes; rows are converted to integers beforehand, so that a tick allocates
    nothing."""

    def __init__(self, rows: "list[Row]", board: "Board", rate_hz: int) -> None:
        self._rows = [_ScheduleRow(row, board, rate_hz) for row in rows]
        self._next = 0
        self._again = False

    def begin(self, state: "State") -> None:
        """Applies the last row again: another mode was in effect before."""
        if self._next:
            self._rows[self._next - 1].apply(state)

    def changed(self) -> None:
        """Applies a row that a parameter has changed (onboard/params/hot_update.py)."""
        self._again = True

    def step(self, state: "State") -> None:
        """One step of guidance."""
        if self._again:
            self._again = False
            self.begin(state)
        while self._next < len(self._rows) and self._rows[self._next].tick <= state.tick:
            self._rows[self._next].apply(state)
            self._next += 1


class _ScheduleRow:
    def __init__(self, row: "Row", board: "Board", rate_hz: int) -> None:
        self.tick = int(row.at_s * rate_hz + 0.5)
        self._frequency_hz = row.frequency_hz
        self._amplitude = row.amplitude
        self._deflection_rad = row.deflection_deg * 0.017453292519943295
        self._beat_q14 = (to_q14(self._frequency_hz), to_q14(self._amplitude), to_q14(self._deflection_rad))
        self._depth_m = row.depth_m
        self._depth_q20 = to_q20_or_none(self._depth_m)
        self._hold = [(board.actuator(name), command) for name, command in row.hold]

    def apply(self, state: "State") -> None:
        """Sets the setpoint, and the commands of held actuators."""
        setpoint = state.setpoint
        setpoint.frequency_hz = self._frequency_hz
        setpoint.amplitude = self._amplitude
        setpoint.deflection_rad = self._deflection_rad
        setpoint.beat_q14 = self._beat_q14
        if self._depth_m is not None:
            setpoint.depth_m = self._depth_m
            setpoint.depth_q20 = self._depth_q20
        for index, command in self._hold:
            state.commands[index] = command
