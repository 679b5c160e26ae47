"""Serial lines and pins beside the buses: what drivers get for pyserial's and gpiod's objects. CPython only."""

from gpiod.line import Value


class NumberSender:
    """Another board at the end of a serial line, which sends its sensors' counts as lines of numbers."""

    def __init__(self) -> None:
        self.cut = False  # a fault: nothing arrives
        self._sent = bytearray()

    def send(self, numbers: list[int | None]) -> None:
        if not self.cut:
            self._sent += (",".join("" if n is None else str(n) for n in numbers) + "\n").encode()

    @property
    def in_waiting(self) -> int:
        return len(self._sent)

    def read(self, size: int = 1) -> bytes:
        got = bytes(self._sent[:size])
        del self._sent[:size]
        return got

    def write(self, data: bytes) -> int:
        return len(data)

    def close(self) -> None:
        """The board goes on sending to nobody."""


class CoilBoard:
    """Another board at the end of a serial line, which drives coils by the lines of currents that it is sent."""

    in_waiting = 0

    def __init__(self, count: int) -> None:
        self.currents_ua = [0] * count
        self._coming = bytearray()

    def write(self, data: bytes) -> int:
        self._coming += data
        *lines, rest = bytes(self._coming).split(b"\n")
        for line in lines:
            numbers = line.split(b",")
            if len(numbers) == len(self.currents_ua) and all(number.isdigit() for number in numbers):
                self.currents_ua = [int(number) for number in numbers]
        self._coming = bytearray(rest)
        return len(data)

    def read(self, size: int = 1) -> bytes:
        return b""

    def close(self) -> None:
        """The coils keep their currents until its dead-man, or a line, ends them."""


class Pin:
    """A line of a GPIO chip, by its logical level."""

    def __init__(self, level: int = 0) -> None:
        self.level = level

    def get_value(self, line: int) -> Value:
        return Value.ACTIVE if self.level else Value.INACTIVE

    def set_value(self, line: int, value: Value) -> None:
        self.level = int(value is Value.ACTIVE)

    def release(self) -> None:
        """Nobody else waits for it."""
