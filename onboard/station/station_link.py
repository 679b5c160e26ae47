"""One station at the end of a link: what it may say a second, what can be sent to it, its session with each vehicle."""

import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from caudal.onboard.station.dialect import OWN_COMPONENT, mavlink
from caudal.onboard.station.frames import Frames
from caudal.onboard.station.session import Session
from caudal.onboard.station.signing import Signing
from caudal.onboard.station.vehicle_link import VehicleLink

BYTES_A_SECOND = 15_000  # heard of one station: sticks and set-points at 50 Hz take a third of it
REPORT_S = 2.0
TO_ALL = {"HEARTBEAT", "TIMESYNC", "PING"}  # for every vehicle, whomever they name
TO_ANY = {
    "PARAM_REQUEST_LIST",
    "PARAM_REQUEST_READ",
    "MISSION_REQUEST_LIST",
    "LOG_REQUEST_LIST",
}  # change nothing


class StationLink:
    """`send(data)` is the link's; `rate_b_s` is what it carries; `whole`: it carries datagrams."""

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
        self.heard_s = 0.0
        self._crafts = vehicle_links
        self._send = send
        self._whole = whole
        self._rate_b_s = rate_b_s
        self._to_send = 0.0  # bytes that may go now
        self._to_hear = float(BYTES_A_SECOND)
        self._stepped_s = 0.0
        self._reported_s = 0.0
        self._unheard = 0
        self._senders = {
            vehicle_link.system: _sender(vehicle_link, signing) for vehicle_link in vehicle_links
        }
        self.sessions = {vehicle_link.system: Session(self, vehicle_link) for vehicle_link in vehicle_links}

    # ---- hearing

    def may_speak(self) -> bool:
        return self._to_hear > 0

    def hear(self, data: bytes, now_s: float) -> None:
        """What came; beyond its share of a second it is dropped unread."""
        if self._to_hear <= 0:
            self._unheard += len(data)
            return
        self._to_hear -= len(data)
        for message in self.frames.hear(data, self._whole):
            self.heard_s = now_s
            self._route(message, now_s)

    @property
    def admitted(self) -> bool:
        """Has it sent a single sound frame; refused ones count, so that it can be told."""
        return bool(self.frames.counts["taken"] or self.frames.refused)

    @property
    def known(self) -> bool:
        """Has it sent one that was taken: with a key, it has the key."""
        return self.frames.counts["taken"] > 0

    def _route(self, message: Any, now_s: float) -> None:
        if message.get_srcSystem() in self.sessions:  # an echo, or somebody who calls himself as we do
            return
        target = getattr(message, "target_system", getattr(message, "target", 0))
        component = getattr(message, "target_component", 0)
        kind = message.get_type()
        if kind in TO_ALL:
            for session in self.sessions.values():
                session.hear(message, now_s)
        elif component not in (0, OWN_COMPONENT):
            return
        elif target in self.sessions:
            self.sessions[target].hear(message, now_s)
        elif target == 0 and (len(self.sessions) == 1 or kind in TO_ANY or _disarms(message)):
            for session in self.sessions.values():  # one order to many could arm a whole fleet at once
                session.hear(message, now_s)

    # ---- saying

    def say(self, vehicle_link: VehicleLink, message: Any) -> None:
        sender = self._senders[vehicle_link.system]
        try:
            data = message.pack(sender)
        except (struct.error, OverflowError, ValueError, TypeError):
            self.counts["unsayable"] += 1
            return
        sender.seq = (sender.seq + 1) % 256
        self._to_send -= len(data)
        if not self._send(data):
            self.counts["unsent"] += 1

    def has_room(self, telemetry: bool = False) -> bool:
        """May more be sent now: what can wait goes only while the link keeps up."""
        return self._to_send > (-self._rate_b_s / 4 if telemetry else 0)

    def step(self, now_s: float) -> None:
        passed_s = now_s - self._stepped_s
        self._stepped_s = now_s
        self._to_send = min(self._to_send + passed_s * self._rate_b_s, self._rate_b_s / 20)
        self._to_hear = min(self._to_hear + passed_s * BYTES_A_SECOND, BYTES_A_SECOND)
        for session in self.sessions.values():
            session.step(now_s)
        if now_s - self._reported_s >= REPORT_S and (self.frames.refused or self._unheard):
            self._reported_s = now_s
            self._report()

    def end(self) -> None:
        for session in self.sessions.values():
            session.end()
            session.vehicle_link.bridge.forget(self)

    def text(self, severity: int, text: str) -> None:
        for session in self.sessions.values():
            session.text(severity, text)

    def _report(self) -> None:
        """What was not taken, to the station and into the recording."""
        refused = dict(self.frames.refused)
        self.frames.refused.clear()
        if refused:
            words = ", ".join(f"{count} {reason}" for reason, count in sorted(refused.items()))
            self.text(mavlink.MAV_SEVERITY_ALERT, f"frames refused: {words}")
            self._crafts[0].bridge.note("frames refused", station=self.name, **refused)
        if self._unheard:
            self.text(mavlink.MAV_SEVERITY_WARNING, "it says too much; the rest is not heard")
            self._crafts[0].bridge.note("station too loud", station=self.name, bytes_unheard=self._unheard)
            self._unheard = 0


def _sender(vehicle_link: VehicleLink, signing: Signing | None) -> Any:
    sender = mavlink.MAVLink(None, vehicle_link.system, OWN_COMPONENT)
    if signing:
        sender.signing = signing
    return sender


def _disarms(message: Any) -> bool:
    return message.get_type() in ("COMMAND_LONG", "COMMAND_INT") and (
        message.command == mavlink.MAV_CMD_COMPONENT_ARM_DISARM and message.param1 == 0
    )
