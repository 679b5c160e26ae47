"""Trigger conditions of failsafe rules: each function builds one, `condition(state)`: True, False or None.

None is unknown: a sensor has delivered readings and timed out. A new trigger is a function here, a line in TRIGGERS
and a table in onboard/tables/failsafe.py. Readings are compared as integers (2**-20 of their unit), so that a tick
allocates nothing. Portable: CPython and MicroPython.
"""

from caudal.hal.core.board import NEVER
from caudal.hal.core.fixed_point import Gain, to_q20, to_q20_or_none
from caudal.onboard.core import modes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from caudal.hal.core.board import Board
    from caudal.onboard.core.modes import Needs
    from caudal.onboard.core.state import State
    from caudal.onboard.tables import failsafe as tables

    Condition = Callable[[State], bool | None]

TURN = 6588397  # 2 pi in 2**-20 rad
FORGET_S = 1.0  # over which an angle and its rate are compared


def _not_armed(table: "tables.NotArmed", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """Nothing moves before arming."""
    return lambda state: not state.armed


def _bad_command(table: "tables.BadCommand", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """The controller commands something that is not a number."""
    return lambda state: state.bad_command


def _overrun(table: "tables.Overrun", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """Ticks start later than allowed."""
    limit_us = int(table.limit_ticks * 1000000 / rate_hz)
    return lambda state: state.late_us > limit_us


def _stalled(table: "tables.Stalled", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """The loop stood still: one tick was very late."""
    limit_us = int(table.limit_s * 1000000)
    return lambda state: state.late_us > limit_us


def _reading_lost(
    table: "tables.ReadingLost", board: "Board", rate_hz: int, available: "Needs"
) -> "Condition":
    """A reading that the vehicle needs is absent or too old."""
    sensors = [board.sensor(name) for name in table.sensors]

    def condition(state: "State") -> "bool | None":
        for index in sensors:
            if board.age[index] > board.sensors[index].max_age:
                return True
        return False

    return condition


def _silence(table: "tables.Silence", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """No sensor has a new reading: the link to all of them is lost."""

    def condition(state: "State") -> "bool | None":
        for count in board.counts:
            if count is not None:
                return False
        return True

    return condition


def _outside(table: "tables.Outside", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """A reading is below `low` or above `high`; unknown for a sensor that has timed out."""
    sensors = [board.sensor(name) for name in table.sensors]
    low = to_q20_or_none(table.low)
    high = to_q20_or_none(table.high)

    def condition(state: "State") -> "bool | None":
        timed_out = False
        for index in sensors:
            reading = board.q20_reading(index)
            if reading is None:
                timed_out = timed_out or board.age[index] < NEVER
            elif (low is not None and reading < low) or (high is not None and reading > high):
                return True
        return None if timed_out else False

    return condition


def _tilted(table: "tables.Tilted", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """Roll or pitch exceeds the limit, either way; unknown for a sensor that has timed out."""
    limit = to_q20(table.limit_deg * 0.017453292519943295)
    sensors = [board.sensor(name) for name in table.sensors]

    def condition(state: "State") -> "bool | None":
        timed_out = False
        for index in sensors:
            reading = board.q20_reading(index)
            if reading is None:
                timed_out = timed_out or board.age[index] < NEVER
            elif not -limit <= reading <= limit:
                return True
        return None if timed_out else False

    return condition


def _implausible(
    table: "tables.Implausible", board: "Board", rate_hz: int, available: "Needs"
) -> "Condition":
    """An angle and its rate contradict each other: one of them is stuck, jumps or drifts."""
    pairs = [_Pair(board, angle, rate, table.limit_rad, rate_hz) for angle, rate in table.pairs]

    def condition(state: "State") -> "bool | None":
        found = False
        for pair in pairs:
            if pair.disagree():
                found = True
        return found

    return condition


class _Pair:
    """Difference between an angle and its integrated rate, which decays over FORGET_S."""

    def __init__(self, board: "Board", angle: str, rate: str, limit_rad: float, rate_hz: int) -> None:
        self._board = board
        self._angle = board.sensor(angle)
        self._rate = board.sensor(rate)
        self._limit = to_q20(limit_rad)
        self._dt = Gain(1 / rate_hz)
        self._forget = Gain(1 / (FORGET_S * rate_hz))
        self._before: int | None = None
        self._difference = 0

    def disagree(self) -> bool:
        """One tick; whether the difference exceeds the limit."""
        angle = self._board.q20_reading(self._angle)
        rate = self._board.q20_reading(self._rate)
        if angle is None or rate is None:
            self._before = None
            self._difference = 0
            return False
        if self._before is not None:
            turned = angle - self._before
            if turned > TURN // 2:
                turned -= TURN
            elif turned < -(TURN // 2):
                turned += TURN
            self._difference += turned - self._dt.apply(rate) - self._forget.apply(self._difference)
        self._before = angle
        return not -self._limit <= self._difference <= self._limit


def _inconsistent(
    table: "tables.Inconsistent", board: "Board", rate_hz: int, available: "Needs"
) -> "Condition":
    """The estimator's innovations exceed the limit on average."""
    limit = table.limit_nis
    share = 1 / (table.average_s * rate_hz)
    fields = ("x_nis", "y_nis", "depth_nis", "heading_nis")
    averages = [1.0] * len(fields)

    def condition(state: "State") -> "bool | None":
        found = False
        for k in range(len(fields)):
            nis = getattr(state.estimate, fields[k])
            if nis is not None:
                # not-a-number is not below 100 either; it would stay in the average for good
                averages[k] += ((nis if nis < 100.0 else 100.0) - averages[k]) * share
            if averages[k] > limit:
                found = True
        return found

    return condition


def _out_of_bounds(
    table: "tables.OutOfBounds", board: "Board", rate_hz: int, available: "Needs"
) -> "Condition":
    """The vehicle is outside its allowed volume: x, y and depth between low and high."""
    fields = ("x_m", "y_m", "depth_m")
    low = table.low_m
    high = table.high_m

    def condition(state: "State") -> "bool | None":
        for k in range(3):
            at_m = getattr(state.estimate, fields[k])
            if at_m is not None and not low[k] <= at_m <= high[k]:
                return True
        return False

    return condition


def _pilot_lost(table: "tables.PilotLost", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """Mode manual, and the last manual input is older than allowed."""
    limit = int(table.limit_s * rate_hz)
    return lambda state: state.requested_mode == modes.MANUAL and state.manual_input_age > limit


def _station_lost(
    table: "tables.StationLost", board: "Board", rate_hz: int, available: "Needs"
) -> "Condition":
    """A ground station was connected, and its last message is older than allowed."""
    limit = int(table.limit_s * rate_hz)
    return lambda state: limit < state.station_age < NEVER


def _mode_unable(table: "tables.ModeUnable", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """The requested mode needs an estimate that the vehicle does not have."""
    return lambda state: bool(modes.missing(state.requested_mode, available, state.estimate))


def _not_following(
    table: "tables.NotFollowing", board: "Board", rate_hz: int, available: "Needs"
) -> "Condition":
    """An actuator does not follow its command."""
    channels = [board.actuator(name) for name in table.actuators]

    def condition(state: "State") -> "bool | None":
        for index in channels:
            if state.not_following[index]:
                return True
        return False

    return condition


def _host(table: "tables.Host", board: "Board", rate_hz: int, available: "Needs") -> "Condition":
    """The computer reports the condition itself."""
    word = table.word
    return lambda state: state.host.get(word, False)


TRIGGERS: "dict[str, Callable[..., Condition]]" = {
    "not_armed": _not_armed,
    "bad_command": _bad_command,
    "overrun": _overrun,
    "stalled": _stalled,
    "reading_lost": _reading_lost,
    "silence": _silence,
    "outside": _outside,
    "tilted": _tilted,
    "implausible": _implausible,
    "inconsistent": _inconsistent,
    "out_of_bounds": _out_of_bounds,
    "pilot_lost": _pilot_lost,
    "station_lost": _station_lost,
    "mode_unable": _mode_unable,
    "not_following": _not_following,
    "host": _host,
}
