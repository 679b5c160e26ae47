"""A pseudo-terminal paced like a serial line: a byte takes ten bit times, each way, and a reader gets it while the next
ones are still on their way, a FIFO's worth at a time.

Measurements with it need real time (onboard/host/realtime.py): an ordinary process oversleeps by more than an exchange
at 921,600 baud may cost. What a UART's driver adds of its own is left out: the pause after which
half a FIFO is handed on, the polls of a USB adapter (1 ms at worst, often settable).
"""

import time

from caudal.hal.serial_ports import Port

BITS_A_BYTE = 10  # start, eight data, stop
FIFO_BYTES = 16
# Sleep is not finer than this. Much longer, and the kernel's workers would have to wait, who carry the bytes.
SPIN_S = 1e-4


class PacedPort:
    def __init__(self, port: Port, baud: int) -> None:
        self._port = port
        self._byte_s = BITS_A_BYTE / baud
        self._came = bytearray(512)
        self._count = 0
        self._given = 0
        self._first_s = 0.0  # when the first of them began to come in
        self.name = port.name

    def write(self, buffer: bytearray, count: int) -> None:
        start_s = time.monotonic()
        at = 0
        while at < count:
            end = min(at + FIFO_BYTES, count)
            _wait_until(start_s + end * self._byte_s)
            self._port.write(buffer[at:end], end - at)
            at = end

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        if self._given == self._count and not self._receive(timeout_ms):
            return 0
        end = min(self._given + FIFO_BYTES, self._count, self._given + len(buffer))
        _wait_until(self._first_s + end * self._byte_s)
        count = end - self._given
        buffer[:count] = self._came[self._given : end]
        self._given = end
        return count

    def close(self) -> None:
        self._port.close()

    def _receive(self, timeout_ms: int) -> bool:
        """What the other end has sent; its bytes follow one behind the other from the instant it did."""
        free_s = self._first_s + self._count * self._byte_s
        self._given = 0
        self._count = self._port.read(self._came, timeout_ms)
        self._first_s = max(time.monotonic(), free_s)
        return self._count > 0


def _wait_until(due_s: float) -> None:
    left_s = due_s - time.monotonic()
    if left_s > SPIN_S:
        time.sleep(left_s - SPIN_S)
    while time.monotonic() < due_s:
        pass
