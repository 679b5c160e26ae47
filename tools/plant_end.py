"""The plant's end of the bench wire: sends a tick's readings, waits for the outputs of that tick.

In lockstep simulated time stands still while it waits. A frame without an answer is sent again; after
`patience_s` of silence the other end is gone: the exchange gives None, and whoever steps the plant puts its
actuators into their safe state.
"""

import time
from typing import Any

from onboard.link.frame import BYE, DELIMITER, HELLO, OUTPUTS, READINGS, Decoder, Encoder, wire_size
from onboard.link.hello import SIZE, Hello
from onboard.link.layout import outputs_layout, readings_layout

RESEND_MS = 250


class Refusal(Exception):
    """The other end does not fit; one sentence."""


class PlantEnd:
    def __init__(self, settings: dict[str, Any], digest: str, port: Any, patience_s: float = 2.0) -> None:
        self._port = port
        self._patience_s = patience_s
        self._out = readings_layout(settings["sensors"])
        self._in = outputs_layout(settings["actuators"])
        self._hello = Hello(digest, settings["rate_hz"], self._out.channels, self._in.channels)
        self.decoder = Decoder({HELLO: SIZE, OUTPUTS: self._in.size})
        self._payload = bytearray(max(self._out.size, SIZE))
        self._encoder = Encoder(bytearray(wire_size(len(self._payload))))
        self._chunk = bytearray(512)
        self._sequence = 0
        self._outputs = [0] * self._in.channels
        self.bytes_sent = 0
        self.bytes_received = 0

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

    def exchange(self, tick: int, counts: list[int | None]) -> list[int] | None:
        """One tick: the outputs that answer these readings, or None if the other end is gone."""
        size = self._out.pack(counts, self._payload)
        sequence = (self._sequence + 1) & 0xFFFF
        give_up = time.monotonic() + self._patience_s
        while time.monotonic() < give_up:
            self._sequence = sequence - 1  # the same frame again is a duplicate, not a new one
            self._send(READINGS, tick, size)
            if self._await(OUTPUTS, tick, RESEND_MS):
                self._in.unpack(self.decoder.payload, self._outputs)
                return self._outputs
        return None

    def bye(self) -> None:
        self._send(BYE, 0, 0)

    def _await(self, kind: int, tick: int, timeout_ms: int) -> bool:
        """Read on until that frame comes; others are answers to questions given up."""
        give_up = time.monotonic() + timeout_ms / 1000
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

    def _send(self, kind: int, tick: int, size: int) -> None:
        self._sequence = (self._sequence + 1) & 0xFFFF
        count = self._encoder.frame(kind, self._sequence, tick, self._payload, size)
        self._port.write(self._encoder.buffer, count)
        self.bytes_sent += count
