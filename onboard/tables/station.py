"""Table `station` of a vehicle file: what ground stations see it as. CPython only."""

from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import replace

from caudal.hal.tables.types import Table
from caudal.hal.vehicle_file.reader import VehicleFile

Axis = Literal["x", "-x", "y", "-y", "z", "-z", "r", "-r", "none"]


class OriginTable(Table, kw_only=True, frozen=True):
    """Where on the globe x = y = 0 lies."""

    latitude_deg: Annotated[float, Meta(ge=-89, le=89)]
    longitude_deg: Annotated[float, Meta(ge=-180, le=180)]


class AxesTable(Table, kw_only=True, frozen=True):
    """Which axis of MANUAL_CONTROL moves which stick. z is the throttle; r turns, to starboard."""

    ahead: Axis
    port: Axis
    up: Axis
    turn: Axis
    z_neutral: Literal[0, 500] = 500  # where z means nothing: joysticks' middle, or a throttle's lower end


class StationTable(Table, kw_only=True, frozen=True):
    autopilot: Literal["px4", "ardupilot", "generic"] = "px4"
    system: Annotated[int, Meta(ge=1, le=250)] = 1  # the next vehicles of a fleet have the next numbers
    bearing_deg: Annotated[float, Meta(ge=-360, le=360)] = 0.0  # of x, from north
    origin: OriginTable | None = None
    axes: AxesTable | None = None  # by default as the vehicle moves


STICKS = AxesTable(ahead="x", port="-y", up="z", turn="-r")  # a vehicle with thrusters
THROTTLE = AxesTable(ahead="z", port="none", up="-x", turn="-r", z_neutral=0)  # one that beats: z is the beat


def read(file: VehicleFile, gait: Any) -> StationTable:
    """The table, or its defaults; its axes as the vehicle moves, unless the file says otherwise."""
    station = file.read("station", StationTable) if "station" in file.tables else StationTable()
    axes = station.axes or (THROTTLE if gait else STICKS)
    return replace(station, axes=axes)
