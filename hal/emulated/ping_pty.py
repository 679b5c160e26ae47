"""An emulated Ping1D behind a pseudo-terminal, for drivers that open a serial port themselves. CPython only, Linux."""

import os
import select
import threading
import time
import tty
from types import TracebackType

from caudal.hal.emulated.ping import Ping1d


class PingPty:
    """`with PingPty() as line:` serves `line.device` at `line.path`, in a thread and in real time."""

    def __init__(self) -> None:
        self.device = Ping1d(lambda: time.monotonic_ns() // 1000)
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)  # stays open, so that a driver can close the port and open it again
        self._stop_read, self._stop_write = os.pipe()
        self.path = os.ttyname(self._slave)
        self._thread = threading.Thread(target=self._serve, name="ping", daemon=True)

    def __enter__(self) -> "PingPty":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.write(self._stop_write, b"x")
        self._thread.join()
        for fd in (self._master, self._slave, self._stop_read, self._stop_write):
            os.close(fd)

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._master, self._stop_read], [], [], 0.001)
            if self._stop_read in ready:
                return
            if self._master in ready:
                self.device.write(os.read(self._master, 4096))
            answer = self.device.read(4096)
            if answer:
                os.write(self._master, answer)
