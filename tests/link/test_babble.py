"""A line with bytes but no frames: the controller's link timeout treats it as cut."""

import random
import time

from caudal.onboard.link.controller import Controller
from caudal.onboard.link.frame import BYE, HANDSHAKE, Encoder, wire_size
from caudal.onboard.link.handshake import SIZE, Handshake
from caudal.tools.vehicle_run.config import open_controlled

PATIENCE_MS = 50


class BabblingPort:
    """The plant's handshake, then noise until the controller has gone safe (or an hour has passed), then bye."""

    def __init__(self, digest: str, settings: dict) -> None:
        handshake = Handshake(
            digest, settings["rate_hz"], len(settings["sensors"]), len(settings["actuators"])
        )
        self._payload = bytearray(SIZE)
        self._size = handshake.pack(self._payload)
        self._encoder = Encoder(bytearray(wire_size(SIZE)))
        self._random = random.Random(1)
        self.controller: Controller | None = None
        self.noise = 0
        self.was_silent = False

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        if self.controller.loop is None:
            return self._frame(buffer, HANDSHAKE, self._size)
        if self.controller.timed_out or self.noise > 100_000:
            self.was_silent = self.controller.timed_out
            return self._frame(buffer, BYE, 0)
        time.sleep(0.001)
        self.noise += 20
        buffer[:20] = self._random.randbytes(20)
        return 20

    def write(self, buffer: bytearray, count: int) -> None:
        pass

    def _frame(self, buffer: bytearray, kind: int, size: int) -> int:
        count = self._encoder.frame(kind, 1, 0, self._payload, size)
        buffer[:count] = self._encoder.buffer[:count]
        return count


def test_noise_does_not_keep_a_controller_from_going_safe():
    vehicle, _, scenario = open_controlled("fish", [], "cruise")
    digest = vehicle.file.digest()
    port = BabblingPort(digest, vehicle.settings)
    port.controller = Controller(vehicle.settings, scenario, digest, port)
    port.controller.serve(PATIENCE_MS)
    assert port.was_silent and port.noise > 200 and port.controller.refusal is None
    assert port.controller.loop.board.outputs == port.controller.loop.board.safe_outputs
