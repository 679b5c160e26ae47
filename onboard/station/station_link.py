"""One station at the end of a link: its rate limit, the link's capacity, and its session with each vehicle."""

import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from caudal.onboard.station.dialect import OWN_COMPONENT, mavlink
from caudal.onboard.station.frames import Frames
from caudal.onboard.station.session import Session
from caudal.onboard.station.signing import Signing
from caudal.onboard.station.vehicle_link import VehicleLink

BYTES_A_SECOND = 15_000  # read from one station: manual control and set-points at 50 Hz need a third of it
REPORT_S = 2.0
TO_ALL = {"HEARTBEAT", "TIMESYNC", "PING"}  # for every vehicle, whatever their target
TO_ANY = {
    "PARAM_REQUEST_LIST",
    "PARAM_REQUEST_READ",
    "MISSION_REQUEST_LIST",
    "LOG_REQUEST_LIST",
}  # these change nothing


class StationLink:
    """One station. `send(data)`: the link's; `rate_b_s`: its capacity; `whole`: it carries datagrams."""

    def __init__(
        self,
        name: str,
        vehicle_links: Sequence[VehicleLink],
        signing: Signing | None,
        send: Callable[[bytes], bool],
        rate_b_s: float,
        whole: bool,
    ) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self.frames = Frames(signing)
        self.received_s = 0.0
        self._vehicle_links = vehicle_links
        self._send = send
        self._whole = whole
        self._rate_b_s = rate_b_s
        self._to_send = 0.0  # bytes that may be sent now
        self._to_receive = float(BYTES_A_SECOND)
        self._stepped_s = 0.0
        self._reported_s = 0.0
        self._unread = 0
        self._senders = {
            vehicle_link.system: _sender(vehicle_link, signing) for vehicle_link in vehicle_links
        }
        self.sessions = {vehicle_link.system: Session(self, vehicle_link) for vehicle_link in vehicle_links}

    # ---- received messages

    def may_receive(self) -> bool:
        """True if the station is below its rate limit."""
        return self._to_receive > 0

    def receive(self, data: bytes, now_s: float) -> None:
        """Handles received bytes; drops those above the rate limit unread."""
        if self._to_receive <= 0:
            self._unread += len(data)
            return
        self._to_receive -= len(data)
        for message in self.frames.receive(data, self._whole):
            self.received_s = now_s
            self._route(message, now_s)

    @property
    def admitted(self) -> bool:
        """True if it has sent an intact frame; rejected ones count, so that it gets a report."""
        return bool(self.frames.counts["taken"] or self.frames.refused)

    @property
    def known(self) -> bool:
        """True if it has sent an accepted frame; if the vehicle has a key, so has the station."""
        return self.frames.counts["taken"] > 0

    def _route(self, message: Any, now_s: float) -> None:
        if message.get_srcSystem() in self.sessions:  # an echo, or a station with a vehicle's number
            return
        target = getattr(message, "target_system", getattr(message, "target", 0))
        component = getattr(message, "target_component", 0)
        kind = message.get_type()
        if kind in TO_ALL:
            for session in self.sessions.values():
                session.receive(message, now_s)
        elif component not in (0, OWN_COMPONENT):
            return
        elif target in self.sessions:
            self.sessions[target].receive(message, now_s)
        elif target == 0 and (len(self.sessions) == 1 or kind in TO_ANY or _disarms(message)):
            for session in self.sessions.values():  # others could arm all vehicles at once
                session.receive(message, now_s)

    # ---- sent messages

    def send(self, vehicle_link: VehicleLink, message: Any) -> None:
        """Sends a message of a vehicle, and counts it if the link drops it."""
        sender = self._senders[vehicle_link.system]
        try:
            data = message.pack(sender)
        except (struct.error, OverflowError, ValueError, TypeError):
            self.counts["not packed"] += 1
            return
        sender.seq = (sender.seq + 1) % 256
        self._to_send -= len(data)
        if not self._send(data):
            self.counts["not sent"] += 1

    def has_room(self, telemetry: bool = False) -> bool:
        """True if the link can carry more now; telemetry has priority over other messages."""
        return self._to_send > (-self._rate_b_s / 4 if telemetry else 0)

    def step(self, now_s: float) -> None:
        """Sends what is due now."""
        passed_s = now_s - self._stepped_s
        self._stepped_s = now_s
        self._to_send = min(self._to_send + passed_s * self._rate_b_s, self._rate_b_s / 20)
        self._to_receive = min(self._to_receive + passed_s * BYTES_A_SECOND, BYTES_A_SECOND)
        for session in self.sessions.values():
            session.step(now_s)
        if now_s - self._reported_s >= REPORT_S and (self.frames.refused or self._unread):
            self._reported_s = now_s
            self._report()

    def end(self) -> None:
        """Ends all sessions; the station is gone."""
        for session in self.sessions.values():
            session.end()
            session.vehicle_link.bridge.forget(self)

    def text(self, severity: int, text: str) -> None:
        """Sends a text of every vehicle."""
        for session in self.sessions.values():
            session.text(severity, text)

    def _report(self) -> None:
        """Reports rejected and dropped frames to the station and the log."""
        refused = dict(self.frames.refused)
        self.frames.refused.clear()
        if refused:
            words = ", ".join(f"{count} {reason}" for reason, count in sorted(refused.items()))
            self.text(mavlink.MAV_SEVERITY_ALERT, f"frames refused: {words}")
            self._vehicle_links[0].bridge.note("frames refused", station=self.name, **refused)
        if self._unread:
            self.text(
                mavlink.MAV_SEVERITY_WARNING,
                f"more than {BYTES_A_SECOND:,} bytes a second; the rest is dropped",
            )
            self._vehicle_links[0].bridge.note(
                "station too loud", station=self.name, bytes_unheard=self._unread
            )
            self._unread = 0


def _sender(vehicle_link: VehicleLink, signing: Signing | None) -> Any:
    sender = mavlink.MAVLink(None, vehicle_link.system, OWN_COMPONENT)
    if signing:
        sender.signing = signing
    return sender


def _disarms(message: Any) -> bool:
    return message.get_type() in ("COMMAND_LONG", "COMMAND_INT") and (
        message.command == mavlink.MAV_CMD_COMPONENT_ARM_DISARM and message.param1 == 0
    )
