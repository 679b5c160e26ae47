"""The controller side of the HIL link: answers every tick's readings with the outputs of its loop.

The plant side sends a handshake; the controller side builds and arms a fresh loop; then each READINGS frame is one
tick and gets one OUTPUTS frame with the same tick number. When readings stop, this side puts the outputs into their
safe state after a timeout and the loop pauses, so that it continues from the actuators' positions when readings
return. Another handshake means that the plant has restarted, and restarts the loop.

Portable: CPython and MicroPython.
"""

from caudal.onboard.build import build_loop
from caudal.onboard.core.clock import ticks_diff, ticks_us
from caudal.onboard.link.frame import ASK, BYE, HANDSHAKE, OUTPUTS, READINGS, Decoder, Encoder, wire_size
from caudal.onboard.link.frame_counters import DUPLICATE, LATE
from caudal.onboard.link.handshake import SIZE, Handshake
from caudal.onboard.link.layout import outputs_layout, readings_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from caudal.onboard.core.loop import Loop
    from caudal.onboard.tables.read import Scenario, Settings

    class Port(Protocol):
        """A serial line: `read` waits at most `timeout_ms` and returns the number of bytes."""

        def read(self, buffer: bytearray, timeout_ms: int) -> int: ...

        def write(self, buffer: bytearray, count: int) -> object: ...


class WireDriver:
    """The board's driver: counts from the received frame, outputs for the next frame."""

    def __init__(self, sensors: int, actuators: int) -> None:
        self.counts: list[int | None] = [None] * sensors
        self.outputs = [0] * actuators

    def read(self, counts: "list[int | None]") -> None:
        """Fills in the counts of the last frame."""
        i = 0
        for count in self.counts:
            counts[i] = count
            i += 1

    def write(self, outputs: "list[int]") -> None:
        """Stores the outputs for the next frame."""
        i = 0
        for output in outputs:
            self.outputs[i] = output
            i += 1

    def close(self) -> None:
        """Does nothing: the port stays open."""


class Controller:
    """Runs one scenario for the plants at the other side of the port. `refusal`: why the last plant did not fit."""

    def __init__(self, settings: "Settings", scenario: "Scenario", digest: str, port: "Port") -> None:
        self._settings = settings
        self._scenario = scenario
        self._port = port
        self._in = readings_layout(settings.sensors)
        self._out = outputs_layout(settings.actuators)
        self._handshake = Handshake(digest, settings.rate_hz, self._in.channels, self._out.channels)
        self.decoder = Decoder({HANDSHAKE: SIZE, READINGS: self._in.size, BYE: 0})
        self._payload = bytearray(max(self._out.size, SIZE))
        self._encoder = Encoder(bytearray(wire_size(len(self._payload))))
        self._sequence = 0
        self._chunk = bytearray(512)
        self._driver = WireDriver(self._in.channels, self._out.channels)
        self.loop: Loop | None = None  # until the first handshake
        self.refusal: str | None = None
        self.timed_out = False
        self.ended = False  # does it serve no longer

    def serve(self, timeout_ms: int) -> None:
        """Serves until the plant closes the link or does not fit; without a frame for `timeout_ms` the outputs go safe.

        Only frames count: line noise does not reset the timeout.
        """
        received_us = ticks_us()
        while not self.ended:
            quiet_ms = ticks_diff(ticks_us(), received_us) // 1000
            if quiet_ms >= timeout_ms:
                self.on_timeout()
            count = self._port.read(self._chunk, timeout_ms if self.timed_out else timeout_ms - quiet_ms)
            if count == 0:
                continue
            self.decoder.feed(self._chunk, count)
            while self.decoder.next():
                received_us = ticks_us()
                self.timed_out = False
                if self.decoder.kind == BYE:
                    return
                self.answer()
                if self.ended:
                    return

    def on_timeout(self) -> None:
        """Puts the outputs into their safe state: no frame came within the timeout."""
        if not self.timed_out:
            self.timed_out = True
            if self.loop is not None:
                self.loop.board.safe()

    def answer(self) -> None:
        """Answers the decoder's frame."""
        decoder = self.decoder
        if decoder.kind == HANDSHAKE:
            self.refusal = self._handshake.refusal(decoder.payload)
            self.ended = self.refusal is not None
            if not self.ended and (
                self.loop is None or self.loop.ticks
            ):  # several handshakes in a row need one fresh loop
                self.start()
            self._send(HANDSHAKE, 0, self._handshake.pack(self._payload))
        elif self.loop is None:  # this side has restarted, and the plant does not know
            self._send(ASK, 0, 0)
        elif decoder.standing != LATE:
            if decoder.standing != DUPLICATE:  # the answer to a duplicate was lost: send the same again
                self._in.unpack(decoder.payload, self._driver.counts)
                self.tick()
                self._out.pack(self._driver.outputs, self._payload)
            self._send(OUTPUTS, decoder.tick, self._out.size)

    def start(self) -> None:
        """Builds a loop for the plant that has connected, and arms it."""
        self.loop = build_loop(self._settings, self._scenario, self._driver)
        self.loop.arm()

    def tick(self) -> None:
        """One tick of the loop."""
        assert self.loop is not None, "a plant has connected"
        self.loop.tick()

    def _send(self, kind: int, tick: int, size: int) -> None:
        self._sequence = (self._sequence + 1) & 0xFFFF
        count = self._encoder.frame(kind, self._sequence, tick, self._payload, size)
        self._port.write(self._encoder.buffer, count)
