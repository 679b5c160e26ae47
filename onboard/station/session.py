"""One station and one vehicle: finds who answers a message, and says what has changed without being asked."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from caudal.onboard.core.failsafe import HOLD, NEUTRAL
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

Done = Callable[[str | None], None]

TEXTS_A_SECOND = 5.0
MOST_TEXTS = 10.0
SAME_TEXT_S = 2.0


class Share:
    """So many sentences at once, and then so many a second."""

    def __init__(self) -> None:
        self._left = MOST_TEXTS
        self._at_s = 0.0

    def take(self, now_s: float) -> bool:
        self._left = min(self._left + (now_s - self._at_s) * TEXTS_A_SECOND, MOST_TEXTS)
        self._at_s = now_s
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Session:
    HEARS = {
        "HEARTBEAT": "of a ground station: without it the failsafe rule station_lost acts",
        "TIMESYNC": "answered",
        "PING": "answered",
        "SETUP_SIGNING": "refused: keys are not transmitted",
    }

    def __init__(self, peer: "StationLink", vehicle_link: VehicleLink) -> None:
        self.vehicle_link = vehicle_link
        self.heard_from = (0, 0)  # system and component of whoever spoke last
        self.now_s = 0.0
        self._peer = peer
        self.telemetry = Telemetry(vehicle_link)
        self.missions = Missions(self)
        self._parameters = Parameters(self)
        self._logs = Logs(self)
        self._parts = (self._parameters, self._logs, self.missions)  # those that go on by themselves
        self._hears: dict[str, Callable[[Any], None]] = {}
        talkers = (self, self._parameters, self.missions, Commands(self), Pilot(self), self._logs, Ftp(self))
        for part in talkers:
            for name in part.HEARS:
                self._hears[name] = getattr(part, name.lower())
        self._active: list[str] = []
        self._fault: str | None = None
        self._answers, self._alarms = Share(), Share()
        self._said: dict[str, float] = {}
        self._text_id = 0

    # ---- hearing

    def hear(self, message: Any, now_s: float) -> None:
        self.now_s = now_s
        handler = self._hears.get(message.get_type())
        if handler:
            self.heard_from = message.get_srcSystem(), message.get_srcComponent()
            handler(message)

    def step(self, now_s: float) -> None:
        self.now_s = now_s
        for part in self._parts:
            part.step(now_s)
        self._tell_changes()
        if self._peer.has_room(telemetry=True):
            for message in self.telemetry.due(now_s):
                self.say(message)

    def end(self) -> None:
        self.missions.end()
        self._logs.end()

    def heartbeat(self, message: Any) -> None:
        if message.type == mavlink.MAV_TYPE_GCS:
            self.vehicle_link.bridge.slot("station")

    def timesync(self, message: Any) -> None:
        if message.tc1 == 0:
            own_ns = int(self.now_s * 1e9)
            self.say(mavlink.MAVLink_timesync_message(own_ns, message.ts1))

    def ping(self, message: Any) -> None:
        if message.target_system == 0:
            self.say(mavlink.MAVLink_ping_message(message.time_usec, message.seq, *self.heard_from))

    def setup_signing(self, message: Any) -> None:
        self.text(mavlink.MAV_SEVERITY_WARNING, "signing is set up by a key file, not over a link")

    # ---- saying

    def order(self, kind: str, *values: Any, done: Done) -> bool:
        """To the loop; `done` hears, in this thread, None or why it was refused."""
        return self.vehicle_link.bridge.order(self._peer, kind, *values, ticket=done)

    def say(self, message: Any) -> None:
        self._peer.say(self.vehicle_link, message)

    def say_now(self, number: int) -> bool:
        """A message of the telemetry, at once; False if there is nothing to tell in it."""
        message = self.telemetry.once(number)
        if message is not None:
            self.say(message)
        return message is not None

    def has_room(self) -> bool:
        return self._peer.has_room()

    def text(self, severity: int, text: str, alarm: bool = False) -> bool:
        """A sentence for the person at the station; not the same one over and over, and not too many: False then.

        Alarms have a share of their own: however much a station asks, what it is answered does not keep them back.
        """
        now_s = self.now_s
        if now_s - self._said.get(text, float("-inf")) < SAME_TEXT_S:
            return False
        if not (self._alarms if alarm else self._answers).take(now_s):
            return False
        if len(self._said) > 100:
            self._said.clear()
        self._said[text] = now_s
        data = text.encode("ascii", "replace")
        pieces = [data[k : k + TEXT_BYTES] for k in range(0, len(data), TEXT_BYTES)][:20]
        if len(pieces) > 1 and len(pieces[-1]) == TEXT_BYTES:
            pieces.append(b"")  # a piece that is full says that another one follows
        self._text_id = self._text_id % 0xFFFF + 1
        for k, piece in enumerate(pieces):
            self.say(
                mavlink.MAVLink_statustext_message(
                    severity, piece, self._text_id if len(pieces) > 1 else 0, k
                )
            )
        return True

    def _tell_changes(self) -> None:
        """Failsafes and the loop's end; what cannot be said now is said as soon as it can."""
        now = self.vehicle_link.snapshot
        rows = dict(self.vehicle_link.active_rows(now))
        for name in list(self._active):
            cleared = f"failsafe {name} has cleared"
            if name not in rows and self.text(mavlink.MAV_SEVERITY_INFO, cleared, alarm=True):
                self._active.remove(name)
        for name, action in rows.items():
            if name not in self._active and self.text(severity_of(action), f"failsafe {name}", alarm=True):
                self._active.append(name)
        stopped = f"the loop has stopped safe: {now.fault}"
        if now.fault != self._fault and self.text(mavlink.MAV_SEVERITY_EMERGENCY, stopped, alarm=True):
            self._fault = now.fault


def severity_of(action: int) -> int:
    if action >= NEUTRAL:
        return mavlink.MAV_SEVERITY_CRITICAL
    return mavlink.MAV_SEVERITY_ERROR if action >= HOLD else mavlink.MAV_SEVERITY_WARNING
