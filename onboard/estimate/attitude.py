"""How a vehicle that rolls and pitches lies in the water, as its inertial unit has it. Portable.

A reading that is absent is None in the estimate; nobody invents a number.
"""

from onboard.estimate.planar import channel


class AttitudeEstimator:
    def __init__(self, settings, board):
        self._board = board
        self._heading = channel(board, settings["heading"])
        self._pitch = channel(board, settings["pitch"])
        self._roll = channel(board, settings["roll"])
        self._turn_rate = channel(board, settings["turn_rate"])
        self._pitch_rate = channel(board, settings["pitch_rate"])
        self._roll_rate = channel(board, settings["roll_rate"])

    def step(self, state):
        estimate = state.estimate
        estimate.heading_rad = self._reading(self._heading)
        estimate.turn_rate_rad_s = self._reading(self._turn_rate)
        self.lie(state)

    def lie(self, state):
        """Pitch and roll alone, where another estimator has the heading."""
        estimate = state.estimate
        estimate.pitch_rad = self._reading(self._pitch)
        estimate.roll_rad = self._reading(self._roll)
        estimate.pitch_rate_rad_s = self._reading(self._pitch_rate)
        estimate.roll_rate_rad_s = self._reading(self._roll_rate)

    def _reading(self, index):
        return None if index is None else self._board.reading(index)
