"""A HIL link with made-up numbers, on MicroPython and CPython alike.

    micropython tests/mcu/frames.py bytes FRAMES    checksum of all bytes sent and of what came out
    micropython tests/mcu/frames.py heap            bytes of heap a frame takes, by part; MicroPython only

A frame of 16 channels, two and four bytes wide, some absent, is packed, encoded, decoded and unpacked.
"""

import gc
import sys

HERE = __file__.rsplit("/", 1)[0] if "/" in __file__ else "."
sys.path.insert(0, HERE + "/../../src")

from caudal.onboard.link.frame import READINGS, Decoder, Encoder, wire_size  # noqa: E402
from caudal.onboard.link.layout import Layout  # noqa: E402
from caudal.onboard.link.link_timeout import LinkTimeout  # noqa: E402

LAYOUT = Layout("hhhhhhhhhhhhhhii")
FRAMES = 200


class Wire:
    """Both sides of a link, with all buffers made beforehand."""

    def __init__(self):
        self.values = [0] * LAYOUT.channels
        self.back = [0] * LAYOUT.channels
        self.payload = bytearray(LAYOUT.size)
        self.encoder = Encoder(bytearray(wire_size(LAYOUT.size)))
        self.decoder = Decoder({READINGS: LAYOUT.size})
        self.link_timeout = LinkTimeout(5)
        self.number = 0
        self.length = 0
        self._seed = 5

    def make_up(self):
        i = 0
        while i < LAYOUT.channels:
            self._seed = (self._seed * 75 + 74) % 65537
            value = (self._seed & 0x7FFF) - 16384
            self.values[i] = None if self._seed % 11 == 0 else value if i < 14 else value * 30011
            i += 1

    def pack(self):
        LAYOUT.pack(self.values, self.payload)

    def encode(self):
        self.length = self.encoder.frame(READINGS, self.number, self.number, self.payload, LAYOUT.size)
        self.number += 1

    def decode(self):
        """Some noise first, then the frame: damage must cost no heap either."""
        self.decoder.feed(NOISE, len(NOISE))
        while self.decoder.next():
            pass
        self.decoder.feed(self.encoder.buffer, self.length)
        heard = False
        while self.decoder.next():
            heard = True
        self.link_timeout.step(heard)

    def unpack(self):
        LAYOUT.unpack(self.decoder.payload, self.back)

    def exchange(self):
        self.make_up()
        self.pack()
        self.encode()
        self.decode()
        self.unpack()

    def box(self):
        """Shows that the measurement sees an allocation."""
        self.back = [0] * LAYOUT.channels


NOISE = b"\x05garbage that is no frame\x00\x00"


def same_bytes(frames):
    wire = Wire()
    sent = 0
    came = 0
    wrong = 0
    for _ in range(frames):
        wire.exchange()
        i = 0
        while i < wire.length:
            sent = (sent * 31 + wire.encoder.buffer[i]) & 0x3FFFFFF
            i += 1
        for value in wire.back:
            came = (came * 31 + (7 if value is None else value)) & 0x3FFFFFF
        if wire.back != wire.values:
            wrong += 1
    counters = wire.decoder.counters
    print(f"sent {sent} came {came} good {counters.good} bad {counters.bad} wrong {wrong}")


def bytes_per_call(call):
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    i = 0
    while i < FRAMES:
        call()
        i += 1
    taken = gc.mem_alloc() - before
    gc.enable()
    return taken / FRAMES


def heap():
    wire = Wire()
    wire.exchange()
    print("make_up", bytes_per_call(wire.make_up))
    print("pack", bytes_per_call(wire.pack))
    print("encode", bytes_per_call(wire.encode))
    print("decode", bytes_per_call(wire.decode))
    print("unpack", bytes_per_call(wire.unpack))
    print("exchange", bytes_per_call(wire.exchange))
    print("box", bytes_per_call(wire.box))


if __name__ == "__main__":
    if sys.argv[1] == "heap":
        heap()
    else:
        same_bytes(int(sys.argv[2]))
