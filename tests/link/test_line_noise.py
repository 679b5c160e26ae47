"""Line noise is bytes without frames: the controller times out as on a cut line."""

import random

from caudal.onboard.link import controller
from caudal.onboard.link.controller import Controller
from caudal.onboard.link.frame import BYE, HANDSHAKE, Encoder, wire_size
from caudal.onboard.link.handshake import SIZE, Handshake
from caudal.onboard.run.config import open_controlled
from caudal.onboard.tables.read import Settings

TIMEOUT_MS = 50


class NoisyPort:
    """A port with the plant's handshake, then noise until the controller has timed out, then the end of the link."""

    def __init__(self, digest: str, settings: Settings) -> None:
        handshake = Handshake(digest, settings.rate_hz, len(settings.sensors), len(settings.actuators))
        self._payload = bytearray(SIZE)
        self._size = handshake.pack(self._payload)
        self._encoder = Encoder(bytearray(wire_size(SIZE)))
        self._random = random.Random(1)
        self.controller: Controller | None = None
        self.noise = 0
        self.now_us = 0
        self.timed_out = False

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        if self.controller.loop is None:
            return self._frame(buffer, HANDSHAKE, self._size)
        if self.controller.timed_out or self.noise > 100_000:
            self.timed_out = self.controller.timed_out
            return self._frame(buffer, BYE, 0)
        self.now_us += 1000
        self.noise += 20
        buffer[:20] = self._random.randbytes(20)
        return 20

    def write(self, buffer: bytearray, count: int) -> None:
        pass

    def _frame(self, buffer: bytearray, kind: int, size: int) -> int:
        count = self._encoder.frame(kind, 1, 0, self._payload, size)
        buffer[:count] = self._encoder.buffer[:count]
        return count


def test_line_noise_does_not_prevent_the_link_timeout(monkeypatch):
    vehicle, _, scenario = open_controlled("fish", [], "cruise")
    digest = vehicle.file.digest()
    port = NoisyPort(digest, vehicle.settings)
    port.controller = Controller(vehicle.settings, scenario, digest, port)
    monkeypatch.setattr(controller, "ticks_us", lambda: port.now_us)
    port.controller.serve(TIMEOUT_MS)
    assert port.timed_out and port.controller.refusal is None
    assert port.controller.loop.board.outputs == port.controller.loop.board.safe_outputs
