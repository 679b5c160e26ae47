"""UDP: listens, or sends first. A flooded link is read once a step, and only a limited number of datagrams then, so
that a flood cannot use up the processor."""

import selectors
import socket
from typing import Any

from caudal.onboard.station.address import Address
from caudal.onboard.station.links import MAX_STATIONS, NET_B_S, PIECE, LinkError, MakeStation, reason
from caudal.onboard.station.station_link import StationLink

TIMEOUT_S = 15.0  # without a datagram a station is removed
DATAGRAMS_A_STEP = 128
FLOOD = 16  # datagrams in a step


class Datagrams:
    """A UDP link; with an address of kind udpout it sends first."""

    def __init__(self, address: Address, selector: Any, make_station: MakeStation) -> None:
        self._make_station = make_station
        self._stations: dict[Any, StationLink] = {}
        self._left = DATAGRAMS_A_STEP
        self._selector = selector
        self._watched = True
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self._to: Any = None
        try:
            if address.kind == "udpout":
                self._to = (socket.gethostbyname(address.host), address.port)
            else:
                self.socket.bind((address.host, address.port))
        except (OSError, UnicodeError) as error:
            self.socket.close()
            raise LinkError(f"{address}: {reason(error)}") from error
        if self._to:
            self._stations[self._to] = self._make(self._to)
        selector.register(self.socket, selectors.EVENT_READ, self._ready)

    def stations(self) -> list[StationLink]:
        """The stations on this link."""
        return list(self._stations.values())

    def step(self, now_s: float) -> None:
        """Reads a flooded link, and removes stations that have timed out."""
        self._left = DATAGRAMS_A_STEP
        if not self._watched:
            self._ready(selectors.EVENT_READ, now_s)
            self._watch(self._left >= DATAGRAMS_A_STEP - FLOOD)
        for where, station in list(self._stations.items()):
            if where != self._to and now_s - station.received_s > TIMEOUT_S:
                self._forget(where)

    def close(self) -> None:
        """Ends the stations and closes the socket."""
        for station in self._stations.values():
            station.end()
        self.socket.close()

    def _make(self, where: Any) -> StationLink:
        return self._make_station(
            f"{where[0]}:{where[1]}", lambda data: self._send(data, where), NET_B_S, True
        )

    def _watch(self, on: bool) -> None:
        if on and not self._watched:
            self._selector.register(self.socket, selectors.EVENT_READ, self._ready)
        elif self._watched and not on:
            self._selector.unregister(self.socket)
        self._watched = on

    def _ready(self, events: int, now_s: float) -> None:
        while self._left > 0:
            self._left -= 1
            try:
                data, where = self.socket.recvfrom(PIECE)
            except BlockingIOError:
                break
            except OSError:  # the station's port is closed; it may open again
                continue
            self._receive(data, where, now_s)
        if self._left < DATAGRAMS_A_STEP - FLOOD:
            self._watch(False)

    def _receive(self, data: bytes, where: Any, now_s: float) -> None:
        station = self._stations.get(where)
        if station is None:
            unknown = [of for of, other in self._stations.items() if not other.known]
            if self._to or (len(self._stations) >= MAX_STATIONS and not unknown):
                return
            station = self._make(where)
            station.receive(data, now_s)
            if len(self._stations) >= MAX_STATIONS and station.known:
                self._forget(unknown[0])
            if station.admitted and len(self._stations) < MAX_STATIONS:
                station.received_s = now_s
                self._stations[where] = station
        else:
            station.receive(data, now_s)

    def _forget(self, where: Any) -> None:
        self._stations.pop(where).end()

    def _send(self, data: bytes, where: Any) -> bool:
        try:
            self.socket.sendto(data, where)
        except OSError:
            return False
        return True
