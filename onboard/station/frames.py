"""Bytes to messages: finds frames in a stream and checks them. After damage it goes on with the next byte that can
start a frame. It raises no error and stores at most the bytes of one frame.

It uses only the decoder of pymavlink: pymavlink's parser skips a whole frame's length after damage, intact frames
included, and on a stream that is never empty it stores all bytes.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.signing import UNSIGNED, Signing

V1, V2 = mavlink.PROTOCOL_MARKER_V1, mavlink.PROTOCOL_MARKER_V2
SIGNED = mavlink.MAVLINK_IFLAG_SIGNED
BEGINS = (b"", bytes([V1]), bytes([V2]))


class Frames:
    """The frames of one stream. `counts`: taken, radio (needs no signature), damaged, noise (bytes), unknown, and
    rejected ones by reason."""

    def __init__(self, signing: Signing | None) -> None:
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()  # since the last report
        self._signing = signing
        self._decoder = mavlink.MAVLink(None)
        self._held = b""

    def receive(self, data: bytes, whole: bool = False) -> Iterator[Any]:
        """The complete messages; `data` is the next piece of the stream, or a `whole` datagram."""
        data = self._held + data
        at = 0
        while True:
            start = _marker(data, at)
            self.counts["noise"] += start - at
            at = start
            size = _size(data, at)
            if size is None or at + size > len(data):
                if not whole or at == len(data):
                    break
                message = None
            else:
                message = self._message(data[at : at + size], data[at + size : at + size + 1])
            if message is None or size is None:
                self.counts["damaged"] += 1
                at += 1
            else:
                at += size
                if message is not UNKNOWN:
                    yield message
        self._held = data[at:]

    def _message(self, frame: bytes, behind: bytes) -> Any:
        """A message; UNKNOWN for a frame that is not used; None for no frame."""
        if frame[0] == V2 and frame[2] & ~SIGNED:
            return None
        number = int.from_bytes(frame[7:10], "little") if frame[0] == V2 else frame[5]
        if number not in mavlink.mavlink_map:  # its checksum is unknown; accept it if another frame follows
            if behind not in BEGINS:
                return None
            self.counts["unknown"] += 1
            return UNKNOWN
        try:
            message = self._decoder.decode(bytearray(frame))
        except (mavlink.MAVError, UnicodeDecodeError, ValueError, IndexError):
            return None
        if self._signing:
            reason = self._signing.refusal(frame, number, message.get_srcSystem(), message.get_srcComponent())
            if reason:
                self.counts[reason] += 1
                self.refused[reason] += 1
                return UNKNOWN
            if number in UNSIGNED:
                self.counts["radio"] += 1
                return UNKNOWN
        self.counts["taken"] += 1
        return message


UNKNOWN = object()


def _marker(data: bytes, at: int) -> int:
    """Index of the next byte that can start a frame."""
    first, second = data.find(V1, at), data.find(V2, at)
    if first < 0 or second < 0:
        return max(first, second) if max(first, second) >= 0 else len(data)
    return min(first, second)


def _size(data: bytes, at: int) -> int | None:
    """A frame's length; None while its head is incomplete."""
    if at + 3 > len(data):
        return None
    if data[at] == V1:
        return 6 + data[at + 1] + 2
    return 10 + data[at + 1] + 2 + (13 if data[at + 2] & SIGNED else 0)
