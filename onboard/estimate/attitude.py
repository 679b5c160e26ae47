"""How a vehicle that rolls and pitches lies in the water, as its inertial unit has it. Portable.

A reading that is absent is None in the estimate; nobody invents a number. Alone, without another estimator beside it,
it leaves the readings where they are until somebody asks (ReadEstimate): a float is an allocation on a microcontroller.
"""

from onboard.estimate.planar import channel
from onboard.state import Estimate


class AttitudeEstimator:
    def __init__(self, settings, board):
        self._board = board
        self._heading = channel(board, settings["heading"])
        self._pitch = channel(board, settings["pitch"])
        self._roll = channel(board, settings["roll"])
        self._turn_rate = channel(board, settings["turn_rate"])
        self._pitch_rate = channel(board, settings["pitch_rate"])
        self._roll_rate = channel(board, settings["roll_rate"])

        self._estimate = ReadEstimate(self)

    def step(self, state):
        state.estimate = self._estimate

    def lie(self, state):
        """Pitch and roll alone, where another estimator has the heading."""
        estimate = state.estimate
        estimate.pitch_rad = self._reading(self._pitch)
        estimate.roll_rad = self._reading(self._roll)
        estimate.pitch_rate_rad_s = self._reading(self._pitch_rate)
        estimate.roll_rate_rad_s = self._reading(self._roll_rate)

    def _reading(self, index):
        return None if index is None else self._board.reading(index)

    def _fine_reading(self, index):
        return None if index is None else self._board.fine_reading(index)


class ReadEstimate(Estimate):
    """An estimate whose attitude is this tick's readings, each turned into a number when it is asked for."""

    ATTITUDE = (
        "heading_rad",
        "turn_rate_rad_s",
        "roll_rad",
        "pitch_rad",
        "roll_rate_rad_s",
        "pitch_rate_rad_s",
    )

    def __init__(self, estimator):
        for field in self.FIELDS:
            if field not in self.ATTITUDE:
                setattr(self, field, None)
        self._of = estimator

    @property
    def heading_rad(self):  # type: ignore[override]
        return self._of._reading(self._of._heading)

    @property
    def turn_rate_rad_s(self):  # type: ignore[override]
        return self._of._reading(self._of._turn_rate)

    @property
    def roll_rad(self):  # type: ignore[override]
        return self._of._reading(self._of._roll)

    @property
    def pitch_rad(self):  # type: ignore[override]
        return self._of._reading(self._of._pitch)

    @property
    def roll_rate_rad_s(self):  # type: ignore[override]
        return self._of._reading(self._of._roll_rate)

    @property
    def pitch_rate_rad_s(self):  # type: ignore[override]
        return self._of._reading(self._of._pitch_rate)

    def roll_fine(self):
        return self._of._fine_reading(self._of._roll)

    def roll_rate_fine(self):
        return self._of._fine_reading(self._of._roll_rate)
