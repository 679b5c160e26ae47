"""UDP: listening, or speaking first. A link that is loud is looked at once a step, and reads only so many then:
whatever floods it cannot take the processor."""

import selectors
import socket
from typing import Any

from caudal.onboard.station.address import Address
from caudal.onboard.station.links import MOST_PEERS, NET_B_S, PIECE, LinkError, Welcome, reason
from caudal.onboard.station.station_link import StationLink

SILENT_S = 15.0  # a sender that is silent for so long is forgotten
DATAGRAMS_A_STEP = 128
LOUD = 16  # datagrams in a step


class Datagrams:
    """UDP: listening, or (`to`) speaking first."""

    def __init__(self, address: Address, selector: Any, welcome: Welcome) -> None:
        self._welcome = welcome
        self._peers: dict[Any, StationLink] = {}
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
            self._peers[self._to] = self._make(self._to)
        selector.register(self.socket, selectors.EVENT_READ, self._ready)

    def peers(self) -> list[StationLink]:
        return list(self._peers.values())

    def step(self, now_s: float) -> None:
        self._left = DATAGRAMS_A_STEP
        if not self._watched:
            self._ready(selectors.EVENT_READ, now_s)
            self._watch(self._left >= DATAGRAMS_A_STEP - LOUD)
        for where, peer in list(self._peers.items()):
            if where != self._to and now_s - peer.heard_s > SILENT_S:
                self._forget(where)

    def close(self) -> None:
        for peer in self._peers.values():
            peer.end()
        self.socket.close()

    def _make(self, where: Any) -> StationLink:
        return self._welcome(f"{where[0]}:{where[1]}", lambda data: self._send(data, where), NET_B_S, True)

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
            except OSError:  # the other end's port is closed: it may open again
                continue
            self._hear(data, where, now_s)
        if self._left < DATAGRAMS_A_STEP - LOUD:
            self._watch(False)

    def _hear(self, data: bytes, where: Any, now_s: float) -> None:
        peer = self._peers.get(where)
        if peer is None:
            strangers = [of for of, other in self._peers.items() if not other.known]
            if self._to or (len(self._peers) >= MOST_PEERS and not strangers):
                return
            peer = self._make(where)
            peer.hear(data, now_s)
            if len(self._peers) >= MOST_PEERS and peer.known:
                self._forget(strangers[0])
            if peer.admitted and len(self._peers) < MOST_PEERS:
                peer.heard_s = now_s
                self._peers[where] = peer
        else:
            peer.hear(data, now_s)

    def _forget(self, where: Any) -> None:
        self._peers.pop(where).end()

    def _send(self, data: bytes, where: Any) -> bool:
        try:
            self.socket.sendto(data, where)
        except OSError:
            return False
        return True
