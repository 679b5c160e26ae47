"""The plant side of a HIL link: sends a tick's readings, waits for the outputs of that tick.

In lockstep simulated time stands still while it waits (`exchange`); free running it does not wait, and takes what
has come (`post`, `collect`). In lockstep a frame without an answer is sent again; after the
patience given the other end counts as gone: the exchange gives None, and whoever steps the plant puts its
actuators into their safe state. A controller that has started anew asks for a handshake, and gets it.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from caudal.hal.errors import CaudalError
from caudal.onboard.link.frame import (
    ASK,
    BYE,
    DELIMITER,
    HANDSHAKE,
    OUTPUTS,
    READINGS,
    Decoder,
    Encoder,
    wire_size,
)
from caudal.onboard.link.frame_counters import NEW, FrameCounters
from caudal.onboard.link.handshake import SIZE, Handshake
from caudal.onboard.link.layout import outputs_layout, readings_layout
from caudal.onboard.tables.read import Settings

if TYPE_CHECKING:
    from caudal.onboard.link.controller import Port

RESEND_MS = 100


class Refusal(CaudalError):
    """The other end does not fit; one sentence."""


class PlantSide:
    """`now_s`: the clock that it waits by; a line within one process has its own (tools/hil/in_process_wire.py)."""

    def __init__(
        self, settings: Settings, digest: str, port: "Port", now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._port = port
        self._now_s = now_s
        self._out = readings_layout(settings.sensors)
        self._in = outputs_layout(settings.actuators)
        self._handshake = Handshake(digest, settings.rate_hz, self._out.channels, self._in.channels)
        self.decoder = Decoder({HANDSHAKE: SIZE, OUTPUTS: self._in.size, ASK: 0})
        self._payload = bytearray(max(self._out.size, SIZE))
        self._encoder = Encoder(bytearray(wire_size(len(self._payload))))
        self._chunk = bytearray(512)
        self._sequence = 0
        self._outputs: list[int | None] = [0] * self._in.channels
        self.bytes_sent = 0
        self.bytes_received = 0
        self.greetings = 0  # how often a controller was told to start anew
        self._asked = False  # has the other end asked for a handshake
        self._open: tuple[int, list[int | None]] | None = (
            None  # the question that has no answer yet: tick, counts
        )
        self._resend_at = 0.0
        self._posted = [0] * 256  # when a tick's readings went, ns

    @property
    def counters(self) -> FrameCounters:
        """What has come over the wire, counted."""
        return self.decoder.counters

    def connect(self, patience_s: float = 20.0) -> bool:
        """Sends the handshake until the other side answers it; False if it never does."""
        give_up = self._now_s() + patience_s
        self._port.write(bytearray(DELIMITER), 1)
        while self._now_s() < give_up:
            self._send_handshake()
            if self._await(HANDSHAKE, 0, RESEND_MS):
                refusal = self._handshake.refusal(self.decoder.payload)
                if refusal:
                    raise Refusal(refusal)
                return True
        return False

    def exchange(self, tick: int, counts: list[int | None], patience_s: float) -> list[int] | None:
        """One tick: the outputs that answer these readings, or None if the other end is gone.

        A question that was given up is put again in the ticks that follow, under its old tick number, until it is
        answered: so the controller's loop is never ahead of what the actuators were given, however long the wire was
        cut and wherever, and it takes up with the next step of its motion.
        """
        start_ns = time.monotonic_ns()
        give_up = self._now_s() + patience_s
        asked_tick, asked_counts = self._open or (tick, counts)
        if not self._open:
            self._ask(asked_tick, asked_counts)
        while True:
            now = self._now_s()
            wait_s = min(give_up, self._resend_at) - now
            if self._await(OUTPUTS, asked_tick, max(1, int(wait_s * 1000))):
                self._open = None
                outputs = self._unpacked()
                self.counters.round_trip((time.monotonic_ns() - start_ns) // 1000)
                return outputs
            if self._asked:  # it has started anew, and gets this tick's readings
                self._send_handshake()
                asked_tick, asked_counts = tick, counts
                self._ask(asked_tick, asked_counts)
            elif self._now_s() >= self._resend_at:
                self._ask(asked_tick, asked_counts, again=True)
            if self._now_s() >= give_up:
                self._open = (asked_tick, list(asked_counts))
                return None

    def _send_handshake(self) -> None:
        self._send(HANDSHAKE, 0, self._handshake.pack(self._payload))
        self.greetings += 1

    def _ask(self, tick: int, counts: list[int | None], again: bool = False) -> None:
        if again:  # the same frame once more is a duplicate to the other end, not a new tick
            self._sequence = (self._sequence - 1) & 0xFFFF
        self._send(READINGS, tick, self._out.pack(counts, self._payload))
        self._resend_at = self._now_s() + RESEND_MS / 1000

    def post(self, tick: int, counts: list[int | None], gone: bool = False) -> None:
        """Free running: send a tick's readings and do not wait. To a controller that is `gone`, the last it was sent
        go again, so that its loop does not run on when it hears but is not heard."""
        if self._asked:
            self._asked = False
            self._send_handshake()
            self._open = None
        if gone and self._open:
            tick, _ = self._open
            self._ask(*self._open, again=True)
        else:
            self._open = (tick, list(counts))
            self._ask(tick, counts)
        self._posted[tick % len(self._posted)] = time.monotonic_ns()

    def collect(self, tick: int) -> list[int] | None:
        """Free running: the newest outputs that have come since the last time, or None."""
        newest = None
        while True:
            while self.decoder.next():
                if self.decoder.kind == ASK:
                    self._asked = True
                elif self.decoder.kind == OUTPUTS and self.decoder.standing == NEW:
                    newest = self._unpacked()
                    if tick - self.decoder.tick < len(self._posted):
                        asked_ns = self._posted[self.decoder.tick % len(self._posted)]
                        self.counters.round_trip((time.monotonic_ns() - asked_ns) // 1000)
            if not self._receive(0):
                return newest

    def _unpacked(self) -> list[int]:
        """The outputs of the decoder's frame, which are never absent."""
        self._in.unpack(self.decoder.payload, self._outputs)
        return [output or 0 for output in self._outputs]

    def bye(self) -> None:
        self._send(BYE, 0, 0)

    def _await(self, kind: int, tick: int, timeout_ms: int) -> bool:
        """Read on until that frame comes; others are answers to questions given up."""
        give_up = self._now_s() + timeout_ms / 1000
        self._asked = False
        while True:
            while self.decoder.next():  # first of what had come with the last answer
                if self.decoder.kind == kind and self.decoder.tick == tick:
                    return True
                self._asked = self._asked or self.decoder.kind == ASK
            left_ms = int((give_up - self._now_s()) * 1000) + 1
            if self._asked or left_ms <= 0 or not self._receive(left_ms):
                return False

    def _receive(self, timeout_ms: int) -> int:
        """Bytes for the decoder, which must have been read to its end; how many."""
        count = self._port.read(self._chunk, timeout_ms)
        self.bytes_received += count
        self.decoder.feed(self._chunk, count)
        return count

    def _send(self, kind: int, tick: int, size: int) -> None:
        self._sequence = (self._sequence + 1) & 0xFFFF
        count = self._encoder.frame(kind, self._sequence, tick, self._payload, size)
        self._port.write(self._encoder.buffer, count)
        self.bytes_sent += count
