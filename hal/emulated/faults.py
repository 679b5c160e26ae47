"""Faults of a bus, set and cleared at run time, for one address or for all. CPython only.

nack        no chip acknowledges: OSError 121
hang        the clock line is held: every transaction takes 1.02 s, then OSError 110
stuck       one bit of every byte read is always 0 or always 1 (`bit`, `level`)
swapped     the two bytes of every pair read are exchanged
brown-out   the registers get their power-on values, once, when the fault is set
identity    the identity of a chip reads as another value (BNO055: ids, MS5837: PROM; others have none)
slow        conversions take 20 times as long (`factor`)
"""

from dataclasses import dataclass

from caudal.hal.emulated.chip import Chip

KINDS = ("nack", "hang", "stuck", "swapped", "brown-out", "identity", "slow")
HANG_US = 1_020_000  # timeout of Linux on a Raspberry Pi


@dataclass(frozen=True)
class Fault:
    """Parameters of an active fault."""

    bit: int = 0
    level: int = 1
    factor: int = 20


class Faults:
    """The active faults of a bus."""

    def __init__(self, chips: dict[int, Chip]) -> None:
        self._chips = chips
        self._active: dict[tuple[str, int | None], Fault] = {}

    def __bool__(self) -> bool:
        return bool(self._active)

    def set(
        self, kind: str, address: int | None = None, *, bit: int = 0, level: int = 1, factor: int = 20
    ) -> None:
        """Sets a fault until `clear`; without an address, for all chips of the bus."""
        if kind not in KINDS:
            raise ValueError(f"a bus has no fault {kind!r}; it has {', '.join(KINDS)}")
        if not 0 <= bit <= 7 or level not in (0, 1):
            raise ValueError(f"bit {bit} cannot be stuck at {level}; a bit is 0 to 7, a level 0 or 1")
        if address is not None and address not in self._chips:
            there = ", ".join(f"0x{known:02x}" for known in sorted(self._chips))
            raise ValueError(f"there is no chip at 0x{address:02x}; there are chips at {there}")
        self._active[kind, address] = Fault(bit, level, factor)
        if kind == "brown-out":
            for chip in self._of(address):
                chip.power_cycle()
        self._update_chips()

    def clear(self, kind: str | None = None, address: int | None = None) -> None:
        """Clears one kind for one address, one kind for all, or all faults."""
        self._active = {
            (other, place): fault
            for (other, place), fault in self._active.items()
            if (kind is not None and other != kind) or (address is not None and place != address)
        }
        self._update_chips()

    def find(self, kind: str, address: int) -> Fault | None:
        """The fault of this kind that a transaction with this address meets."""
        return self._active.get((kind, address)) or self._active.get((kind, None))

    def on_read(self, address: int, data: bytes) -> bytes:
        """The bytes that arrive of those that a chip sent."""
        if self.find("swapped", address):
            pairs = bytearray(data)
            even = len(data) // 2 * 2
            pairs[0:even:2], pairs[1:even:2] = data[1:even:2], data[0:even:2]
            data = bytes(pairs)
        stuck = self.find("stuck", address)
        if stuck:
            mask = 1 << stuck.bit
            data = bytes(byte | mask if stuck.level else byte & ~mask for byte in data)
        return data

    def _of(self, address: int | None) -> list[Chip]:
        return list(self._chips.values()) if address is None else [self._chips[address]]

    def _update_chips(self) -> None:
        for address, chip in self._chips.items():
            chip.wrong_identity = self.find("identity", address) is not None
            slow = self.find("slow", address)
            chip.slow = slow.factor if slow else 1
