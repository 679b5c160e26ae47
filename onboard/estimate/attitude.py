"""How a vehicle lies in the water, and how deep, as its inertial unit and its pressure sensor have it. Portable.

A reading that is absent is None in the estimate; nobody invents a number. Alone, without another estimator beside it,
it leaves the readings where they are until somebody asks (ReadEstimate): a float is an allocation on a microcontroller.
"""

from caudal.onboard.core.state import Estimate

READ = (
    ("heading_rad", "heading"),
    ("turn_rate_rad_s", "turn_rate"),
    ("depth_m", "depth"),
    ("roll_rad", "roll"),
    ("pitch_rad", "pitch"),
    ("roll_rate_rad_s", "roll_rate"),
    ("pitch_rate_rad_s", "pitch_rate"),
)  # fields of an estimate, and the keys of the table `estimate` that name their sensors
LIE = ("roll_rad", "pitch_rad", "roll_rate_rad_s", "pitch_rate_rad_s")


class AttitudeEstimator:
    def __init__(self, settings, board):
        sensors = {}
        for field, key in READ:
            if settings[key]:
                sensors[field] = board.sensor(settings[key])
        self._read = ReadEstimate(board, sensors)

    def step(self, state):
        state.estimate = self._read

    def fill_attitude(self, state):
        """Pitch and roll alone, where another estimator has the heading and the depth."""
        for field in LIE:
            setattr(state.estimate, field, getattr(self._read, field))


class ReadEstimate(Estimate):
    """An estimate of this tick's readings, each turned into a number when it is asked for."""

    def __init__(self, board, sensors):
        # Estimate.__init__ is left out: a field that is set is not asked for
        self._board = board
        self._sensors = sensors  # by field
        for field in self.FIELDS:
            if field not in sensors:
                setattr(self, field, None)

    def __getattr__(self, field):
        if field not in self.FIELDS:
            raise AttributeError(field)
        return self._board.reading(self._sensors[field])

    def q20(self, field):
        index = self._sensors.get(field)
        return None if index is None else self._board.q20_reading(index)
