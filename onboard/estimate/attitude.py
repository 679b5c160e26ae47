"""Estimator of attitude and depth: the readings of the inertial unit and the pressure sensor as they are. Portable.

A reading that is absent is None in the estimate. As the only estimator it leaves the readings in the board until a
stage needs one (ReadEstimate): every float would be an allocation on a microcontroller.
"""

from caudal.onboard.core.state import Estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.stack import EstimateTable


class AttitudeEstimator:
    """Either `step` or, next to another estimator, `fill_attitude` is a stage."""

    def __init__(self, table: "EstimateTable", board: "Board") -> None:
        names = (
            ("heading_rad", table.heading),
            ("turn_rate_rad_s", table.turn_rate),
            ("depth_m", table.depth),
            ("roll_rad", table.roll),
            ("pitch_rad", table.pitch),
            ("roll_rate_rad_s", table.roll_rate),
            ("pitch_rate_rad_s", table.pitch_rate),
        )
        self._readings = ReadEstimate(board, {field: board.sensor(name) for field, name in names if name})

    def step(self, state: "State") -> None:
        """One tick, as the only estimator."""
        state.estimate = self._readings

    def fill_attitude(self, state: "State") -> None:
        """One tick, where another estimator has the heading and the depth: sets roll, pitch and their rates."""
        estimate, readings = state.estimate, self._readings
        estimate.roll_rad = readings.roll_rad
        estimate.pitch_rad = readings.pitch_rad
        estimate.roll_rate_rad_s = readings.roll_rate_rad_s
        estimate.pitch_rate_rad_s = readings.pitch_rate_rad_s


class ReadEstimate(Estimate):
    """An estimate whose fields are this tick's readings, each converted when it is read."""

    def __init__(self, board: "Board", sensors: dict[str, int]) -> None:
        # without Estimate.__init__: __getattr__ serves only fields that are not set
        self._board = board
        self._sensors = sensors  # by field
        for field in self.FIELDS:
            if field not in sensors:
                setattr(self, field, None)

    def __getattr__(self, field: str) -> "float | None":
        if field not in self.FIELDS:
            raise AttributeError(field)
        return self._board.reading(self._sensors[field])

    def q20(self, field: str) -> "int | None":
        """One of the fields as an integer, in 2**-20 of its unit."""
        index = self._sensors.get(field)
        return None if index is None else self._board.q20_reading(index)
