"""Actuator monitor: compares each actuator's feedback with its command, and marks actuators that do not follow.

The command of the output limiter passes a lag as slow as the actuator's; the measurement must agree with it to within
the tolerance `off_*`. Each tick that it does not counts, each eighth tick that it does takes one off: at `detect_s` in
all the actuator is marked in `state.not_following`. The mark clears when the actuator has followed away from where it
was stuck: an actuator that stands still agrees only with a command that passes by. So a command below the tolerance
neither marks nor clears; nor does an actuator that is off or has no measurement.

Integers, in counts of a command; a tick allocates nothing. Thrusters are monitored by their rpm (core/rpm_monitor.py).
Portable.
"""

import math

from caudal.hal.core.build import UNITS
from caudal.hal.core.fixed_point import q20_to_q14, to_q14

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core import board as board_types
    from caudal.hal.core.board import Board
    from caudal.hal.tables.channels import Actuator
    from caudal.onboard.core.rpm_monitor import Probe
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.read import Settings

_BACK = 8  # ticks in agreement that take one off the count
_TRUST = 4  # this part of detect_s it has to follow, away from where it was stuck, before the mark clears


class Observer:
    """Monitors one actuator. `marked`: it does not follow."""

    def __init__(
        self, index: int, sensor: int, actuator: "board_types.Actuator", table: "Actuator", rate_hz: int
    ) -> None:
        self.index = index
        self.sensor = sensor
        self.marked = False
        self._stays = actuator.map.stays
        self._alpha = int((1 - math.exp(-1 / (rate_hz * max(table.lag_s or 0.0, 1e-4)))) * 1024 + 0.5)
        self._tolerance = to_q14(getattr(table, "tolerance_" + UNITS[table.map]))
        self._away = self._tolerance * 3 // 2
        found = max(int((table.detect_s or 0.0) * rate_hz + 0.5), 1)
        self._most = found * _BACK
        self._trust = max(found // _TRUST, 1)
        self._expected = 0
        self._known = (
            False  # whether `_expected` is: not after the actuator was off, nor before a measurement
        )
        self._count = 0
        self._since = 0  # ticks since the last measurement
        self._stuck = 0  # where it was when it was marked
        self._followed = 0  # ticks, away from there

    def measured(self, board: "Board") -> "int | None":
        """A new measurement in counts of a command, or None."""
        if board.age[self.sensor]:
            return None
        reading = board.q20_reading(self.sensor)
        return None if reading is None else q20_to_q14(reading)

    def step(self, board: "Board", command: "int | None") -> None:
        """One tick: `command` is the output of the last one."""
        measured = self.measured(board)
        if command is None:
            if self._stays:
                self._known = False
                return
            command = 0
        if not self._known:
            if measured is None:
                return
            self._known = True
            self._expected = self.first(measured)
            self._since = 0
        # a large difference is shortened before it is multiplied: pascals are large numbers
        gap = command - self._expected
        self._expected += (
            (gap * self._alpha) >> 10 if -(1 << 19) < gap < 1 << 19 else (gap >> 10) * self._alpha
        )
        self._since += 1
        if measured is not None:
            self._judge(measured)
            self._since = 0

    def first(self, measured: int) -> int:
        """The expected value at the first measurement."""
        return measured

    def error(self, measured: int) -> int:
        """Difference from the expected value."""
        return measured - self._expected

    def _judge(self, measured: int) -> None:
        if not -self._tolerance <= self.error(measured) <= self._tolerance:
            self._followed = 0
            self._count += _BACK * self._since
            if self._count >= self._most:
                self._count = self._most
                if not self.marked:
                    self.marked = True
                    self._stuck = measured
            return
        self._count = max(self._count - self._since, 0)
        if self.marked and not -self._away <= measured - self._stuck <= self._away:
            self._followed += self._since
            if self._followed >= self._trust:
                self.marked = False
                self._count = self._followed = 0


class ActuatorMonitor:
    """Steps every observer once a tick, after the sensors and before the failsafe monitor."""

    def __init__(self, observers: "list[Observer]") -> None:
        self.observers = observers

    def step(self, state: "State") -> None:
        """One tick."""
        for observer in self.observers:
            observer.step(state.board, state.outputs[observer.index])
            state.not_following[observer.index] = observer.marked


def build_monitor(settings: "Settings", board: "Board") -> "tuple[ActuatorMonitor, Probe | None]":
    """A monitor of all actuators with feedback; and test thrusts for thrusters that do not follow, or None."""
    rate_hz = settings.rate_hz
    observers: list[Observer] = []
    thrusters = []
    probe = None
    for index, table in enumerate(settings.actuators):
        if table.feedback:
            sensor, actuator = board.sensor(table.feedback), board.actuators[index]
            if table.map == "thruster":
                from caudal.onboard.core.rpm_monitor import Probe, RpmObserver

                thrusters.append(RpmObserver(index, sensor, actuator, table, rate_hz))
                observers.append(thrusters[-1])
                probe = Probe(thrusters, rate_hz)
            else:
                observers.append(Observer(index, sensor, actuator, table, rate_hz))
    return ActuatorMonitor(observers), probe
