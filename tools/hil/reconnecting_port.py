"""A port of a HIL link by name, which may be unplugged and plugged in again.

    /dev/ttyUSB0            a serial device at 921,600 baud; /dev/ttyUSB0@115200 at another rate
    pty                     a new pseudo-terminal; prints the name of its other end to stderr
    tcp:HOST:PORT           connects to a listening port
    tcp:PORT, tcp::PORT     listens on this machine only; tcp:*:PORT for other machines too

A port that cannot be opened at the start is an error. If it breaks later, it is opened again until it is back;
meanwhile, frames are lost and the link times out on both sides.
"""

import array
import fcntl
import os
import select
import socket
import termios
import time
from collections.abc import Callable

from caudal.hal.serial_ports import Port, PortError, open_port
from caudal.tools.common import output
from caudal.tools.hil.pty import open_line

FORMS = (
    "a serial device (DEVICE or DEVICE@BAUD), pty, tcp:HOST:PORT to connect, tcp:PORT or tcp::PORT to listen on this "
    "machine alone, tcp:*:PORT to listen to others too"
)
BAUD = 921_600
RETRY_S = 0.2
CONNECT_S = 2.0
DELIVERY_S = 0.2  # a thread of the kernel carries bytes to the other side; until then it has nothing unread
LINGER_S = 5.0  # it goes as soon as the other side has read
SOON_GONE = (
    ("TCP_USER_TIMEOUT", 2000),  # ms that sent bytes may stay without an acknowledgement
    ("TCP_KEEPIDLE", 1),  # s
    ("TCP_KEEPINTVL", 1),
    ("TCP_KEEPCNT", 3),
)


class ReconnectingPort:
    """What a port does (`read`, `write`, `close`), whether or not there is a line just now."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.breaks = 0  # how often it was lost
        self._listener: socket.socket | None = None
        self._connection: socket.socket | None = None
        self._attempt: socket.socket | None = None  # to connect again, under way
        self._tried_at = 0.0
        # Of a pseudo-terminal: held open, or it would hang up whenever the other side is away.
        self._other_end = -1
        self._open = self._opener()
        self._port: Port | None = None
        self._missed = False
        self._retry_at = 0.0
        if self._listener is None:
            self._port = self._open()

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        """Wait for bytes; how many came, 0 after the timeout, whatever becomes of the line meanwhile."""
        give_up = time.monotonic() + timeout_ms / 1000
        while True:
            if self._port is not None:
                left_ms = max(0, round((give_up - time.monotonic()) * 1000))
                try:
                    count = self._port.read(buffer, left_ms)
                except PortError as error:
                    self._lose(error)
                else:
                    if not count:
                        self._renew()  # no frames: the other side may have connected again
                    elif self._missed:
                        self._missed = False
                        output.note(f"caudal: {self.name} is back")
                    return count
            else:
                self._renew()
            left_s = give_up - time.monotonic()
            if left_s <= 0:
                return 0
            if self._port is None:
                time.sleep(min(left_s, RETRY_S / 10))

    def write(self, buffer: bytearray, count: int) -> None:
        """Sends without waiting, or drops the frame: a full line must not delay a tick."""
        if self._port is None:
            self._renew()
        if self._port is None:
            return
        try:
            self._port.write(buffer, count)
        except PortError as error:
            if not isinstance(error.__cause__, BlockingIOError):
                self._lose(error)

    def close(self) -> None:
        """A last word that is still on its way is let through, if the other side takes it soon."""
        if self._port is not None:
            self._linger(self._port)
            self._port.close()
        for opened in (self._listener, self._attempt):
            if opened is not None:
                opened.close()
        if self._other_end >= 0:
            os.close(self._other_end)

    def _linger(self, port: Port) -> None:
        give_up = time.monotonic() + LINGER_S
        if self._other_end >= 0:  # closed, a pseudo-terminal forgets what was not read
            time.sleep(DELIVERY_S)
            while _unread(self._other_end) and time.monotonic() < give_up:
                time.sleep(0.01)
        elif self._connection is not None:  # closed with bytes that came, it resets the connection
            try:
                self._connection.shutdown(socket.SHUT_WR)
                while time.monotonic() < give_up:
                    port.read(bytearray(512), 100)
            except OSError:  # the other side has closed, too
                pass

    def _opener(self) -> Callable[[], Port]:
        if self.name == "pty":
            return self._pseudo_terminal
        if not self.name.startswith("tcp:"):
            device, _, baud = self.name.partition("@")
            if baud and not baud.isdigit():
                raise PortError(f"{self.name}: {baud} is no baud rate; a port is {FORMS}")
            return lambda: open_port(device, int(baud or BAUD))
        host, port = self._address()
        if host and host != "*":
            return lambda: self._connected(host, port)
        self._listener = self._listening("" if host else "127.0.0.1", port)
        return self._accepted

    def _address(self) -> tuple[str, int]:
        host, _, port = self.name.removeprefix("tcp:").rpartition(":")
        if not port.isdigit() or not 0 < int(port) < 65536:
            raise PortError(f"{self.name} names no TCP port from 1 to 65535; a port is {FORMS}")
        return host.strip("[]"), int(port)

    def _pseudo_terminal(self) -> Port:
        here, self._other_end = open_line()
        os.set_blocking(here, False)
        name = os.ttyname(self._other_end)
        output.note(f"caudal: the other end of this line is {name}")
        return Port(here, name)

    def _connected(self, host: str, port: int) -> Port:
        try:
            connection = socket.create_connection((host, port), timeout=CONNECT_S)
            self._peer = connection.getpeername()
        except OSError as error:
            reason = f"{error.strerror or error}; does the other side listen there?"
            raise PortError(f"cannot open {self.name}: {reason}") from error
        self._open = self._connected_again
        return self._port_of(connection)

    def _connected_again(self) -> Port:
        """Without waiting: a machine that does not answer must not hold up a tick."""
        if self._attempt is None:
            self._attempt = socket.socket(socket.AF_INET6 if len(self._peer) > 2 else socket.AF_INET)
            self._attempt.setblocking(False)
            self._attempt.connect_ex(self._peer)
        _, through, _ = select.select([], [self._attempt], [], 0)
        if not through and time.monotonic() < self._tried_at + CONNECT_S:
            raise PortError(f"{self.name} has not answered yet")
        attempt, self._attempt = self._attempt, None
        if not through or attempt.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            attempt.close()
            raise PortError(f"no program listens on {self.name}")
        return self._port_of(attempt)

    def _listening(self, host: str, port: int) -> socket.socket:
        try:
            listener = socket.create_server((host, port), backlog=1)
        except OSError as error:
            raise PortError(
                f"cannot listen on {self.name}: {error.strerror or error}; is the port in use?"
            ) from error
        listener.setblocking(False)
        output.note(f"caudal: listening on {self.name}")
        return listener

    def _accepted(self) -> Port:
        assert self._listener is not None
        try:
            return self._port_of(self._listener.accept()[0])
        except OSError as error:
            raise PortError(f"no program has connected to {self.name}") from error

    def _port_of(self, connection: socket.socket) -> Port:
        # A frame is small and urgent; a cable that is pulled out would be waited for by the quarter hour.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in SOON_GONE:
            if hasattr(socket, option):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        connection.setblocking(False)
        self._connection = connection
        return Port(connection.fileno(), self.name, connection)

    def _renew(self) -> None:
        """Open what is not there, if it can be; take the newest of those who have connected."""
        if self._port is not None and self._listener is None:
            return
        now = time.monotonic()
        if self._attempt is None:
            if self._listener is None and now < self._retry_at:
                return
            self._tried_at = now
            self._retry_at = now + RETRY_S
        try:
            newer = self._open()
        except PortError:
            return
        if self._port is not None:
            self._port.close()
        self._port = newer

    def _lose(self, error: PortError) -> None:
        assert self._port is not None
        self._port.close()
        self._port = None
        self._retry_at = time.monotonic() + RETRY_S
        self.breaks += 1
        if not self._missed:  # one that comes and goes at once is said once
            self._missed = True
            output.note(f"caudal: {error}; waiting for it to come back")


def _unread(terminal: int) -> int:
    """Number of bytes that wait to be read."""
    count = array.array("i", [0])
    fcntl.ioctl(terminal, termios.FIONREAD, count)
    return count[0]
