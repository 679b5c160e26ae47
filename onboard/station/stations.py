"""The thread of the ground stations: all links, stations and vehicles, one step every hundredth of a second.

It logs an error in one station's request and goes on with the others.
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
SAVE_S = 1.0


class Stations:
    """Opens the links (or raises LinkError); the thread runs from start() to stop()."""

    def __init__(
        self,
        vehicle_links: Sequence[VehicleLink],
        addresses: Sequence[Address],
        signing: Signing | None = None,
    ) -> None:
        self.vehicle_links = vehicle_links
        self.cpu_s = 0.0  # used by the thread
        self.errors = 0
        self._signing = signing
        self._selector = selectors.DefaultSelector()
        self._saved_s = 0.0
        self._save_failed = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stations", daemon=True)
        self.links: list[Link] = []
        try:
            for address in addresses:
                self.links.append(KINDS[address.kind](address, self._selector, self._make_station))
        except Exception:
            self._close()
            raise

    def start(self) -> None:
        """Starts the thread."""
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_S))
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and closes the links."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join(2.0)
        self._close()

    def stations(self) -> list[StationLink]:
        """All stations of all links."""
        return [station for link in self.links for station in link.stations()]

    def step(self, now_s: float) -> None:
        """Delivers answers of the loops, then does what is due."""
        for vehicle_link in self.vehicle_links:
            for ticket, _, refusal in vehicle_link.bridge.answers():
                if ticket is not None:
                    self._guarded(None, ticket, refusal)
                elif refusal:
                    for station in self.stations():
                        station.sessions[vehicle_link.system].text(mavlink.MAV_SEVERITY_WARNING, refusal)
        for link in self.links:
            self._guarded(None, link.step, now_s)
        for station in self.stations():
            self._guarded(station, station.step, now_s)
        if self._signing and now_s - self._saved_s > SAVE_S:
            self._saved_s = now_s
            self._save()

    def _run(self) -> None:
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
                time.sleep(0)  # releases the interpreter during a flood, as the loop may be due

    def _make_station(
        self, name: str, send: Callable[[bytes], bool], rate_b_s: float, whole: bool
    ) -> StationLink:
        return StationLink(name, self.vehicle_links, self._signing, send, rate_b_s, whole)

    def _guarded(self, station: StationLink | None, call: Callable[..., Any], *given: Any) -> None:
        try:
            call(*given)
        except Exception as error:  # other stations and the vehicle must go on
            self.errors += 1
            self.vehicle_links[0].bridge.note(
                "station error",
                station=station.name if station else "",
                reason=f"{type(error).__name__}: {error}",
            )

    def _save(self) -> None:
        assert self._signing
        try:
            self._signing.save()
        except OSError as error:
            if not self._save_failed:
                self._save_failed = True
                self.vehicle_links[0].bridge.note("signing times not kept", reason=error.strerror)

    def _close(self) -> None:
        for link in self.links:
            link.close()
        self._selector.close()
        if self._signing:
            self._save()
