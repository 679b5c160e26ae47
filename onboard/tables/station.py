"""Table `station` of a vehicle file: how the vehicle presents itself to ground stations. CPython only."""

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from caudal.hal.tables.types import Table
from caudal.hal.vehicle_file.reader import VehicleFile

Axis = Literal["x", "-x", "y", "-y", "z", "-z", "r", "-r", "none"]


class OriginTable(Table, kw_only=True, frozen=True):
    """Latitude and longitude of x = y = 0."""

    latitude_deg: Annotated[float, Meta(ge=-89, le=89)]
    longitude_deg: Annotated[float, Meta(ge=-180, le=180)]


class AxesTable(Table, kw_only=True, frozen=True):
    """The axis of MANUAL_CONTROL that moves each stick. z is the throttle; r turns, to starboard."""

    ahead: Axis
    port: Axis
    up: Axis
    turn: Axis
    z_neutral: Literal[0, 500] = 500  # the z of a centred joystick, or of a closed throttle


class StationTable(Table, kw_only=True, frozen=True):
    """The vehicle's identity and axes on a ground station."""

    autopilot: Literal["px4", "ardupilot", "generic"] = "px4"
    system: Annotated[int, Meta(ge=1, le=250)] = 1  # the other vehicles of a simulation have the next numbers
    bearing_deg: Annotated[float, Meta(ge=-360, le=360)] = 0.0  # of x, from north
    origin: OriginTable | None = None
    axes: AxesTable | None = None  # without it, those that fit how the vehicle moves


STICKS = AxesTable(ahead="x", port="-y", up="z", turn="-r")  # a vehicle with thrusters
THROTTLE = AxesTable(ahead="z", port="none", up="-x", turn="-r", z_neutral=0)  # with a gait: z is the beat


def read(file: VehicleFile, gait: object | None) -> StationTable:
    """The table, or its defaults; its axes fit how the vehicle moves, unless the file gives them."""
    station = file.read("station", StationTable) if "station" in file.tables else StationTable()
    axes = station.axes or (THROTTLE if gait else STICKS)
    return replace(station, axes=axes)
