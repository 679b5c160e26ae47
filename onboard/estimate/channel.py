"""A sensor that an estimator may use. Portable."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board


class Channel:
    """Readings of a sensor, by its name; of the name "", none."""

    def __init__(self, board: "Board", name: str) -> None:
        self._board = board
        self._index = board.sensor(name) if name else None

    def reading(self) -> "float | None":
        """The last reading, unless it is too old."""
        return None if self._index is None else self._board.reading(self._index)

    def fresh(self) -> "float | None":
        """A reading that has come in this tick."""
        if self._index is None or self._board.age[self._index] > 0:
            return None
        return self._board.reading(self._index)
