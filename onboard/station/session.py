"""One station and one vehicle: passes each message to its handler, and reports changes in text messages."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from caudal.onboard.core.failsafe import HOLD, NEUTRAL
from caudal.onboard.station.bridge import Done
from caudal.onboard.station.commands import Commands
from caudal.onboard.station.dialect import TEXT_BYTES, mavlink
from caudal.onboard.station.ftp import Ftp
from caudal.onboard.station.logs import Logs
from caudal.onboard.station.missions import Missions
from caudal.onboard.station.parameters import Parameters
from caudal.onboard.station.pilot import Pilot
from caudal.onboard.station.telemetry import Telemetry
from caudal.onboard.station.vehicle_link import VehicleLink

if TYPE_CHECKING:
    from caudal.onboard.station.station_link import StationLink

TEXTS_A_SECOND = 5.0
MAX_TEXTS = 10.0
SAME_TEXT_S = 2.0


class RateLimit:
    """Allows MAX_TEXTS texts at once, then TEXTS_A_SECOND."""

    def __init__(self) -> None:
        self._left = MAX_TEXTS
        self._at_s = 0.0

    def allows(self, now_s: float) -> bool:
        """True if one more text may be sent now."""
        self._left = min(self._left + (now_s - self._at_s) * TEXTS_A_SECOND, MAX_TEXTS)
        self._at_s = now_s
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Session:
    """The conversation of one station with one vehicle."""

    MESSAGES = {
        "HEARTBEAT": "of a ground station: without it the failsafe rule station_lost acts",
        "TIMESYNC": "answered",
        "PING": "answered",
        "SETUP_SIGNING": "refused: keys are not transmitted",
    }

    def __init__(self, station: "StationLink", vehicle_link: VehicleLink) -> None:
        self.vehicle_link = vehicle_link
        self.sender = (0, 0)  # system and component of the last message
        self.now_s = 0.0
        self._station = station
        self.telemetry = Telemetry(vehicle_link)
        self.missions = Missions(self)
        self._parameters = Parameters(self)
        self._logs = Logs(self)
        self._parts = (
            self._parameters,
            self._logs,
            self.missions,
        )  # parts with work of their own in each step
        self._handlers: dict[str, Callable[[Any], None]] = {}
        parts = (self, self._parameters, self.missions, Commands(self), Pilot(self), self._logs, Ftp(self))
        for part in parts:
            for name in part.MESSAGES:
                self._handlers[name] = getattr(part, name.lower())
        self._active: list[str] = []
        self._fault: str | None = None
        self._answers, self._alarms = RateLimit(), RateLimit()
        self._sent_s: dict[str, float] = {}
        self._text_id = 0

    # ---- received messages

    def receive(self, message: Any, now_s: float) -> None:
        """Handles a message of the station."""
        self.now_s = now_s
        handler = self._handlers.get(message.get_type())
        if handler:
            self.sender = message.get_srcSystem(), message.get_srcComponent()
            handler(message)

    def step(self, now_s: float) -> None:
        """Sends what is due now."""
        self.now_s = now_s
        for part in self._parts:
            part.step(now_s)
        self._report_changes()
        if self._station.has_room(telemetry=True):
            for message in self.telemetry.due(now_s):
                self.send(message)

    def end(self) -> None:
        """Drops what the station has begun; it is gone."""
        self.missions.end()
        self._logs.end()

    def heartbeat(self, message: Any) -> None:
        """Reports to the loop that a ground station is present."""
        if message.type == mavlink.MAV_TYPE_GCS:
            self.vehicle_link.bridge.slot("station")

    def timesync(self, message: Any) -> None:
        """Answers a request for the time."""
        if message.tc1 == 0:
            own_ns = int(self.now_s * 1e9)
            self.send(mavlink.MAVLink_timesync_message(own_ns, message.ts1))

    def ping(self, message: Any) -> None:
        """Answers a ping."""
        if message.target_system == 0:
            self.send(mavlink.MAVLink_ping_message(message.time_usec, message.seq, *self.sender))

    def setup_signing(self, message: Any) -> None:
        """Rejects a key."""
        self.text(mavlink.MAV_SEVERITY_WARNING, "signing is set up by a key file, not over a link")

    # ---- sent messages

    def submit(self, kind: str, *values: Any, done: Done) -> bool:
        """Queues a command for the loop; in this thread `done` gets None or why it was rejected."""
        return self.vehicle_link.bridge.submit(self._station, kind, *values, ticket=done)

    def send(self, message: Any) -> None:
        """Sends a message of this vehicle to the station."""
        self._station.send(self.vehicle_link, message)

    def send_now(self, number: int) -> bool:
        """Sends a telemetry message now; False if it has no data."""
        message = self.telemetry.once(number)
        if message is not None:
            self.send(message)
        return message is not None

    def has_room(self) -> bool:
        """True if the link can carry more now."""
        return self._station.has_room()

    def text(self, severity: int, text: str, alarm: bool = False) -> bool:
        """Sends a text for the person at the station; False if it is a repetition or above the rate limit.

        Alarms have a rate limit of their own, so that answers to a station's requests cannot delay them.
        """
        now_s = self.now_s
        if now_s - self._sent_s.get(text, float("-inf")) < SAME_TEXT_S:
            return False
        if not (self._alarms if alarm else self._answers).allows(now_s):
            return False
        if len(self._sent_s) > 100:
            self._sent_s.clear()
        self._sent_s[text] = now_s
        data = text.encode("ascii", "replace")
        pieces = [data[k : k + TEXT_BYTES] for k in range(0, len(data), TEXT_BYTES)][:20]
        if len(pieces) > 1 and len(pieces[-1]) == TEXT_BYTES:
            pieces.append(b"")  # after a full piece another one must follow
        self._text_id = self._text_id % 0xFFFF + 1
        for k, piece in enumerate(pieces):
            self.send(
                mavlink.MAVLink_statustext_message(
                    severity, piece, self._text_id if len(pieces) > 1 else 0, k
                )
            )
        return True

    def _report_changes(self) -> None:
        """Reports failsafes and the loop's fault; a text above the rate limit goes later."""
        now = self.vehicle_link.snapshot
        rules = dict(self.vehicle_link.active_rules(now))
        for name in list(self._active):
            cleared = f"failsafe {name} has cleared"
            if name not in rules and self.text(mavlink.MAV_SEVERITY_INFO, cleared, alarm=True):
                self._active.remove(name)
        for name, action in rules.items():
            if name not in self._active and self.text(severity_of(action), f"failsafe {name}", alarm=True):
                self._active.append(name)
        stopped = f"the loop has stopped safe: {now.fault}"
        if now.fault != self._fault and self.text(mavlink.MAV_SEVERITY_EMERGENCY, stopped, alarm=True):
            self._fault = now.fault


def severity_of(action: int) -> int:
    """The MAV_SEVERITY of a failsafe action."""
    severity: int = mavlink.MAV_SEVERITY_WARNING
    if action >= HOLD:
        severity = mavlink.MAV_SEVERITY_CRITICAL if action >= NEUTRAL else mavlink.MAV_SEVERITY_ERROR
    return severity
