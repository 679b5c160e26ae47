"""Coverage-guided fuzzing of the decoder, run by hand; needs atheris.

python tests/link/fuzz_frame.py -max_total_time=600
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports():
    from caudal.onboard.link.frame import (
        BYE,
        HANDSHAKE,
        LARGEST_PAYLOAD,
        OUTPUTS,
        READINGS,
        Decoder,
        Encoder,
        wire_size,
    )
    from caudal.onboard.link.frame_counters import TICKS
    from caudal.onboard.link.handshake import SIZE, Handshake
    from caudal.onboard.link.layout import Layout

LAYOUT = Layout("hihhhhi")
SIZES = {HANDSHAKE: SIZE, READINGS: LAYOUT.size, OUTPUTS: LARGEST_PAYLOAD, BYE: 0}
OWN = Handshake("0123456789abcdef", 100, 7, 200)
encoder = Encoder(bytearray(wire_size(LARGEST_PAYLOAD)))


def count_frames(decoder: Decoder, data: bytes) -> int:
    """Decodes all bytes and checks every frame; the number of frames."""
    decoder.feed(data, len(data))
    count = 0
    while decoder.next():
        count += 1
        assert decoder.size == SIZES[decoder.kind]
        assert 0 <= decoder.tick <= TICKS and 0 <= decoder.sequence <= 0xFFFF
        if decoder.kind == HANDSHAKE:
            OWN.refusal(decoder.payload)
        if decoder.kind == READINGS:
            LAYOUT.unpack(decoder.payload, [None] * 7)
    return count


def with_right_crc(data: bytes) -> bytes:
    """The input with a right CRC, which a fuzzer would hardly find."""
    from binascii import crc_hqx

    body = bytes(byte or 1 for byte in data[: 4 * LARGEST_PAYLOAD])
    return body + crc_hqx(body, 0xFFFF).to_bytes(2, "big") + b"\0"


def one_input(data: bytes) -> None:
    """After any input, the second intact frame must come."""
    decoder = Decoder(SIZES)
    cut = data[0] if data else 0
    count_frames(decoder, data[:cut])
    count_frames(decoder, data[cut:])
    count_frames(decoder, with_right_crc(data))
    count_frames(decoder, data)
    length = encoder.frame(BYE, 1, 1, b"", 0)
    good = bytes(encoder.buffer[:length])
    count_frames(decoder, good)
    assert count_frames(decoder, good) == 1, "the second intact frame after garbage did not come"


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
