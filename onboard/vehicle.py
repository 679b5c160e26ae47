"""Finds and reads vehicle files: what the control stack and the HAL make of one. CPython only."""

from pathlib import Path
from typing import Any

import hal.spec
import onboard.spec
from hal.vehicle_file import VehicleFile, VehicleFileError

FOLDER = Path(__file__).parent / "vehicles"
OWN_TABLES = ("name", "about")
TABLES = (*OWN_TABLES, *hal.spec.TABLES, *onboard.spec.TABLES)


def names() -> list[str]:
    """The vehicles that come with the project."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name_or_path: str) -> str:
    """A name from the project's own vehicles, or the path of any vehicle file."""
    own = FOLDER / f"{name_or_path}.toml"
    if own.is_file():
        return str(own)
    if "/" not in name_or_path and not name_or_path.endswith(".toml") and not Path(name_or_path).exists():
        known = ", ".join(names())
        raise VehicleFileError(
            f'there is no vehicle "{name_or_path}"; there are {known}, or give a file\'s path'
        )
    return name_or_path


def read(file: VehicleFile) -> dict[str, Any]:
    """Plain settings of a vehicle: channels and control stack, every value checked."""
    channels = hal.spec.read(file)
    stack = onboard.spec.read(file, channels)
    return {"name": file.read("name", str), **channels, **stack}
