"""The plant's end of the bench wire: sends a tick's readings, waits for the outputs of that tick.

In lockstep simulated time stands still while it waits (`exchange`); free running it does not wait, and takes what
has come (`post`, `collect`). In lockstep a frame without an answer is sent again; after the
patience given the other end counts as gone: the exchange gives None, and whoever steps the plant puts its
actuators into their safe state. A controller that has started anew asks for a hello, and gets it.
"""

import time
from typing import Any

from onboard.link.arrivals import NEW, Arrivals
from onboard.link.frame import ASK, BYE, DELIMITER, HELLO, OUTPUTS, READINGS, Decoder, Encoder, wire_size
from onboard.link.hello import SIZE, Hello
from onboard.link.layout import outputs_layout, readings_layout

RESEND_MS = 100


class Refusal(Exception):
    """The other end does not fit; one sentence."""


class PlantEnd:
    def __init__(self, settings: dict[str, Any], digest: str, port: Any) -> None:
        self._port = port
        self._out = readings_layout(settings["sensors"])
        self._in = outputs_layout(settings["actuators"])
        self._hello = Hello(digest, settings["rate_hz"], self._out.channels, self._in.channels)
        self.decoder = Decoder({HELLO: SIZE, OUTPUTS: self._in.size, ASK: 0})
        self._payload = bytearray(max(self._out.size, SIZE))
        self._encoder = Encoder(bytearray(wire_size(len(self._payload))))
        self._chunk = bytearray(512)
        self._sequence = 0
        self._outputs = [0] * self._in.channels
        self.bytes_sent = 0
        self.bytes_received = 0
        self._asked = False  # has the other end asked for a hello
        self._posted = [0] * 256  # when a tick's readings went, ns

    @property
    def arrivals(self) -> Arrivals:
        """What has come over the wire, counted."""
        return self.decoder.arrivals

    def greet(self, patience_s: float = 20.0) -> bool:
        """Say hello until the other end does; False if it never did."""
        give_up = time.monotonic() + patience_s
        self._port.write(bytearray(DELIMITER), 1)
        while time.monotonic() < give_up:
            self._send(HELLO, 0, self._hello.pack(self._payload))
            if self._await(HELLO, 0, RESEND_MS):
                refusal = self._hello.refusal(self.decoder.payload)
                if refusal:
                    raise Refusal(refusal)
                return True
        return False

    def exchange(self, tick: int, counts: list[int | None], patience_s: float) -> list[int] | None:
        """One tick: the outputs that answer these readings, or None if the other end is gone."""
        give_up = time.monotonic() + patience_s
        again = False
        while True:
            if again:  # the same frame once more is a duplicate to the other end, not a new tick
                self._sequence = (self._sequence - 1) & 0xFFFF
            self._send(READINGS, tick, self._out.pack(counts, self._payload))
            left_ms = int((give_up - time.monotonic()) * 1000)
            if self._await(OUTPUTS, tick, min(max(left_ms, 1), RESEND_MS)):
                self._in.unpack(self.decoder.payload, self._outputs)
                return self._outputs
            again = not self._asked
            if self._asked:
                self._send(HELLO, 0, self._hello.pack(self._payload))
            if time.monotonic() >= give_up:
                return None

    def post(self, tick: int, counts: list[int | None]) -> None:
        """Free running: send a tick's readings and do not wait."""
        if self._asked:
            self._asked = False
            self._send(HELLO, 0, self._hello.pack(self._payload))
        self._send(READINGS, tick, self._out.pack(counts, self._payload))
        self._posted[tick % len(self._posted)] = time.monotonic_ns()

    def collect(self, tick: int) -> list[int] | None:
        """Free running: the newest outputs that have come since the last time, or None."""
        newest = None
        while count := self._port.read(self._chunk, 0):
            self.bytes_received += count
            self.decoder.feed(self._chunk, count)
            while self.decoder.next():
                if self.decoder.kind == ASK:
                    self._asked = True
                elif self.decoder.kind == OUTPUTS and self.decoder.standing == NEW:
                    self._in.unpack(self.decoder.payload, self._outputs)
                    newest = self._outputs
                    if tick - self.decoder.tick < len(self._posted):
                        asked_ns = self._posted[self.decoder.tick % len(self._posted)]
                        self.decoder.arrivals.round_trip((time.monotonic_ns() - asked_ns) // 1000)
        return newest

    def bye(self) -> None:
        self._send(BYE, 0, 0)

    def _await(self, kind: int, tick: int, timeout_ms: int) -> bool:
        """Read on until that frame comes; others are answers to questions given up."""
        give_up = time.monotonic() + timeout_ms / 1000
        self._asked = False
        while True:
            left_ms = max(0, int((give_up - time.monotonic()) * 1000) + 1)
            count = self._port.read(self._chunk, left_ms)
            if not count:
                return False
            self.bytes_received += count
            self.decoder.feed(self._chunk, count)
            while self.decoder.next():
                if self.decoder.kind == kind and self.decoder.tick == tick:
                    return True
                self._asked = self._asked or self.decoder.kind == ASK
            if self._asked or time.monotonic() >= give_up:
                return False

    def _send(self, kind: int, tick: int, size: int) -> None:
        self._sequence = (self._sequence + 1) & 0xFFFF
        count = self._encoder.frame(kind, self._sequence, tick, self._payload, size)
        self._port.write(self._encoder.buffer, count)
        self.bytes_sent += count
