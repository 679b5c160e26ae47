"""The controller's process in `caudal bench wire`: an ordinary controller on a port that keeps the time."""

import time
from typing import Any

from caudal.onboard.link.controller import Controller
from caudal.onboard.run import realtime
from caudal.tools.hil.reconnecting_port import ReconnectingPort
from caudal.tools.vehicle_run.config import open_controlled


class TimedPort:
    """How long whoever uses it thinks: from the last byte that came to the first that goes."""

    def __init__(self, port: Any) -> None:
        self._port = port
        self.heard_ns = 0  # when bytes came last
        self.spoke_ns = 0  # when the last ones went
        self.thought_ns = 0
        self.answers = 0

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        count = self._port.read(buffer, timeout_ms)
        self.heard_ns = time.perf_counter_ns()
        return count

    def write(self, buffer: bytearray, count: int) -> None:
        self.spoke_ns = time.perf_counter_ns()
        self.thought_ns += self.spoke_ns - self.heard_ns
        self.answers += 1
        self._port.write(buffer, count)

    def close(self) -> None:
        self._port.close()


def serve(vehicle: str, overrides: list[str], scenario: str, line: str, results: Any) -> None:
    """Until the plant says bye; then what an answer took, in us, goes into the pipe."""
    controlled, _, settings = open_controlled(vehicle, overrides, scenario)
    timed = TimedPort(ReconnectingPort(line))
    controller = Controller(controlled.settings, settings, controlled.file.digest(), timed)
    realtime.first_in_line(realtime.PRIORITY)
    controller.serve(patience_ms=10_000)
    results.send(timed.thought_ns / max(timed.answers, 1) / 1e3)
