"""Serial ports for HIL links: a serial device, a pseudo-terminal, or tcp:HOST:PORT. CPython only."""

import os
import select
from typing import Any

import serial

from caudal.hal.errors import CaudalError


class PortError(CaudalError, OSError):
    """A port that cannot be opened or is gone; one sentence."""


class Port:
    """An open file descriptor with a read timeout."""

    def __init__(self, fd: int, name: str, owner: Any = None) -> None:
        self.name = name
        self._fd = fd
        self._owner = owner  # pyserial's object, which owns the descriptor
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def close(self) -> None:
        """Closes the port."""
        if self._owner is None:
            os.close(self._fd)
        else:
            self._owner.close()

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        """Receives into the buffer; the number of bytes, 0 after the timeout."""
        ready = self._poll.poll(timeout_ms)
        if not ready:
            return 0
        try:
            got = os.read(self._fd, len(buffer))
        except OSError as error:  # the other side of a pseudo-terminal is closed
            raise PortError(f"{self.name} is gone ({error.strerror})") from error
        if not got:
            raise PortError(f"{self.name} is gone (end of file)")
        buffer[: len(got)] = got
        return len(got)

    def write(self, buffer: bytearray, count: int) -> None:
        """Sends `count` bytes of the buffer."""
        left = memoryview(buffer)[:count]
        while left:
            try:
                left = left[os.write(self._fd, left) :]
            except OSError as error:
                raise PortError(f"{self.name} is gone ({error.strerror})") from error


def open_port(name: str, baud: int = 921_600) -> Port:
    """Opens a port by its name."""
    url = f"socket://{name.removeprefix('tcp:')}" if name.startswith("tcp:") else name
    try:
        line = serial.serial_for_url(url, baudrate=baud, timeout=0)
        return Port(line.fileno(), name, line)
    except (serial.SerialException, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PortError(f"cannot open {name}: {reason}; check the device and its permissions") from error
