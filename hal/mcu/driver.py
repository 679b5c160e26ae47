"""The driver of a microcontroller: pulses on its pins, counts from each sensor's source.

Portable; allocates nothing while buses respond.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from caudal.hal.core.number_line import NumberLine
    from caudal.hal.mcu.pulses import PulsePins

    class Source(Protocol):
        """Where a sensor's count comes from."""

        def count(self) -> int | None:
            """The latest count; None without a reading."""


class McuDriver:
    """Pulse pins and the source of each sensor; None for a sensor that is not fitted."""

    def __init__(
        self, pulses: "PulsePins", sources: "Sequence[Source | None]", line: "NumberLine | None" = None
    ) -> None:
        self._pulses = pulses
        self._sources = sources
        self._line = line

    def read(self, counts: "list[int | None]") -> None:
        """Fills the list with one count per sensor."""
        if self._line is not None:
            self._line.take()
        i = 0
        for source in self._sources:
            counts[i] = None if source is None else source.count()
            i += 1

    def write(self, outputs: "Sequence[int]") -> None:
        """Sends one pulse width per actuator, in microseconds."""
        self._pulses.write(outputs)

    def close(self) -> None:
        """Ends all pulses."""
        self._pulses.close()
