"""Rpm monitor: thrusters that do not follow, found by their rpm. A marked thruster gets a short test thrust now and
then. Portable; floats."""

from caudal.hal.core.fixed_point import to_q14
from caudal.onboard.core.actuator_monitor import Observer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Actuator, Board
    from caudal.hal.tables.channels import Thruster
    from caudal.onboard.core.state import State

PROBE_EVERY_S = 5.0
PROBE_FOR_S = 0.5
_CURVE_BITS = 2  # a thruster's curve is known to within a quarter


class RpmObserver(Observer):
    """A thruster. Its rpm has no sign: it stands for a force of c n**2 in either direction."""

    def __init__(
        self, index: int, sensor: int, actuator: "Actuator", table: "Thruster", rate_hz: int
    ) -> None:
        super().__init__(index, sensor, actuator, table, rate_hz)
        self._ahead, self._back = table.turn_n_s2
        self.probe = 4 * self._tolerance  # test thrust

    def measured(self, board: "Board") -> "int | None":
        """The force that its rpm stands for, with the sign of the expected one."""
        turns = None if board.age[self.sensor] else board.reading(self.sensor)
        if turns is None:
            return None
        return to_q14((self._ahead if self._expected >= 0 else self._back) * turns * turns)

    def first(self, measured: int) -> int:
        """Zero: the sign of the force is unknown."""
        return 0

    def error(self, measured: int) -> int:
        """How much more or less it pushes than expected, the curve's uncertainty apart."""
        size = abs(self._expected)
        unknown = size >> _CURVE_BITS
        error = measured - size
        return max(error - unknown, 0) if error > 0 else min(error + unknown, 0)


class Probe:
    """Replaces the commands of thrusters that do not follow by a short test thrust now and then."""

    def __init__(self, thrusters: "list[RpmObserver]", rate_hz: int) -> None:
        self._thrusters = thrusters
        self._every = int(PROBE_EVERY_S * rate_hz)
        self._for = int(PROBE_FOR_S * rate_hz)

    def step(self, state: "State") -> None:
        """One tick."""
        for thruster in self._thrusters:
            if thruster.marked:
                pushes = state.tick % self._every < self._for
                state.commands[thruster.index] = thruster.probe if pushes else 0
