"""A pseudo-terminal paced like a serial line: a byte takes ten bit times, each way, and arrives when it is through."""

import time

from hal.ports import Port

BITS_A_BYTE = 10  # start, eight data, stop
SPIN_S = 2e-4  # sleep is not finer than this


class PacedPort:
    def __init__(self, port: Port, baud: int) -> None:
        self._port = port
        self._byte_s = BITS_A_BYTE / baud
        self.name = port.name

    def write(self, buffer: bytearray, count: int) -> None:
        _wait_until(time.monotonic() + count * self._byte_s)
        self._port.write(buffer, count)

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        count = self._port.read(buffer, timeout_ms)
        _wait_until(time.monotonic() + count * self._byte_s)
        return count

    def close(self) -> None:
        self._port.close()


def _wait_until(due_s: float) -> None:
    left_s = due_s - time.monotonic()
    if left_s > SPIN_S:
        time.sleep(left_s - SPIN_S)
    while time.monotonic() < due_s:
        pass
