"""Coverage-guided fuzzing of received frames, run by hand; needs atheris.

python tests/station/fuzz_frames.py -max_total_time=600
"""

import struct
import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["caudal.onboard.station"]):
    from caudal.onboard.station.dialect import mavlink
    from caudal.onboard.station.session import Session
    from tests.station.mutations import KEY, Bench, Signing, messages, station, with_right_checksum

KINDS = sorted({name for name in mavlink.mavlink_map if mavlink.mavlink_map[name].msgname in (
    {message.get_type() for message in messages()} | set(Session.MESSAGES)
)})  # fmt: skip
closed = Bench(Signing(KEY, None))
opened = Bench(None)
for message in messages():
    closed.receive(message.pack(station(None)))
assert not closed.commands
count = 0


def framed(data: bytes) -> bytes:
    """Bytes as frames with right heads and checksums: the first byte chooses the message, the second its length."""
    frames = b""
    at = 0
    while at + 2 <= len(data):
        number = KINDS[data[at] % len(KINDS)]
        size = min(data[at + 1], len(data) - at - 2, mavlink.mavlink_map[number].unpacker.size)
        payload = data[at + 2 : at + 2 + size] or b"\0"
        head = struct.pack("<BBBBBBBHB", 0xFD, len(payload), 0, 0, 0, 255, 190, number & 0xFFFF, number >> 16)
        frames += with_right_checksum(head + payload + b"\0\0")
        at += 2 + size
    return frames


def one(data: bytes) -> None:
    """A vehicle with a key must execute nothing; one without must not fail."""
    global count
    count += 1
    for wire in (data, framed(data)):
        closed.receive(wire)
        opened.receive(wire)
    assert not closed.commands
    opened.tick()
    opened.commands.clear()
    if count % 1000 == 0:
        closed.tick()


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
