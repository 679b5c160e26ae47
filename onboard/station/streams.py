"""Lines of bytes: TCP connections and serial devices. Who says too much is not read for a while, and the line itself
holds him back."""

import os
import selectors
import socket
from typing import Any

from caudal.onboard.station.address import Address
from caudal.onboard.station.links import MOST_PEERS, NET_B_S, PIECE, LinkError, Welcome, reason
from caudal.onboard.station.station_link import StationLink

KEPT = 1 << 16  # bytes that wait for a slow station
STALLED_S = 10.0
AGAIN_S = 1.0  # a serial device that is gone is looked for so often


class Stream:
    """A line of bytes that may take less than it is given: a TCP connection, a serial device."""

    def __init__(self, name: str, fd: Any, selector: Any, welcome: Welcome, rate_b_s: float) -> None:
        self.fd = fd
        self.broken = False
        self._selector = selector
        self._waiting = bytearray()
        self._now_s = self._moved_s = 0.0
        self._events = selectors.EVENT_READ
        self.peer = welcome(name, self._send, rate_b_s, False)
        selector.register(fd, self._events, self._ready)

    def read(self) -> bytes:
        raise NotImplementedError

    def write(self, data: bytes | bytearray) -> int:
        raise NotImplementedError

    def step(self, now_s: float) -> None:
        self._now_s = now_s
        if not self._waiting:
            self._moved_s = now_s
        elif now_s - self._moved_s > STALLED_S:
            self.broken = True
        self._watch()

    def close(self) -> None:
        self.peer.end()
        if self._events:
            self._selector.unregister(self.fd)

    def _send(self, data: bytes) -> bool:
        if self.broken or len(self._waiting) + len(data) > KEPT:
            return False
        self._waiting += data
        self._flush()
        return True

    def _flush(self) -> None:
        try:
            sent = self.write(self._waiting)
        except BlockingIOError:
            return
        except OSError:
            self.broken = True
            return
        if sent:
            self._moved_s = self._now_s
            del self._waiting[:sent]

    def _ready(self, events: int, now_s: float) -> None:
        if events & selectors.EVENT_WRITE and self._waiting:
            self._flush()
        if events & selectors.EVENT_READ and not self.broken and self.peer.may_speak():
            try:
                data = self.read()
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if data:
                self.peer.hear(data, now_s)
            else:
                self.broken = True
        self._watch()

    def _watch(self) -> None:
        """Who says too much is not read until its share has come again: the line itself holds it back."""
        wanted = selectors.EVENT_WRITE if self._waiting else 0
        wanted |= selectors.EVENT_READ if self.peer.may_speak() else 0
        if wanted == self._events or self.broken:
            return
        if not wanted:
            self._selector.unregister(self.fd)
        elif not self._events:
            self._selector.register(self.fd, wanted, self._ready)
        else:
            self._selector.modify(self.fd, wanted, self._ready)
        self._events = wanted


class Connection(Stream):
    def __init__(self, connection: socket.socket, name: str, selector: Any, welcome: Welcome) -> None:
        connection.setblocking(False)
        super().__init__(name, connection, selector, welcome, NET_B_S)

    def read(self) -> bytes:
        return self.fd.recv(PIECE)

    def write(self, data: bytes | bytearray) -> int:
        return self.fd.send(data)

    def close(self) -> None:
        super().close()
        self.fd.close()


class Tcp:
    """Listens; every connection is a station."""

    def __init__(self, address: Address, selector: Any, welcome: Welcome) -> None:
        self._selector = selector
        self._welcome = welcome
        self._connections: list[Connection] = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.setblocking(False)
        try:
            self.socket.bind((address.host, address.port))
            self.socket.listen(MOST_PEERS)
        except (OSError, UnicodeError) as error:
            self.socket.close()
            raise LinkError(f"{address}: {reason(error)}") from error
        selector.register(self.socket, selectors.EVENT_READ, self._ready)

    def peers(self) -> list[StationLink]:
        return [connection.peer for connection in self._connections]

    def step(self, now_s: float) -> None:
        for connection in self._connections:
            connection.step(now_s)
            if connection.broken:
                connection.close()
        self._connections = [c for c in self._connections if not c.broken]

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self.socket.close()

    def _ready(self, events: int, now_s: float) -> None:
        try:
            connection, where = self.socket.accept()
        except OSError:
            return
        if len(self._connections) >= MOST_PEERS:
            strangers = [c for c in self._connections if not c.peer.known]
            if not strangers:
                connection.close()
                return
            self._connections.remove(strangers[0])  # whoever came first and has still said nothing sound
            strangers[0].close()
        name = f"{where[0]}:{where[1]}"
        self._connections.append(Connection(connection, name, self._selector, self._welcome))


class Device(Stream):
    def __init__(self, port: Any, address: Address, selector: Any, welcome: Welcome) -> None:
        self._port = port
        super().__init__(str(address), port.fileno(), selector, welcome, address.port / 10 * 0.8)

    def read(self) -> bytes:
        return os.read(self.fd, PIECE)

    def write(self, data: bytes | bytearray) -> int:
        return os.write(self.fd, data)

    def close(self) -> None:
        super().close()
        self._port.close()


class Serial:
    """A serial device by pyserial; pulled out, it is looked for again until it is back."""

    def __init__(self, address: Address, selector: Any, welcome: Welcome) -> None:
        self._address = address
        self._selector = selector
        self._welcome = welcome
        self._tried_s = 0.0
        self._device: Device | None = self._open()

    def peers(self) -> list[StationLink]:
        return [self._device.peer] if self._device else []

    def step(self, now_s: float) -> None:
        if self._device:
            self._device.step(now_s)
            if self._device.broken:
                self._device.close()
                self._device = None
        elif now_s - self._tried_s > AGAIN_S:
            self._tried_s = now_s
            try:
                self._device = self._open()
            except LinkError:
                pass

    def close(self) -> None:
        if self._device:
            self._device.close()

    def _open(self) -> Device:
        import serial

        try:
            port = serial.Serial(self._address.host, self._address.port, timeout=0, write_timeout=0)
            os.set_blocking(port.fileno(), False)
        except (OSError, ValueError) as error:  # SerialException is an OSError
            raise LinkError(f"{self._address}: {reason(error)}") from error
        return Device(port, self._address, self._selector, self._welcome)
