"""Coverage-guided fuzzing of the decoder, for as long as one likes. Needs atheris, which the tests do not.

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


def hear(decoder: Decoder, data: bytes) -> int:
    """Reads everything; how many frames came. Whatever got through must make sense."""
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


def crafted(data: bytes) -> bytes:
    """The input with a right CRC: what the fuzzer would hardly find, the way past the CRC."""
    from binascii import crc_hqx

    body = bytes(byte or 1 for byte in data[: 4 * LARGEST_PAYLOAD])
    return body + crc_hqx(body, 0xFFFF).to_bytes(2, "big") + b"\0"


def one_input(data: bytes) -> None:
    decoder = Decoder(SIZES)
    cut = data[0] if data else 0
    hear(decoder, data[:cut])
    hear(decoder, data[cut:])
    hear(decoder, crafted(data))
    hear(decoder, data)
    length = encoder.frame(BYE, 1, 1, b"", 0)
    good = bytes(encoder.buffer[:length])
    hear(decoder, good)
    assert hear(decoder, good) == 1, "the second intact frame behind garbage did not come"


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
