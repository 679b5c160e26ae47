"""The base of emulated chips: an address, a clock, the messages of a bus, and three faults.

`clock` is a callable that gives the time in microseconds: a simulated run and a process in real time use the same
chips. CPython only.
"""

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable

Clock = Callable[[], int]


class Nack(OSError):
    """No chip acknowledged; with the errno of Linux."""

    def __init__(self) -> None:
        super().__init__(errno.EREMOTEIO, "Remote I/O error")


class Chip(ABC):
    """A chip on a bus."""

    wrong_identity = False  # fault: the identity of the chip reads as another value
    slow = 1  # fault: a conversion takes this many times as long

    def __init__(self, clock: Clock, address: int) -> None:
        self.clock = clock
        self.address = address

    def also_at(self) -> tuple[int, ...]:
        """Further addresses at which it responds at the moment."""
        return ()

    @abstractmethod
    def write(self, data: bytes) -> None:
        """Receives one message; an empty one is a probe."""

    @abstractmethod
    def read(self, count: int) -> bytes:
        """Sends so many bytes."""

    def general_call(self, data: bytes) -> bool:
        """Receives a message to address 0; whether it acknowledged."""
        return False

    @abstractmethod
    def power_cycle(self) -> None:
        """A brown-out: registers get their power-on values; inputs stay."""


class WordChip(Chip):
    """A chip with a pointer to registers of 16 bits, the high byte first."""

    def __init__(self, clock: Clock, address: int) -> None:
        super().__init__(clock, address)
        self._pointer = 0

    def write(self, data: bytes) -> None:
        """Sets the register pointer, and writes a register."""
        if data:
            self._pointer = data[0]
        if len(data) >= 3:  # a register is written with both bytes or not at all
            self.write_word(self._pointer, data[1] << 8 | data[2])

    def read(self, count: int) -> bytes:
        """Reads the register of the pointer; a longer read repeats it."""
        words = (self.read_word(self._pointer).to_bytes(2, "big") for _ in range((count + 1) // 2))
        return b"".join(words)[:count]

    @abstractmethod
    def write_word(self, register: int, value: int) -> None:
        """Writes a register."""

    @abstractmethod
    def read_word(self, register: int) -> int:
        """The value of a register."""


def nearest(numerator: int, denominator: int) -> int:
    """The nearest integer of a quotient, halves rounded up."""
    return (2 * numerator + denominator) // (2 * denominator)
