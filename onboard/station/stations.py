"""The thread that talks to ground stations: every link, every peer, every vehicle, one step a hundredth of a second.

An error in what one station asked for is recorded; the thread goes on, for all of them.
"""

import selectors
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from caudal.onboard.host.realtime import STATION_PRIORITY, SWITCH_S, first_in_line
from caudal.onboard.station.address import Address
from caudal.onboard.station.datagrams import Datagrams
from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.links import Link
from caudal.onboard.station.signing import Signing
from caudal.onboard.station.station_link import StationLink
from caudal.onboard.station.streams import Serial, Tcp
from caudal.onboard.station.vehicle_link import VehicleLink

KINDS: dict[str, Any] = {"udp": Datagrams, "udpout": Datagrams, "tcp": Tcp, "serial": Serial}
STEP_S = 0.01
KEEP_S = 1.0


class Stations:
    """Opens its links at once (or raises LinkError); talks from start() to stop()."""

    def __init__(
        self,
        vehicle_links: Sequence[VehicleLink],
        addresses: Sequence[Address],
        signing: Signing | None = None,
    ) -> None:
        self.vehicle_links = vehicle_links
        self.cpu_s = 0.0  # that the thread has used
        self.errors = 0
        self._signing = signing
        self._selector = selectors.DefaultSelector()
        self._kept_s = 0.0
        self._disk_told = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._talk, name="stations", daemon=True)
        self.links: list[Link] = []
        try:
            for address in addresses:
                self.links.append(KINDS[address.kind](address, self._selector, self._welcome))
        except Exception:
            self._close()
            raise

    def start(self) -> None:
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_S))
        self._thread.start()

    def stop(self) -> None:
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join(2.0)
        self._close()

    def peers(self) -> list[StationLink]:
        return [peer for link in self.links for peer in link.peers()]

    def step(self, now_s: float) -> None:
        """Answers to who asked, then whatever is due."""
        for vehicle_link in self.vehicle_links:
            for ticket, _, refusal in vehicle_link.bridge.answers():
                if ticket is not None:
                    self._guarded(None, ticket, refusal)
                elif refusal:
                    for peer in self.peers():
                        peer.sessions[vehicle_link.system].text(mavlink.MAV_SEVERITY_WARNING, refusal)
        for link in self.links:
            self._guarded(None, link.step, now_s)
        for peer in self.peers():
            self._guarded(peer, peer.step, now_s)
        if self._signing and now_s - self._kept_s > KEEP_S:
            self._kept_s = now_s
            self._keep()

    def _talk(self) -> None:
        first_in_line(STATION_PRIORITY)
        due_s = 0.0
        while not self._ending.is_set():
            ready = self._selector.select(STEP_S)
            now_s = time.monotonic()
            for key, events in ready:
                self._guarded(None, key.data, events, now_s)
            if now_s >= due_s:
                due_s = now_s + STEP_S
                self.step(now_s)
                self.cpu_s = time.thread_time()
            elif ready:
                time.sleep(0)  # lets go of the interpreter: somebody floods, and the loop may be due

    def _welcome(self, name: str, send: Callable[[bytes], bool], rate_b_s: float, whole: bool) -> StationLink:
        return StationLink(name, self.vehicle_links, self._signing, send, rate_b_s, whole)

    def _guarded(self, peer: StationLink | None, call: Callable[..., Any], *given: Any) -> None:
        try:
            call(*given)
        except Exception as error:  # whatever it is, other stations and the vehicle go on
            self.errors += 1
            self.vehicle_links[0].bridge.note(
                "station error", station=peer.name if peer else "", reason=f"{type(error).__name__}: {error}"
            )

    def _keep(self) -> None:
        assert self._signing
        try:
            self._signing.keep()
        except OSError as error:
            if not self._disk_told:
                self._disk_told = True
                self.vehicle_links[0].bridge.note("signing times not kept", reason=error.strerror)

    def _close(self) -> None:
        for link in self.links:
            link.close()
        self._selector.close()
        if self._signing:
            self._keep()
