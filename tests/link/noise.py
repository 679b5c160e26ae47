"""A noisy line with a seed, and a count of the frames that the decoder receives over it.

python tests/link/noise.py [FRAMES] [SEED]      the long run, printed
python tests/link/noise.py bursts               every burst of up to 16 bits in a frame of 16 channels
"""

import random
import sys
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from caudal.onboard.link.frame import BYE, HANDSHAKE, OUTPUTS, READINGS, Decoder, Encoder, wire_size
from caudal.onboard.link.frame_counters import LATE, TICKS
from caudal.onboard.link.handshake import SIZE

SIZES = {HANDSHAKE: SIZE, READINGS: 32, OUTPUTS: 12, BYE: 0}
BYTE_ERRORS = 0.01  # of all bytes
FAULTS = 0.01  # of all frames, for each of: dropped, sent twice, garbage before, cut short

CRC_ODDS = 1 / 65536


def encoded(kind: int, sequence: int, tick: int, payload: bytes) -> bytes:
    """A frame's bytes."""
    encoder = Encoder(bytearray(wire_size(len(payload))))
    return bytes(encoder.buffer[: encoder.frame(kind, sequence, tick, payload, len(payload))])


def received(decoder: Decoder, data: bytes) -> list[tuple[int, int, int, bytes]]:
    """The frames in these bytes, as kind, sequence, tick, payload."""
    decoder.feed(data, len(data))
    frames = []
    while decoder.next():
        frames.append((decoder.kind, decoder.sequence, decoder.tick, bytes(decoder.payload[: decoder.size])))
    return frames


class Noise:
    """Sends frames over the noisy line and counts what arrives."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.decoder = Decoder(SIZES)
        self.score: Counter[str] = Counter()
        self._gap = self._next_gap()
        self._after_intact = False
        self._late_run = 0

    def run(self, frames: int) -> Counter[str]:
        """Sends a number of frames; the counts."""
        for sequence in range(frames):
            self._send(sequence)
        self.score["bad"] = self.decoder.counters.bad
        return self.score

    def _send(self, number: int) -> None:
        chance = self.random.random
        kind = READINGS if chance() < 0.8 else OUTPUTS
        payload = self.random.randbytes(SIZES[kind])
        if chance() < 0.5:  # channels at rest: long runs of zeros
            payload = payload[:6] + bytes(len(payload) - 6)
        sent = (kind, number & 0xFFFF, number & TICKS, payload)
        data = encoded(*sent)
        self.score["sent"] += 1
        if chance() < FAULTS:
            self.score["dropped"] += 1
            return
        if chance() < FAULTS:
            self.score["garbage"] += 1
            self._decode(self.random.randbytes(self.random.randint(1, 200)), sent)
            self._after_intact = False
        copies = 1
        if chance() < FAULTS:
            self.score["twice"] += 1
            copies = 2
        for _ in range(copies):
            wire = self._damaged(data)
            if chance() < FAULTS:
                self.score["cut"] += 1
                wire = wire[: self.random.randrange(len(wire))]
            arrived = self._decode(wire, sent)
            self._count(wire == data, arrived)

    def _decode(self, data: bytes, sent: tuple[int, int, int, bytes]) -> bool:
        """Decodes it in two pieces; True if the frame arrived, and no other frame may arrive."""
        cut = self.random.randint(0, len(data))
        arrived = False
        for piece in (data[:cut], data[cut:]):
            for frame in received(self.decoder, piece):
                if frame == sent:
                    arrived = True
                    self.score["received"] += 1
                    self._late_run = self._late_run + 1 if self.decoder.standing == LATE else 0
                    self.score["longest_late"] = max(self.score["longest_late"], self._late_run)
                else:
                    self.score["corrupt"] += 1
        return arrived

    def _count(self, intact: bool, arrived: bool) -> None:
        """Counts missed frames: one after an intact frame must arrive, one right after damage may be missed."""
        self.score["intact" if intact else "damaged"] += 1
        if intact and not arrived:
            self.score["missed_after_intact" if self._after_intact else "missed_after_damage"] += 1
        self._after_intact = intact

    def _damaged(self, data: bytes) -> bytes:
        """Bytes with errors at the rate, half of them one wrong bit, half another byte."""
        if self._gap >= len(data):
            self._gap -= len(data)
            return data
        wire = bytearray(data)
        at = self._gap
        while at < len(wire):
            flip = (
                1 << self.random.randrange(8) if self.random.random() < 0.5 else self.random.randint(1, 255)
            )
            wire[at] ^= flip
            at += 1 + self._next_gap()
        self._gap = at - len(wire)
        return bytes(wire)

    def _next_gap(self) -> int:
        return int(self.random.expovariate(BYTE_ERRORS))


def burst_survivors(patterns: range, payload: bytes) -> tuple[int, int]:
    """Sends a frame with each burst (first and last bit of a pattern are wrong) at each position, then two intact ones.

    The number of bursts, and the number that the decoder missed: another frame came out of the damaged one, or the
    last intact one did not arrive.
    """
    data = encoded(READINGS, 1, 1, payload)
    after = [encoded(BYE, 2, 2, b""), encoded(BYE, 3, 3, b"")]
    last = (BYE, 3, 3, b"")
    sent = {(READINGS, 1, 1, payload), (BYE, 2, 2, b""), last}
    decoder = Decoder({**SIZES, READINGS: len(payload)})
    whole = int.from_bytes(data, "big")
    tried = survived = 0
    for pattern in patterns:
        for shift in range(8 * len(data) - pattern.bit_length() + 1):
            wire = (whole ^ (pattern << shift)).to_bytes(len(data), "big")
            frames = received(decoder, wire + after[0] + after[1])
            tried += 1
            if frames[-1:] != [last] or not sent.issuperset(frames) or frames[0] == (READINGS, 1, 1, payload):
                survived += 1
    return tried, survived


if __name__ == "__main__":
    if sys.argv[1:] == ["bursts"]:
        payload = random.Random(1).randbytes(12) + bytes(6) + random.Random(2).randbytes(14)
        total = missed = 0
        for first in range(1, 1 << 16, 1 << 10):
            tried, survived = burst_survivors(range(first, first + (1 << 10), 2), payload)
            total, missed = total + tried, missed + survived
            print(f"\rbursts tried {total}, not found {missed}", end="", flush=True)
        print()
    else:
        frames = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
        score = Noise(int(sys.argv[2]) if len(sys.argv) > 2 else 1).run(frames)
        names = (
            "sent",
            "dropped",
            "twice",
            "garbage",
            "cut",
            "damaged",
            "intact",
            "received",
            "bad",
            "corrupt",
        )
        for name in (*names, "missed_after_damage", "missed_after_intact", "longest_late"):
            print(f"{name:>22} {score[name]}")
        print(f"{'corrupt by CRC odds':>22} {score['bad'] * CRC_ODDS:.1f} at most")
