"""What a failsafe may be triggered by: each function makes the cause of a row, `cause(state)`: True, False, or None.

None is unknown: its sensor was heard, and has fallen silent. A new kind of row is a function here, a line in TRIGGERS
and a table in onboard/tables/failsafe.py. Readings are compared as integers (2**-20 of their unit), so that a tick
allocates nothing. Portable: CPython and MicroPython.
"""

from caudal.hal.core.board import NEVER
from caudal.hal.core.fixed_point import Gain, to_q20, to_q20_or_none
from caudal.onboard.core import modes

TURN = 6588397  # 2 pi, fine
FORGET_S = 1.0  # over which an angle and its rate are compared


def _not_armed(settings, board, rate_hz, available):
    """Nothing moves before arming."""
    return lambda state: not state.armed


def _bad_command(settings, board, rate_hz, available):
    """The controller asked for something that is not a number."""
    return lambda state: state.bad_command


def _overrun(settings, board, rate_hz, available):
    """Ticks start later than allowed."""
    limit_us = int(settings["limit_ticks"] * 1000000 / rate_hz)
    return lambda state: state.late_us > limit_us


def _stalled(settings, board, rate_hz, available):
    """The loop stood still: one tick was very late."""
    limit_us = int(settings["limit_s"] * 1000000)
    return lambda state: state.late_us > limit_us


def _reading_lost(settings, board, rate_hz, available):
    """A reading the vehicle cannot do without is absent or too old."""
    sensors = [board.sensor(name) for name in settings["sensors"]]

    def cause(state):
        for index in sensors:
            if board.age[index] > board.sensors[index].max_age:
                return True
        return False

    return cause


def _silence(settings, board, rate_hz, available):
    """No sensor says anything: the wire to all of them is gone."""

    def cause(state):
        for count in board.counts:
            if count is not None:
                return False
        return True

    return cause


def _outside(settings, board, rate_hz, available):
    """A reading lies below `low` or above `high`; of one that has fallen silent nothing is known."""
    sensors = [board.sensor(name) for name in settings["sensors"]]
    low = to_q20_or_none(settings["low"])
    high = to_q20_or_none(settings["high"])

    def cause(state):
        silent = False
        for index in sensors:
            reading = board.q20_reading(index)
            if reading is None:
                silent = silent or board.age[index] < NEVER
            elif (low is not None and reading < low) or (high is not None and reading > high):
                return True
        return None if silent else False

    return cause


def _tilted(settings, board, rate_hz, available):
    """Roll or pitch, either way, is more than allowed; of one that has fallen silent nothing is known."""
    limit = to_q20(settings["limit_deg"] * 0.017453292519943295)
    sensors = [board.sensor(name) for name in settings["sensors"]]

    def cause(state):
        silent = False
        for index in sensors:
            reading = board.q20_reading(index)
            if reading is None:
                silent = silent or board.age[index] < NEVER
            elif not -limit <= reading <= limit:
                return True
        return None if silent else False

    return cause


def _implausible(settings, board, rate_hz, available):
    """An angle and its rate contradict each other: one of them is stuck, jumps or drifts."""
    pairs = [_Pair(board, angle, rate, settings["limit_rad"], rate_hz) for angle, rate in settings["pairs"]]

    def cause(state):
        found = False
        for pair in pairs:
            if pair.apart():
                found = True
        return found

    return cause


class _Pair:
    """How far an angle has gone from what its rate adds up to, forgotten over FORGET_S."""

    def __init__(self, board, angle, rate, limit_rad, rate_hz):
        self._board = board
        self._angle = board.sensor(angle)
        self._rate = board.sensor(rate)
        self._limit = to_q20(limit_rad)
        self._dt = Gain(1 / rate_hz)
        self._forget = Gain(1 / (FORGET_S * rate_hz))
        self._before = None
        self._apart = 0

    def apart(self):
        angle = self._board.q20_reading(self._angle)
        rate = self._board.q20_reading(self._rate)
        if angle is None or rate is None:
            self._before = None
            self._apart = 0
            return False
        if self._before is not None:
            turned = angle - self._before
            if turned > TURN // 2:
                turned -= TURN
            elif turned < -(TURN // 2):
                turned += TURN
            self._apart += turned - self._dt.apply(rate) - self._forget.apply(self._apart)
        self._before = angle
        return not -self._limit <= self._apart <= self._limit


def _inconsistent(settings, board, rate_hz, available):
    """The estimator's innovations are larger than it believes possible, on the average."""
    limit = settings["limit_nis"]
    share = 1 / (settings["average_s"] * rate_hz)
    fields = ("x_nis", "y_nis", "depth_nis", "heading_nis")
    averages = [1.0] * len(fields)

    def cause(state):
        found = False
        for k in range(len(fields)):
            nis = getattr(state.estimate, fields[k])
            if nis is not None:
                # what is no number is not below 100 either, and would stay in the average for good
                averages[k] += ((nis if nis < 100.0 else 100.0) - averages[k]) * share
            if averages[k] > limit:
                found = True
        return found

    return cause


def _astray(settings, board, rate_hz, available):
    """The vehicle is outside the volume that it may swim in: x, y and depth between low and high."""
    fields = ("x_m", "y_m", "depth_m")
    low = settings["low_m"]
    high = settings["high_m"]

    def cause(state):
        for k in range(3):
            at_m = getattr(state.estimate, fields[k])
            if at_m is not None and not low[k] <= at_m <= high[k]:
                return True
        return False

    return cause


def _pilot_lost(settings, board, rate_hz, available):
    """Mode manual, and the sticks have not been heard for longer than allowed."""
    limit = int(settings["limit_s"] * rate_hz)
    return lambda state: state.requested_mode == modes.MANUAL and state.manual_input_age > limit


def _station_lost(settings, board, rate_hz, available):
    """A ground station was there, and has not been heard for longer than allowed."""
    limit = int(settings["limit_s"] * rate_hz)
    return lambda state: limit < state.station_age < NEVER


def _mode_unable(settings, board, rate_hz, available):
    """The mode that was asked for needs an estimate that the vehicle does not have."""
    return lambda state: bool(modes.missing(state.requested_mode, available, state.estimate))


def _not_following(settings, board, rate_hz, available):
    """An actuator does not do what it is told."""
    channels = [board.actuator(name) for name in settings["actuators"]]

    def cause(state):
        for index in channels:
            if state.not_following[index]:
                return True
        return False

    return cause


def _host(settings, board, rate_hz, available):
    """The computer says so of itself."""
    word = settings["word"]
    return lambda state: state.host.get(word, False)


TRIGGERS = {
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
    "astray": _astray,
    "pilot_lost": _pilot_lost,
    "station_lost": _station_lost,
    "mode_unable": _mode_unable,
    "not_following": _not_following,
    "host": _host,
}
