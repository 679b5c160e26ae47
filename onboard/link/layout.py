"""Layout of a payload: one integer a channel, in the vehicle file's order, two or four bytes each.

The lowest number of each width means absent, so that an absent reading takes no extra bytes. A channel gets two
bytes if its range fits with one to spare at each end: a count that does not fit is sent as the nearest that does,
which is still outside the channel's range.

Shifts compose the bytes: struct makes tuples, which a microcontroller would have to collect.
Portable: CPython and MicroPython; allocates nothing while numbers stay within 2**30.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from caudal.hal.tables.channels import Actuator, Sensor

NARROW = "h"  # two bytes, -32767 to 32767
WIDE = "i"  # four bytes, -2147483647 to 2147483647

_LARGEST_NARROW = 32767
_LARGEST_WIDE = 2147483647
_LOWEST_WIDE = -2147483647  # made once: beyond 2**30, a minus sign is an allocation on a 32-bit board


class Layout:
    """Payload of one kind of frame. `kinds` has NARROW or WIDE for each channel."""

    def __init__(self, kinds: "Sequence[str]") -> None:
        for i, kind in enumerate(kinds):
            if kind != NARROW and kind != WIDE:
                raise ValueError(
                    f"link layout: channel {i} is of kind {kind!r}; {NARROW!r} and {WIDE!r} are known"
                )
        self.kinds = "".join(kinds)
        self.channels = len(kinds)
        self.size = sum([4 if kind == WIDE else 2 for kind in kinds])
        self._wide = bytearray([kind == WIDE for kind in kinds])

    def pack(self, values: "Sequence[int | None]", payload: bytearray) -> int:
        """Writes one integer or None a channel into the payload; its size in bytes."""
        at = 0
        i = 0
        while i < self.channels:
            value = values[i]
            if self._wide[i]:
                if value is None:
                    payload[at] = payload[at + 1] = payload[at + 2] = 0
                    payload[at + 3] = 0x80
                else:
                    if value > _LARGEST_WIDE:
                        value = _LARGEST_WIDE
                    elif value < _LOWEST_WIDE:
                        value = _LOWEST_WIDE
                    payload[at] = value & 0xFF
                    payload[at + 1] = (value >> 8) & 0xFF
                    payload[at + 2] = (value >> 16) & 0xFF
                    payload[at + 3] = (value >> 24) & 0xFF
                at += 4
            else:
                if value is None:
                    payload[at] = 0
                    payload[at + 1] = 0x80
                else:
                    if value > _LARGEST_NARROW:
                        value = _LARGEST_NARROW
                    elif value < -_LARGEST_NARROW:
                        value = -_LARGEST_NARROW
                    payload[at] = value & 0xFF
                    payload[at + 1] = (value >> 8) & 0xFF
                at += 2
            i += 1
        return at

    def unpack(self, payload: "Sequence[int]", values: "list[int | None]") -> None:
        """Reads the payload into the list, an integer or None a channel."""
        at = 0
        i = 0
        while i < self.channels:
            low = payload[at] | payload[at + 1] << 8
            at += 2
            if self._wide[i]:
                high = payload[at] | payload[at + 1] << 8
                at += 2
                absent = low == 0 and high == 0x8000
                # The sign goes in before the shift: a number below 2**30 is never anything larger on its way.
                values[i] = None if absent else ((high ^ 0x8000) - 0x8000) << 16 | low
            else:
                values[i] = None if low == 0x8000 else (low ^ 0x8000) - 0x8000
            i += 1


def width(low: int, high: int) -> str:
    """The kind of a channel whose numbers run from low to high."""
    return NARROW if low > -_LARGEST_NARROW and high < _LARGEST_NARROW else WIDE


def readings_layout(sensors: "Sequence[Sensor]") -> Layout:
    """Layout of the sensors' counts."""
    return Layout(
        [
            width(s.low_count, s.high_count) if s.map == "linear" else width(s.counts[0], s.counts[-1])
            for s in sensors
        ]
    )


def outputs_layout(actuators: "Sequence[Actuator]") -> Layout:
    """Layout of the actuators' outputs; off is 0 or within the range."""
    return Layout([width(0, a.high_ua if a.map == "valve" else a.high_us) for a in actuators])
