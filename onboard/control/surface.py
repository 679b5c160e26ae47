"""Going up, without a sensor: what [surface] commands, in the place of what the controllers ask. Portable."""

from caudal.onboard.core.failsafe import DROP
from caudal.onboard.core.modes import SURFACE


class Surface:
    """The last stage before the gate. Thrusters that are not named rest; joints that are not named stay theirs."""

    def __init__(self, settings, board):
        named = [(board.actuator(name), command) for name, command in settings["commands"]]
        still = [i for i, a in enumerate(board.actuators) if a.map.pushes and i not in dict(named)]
        self._commands = named + [(i, 0) for i in still]
        self._drop = [(board.actuator(name), command) for name, command in settings["drop"]]

    def step(self, state):
        if state.mode == SURFACE:
            for index, command in self._commands:
                state.commands[index] = command
            if state.action == DROP:
                for index, command in self._drop:
                    state.commands[index] = command
