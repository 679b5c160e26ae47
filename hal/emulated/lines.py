"""Emulated serial ports and pins, with the interfaces of pyserial and gpiod. CPython only."""

from gpiod.line import Value


class NumberSender:
    """Another board on a serial port, which sends its sensors' counts as lines of numbers."""

    def __init__(self) -> None:
        self.cut = False  # fault: no data arrive
        self._sent = bytearray()

    def send(self, numbers: list[int | None]) -> None:
        """Sends one line."""
        if not self.cut:
            self._sent += (",".join("" if n is None else str(n) for n in numbers) + "\n").encode()

    @property
    def in_waiting(self) -> int:
        """Bytes that can be read."""
        return len(self._sent)

    def read(self, size: int = 1) -> bytes:
        """Reads up to `size` bytes."""
        got = bytes(self._sent[:size])
        del self._sent[:size]
        return got

    def write(self, data: bytes) -> int:
        """Ignores what is written."""
        return len(data)

    def close(self) -> None:
        """The board keeps sending."""


class CoilBoard:
    """Another board on a serial port, which drives coils by the lines of currents that it receives."""

    in_waiting = 0

    def __init__(self, count: int) -> None:
        self.currents_ua = [0] * count
        self._coming = bytearray()

    def write(self, data: bytes) -> int:
        """Receives lines of currents."""
        self._coming += data
        *lines, rest = bytes(self._coming).split(b"\n")
        for line in lines:
            numbers = line.split(b",")
            if len(numbers) == len(self.currents_ua) and all(number.isdigit() for number in numbers):
                self.currents_ua = [int(number) for number in numbers]
        self._coming = bytearray(rest)
        return len(data)

    def read(self, size: int = 1) -> bytes:
        """The board sends nothing."""
        return b""

    def close(self) -> None:
        """The coils keep their currents until the board's link timeout or another line."""


class Pin:
    """A line of a GPIO chip, by its logical level."""

    def __init__(self, level: int = 0) -> None:
        self.level = level

    def get_value(self, line: int) -> Value:
        """The level of the line."""
        return Value.ACTIVE if self.level else Value.INACTIVE

    def set_value(self, line: int, value: Value) -> None:
        """Sets the level of the line."""
        self.level = int(value is Value.ACTIVE)

    def release(self) -> None:
        """No other program requests the line."""
