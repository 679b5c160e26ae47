"""The controller's end of the bench wire: answers every tick's readings with the outputs its loop makes of them.

The plant says hello; a fresh loop is built and armed; then each READINGS frame is one tick and gets one OUTPUTS
frame with the same tick number. When readings stop, this end's dead-man puts the outputs into their safe state and
the loop stands still, so that it takes up where the actuators were left when readings come back. A plant that says
hello again has started anew, and so does the loop.

A port has `read(buffer, timeout_ms) -> count` and `write(buffer, count)`. Portable: CPython and MicroPython.
"""

from caudal.onboard.build import build_loop
from caudal.onboard.core.clock import ticks_diff, ticks_us
from caudal.onboard.link.frame import ASK, BYE, HANDSHAKE, OUTPUTS, READINGS, Decoder, Encoder, wire_size
from caudal.onboard.link.frame_counters import DUPLICATE, LATE
from caudal.onboard.link.handshake import SIZE, Handshake
from caudal.onboard.link.layout import outputs_layout, readings_layout


class WireDriver:
    """The board's driver: counts from the frame that came, outputs into the frame that goes."""

    def __init__(self, sensors, actuators):
        self.counts = [None] * sensors
        self.outputs = [0] * actuators

    def read(self, counts):
        i = 0
        for count in self.counts:
            counts[i] = count
            i += 1

    def write(self, outputs):
        i = 0
        for output in outputs:
            self.outputs[i] = output
            i += 1

    def close(self):
        pass


class Controller:
    def __init__(self, settings, scenario, digest, port):
        self._settings = settings
        self._scenario = scenario
        self._port = port
        self._in = readings_layout(settings["sensors"])
        self._out = outputs_layout(settings["actuators"])
        self._handshake = Handshake(digest, settings["rate_hz"], self._in.channels, self._out.channels)
        self.decoder = Decoder({HANDSHAKE: SIZE, READINGS: self._in.size, BYE: 0})
        self._payload = bytearray(max(self._out.size, SIZE))
        self._encoder = Encoder(bytearray(wire_size(len(self._payload))))
        self._sequence = 0
        self._chunk = bytearray(512)
        self._driver = WireDriver(self._in.channels, self._out.channels)
        self.loop = None  # until the plant has said hello
        self.refusal = None
        self.timed_out = False  # have the readings stopped

    def serve(self, timeout_ms):
        """Until the plant says bye or does not fit; after `timeout_ms` without a frame the outputs go safe.

        Bytes that make no frame are no news: a line that babbles is as good as cut.
        """
        heard_us = ticks_us()
        while True:
            quiet_ms = ticks_diff(ticks_us(), heard_us) // 1000
            if quiet_ms >= timeout_ms:
                self.on_timeout()
            count = self._port.read(self._chunk, timeout_ms if self.timed_out else timeout_ms - quiet_ms)
            if count == 0:
                continue
            self.decoder.feed(self._chunk, count)
            while self.decoder.next():
                heard_us = ticks_us()
                self.timed_out = False
                if self.decoder.kind == BYE:
                    return
                self.answer()
                if self.refusal is not None:
                    return

    def on_timeout(self):
        """Nothing was heard for too long: the dead-man."""
        if not self.timed_out:
            self.timed_out = True
            if self.loop is not None:
                self.loop.board.safe()

    def answer(self):
        """Answer the frame that the decoder holds."""
        decoder = self.decoder
        if decoder.kind == HANDSHAKE:
            self.refusal = self._handshake.refusal(decoder.payload)
            if self.loop is None or self.loop.ticks:  # several hellos may have waited: one fresh loop will do
                self.loop = build_loop(self._settings, self._scenario, self._driver)
                self.loop.arm()
            self._send(HANDSHAKE, 0, self._handshake.pack(self._payload))
        elif self.loop is None:  # started behind the plant's back
            self._send(ASK, 0, 0)
        elif decoder.standing != LATE:
            if (
                decoder.standing != DUPLICATE
            ):  # of a duplicate the answer was lost: it is given again as it was
                self._in.unpack(decoder.payload, self._driver.counts)
                self.loop.tick()
                self._out.pack(self._driver.outputs, self._payload)
            self._send(OUTPUTS, decoder.tick, self._out.size)

    def _send(self, kind, tick, size):
        self._sequence = (self._sequence + 1) & 0xFFFF
        count = self._encoder.frame(kind, self._sequence, tick, self._payload, size)
        self._port.write(self._encoder.buffer, count)
