"""A pilot's input: manual control and position set-points. Only the latest counts, so that it cannot flood the loop."""

import math
from typing import TYPE_CHECKING, Any

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.manual_control import TIMEOUT_S

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session
    from caudal.onboard.station.vehicle_link import VehicleLink
    from caudal.onboard.tables.station import AxesTable

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
    """One station's manual control and set-points."""

    MESSAGES = {
        "MANUAL_CONTROL": "manual control, by the vehicle file's `station.axes`",
        "SET_POSITION_TARGET_LOCAL_NED": "a position for mode goto; velocities only are refused",
        "SET_POSITION_TARGET_GLOBAL_INT": "a position for mode goto",
    }

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._vehicle_link = session.vehicle_link

    def manual_control(self, message: Any) -> None:
        """Passes manual control on, unless another station has it."""
        values = {axis: getattr(message, axis) for axis in "xyzr"}
        if any(not -FULL <= v <= FULL and v != ABSENT for v in values.values()):
            self._session.text(
                mavlink.MAV_SEVERITY_WARNING, "MANUAL_CONTROL: an axis is beyond 1000; ignored"
            )
            return
        station = self._session, self._session.sender[0]
        control = self._vehicle_link.manual_control
        if not control.acquire(station, self._session.now_s, self._vehicle_link.snapshot.armed):
            if control.is_first_refusal(station):
                text = (
                    f"manual control ignored: another station has it, until it sends none for {TIMEOUT_S:g} s"
                )
                self._session.text(mavlink.MAV_SEVERITY_WARNING, text)
            return
        self._vehicle_link.bridge.slot("sticks", *sticks(values, self._vehicle_link.axes))

    def set_position_target_local_ned(self, message: Any) -> None:
        """A position set-point in metres."""
        if message.coordinate_frame not in LOCAL:
            self._refuse("it needs the frame LOCAL_NED or LOCAL_OFFSET_NED")
            return
        x = y = depth = None
        ignored = [bool(message.type_mask & bit) for bit in _IGNORES]
        offset = message.coordinate_frame == mavlink.MAV_FRAME_LOCAL_OFFSET_NED
        if ignored[0] != ignored[1]:
            self._refuse("give x and y together, or neither")
            return
        here = self._vehicle_link.snapshot.estimate
        if offset and None in (here["x_m"], here["y_m"], here["depth_m"]):
            self._refuse("the position of the vehicle is unknown")
            return
        if not ignored[0]:
            x, y = self._vehicle_link.coordinates.own(message.x, message.y)
            x, y = (x + here["x_m"], y + here["y_m"]) if offset else (x, y)
        if not ignored[2]:
            depth = message.z + here["depth_m"] if offset else message.z
        self._goto(x, y, depth, message)

    def set_position_target_global_int(self, message: Any) -> None:
        """A position set-point on the globe."""
        ignored = [bool(message.type_mask & bit) for bit in _IGNORES]
        if (
            message.coordinate_frame not in GLOBAL
            or self._vehicle_link.coordinates.origin is None
            or ignored[0]
            or ignored[1]
        ):
            self._refuse(
                "it needs a global frame, latitude and longitude, and station.origin in the vehicle file"
            )
            return
        x, y = self._vehicle_link.coordinates.from_globe(message.lat_int / 1e7, message.lon_int / 1e7)
        self._goto(x, y, None if ignored[2] else -message.alt, message)

    def _goto(self, x: float | None, y: float | None, depth: float | None, message: Any) -> None:
        heading = None
        if not message.type_mask & mavlink.POSITION_TARGET_TYPEMASK_YAW_IGNORE:
            heading = heading_of(self._vehicle_link, message.yaw)
        pose = [x, y, depth, heading]
        if all(value is None for value in pose):
            self._refuse("it needs a position; velocities and accelerations alone are not supported")
        elif not all(value is None or math.isfinite(value) for value in pose):
            self._refuse("a value is not a number")
        else:
            self._vehicle_link.bridge.slot("goto", *pose)

    def _refuse(self, why: str) -> None:
        self._session.text(mavlink.MAV_SEVERITY_WARNING, f"set-point ignored: {why}")


def heading_of(vehicle_link: "VehicleLink", yaw_rad: float) -> float:
    """The heading of a yaw; NaN stays."""
    return vehicle_link.coordinates.yaw_rad(yaw_rad) if math.isfinite(yaw_rad) else yaw_rad


def sticks(values: dict[str, int], axes: "AxesTable") -> list[float]:
    """Shares ahead, to port, up and turn, from axes in thousandths."""
    neutral = axes.z_neutral
    shares = {axis: (0.0 if value == ABSENT else value / FULL) for axis, value in values.items()}
    if neutral and values["z"] != ABSENT:
        shares["z"] = max((values["z"] - neutral) / (FULL - neutral), -1.0)
    inputs = []
    for stick in STICKS:
        axis = getattr(axes, stick)
        inputs.append(0.0 if axis == "none" else -shares[axis[1:]] if axis[0] == "-" else shares[axis])
    return inputs
