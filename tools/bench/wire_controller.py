"""The controller's process of `caudal bench wire`: a normal controller on a port that measures time."""

import time
from typing import Any

from caudal.onboard.host import realtime
from caudal.onboard.link.controller import Controller
from caudal.onboard.run.config import open_controlled
from caudal.tools.hil.reconnecting_port import ReconnectingPort


class TimedPort:
    """Wraps a port and measures the user's compute time: from the last byte received to the first sent."""

    def __init__(self, port: Any) -> None:
        self._port = port
        self.received_ns = 0  # when bytes were last received
        self.sent_ns = 0  # when bytes were last sent
        self.compute_ns = 0
        self.responses = 0

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        """Receives into the buffer; the number of bytes."""
        count: int = self._port.read(buffer, timeout_ms)
        self.received_ns = time.perf_counter_ns()
        return count

    def write(self, buffer: bytearray, count: int) -> None:
        """Sends `count` bytes of the buffer."""
        self.sent_ns = time.perf_counter_ns()
        self.compute_ns += self.sent_ns - self.received_ns
        self.responses += 1
        self._port.write(buffer, count)

    def close(self) -> None:
        """Closes the wrapped port."""
        self._port.close()


def serve(vehicle: str, overrides: list[str], scenario: str, line: str, results: Any) -> None:
    """Serves until the plant ends the link, then sends the mean compute time of a response, us, to `results`."""
    controlled, _, settings = open_controlled(vehicle, overrides, scenario)
    timed = TimedPort(ReconnectingPort(line))
    controller = Controller(controlled.settings, settings, controlled.file.digest(), timed)
    realtime.first_in_line(realtime.PRIORITY)
    controller.serve(timeout_ms=10_000)
    results.send(timed.compute_ns / max(timed.responses, 1) / 1e3)
