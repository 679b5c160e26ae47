"""Byte streams: TCP connections and serial devices. A station over its rate limit is not read for a while, so that
the line's own flow control slows it down."""

import os
import selectors
import socket
from typing import Any

from caudal.onboard.station.address import Address
from caudal.onboard.station.links import MAX_STATIONS, NET_B_S, PIECE, LinkError, MakeStation, reason
from caudal.onboard.station.station_link import StationLink

MAX_WAITING = 1 << 16  # bytes for a slow station
STALLED_S = 10.0
RETRY_S = 1.0  # between two attempts to open a lost serial device


class Stream:
    """A byte stream whose writes may be partial: a TCP connection, a serial device."""

    def __init__(
        self, name: str, fd: int | socket.socket, selector: Any, make_station: MakeStation, rate_b_s: float
    ) -> None:
        self.fd = fd
        self.broken = False
        self._selector = selector
        self._waiting = bytearray()
        self._now_s = self._moved_s = 0.0
        self._events = selectors.EVENT_READ
        self.station = make_station(name, self._send, rate_b_s, False)
        selector.register(fd, self._events, self._ready)

    def read(self) -> bytes:
        """The next bytes, without waiting."""
        raise NotImplementedError

    def write(self, data: bytes | bytearray) -> int:
        """Sends without waiting; the number of bytes sent."""
        raise NotImplementedError

    def step(self, now_s: float) -> None:
        """Marks the stream as broken when its station has not read for STALLED_S."""
        self._now_s = now_s
        if not self._waiting:
            self._moved_s = now_s
        elif now_s - self._moved_s > STALLED_S:
            self.broken = True
        self._watch()

    def close(self) -> None:
        """Ends the station and stops watching the stream."""
        self.station.end()
        if self._events:
            self._selector.unregister(self.fd)

    def _send(self, data: bytes) -> bool:
        if self.broken or len(self._waiting) + len(data) > MAX_WAITING:
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
        if events & selectors.EVENT_READ and not self.broken and self.station.may_receive():
            try:
                data = self.read()
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if data:
                self.station.receive(data, now_s)
            else:
                self.broken = True
        self._watch()

    def _watch(self) -> None:
        """Watches for what can be done now: a station over its rate limit is not read."""
        wanted = selectors.EVENT_WRITE if self._waiting else 0
        wanted |= selectors.EVENT_READ if self.station.may_receive() else 0
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
    """One accepted TCP connection."""

    def __init__(
        self, connection: socket.socket, name: str, selector: Any, make_station: MakeStation
    ) -> None:
        connection.setblocking(False)
        self._socket = connection
        super().__init__(name, connection, selector, make_station, NET_B_S)

    def read(self) -> bytes:
        """The next bytes; empty if the station has closed the connection."""
        return self._socket.recv(PIECE)

    def write(self, data: bytes | bytearray) -> int:
        """Sends; the number of bytes sent."""
        return self._socket.send(data)

    def close(self) -> None:
        """Ends the station and closes the connection."""
        super().close()
        self._socket.close()


class Tcp:
    """A TCP link that listens; every connection is a station."""

    def __init__(self, address: Address, selector: Any, make_station: MakeStation) -> None:
        self._selector = selector
        self._make_station = make_station
        self._connections: list[Connection] = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.setblocking(False)
        try:
            self.socket.bind((address.host, address.port))
            self.socket.listen(MAX_STATIONS)
        except (OSError, UnicodeError) as error:
            self.socket.close()
            raise LinkError(f"{address}: {reason(error)}") from error
        selector.register(self.socket, selectors.EVENT_READ, self._ready)

    def stations(self) -> list[StationLink]:
        """The connected stations."""
        return [connection.station for connection in self._connections]

    def step(self, now_s: float) -> None:
        """Steps all connections and closes broken ones."""
        for connection in self._connections:
            connection.step(now_s)
            if connection.broken:
                connection.close()
        self._connections = [c for c in self._connections if not c.broken]

    def close(self) -> None:
        """Closes all connections and the socket."""
        for connection in self._connections:
            connection.close()
        self.socket.close()

    def _ready(self, events: int, now_s: float) -> None:
        try:
            connection, where = self.socket.accept()
        except OSError:
            return
        if len(self._connections) >= MAX_STATIONS:
            unknown = [c for c in self._connections if not c.station.known]
            if not unknown:
                connection.close()
                return
            self._connections.remove(unknown[0])  # the oldest connection without an accepted frame
            unknown[0].close()
        name = f"{where[0]}:{where[1]}"
        self._connections.append(Connection(connection, name, self._selector, self._make_station))


class Device(Stream):
    """An open serial device."""

    def __init__(self, port: Any, address: Address, selector: Any, make_station: MakeStation) -> None:
        self._port = port
        self._fd: int = port.fileno()
        super().__init__(str(address), self._fd, selector, make_station, address.port / 10 * 0.8)

    def read(self) -> bytes:
        """The next bytes."""
        return os.read(self._fd, PIECE)

    def write(self, data: bytes | bytearray) -> int:
        """Sends; the number of bytes sent."""
        return os.write(self._fd, data)

    def close(self) -> None:
        """Ends the station and closes the device."""
        super().close()
        self._port.close()


class Serial:
    """A serial link (pyserial); it opens a device again that was unplugged."""

    def __init__(self, address: Address, selector: Any, make_station: MakeStation) -> None:
        self._address = address
        self._selector = selector
        self._make_station = make_station
        self._tried_s = 0.0
        self._device: Device | None = self._open()

    def stations(self) -> list[StationLink]:
        """The station on the open device."""
        return [self._device.station] if self._device else []

    def step(self, now_s: float) -> None:
        """Steps the device, or tries to open it."""
        if self._device:
            self._device.step(now_s)
            if self._device.broken:
                self._device.close()
                self._device = None
        elif now_s - self._tried_s > RETRY_S:
            self._tried_s = now_s
            try:
                self._device = self._open()
            except LinkError:
                pass

    def close(self) -> None:
        """Closes the device."""
        if self._device:
            self._device.close()

    def _open(self) -> Device:
        import serial

        try:
            port = serial.Serial(self._address.host, self._address.port, timeout=0, write_timeout=0)
            os.set_blocking(port.fileno(), False)
        except (OSError, ValueError) as error:  # SerialException is an OSError
            raise LinkError(f"{self._address}: {reason(error)}") from error
        return Device(port, self._address, self._selector, self._make_station)
