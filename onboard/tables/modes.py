"""Tables `surface`, `sticks` and `mission` of a vehicle file: settings of modes other than the scenario's own.

CPython only.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from caudal.hal.core.build import UNITS
from caudal.hal.core.fixed_point import to_q14
from caudal.hal.tables.channels import Actuator
from caudal.hal.tables.types import NotNegative, Positive, Table, Wide
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.tables.scenario import SteeringTable
from caudal.onboard.tables.stack import AnyGait


class _Surface(Table, kw_only=True, frozen=True):
    method: Literal["buoyancy", "thrust", "gait"]
    frequency_hz: Annotated[float, Meta(ge=0, le=20)] = 0.0  # of the gait meanwhile


class SurfaceTable(_Surface, kw_only=True, frozen=True):
    """How the vehicle surfaces, without a sensor: `by` is the means."""

    commands: dict[str, Wide] = {}  # of other actuators, SI
    drop: dict[str, Wide] = {}  # that release the ballast, SI


class Surface(_Surface, kw_only=True, frozen=True):
    """The same as a loop has it: actuators and their commands, fixed point."""

    commands: list[tuple[str, int]]
    drop: list[tuple[str, int]]


class SticksTable(Table, kw_only=True, frozen=True):
    """Manual control of a vehicle that swims with its tail: setpoints at full deflection of a stick."""

    frequency_hz: Annotated[float, Meta(gt=0, le=20)]  # ahead; astern the wave runs the other way
    deflection_deg: Annotated[float, Meta(gt=0, le=85)]  # turn
    depth_m_s: NotNegative = 0.0  # up and down, where it can dive


class MissionTable(Table, kw_only=True, frozen=True):
    """How waypoints are followed; a vehicle with a tail needs all keys."""

    acceptance_radius_m: Positive = 0.15
    speed_m_s: Positive | None = None
    steering: SteeringTable | None = None


class Modes(Table, kw_only=True, frozen=True):
    """The three tables; None where the file has no such table."""

    surface: Surface | None
    sticks: SticksTable | None
    mission: MissionTable | None


def read(file: VehicleFile, actuators: Mapping[str, Actuator], gait: AnyGait | None, guided: bool) -> Modes:
    """The three tables, checked against the channels."""
    surface = file.read("surface", SurfaceTable) if "surface" in file.tables else None
    sticks = file.read("sticks", SticksTable) if "sticks" in file.tables else None
    mission = file.read("mission", MissionTable) if "mission" in file.tables else None
    if surface:
        _check_surface(file, surface, actuators, gait)
    if sticks and not gait:
        raise file.error(
            "sticks", "is for vehicles with a gait; with thrusters, control.cruise sets the speeds"
        )
    if mission and gait:
        if not guided:
            raise file.error("mission", "needs [guidance]")
        for key in ("speed_m_s", "steering"):
            if getattr(mission, key) is None:
                raise file.error(f"mission.{key}", "is required of a vehicle that swims with its tail")
    return Modes(surface=_lowered(surface) if surface else None, sticks=sticks, mission=mission)


def _lowered(table: SurfaceTable) -> Surface:
    """Lists in place of tables: a microcontroller's dictionaries have no order."""
    return Surface(
        method=table.method,
        frequency_hz=table.frequency_hz,
        commands=[(name, to_q14(value)) for name, value in table.commands.items()],
        drop=[(name, to_q14(value)) for name, value in table.drop.items()],
    )


def _check_surface(
    file: VehicleFile, surface: SurfaceTable, actuators: Mapping[str, Actuator], gait: AnyGait | None
) -> None:
    if surface.method == "gait" and not (gait and surface.frequency_hz):
        raise file.error("surface.method", '"gait" needs a [gait] and a frequency_hz above 0')
    if surface.method == "thrust" and not surface.commands:
        raise file.error("surface.method", '"thrust" needs `commands`: the force of each thruster')
    for key in ("commands", "drop"):
        for name, value in getattr(surface, key).items():
            if name not in actuators:
                known = ", ".join(sorted(actuators))
                raise file.error(f"surface.{key}", f'there is no actuator "{name}"; there are {known}')
            if gait and name in gait.joints:
                raise file.error(f"surface.{key}", f'"{name}" is moved by the gait; frequency_hz says how')
            unit = UNITS[actuators[name].map]
            low, high = getattr(actuators[name], f"min_{unit}"), getattr(actuators[name], f"max_{unit}")
            if not low <= value <= high:
                raise file.error(f"surface.{key}.{name}", f"{value:g} lies outside {low:g} to {high:g}")
