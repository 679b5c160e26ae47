"""A ground station by pymavlink, the only one of the three clients that can also misbehave."""

import os
import time
from collections.abc import Callable
from typing import Any

os.environ["MAVLINK20"] = "1"  # mavutil reads it when it is imported
from pymavlink import mavutil

from tests.station.simulated import TIMEOUT_S

mavlink = mavutil.mavlink
CUSTOM = mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
TRIES = 5  # of a command


class Pilot:
    """One connection of a station."""

    def __init__(self, address: str, key: bytes | None = None, system: int = 255) -> None:
        self.link: Any = mavutil.mavlink_connection(address, source_system=system, source_component=190)
        if key:
            self.link.setup_signing(key, sign_outgoing=True, allow_unsigned_callback=lambda mav, id: False)
        self.mav = self.link.mav
        self.texts: list[str] = []
        self.alive: Callable[[], bool] = lambda: True  # the vehicle, if it is a process of its own
        self._heartbeat_s = 0.0

    def close(self) -> None:
        self.link.close()

    def send_heartbeat(self) -> None:
        self.mav.heartbeat_send(mavlink.MAV_TYPE_GCS, mavlink.MAV_AUTOPILOT_INVALID, 0, 0, 0)
        self._heartbeat_s = time.monotonic()

    def receive(self, *types: str, where=lambda message: True, timeout_s: float = TIMEOUT_S) -> Any:
        """The next message of these types, None after the timeout; it stores texts that come before."""
        end_s = time.monotonic() + timeout_s
        while time.monotonic() < end_s and self.alive():
            if time.monotonic() - self._heartbeat_s > 1.0:
                self.send_heartbeat()
            message = self.link.recv_match(blocking=True, timeout=min(0.1, timeout_s))
            if message is None:
                continue
            if message.get_type() == "STATUSTEXT":
                self._store_text(message)
            if message.get_type() in types and where(message):
                return message
        return None

    def _store_text(self, message: Any) -> None:
        if message.id and message.chunk_seq:
            self.texts[-1] += message.text
        else:
            self.texts.append(message.text)

    def connect(self) -> None:
        assert self.receive("HEARTBEAT", where=lambda m: m.autopilot != mavlink.MAV_AUTOPILOT_INVALID)
        self.link.target_system, self.link.target_component = 1, 1

    def command(
        self, number: int, *params: float, system: int = 1, timeout_s: float = TIMEOUT_S
    ) -> int | None:
        """The result of a COMMAND_LONG, repeated as every station does; None without an answer."""
        full = (*params, *[0.0] * (7 - len(params)))
        for again in range(TRIES):
            self.mav.command_long_send(system, 1, number, again, *full)
            ack = self.receive(
                "COMMAND_ACK", where=lambda m: m.command == number, timeout_s=timeout_s / TRIES
            )
            if ack:
                return ack.result
        return None

    def arm(self, on: bool = True) -> int | None:
        return self.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, float(on))

    def mode(self, main: int, sub: int = 0) -> int | None:
        return self.command(mavlink.MAV_CMD_DO_SET_MODE, CUSTOM, main, sub)

    def parameters(self) -> dict[str, Any]:
        self.mav.param_request_list_send(1, 1)
        found: dict[str, Any] = {}
        while True:
            value = self.receive("PARAM_VALUE", timeout_s=TIMEOUT_S)
            assert value, f"{len(found)} parameters came, then none"
            found[value.param_id] = value
            if len(found) == value.param_count:
                return found

    def upload(self, items: list[tuple], frame: int = mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT) -> int:
        """Items are x, y (as in the message), z, seconds to stay and, if it is no waypoint, its command.

        The type of the MISSION_ACK.
        """
        self.mav.mission_count_send(1, 1, len(items), 0)
        while True:
            message = self.receive("MISSION_REQUEST_INT", "MISSION_ACK")
            assert message
            if message.get_type() == "MISSION_ACK":
                return message.type
            x, y, z, stay_s, *other = items[message.seq]
            command = other[0] if other else mavlink.MAV_CMD_NAV_WAYPOINT
            self.mav.mission_item_int_send(
                1, 1, message.seq, frame, command, 0, 1, stay_s, 0, 0, float("nan"), x, y, z, 0
            )

    def download(self) -> list[tuple]:
        self.mav.mission_request_list_send(1, 1, 0)
        count = self.receive("MISSION_COUNT").count
        items = []
        for seq in range(count):
            self.mav.mission_request_int_send(1, 1, seq, 0)
            item = self.receive("MISSION_ITEM_INT", where=lambda m, seq=seq: m.seq == seq)
            items.append((item.x, item.y, item.z, item.param1))
        self.mav.mission_ack_send(1, 1, 0, 0)
        return items
