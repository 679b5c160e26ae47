r"""Lines of numbers on a serial line, as boards with many sensors send them: "812,-40,,3000\n".

Whole numbers between commas; an empty field is no reading. A line counts once, when it has come whole; one with
anything else in it counts not at all. The line is machine.UART, or has its `any()` and `readinto(buffer, count)`.
Portable; allocates nothing.
"""

LARGEST = 1 << 27  # a number that grows past this is garbage
_CHUNK = 64


class NumberLine:
    def __init__(self, uart, fields):
        self._uart = uart
        self._chunk = bytearray(_CHUNK)
        self._coming = [None] * fields
        self._whole = [None] * fields
        self.new = False  # did a line come whole since the last tick
        self._field = 0
        self._bad = False
        self._start_number()

    def take(self):
        """Once a tick: read what has come."""
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

    def number(self, field):
        """A field of the line that came since the last tick."""
        return self._whole[field] if self.new else None

    def _start_number(self):
        self._digits = 0
        self._value = 0
        self._sign = 1

    def _feed(self, byte):
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

    def _end_number(self):
        if self._field < len(self._coming):
            number = self._sign * self._value if self._digits else None
            self._coming[self._field] = number  # type: ignore[assignment]
        else:
            self._bad = True
        self._field += 1
        self._start_number()

    def _end_line(self):
        if not self._bad and self._field == len(self._coming):
            i = 0
            for number in self._coming:
                self._whole[i] = number
                i += 1
            self.new = True
        self._field = 0
        self._bad = False
