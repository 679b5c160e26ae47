"""Surfacing without a sensor: in mode surface, the commands of [surface] replace those of the controllers. Portable."""

from caudal.onboard.core.failsafe import DROP
from caudal.onboard.core.modes import SURFACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import State
    from caudal.onboard.tables import modes


class Surface:
    """The last stage before the output limiter.

    Thrusters that the table does not name get the command 0; joints that it does not name keep their own.
    """

    def __init__(self, table: "modes.Surface", board: "Board") -> None:
        named = [(board.actuator(name), command) for name, command in table.commands]
        still = [i for i, a in enumerate(board.actuators) if a.map.pushes and i not in dict(named)]
        self._commands = named + [(i, 0) for i in still]
        self._drop = [(board.actuator(name), command) for name, command in table.drop]

    def step(self, state: "State") -> None:
        """One tick."""
        if state.mode == SURFACE:
            for index, command in self._commands:
                state.commands[index] = command
            if state.action == DROP:
                for index, command in self._drop:
                    state.commands[index] = command
