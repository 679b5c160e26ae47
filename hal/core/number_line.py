"""Lines of numbers on a serial port, as sensor boards send them: "812,-40,,3000" and a line feed.

Integers between commas; an empty field is no reading. Only a complete line counts, and only if it holds nothing else.
Portable; allocates nothing.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Uart(Protocol):
        """The part of machine.UART that a line needs."""

        def any(self) -> int:
            """Bytes that can be read at once."""

        def readinto(self, buffer: bytearray, count: int) -> int | None:
            """Reads up to `count` bytes; how many, None if there are none."""


LARGEST = 1 << 27  # a number above this makes the line invalid
_CHUNK = 64


class NumberLine:
    """Fields of the latest line of a UART."""

    def __init__(self, uart: "Uart", fields: int) -> None:
        self._uart = uart
        self._chunk = bytearray(_CHUNK)
        self._partial: list[int | None] = [None] * fields
        self._complete: list[int | None] = [None] * fields
        self.new = False  # whether a line was completed since the last tick
        self._field = 0
        self._bad = False
        self._start_number()

    def take(self) -> None:
        """Reads all bytes that have arrived; once per tick."""
        self.new = False
        left = self._uart.any()
        while left > 0:
            count = self._uart.readinto(self._chunk, min(left, _CHUNK))
            if not count:
                return
            i = 0
            while i < count:
                self._feed(self._chunk[i])
                i += 1
            left -= count

    def number(self, field: int) -> "int | None":
        """A field of the line that was completed since the last tick; None without one."""
        return self._complete[field] if self.new else None

    def _start_number(self) -> None:
        self._digits = 0
        self._value = 0
        self._sign = 1

    def _feed(self, byte: int) -> None:
        if 48 <= byte <= 57:
            self._digits += 1
            self._value = self._value * 10 + byte - 48
            if self._value > LARGEST:
                self._bad = True
                self._value = 0
        elif byte == 44 or byte == 10:  # comma, end of line
            self._end_number()
            if byte == 10:
                self._end_line()
        elif byte == 45 and self._digits == 0 and self._sign == 1:  # minus
            self._sign = -1
        elif byte != 13 and byte != 32:
            self._bad = True

    def _end_number(self) -> None:
        if self._field < len(self._partial):
            self._partial[self._field] = self._sign * self._value if self._digits else None
        else:
            self._bad = True
        self._field += 1
        self._start_number()

    def _end_line(self) -> None:
        if not self._bad and self._field == len(self._partial):
            i = 0
            for number in self._partial:
                self._complete[i] = number
                i += 1
            self.new = True
        self._field = 0
        self._bad = False
