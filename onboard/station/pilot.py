"""A pilot's hand: sticks, and places to go to. Only the latest counts, so nobody can flood the loop with them."""

import math
from typing import TYPE_CHECKING, Any

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.sticks import SILENT_S

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

FULL = 1000  # of an axis
ABSENT = 0x7FFF
STICKS = ("ahead", "port", "up", "turn")

_IGNORES = (
    mavlink.POSITION_TARGET_TYPEMASK_X_IGNORE,
    mavlink.POSITION_TARGET_TYPEMASK_Y_IGNORE,
    mavlink.POSITION_TARGET_TYPEMASK_Z_IGNORE,
)
LOCAL = (mavlink.MAV_FRAME_LOCAL_NED, mavlink.MAV_FRAME_LOCAL_OFFSET_NED)
GLOBAL = (
    mavlink.MAV_FRAME_GLOBAL,
    mavlink.MAV_FRAME_GLOBAL_INT,
    mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT,
    mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT,
)  # the surface is sea level and home: an altitude below it is a depth


class Pilot:
    HEARS = {
        "MANUAL_CONTROL": "manual control, by the vehicle file's `station.axes`",
        "SET_POSITION_TARGET_LOCAL_NED": "a position for mode goto; velocities only are refused",
        "SET_POSITION_TARGET_GLOBAL_INT": "a position for mode goto",
    }

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._craft = session.vehicle_link

    def manual_control(self, message: Any) -> None:
        values = {axis: getattr(message, axis) for axis in "xyzr"}
        if any(not -FULL <= v <= FULL and v != ABSENT for v in values.values()):
            self._session.text(
                mavlink.MAV_SEVERITY_WARNING, "MANUAL_CONTROL: an axis is beyond 1000; not taken"
            )
            return
        station = self._session, self._session.heard_from[0]
        held = self._craft.sticks
        if not held.take(station, self._session.now_s, self._craft.snapshot.armed):
            if held.is_news(station):
                text = f"sticks not taken: another station flies; they are free once it is silent for {SILENT_S:g} s"
                self._session.text(mavlink.MAV_SEVERITY_WARNING, text)
            return
        self._craft.bridge.slot("sticks", *sticks(values, self._craft.axes))

    def set_position_target_local_ned(self, message: Any) -> None:
        if message.coordinate_frame not in LOCAL:
            self._refuse("only LOCAL_NED and LOCAL_OFFSET_NED are known here")
            return
        x = y = depth = None
        ignored = [bool(message.type_mask & bit) for bit in _IGNORES]
        offset = message.coordinate_frame == mavlink.MAV_FRAME_LOCAL_OFFSET_NED
        if ignored[0] != ignored[1]:
            self._refuse("give x and y together, or neither")
            return
        here = self._craft.snapshot.estimate
        if offset and None in (here["x_m"], here["y_m"], here["depth_m"]):
            self._refuse("it does not know where it is")
            return
        if not ignored[0]:
            x, y = self._craft.places.own(message.x, message.y)
            x, y = (x + here["x_m"], y + here["y_m"]) if offset else (x, y)
        if not ignored[2]:
            depth = message.z + here["depth_m"] if offset else message.z
        self._goto(x, y, depth, message)

    def set_position_target_global_int(self, message: Any) -> None:
        ignored = [bool(message.type_mask & bit) for bit in _IGNORES]
        if (
            message.coordinate_frame not in GLOBAL
            or self._craft.places.origin is None
            or ignored[0]
            or ignored[1]
        ):
            self._refuse(
                "it needs a global frame, latitude and longitude, and a vehicle with a declared origin"
            )
            return
        x, y = self._craft.places.from_globe(message.lat_int / 1e7, message.lon_int / 1e7)
        self._goto(x, y, None if ignored[2] else -message.alt, message)

    def _goto(self, x: float | None, y: float | None, depth: float | None, message: Any) -> None:
        heading = None
        if not message.type_mask & mavlink.POSITION_TARGET_TYPEMASK_YAW_IGNORE:
            heading = heading_of(self._craft, message.yaw)
        place = [x, y, depth, heading]
        if all(value is None for value in place):
            self._refuse("only places are followed, no velocities or accelerations")
        elif not all(value is None or math.isfinite(value) for value in place):
            self._refuse("it holds no number where one should be")
        else:
            self._craft.bridge.slot("goto", *place)

    def _refuse(self, why: str) -> None:
        self._session.text(mavlink.MAV_SEVERITY_WARNING, f"set-point not taken: {why}")


def heading_of(vehicle_link: Any, yaw_rad: float) -> float:
    return vehicle_link.places.yaw_rad(yaw_rad) if math.isfinite(yaw_rad) else yaw_rad


def sticks(values: dict[str, int], axes: dict[str, Any]) -> list[float]:
    """Ahead, to port, up, turn: shares, from axes in thousandths."""
    neutral = axes["z_neutral"]
    shares = {axis: (0.0 if value == ABSENT else value / FULL) for axis, value in values.items()}
    if neutral and values["z"] != ABSENT:
        shares["z"] = max((values["z"] - neutral) / (FULL - neutral), -1.0)
    told = []
    for stick in STICKS:
        axis = axes[stick]
        told.append(0.0 if axis == "none" else -shares[axis[1:]] if axis[0] == "-" else shares[axis])
    return told
