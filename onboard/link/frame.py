"""Frames of the HIL link: they survive noise, loss, repetition and a restart of either side.

    on the wire     stuffed(kind, sequence, tick, payload)  crc  0
    kind            1 byte: the kind in 6 bits, above it 2 bits of salt
    sequence        2 bytes, counts the sender's frames
    tick            4 bytes, of which 30 bits are used (124 days at 100 Hz): a small integer on every board
    crc             2 bytes, high one first, over the stuffed bytes; the other numbers go low byte first

A zero ends a frame and occurs nowhere else, so the decoder reads the frame after the next zero: garbage costs at
most one intact frame. COBS (Cheshire and Baker 1999) removes the zeros for one byte, whatever the content; escaping
may double a frame, and a decoder with a length prefix would have to search the bytes that a wrong length skipped. A
frame is 11 bytes longer than its payload (one or two more above 246 bytes): 16 channels of 2 bytes are 43 bytes on
the wire.

The CRC is CRC-16/CCITT (0x1021, starts at 0xFFFF). No 16-bit polynomial has more than its Hamming distance of 4
on frames of 16 channels, and every board and test bench has it. It covers the stuffed bytes: one wrong bit in a COBS
code moves zeros within the frame, which a CRC of the unstuffed bytes may miss (it missed 3 of 2.8 million bursts).
The CRC's own bytes must then not be zero; where they would be, the next salt gives another CRC. So the decoder finds
every burst of up to 16 bits and every 3 wrong bits that leave the zeros alone. Errors that add or remove a zero
change the frame's length, and the decoder drops a frame whose length is not that of its kind. Any other damage
passes with a probability of 1 in 65536 at most.

Portable: CPython and MicroPython. Encoding and decoding allocate nothing.
"""

from caudal.onboard.link.frame_counters import TICKS, FrameCounters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HANDSHAKE = 1  # what the sender runs (handshake.py); the first frame after a start
READINGS = 2  # plant to controller: one count a sensor (layout.py)
OUTPUTS = 3  # controller to plant: one output an actuator
BYE = 4  # the sender closes the link; no payload
ASK = 5  # controller to plant: it has just started and needs the handshake again; no payload

DELIMITER = b"\0"  # alone it is neither frame nor error: it ends the garbage before it
LARGEST_PAYLOAD = 400  # some salt always gives a CRC without zeros for up to 418 stuffed bytes

_HEAD = 7  # kind, sequence, tick
_KIND_MASK = 0x3F
_SALT = 0x40
_CRC_START = 0xFF  # of its high byte and of its low one

# Each byte's share of the CRC, in two tables: bytes are faster than numbers of 16 bits, on every runtime.
_CRC_HIGH = bytearray(256)
_CRC_LOW = bytearray(256)


def _fill_crc_tables() -> None:
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021) & 0xFFFF if crc & 0x8000 else crc << 1
        _CRC_HIGH[byte] = crc >> 8
        _CRC_LOW[byte] = crc & 0xFF


_fill_crc_tables()


def crc16(buffer: "Sequence[int]", size: int) -> int:
    """CRC-16/CCITT of the first `size` bytes."""
    highs = _CRC_HIGH
    lows = _CRC_LOW
    high = low = _CRC_START
    for i in range(size):
        k = high ^ buffer[i]
        high = low ^ highs[k]
        low = lows[k]
    return high << 8 | low


def wire_size(payload_size: int) -> int:
    """Bytes on the wire, at most, of a frame with this payload."""
    content = _HEAD + payload_size
    return content + content // 254 + 4


class Encoder:
    """Writes frames into one buffer of `wire_size(payload)` bytes."""

    def __init__(self, buffer: bytearray) -> None:
        self.buffer = buffer
        self._head = bytearray(_HEAD)

    def frame(self, kind: int, sequence: int, tick: int, payload: "Sequence[int]", size: int) -> int:
        """Writes a frame with the payload's first `size` bytes into the buffer; its length in bytes."""
        if not 0 < kind <= _KIND_MASK:
            raise ValueError(f"link frame: kind {kind} is outside 1 to {_KIND_MASK}")
        if size > LARGEST_PAYLOAD or wire_size(size) > len(self.buffer):
            raise ValueError(
                f"link frame: a payload of {size} bytes does not fit a buffer of {len(self.buffer)}; make it "
                f"wire_size(payload) long, for at most {LARGEST_PAYLOAD} bytes of payload"
            )
        head = self._head
        head[0] = kind
        head[1] = sequence & 0xFF
        head[2] = (sequence >> 8) & 0xFF
        head[3] = tick & 0xFF
        head[4] = (tick >> 8) & 0xFF
        head[5] = (tick >> 16) & 0xFF
        head[6] = (tick >> 24) & (TICKS >> 24)
        return self._seal(self._stuff(payload, size))

    def _stuff(self, payload: "Sequence[int]", size: int) -> int:
        """COBS: a code before each run of bytes says how far the next zero is."""
        buffer = self.buffer
        head = self._head
        code = 0
        at = 1
        for i in range(_HEAD):
            byte = head[i]
            if byte:
                buffer[at] = byte
            else:
                buffer[code] = at - code
                code = at
            at += 1
        for i in range(size):
            byte = payload[i]
            if byte:
                buffer[at] = byte
                at += 1
                if at - code < 255:
                    continue
            buffer[code] = at - code
            code = at
            at += 1
        buffer[code] = at - code
        return at

    def _seal(self, size: int) -> int:
        """Adds the CRC and the zero. The kind is never zero, so that it is always the second byte."""
        buffer = self.buffer
        crc = crc16(buffer, size)
        while crc & 0xFF == 0 or crc >> 8 == 0:
            buffer[1] = (buffer[1] + _SALT) & 0xFF
            crc = crc16(buffer, size)
        buffer[size] = crc >> 8
        buffer[size + 1] = crc & 0xFF
        buffer[size + 2] = 0
        return size + 3


class Decoder:
    """Finds frames in a stream of bytes; raises no error on any input, and stores one frame at most.

    `sizes` gives the payload's size in bytes of each accepted kind; it drops all others.

        decoder.feed(chunk, count)
        while decoder.next():
            decoder.kind, decoder.sequence, decoder.tick, decoder.standing, decoder.payload, decoder.size

    `standing`: the frame is NEW, a DUPLICATE or LATE (frame_counters.py). The fields and the first `size`
    bytes of `payload` are valid until the next call; the chunk must not change before `next()` returns False.
    """

    def __init__(self, sizes: "dict[int, int]") -> None:
        self._sizes = [-1] * (_KIND_MASK + 1)
        largest = 0
        for kind in sizes:
            if not 0 < kind <= _KIND_MASK or not 0 <= sizes[kind] <= LARGEST_PAYLOAD:
                raise ValueError(
                    f"link frame: kind {kind} with {sizes[kind]} bytes of payload cannot be sent; kinds are 1 to "
                    f"{_KIND_MASK}, payloads 0 to {LARGEST_PAYLOAD} bytes"
                )
            self._sizes[kind] = sizes[kind]
            largest = max(largest, sizes[kind])
        self.counters = FrameCounters()
        self.kind = 0
        self.sequence = 0
        self.tick = 0
        self.standing = 0
        self.size = 0
        self._body = bytearray(wire_size(largest) - 1)
        self.payload = memoryview(self._body)[_HEAD:]
        self._count = 0  # bytes since the last zero; one more than fit means too many
        self._crc_high = self._crc_low = _CRC_START
        self._chunk: Sequence[int] = b""
        self._at = 0
        self._end = 0

    def feed(self, chunk: "Sequence[int]", count: int) -> None:
        """Takes the first `count` bytes of the chunk. The rest of the last chunk is read first; its frames are lost."""
        while self.next():
            pass
        self._chunk = chunk
        self._at = 0
        self._end = min(count, len(chunk))

    def next(self) -> bool:
        """Reads to the end of the next frame: True if there was one, False at the end of the chunk."""
        chunk = self._chunk
        body = self._body
        room = len(body)
        highs = _CRC_HIGH
        lows = _CRC_LOW
        end = self._end
        count = self._count
        high = self._crc_high
        low = self._crc_low
        for at in range(self._at, end):
            byte = chunk[at]
            if byte:
                if count < room:
                    body[count] = byte
                    k = high ^ byte
                    high = low ^ highs[k]
                    low = lows[k]
                    count += 1
                else:
                    count = room + 1
            elif count:
                # A CRC over its own two bytes too ends at zero.
                good = high == low == 0 and count <= room and self._open(count - 2)
                count = 0
                high = low = _CRC_START
                if good:
                    end = at + 1
                    break
                self.counters.bad += 1
        else:
            good = False
        self._at = end
        self._count = count
        self._crc_high = high
        self._crc_low = low
        return good

    def _open(self, stuffed: int) -> bool:
        """Undoes COBS in place, where the result never overtakes its source; True if the kind accepts the frame."""
        body = self._body
        at = 0
        size = 0
        while at < stuffed:
            code = body[at]
            block = at + code
            if block > stuffed:
                return False
            at += 1
            while at < block:
                body[size] = body[at]
                size += 1
                at += 1
            if code < 255 and at < stuffed:
                body[size] = 0
                size += 1
        kind = body[0] & _KIND_MASK
        if size < _HEAD or self._sizes[kind] != size - _HEAD or body[6] > TICKS >> 24:
            return False
        self.kind = kind
        self.sequence = body[1] | body[2] << 8
        self.tick = body[3] | body[4] << 8 | body[5] << 16 | body[6] << 24
        self.size = size - _HEAD
        self.standing = self.counters.classify(kind == HANDSHAKE, self.sequence, self.tick)
        return True
