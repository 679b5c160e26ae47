"""Mission items: what a station's way-point is to the vehicle. An altitude is minus the depth."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onboard.helm import MOST_ITEMS
from onboard.station.dialect import mavlink, name_of
from onboard.station.pilot import GLOBAL

if TYPE_CHECKING:
    from onboard.station.craft import Craft

WAYPOINTS = {
    mavlink.MAV_CMD_NAV_WAYPOINT: "a way-point; param1 is how long it stays (s)",
    mavlink.MAV_CMD_NAV_LOITER_TIME: "the same",
}
PASSED_OVER = {
    mavlink.MAV_CMD_DO_CHANGE_SPEED: "kept and passed over: it swims at the speed of its file",
}


class Wrong(Exception):
    """An item the vehicle cannot do: MAV_MISSION_RESULT, and a sentence."""

    def __init__(self, result: int, why: str) -> None:
        super().__init__(why)
        self.result = result


@dataclass(frozen=True)
class Item:
    """As it came; x and y in 1e-7 degrees, or in 0.1 mm in a local frame."""

    frame: int
    command: int
    autocontinue: int
    params: tuple[float, float, float, float]
    x: int
    y: int
    z: float

    @classmethod
    def of(cls, message: Any) -> "Item":
        x, y = message.x, message.y
        if message.get_type() == "MISSION_ITEM":  # the older one, with floats
            if not (math.isfinite(x) and math.isfinite(y)):
                raise Wrong(mavlink.MAV_MISSION_INVALID_PARAM5_X, "has no place")
            scale = 1e7 if message.frame in GLOBAL else 1e4
            x, y = (min(max(round(v * scale), -(2**31)), 2**31 - 1) for v in (x, y))
        params = message.param1, message.param2, message.param3, message.param4
        return cls(message.frame, message.command, message.autocontinue, params, x, y, message.z)

    def waypoint(self, craft: "Craft") -> list[float] | None:
        """x, y, depth, seconds to stay; None for one that is passed over."""
        if self.command in PASSED_OVER:
            return None
        if self.command not in WAYPOINTS:
            raise Wrong(
                mavlink.MAV_MISSION_UNSUPPORTED, f"is {name_of('MAV_CMD', self.command)}, which is not there"
            )
        if self.frame in GLOBAL:
            if craft.places.origin is None:
                raise Wrong(
                    mavlink.MAV_MISSION_UNSUPPORTED_FRAME,
                    "is on the globe, but the vehicle's file declares no station.origin",
                )
            x_m, y_m = craft.places.from_globe(self.x / 1e7, self.y / 1e7)
            depth_m = -self.z
        elif self.frame == mavlink.MAV_FRAME_LOCAL_NED:
            x_m, y_m = craft.places.own(self.x / 1e4, self.y / 1e4)
            depth_m = self.z
        else:
            raise Wrong(
                mavlink.MAV_MISSION_UNSUPPORTED_FRAME, f"is in frame {self.frame}, which is not known"
            )
        if not depth_m >= 0:
            raise Wrong(
                mavlink.MAV_MISSION_INVALID_PARAM7,
                "lies above the water; an altitude is minus the depth" if depth_m < 0 else "has no depth",
            )
        stay_s = self.params[0] if math.isfinite(self.params[0]) else 0.0
        return [x_m, y_m, depth_m, max(stay_s, 0.0)]


class Plan:
    """The mission that the vehicle has, as it was uploaded, and who is about to change it."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.jumps = 0  # how often the current item was chosen by somebody
        self.uploading: Any = None  # a station's session
        self._of_waypoint: list[int] = []

    def take(self, items: list[Item], waypoints: list[list[float] | None]) -> None:
        self.items = items
        self.jumps += 1
        self._of_waypoint = [k for k, waypoint in enumerate(waypoints) if waypoint is not None]

    def item_of(self, waypoint: int) -> int:
        """The number of the item that a way-point came from; past the last, the last."""
        return self._of_waypoint[min(waypoint, len(self._of_waypoint) - 1)] if self._of_waypoint else 0

    def waypoint_from(self, item: int) -> int | None:
        """The first way-point at an item or behind it."""
        for waypoint, number in enumerate(self._of_waypoint):
            if number >= item:
                return waypoint
        return None


def check_count(count: int) -> None:
    if count > MOST_ITEMS:
        raise Wrong(
            mavlink.MAV_MISSION_NO_SPACE, f"mission: {count} items are too many; it takes {MOST_ITEMS}"
        )
