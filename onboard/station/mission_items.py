"""Mission items: converts a station's items into steps of the loop's mission. An altitude is minus the depth."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caudal.onboard.core import modes
from caudal.onboard.core.command_handler import MOST_ITEMS
from caudal.onboard.station.dialect import mavlink, name_of
from caudal.onboard.station.pilot import GLOBAL

if TYPE_CHECKING:
    from caudal.onboard.station.vehicle_link import VehicleLink

WAYPOINTS = {
    mavlink.MAV_CMD_NAV_WAYPOINT: "a waypoint; param1 is the time to stay there (s)",
    mavlink.MAV_CMD_NAV_LOITER_TIME: "the same",
}
ENDINGS = {  # with the mode that the vehicle is in from then on
    mavlink.MAV_CMD_NAV_LOITER_UNLIM: (
        modes.HOLD,
        "goes there, then mode hold; mode mission continues with the next item",
    ),
    mavlink.MAV_CMD_NAV_LAND: (modes.SURFACE, "goes there at its current depth, then mode surface"),
    mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH: (modes.SURFACE, "mode surface, at its current position"),
}
IGNORED = {
    mavlink.MAV_CMD_DO_CHANGE_SPEED: "stored and ignored: it moves at the speed of its file",
}


NO_POSITION = (2**31 - 1, 2**31 - 1)  # of the protocol; stations also send 0, 0, but not in a local frame

Step = list[float] | str  # of the loop's mission: a waypoint, or a mode's name


class InvalidItem(Exception):
    """The vehicle cannot execute an item: MAV_MISSION_RESULT, and a sentence."""

    def __init__(self, result: int, why: str) -> None:
        super().__init__(why)
        self.result = result


@dataclass(frozen=True)
class Item:
    """An item as received; x and y in 1e-7 degrees, or in 0.1 mm in a local frame."""

    frame: int
    command: int
    autocontinue: int
    params: tuple[float, float, float, float]
    x: int
    y: int
    z: float

    @classmethod
    def of(cls, message: Any) -> "Item":
        """From a MISSION_ITEM_INT or a MISSION_ITEM."""
        x, y = message.x, message.y
        if message.get_type() == "MISSION_ITEM":  # the older message, with floats
            if not (math.isfinite(x) and math.isfinite(y)):
                raise InvalidItem(mavlink.MAV_MISSION_INVALID_PARAM5_X, "has no position")
            scale = 1e7 if message.frame in GLOBAL else 1e4
            x, y = (min(max(round(v * scale), -(2**31)), 2**31 - 1) for v in (x, y))
        params = message.param1, message.param2, message.param3, message.param4
        return cls(message.frame, message.command, message.autocontinue, params, x, y, message.z)

    def steps(self, vehicle_link: "VehicleLink", depth_before_m: float | None) -> list[Step]:
        """Its steps for the loop; none if it is ignored. `depth_before_m`: that of the waypoint before it."""
        if self.command in IGNORED:
            return []
        if self.command in WAYPOINTS:
            stay_s = self.params[0] if math.isfinite(self.params[0]) else 0.0
            return [[*self._position(vehicle_link), max(stay_s, 0.0)]]
        if self.command not in ENDINGS:
            raise InvalidItem(
                mavlink.MAV_MISSION_UNSUPPORTED,
                f"is {name_of('MAV_CMD', self.command)}, which is not supported",
            )
        mode = modes.NAMES[ENDINGS[self.command][0]]
        position = self.x, self.y
        here = position == NO_POSITION or (position == (0, 0) and self.frame != mavlink.MAV_FRAME_LOCAL_NED)
        if self.command == mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH or here:
            return [mode]
        x_m, y_m, depth_m = self._position(vehicle_link)
        if self.command == mavlink.MAV_CMD_NAV_LAND and depth_before_m is not None:
            depth_m = depth_before_m  # stations send an altitude of 0, which would make it rise on its way
        return [[x_m, y_m, depth_m, 0.0], mode]

    def _position(self, vehicle_link: "VehicleLink") -> tuple[float, float, float]:
        """x, y, depth."""
        if (self.x, self.y) == NO_POSITION:
            raise InvalidItem(mavlink.MAV_MISSION_INVALID_PARAM5_X, "has no position")
        if self.frame in GLOBAL:
            if vehicle_link.coordinates.origin is None:
                raise InvalidItem(
                    mavlink.MAV_MISSION_UNSUPPORTED_FRAME,
                    "is in a global frame, but the vehicle file has no station.origin",
                )
            x_m, y_m = vehicle_link.coordinates.from_globe(self.x / 1e7, self.y / 1e7)
            depth_m = -self.z
        elif self.frame == mavlink.MAV_FRAME_LOCAL_NED:
            x_m, y_m = vehicle_link.coordinates.own(self.x / 1e4, self.y / 1e4)
            depth_m = self.z
        else:
            raise InvalidItem(
                mavlink.MAV_MISSION_UNSUPPORTED_FRAME, f"is in frame {self.frame}, which is not supported"
            )
        if not depth_m >= 0:
            raise InvalidItem(
                mavlink.MAV_MISSION_INVALID_PARAM7,
                "is above the water; an altitude is minus the depth" if depth_m < 0 else "has no depth",
            )
        return x_m, y_m, depth_m


class Plan:
    """The vehicle's mission as uploaded, and the session of a station that is uploading another."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.uploading: Any = None  # a station's session
        self._of_step: list[int] = []

    def replace(self, items: list[Item], steps: list[list[Step]]) -> None:
        """Replaces the mission; `steps` of each item."""
        self.items = items
        self._of_step = [k for k, own in enumerate(steps) for _ in own]

    def item_of(self, step: int) -> int:
        """The number of a step's item; after the last step that of the last."""
        return self._of_step[min(step, len(self._of_step) - 1)] if self._of_step else 0

    def ended_by(self, step: int) -> int | None:
        """The number of the item whose last step this is, or None."""
        if not 0 <= step < len(self._of_step):
            return None
        item = self._of_step[step]
        return item if self._of_step[step + 1 : step + 2] != [item] else None

    def step_from(self, item: int) -> int | None:
        """The first step of an item, or of the next item that has one."""
        for step, number in enumerate(self._of_step):
            if number >= item:
                return step
        return None


def check_count(count: int) -> None:
    """Raises InvalidItem if a mission has too many items."""
    if count > MOST_ITEMS:
        raise InvalidItem(
            mavlink.MAV_MISSION_NO_SPACE,
            f"mission: {count} items are too many; the vehicle accepts {MOST_ITEMS}",
        )
