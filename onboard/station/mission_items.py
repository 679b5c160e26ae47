"""Mission items: what a station's way-point is to the vehicle. An altitude is minus the depth."""

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
PASSED_OVER = {
    mavlink.MAV_CMD_DO_CHANGE_SPEED: "stored and ignored: it moves at the speed of its file",
}


NO_PLACE = (2**31 - 1, 2**31 - 1)  # of the protocol; stations also write 0, 0, but not in a local frame

Step = list[float] | str  # of the loop's mission: a way-point, or a mode's name


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

    def steps(self, vehicle_link: "VehicleLink", deep_m: float | None) -> list[Step]:
        """What it is to the loop; nothing if it is passed over. `deep_m`: the way-point before it."""
        if self.command in PASSED_OVER:
            return []
        if self.command in WAYPOINTS:
            stay_s = self.params[0] if math.isfinite(self.params[0]) else 0.0
            return [[*self._place(vehicle_link), max(stay_s, 0.0)]]
        if self.command not in ENDINGS:
            raise Wrong(
                mavlink.MAV_MISSION_UNSUPPORTED, f"is {name_of('MAV_CMD', self.command)}, which is not there"
            )
        mode = modes.NAMES[ENDINGS[self.command][0]]
        place = self.x, self.y
        here = place == NO_PLACE or (place == (0, 0) and self.frame != mavlink.MAV_FRAME_LOCAL_NED)
        if self.command == mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH or here:
            return [mode]
        x_m, y_m, depth_m = self._place(vehicle_link)
        if self.command == mavlink.MAV_CMD_NAV_LAND and deep_m is not None:
            depth_m = deep_m  # an altitude of 0, as stations write it, would take it up on its way
        return [[x_m, y_m, depth_m, 0.0], mode]

    def _place(self, vehicle_link: "VehicleLink") -> tuple[float, float, float]:
        """x, y, depth."""
        if (self.x, self.y) == NO_PLACE:
            raise Wrong(mavlink.MAV_MISSION_INVALID_PARAM5_X, "has no place")
        if self.frame in GLOBAL:
            if vehicle_link.places.origin is None:
                raise Wrong(
                    mavlink.MAV_MISSION_UNSUPPORTED_FRAME,
                    "is on the globe, but the vehicle's file declares no station.origin",
                )
            x_m, y_m = vehicle_link.places.from_globe(self.x / 1e7, self.y / 1e7)
            depth_m = -self.z
        elif self.frame == mavlink.MAV_FRAME_LOCAL_NED:
            x_m, y_m = vehicle_link.places.own(self.x / 1e4, self.y / 1e4)
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
        return x_m, y_m, depth_m


class Plan:
    """The mission that the vehicle has, as it was uploaded, and who is about to change it."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.uploading: Any = None  # a station's session
        self._of_step: list[int] = []

    def take(self, items: list[Item], steps: list[list[Step]]) -> None:
        """`steps`: of each item."""
        self.items = items
        self._of_step = [k for k, own in enumerate(steps) for _ in own]

    def item_of(self, step: int) -> int:
        """The number of the item that a step came from; past the last, the last."""
        return self._of_step[min(step, len(self._of_step) - 1)] if self._of_step else 0

    def ended_by(self, step: int) -> int | None:
        """The number of the item whose last step this is."""
        if not 0 <= step < len(self._of_step):
            return None
        item = self._of_step[step]
        return item if self._of_step[step + 1 : step + 2] != [item] else None

    def step_from(self, item: int) -> int | None:
        """The first step of an item, or of the next that has any."""
        for step, number in enumerate(self._of_step):
            if number >= item:
                return step
        return None


def check_count(count: int) -> None:
    if count > MOST_ITEMS:
        raise Wrong(
            mavlink.MAV_MISSION_NO_SPACE, f"mission: {count} items are too many; it takes {MOST_ITEMS}"
        )
