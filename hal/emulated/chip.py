"""What every emulated chip has: an address, a clock, what the bus does to it, and three faults of its own.

A chip is given `clock`, a callable that says the time in microseconds, and knows no other: a simulated run and a
process in real time use the same chips. CPython only.
"""

import errno
from collections.abc import Callable

Clock = Callable[[], int]


class Nack(OSError):
    """Nobody acknowledged; the errno that Linux gives for it."""

    def __init__(self) -> None:
        super().__init__(errno.EREMOTEIO, "Remote I/O error")


class Chip:
    wrong_identity = False  # set: what tells the kind of chip reads as something else
    slow = 1  # a conversion takes this many times as long as the datasheet says

    def __init__(self, clock: Clock, address: int) -> None:
        self.clock = clock
        self.address = address

    def also_at(self) -> tuple[int, ...]:
        """Further addresses at which it listens at the moment."""
        return ()

    def write(self, data: bytes) -> None:
        """The bytes of one message to it; none is a probe."""
        raise NotImplementedError

    def read(self, count: int) -> bytes:
        raise NotImplementedError

    def general_call(self, data: bytes) -> bool:
        """A message to everybody (address 0): did it acknowledge."""
        return False

    def power_cycle(self) -> None:
        """What a brown-out leaves: the power-on values. Its inputs are the world's and stay."""
        raise NotImplementedError


class WordChip(Chip):
    """A chip whose pointer names registers of 16 bits, the high byte first."""

    def __init__(self, clock: Clock, address: int) -> None:
        super().__init__(clock, address)
        self._pointer = 0

    def write(self, data: bytes) -> None:
        if data:
            self._pointer = data[0]
        if len(data) >= 3:  # a register takes both of its bytes or none
            self.write_word(self._pointer, data[1] << 8 | data[2])

    def read(self, count: int) -> bytes:
        """The pointer stays, so a longer read gives the register again."""
        words = (self.read_word(self._pointer).to_bytes(2, "big") for _ in range((count + 1) // 2))
        return b"".join(words)[:count]

    def write_word(self, register: int, value: int) -> None:
        raise NotImplementedError

    def read_word(self, register: int) -> int:
        raise NotImplementedError


def nearest(numerator: int, denominator: int) -> int:
    """The nearest whole number to a quotient, halves upwards."""
    return (2 * numerator + denominator) // (2 * denominator)
