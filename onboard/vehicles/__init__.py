"""Finds and reads vehicle files: what the control stack and the HAL make of one. CPython only."""

from pathlib import Path

from msgspec.structs import asdict, replace

from caudal.hal.tables import channels as hal_spec
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.onboard.tables import params as onboard_spec_params
from caudal.onboard.tables import read as onboard_spec
from caudal.onboard.tables.read import Settings

FOLDER = Path(__file__).parent
OWN_TABLES = ("name", "about")
TABLES = (*OWN_TABLES, *hal_spec.TABLES, *onboard_spec.TABLES, "param")


def names() -> list[str]:
    """The vehicles that come with the project."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name_or_path: str) -> str:
    """A name from the project's own vehicles, or of a file NAME.toml in this folder, or the path of any."""
    if "/" in name_or_path or name_or_path.endswith(".toml"):
        return name_or_path
    for folder in (FOLDER, Path()):
        named = folder / f"{name_or_path}.toml"
        if named.is_file():
            return str(named)
    if not Path(name_or_path).exists():
        known = ", ".join(names())
        raise VehicleFileError(
            f'there is no vehicle "{name_or_path}"; there are {known}, or NAME.toml here, or give a path'
        )
    return name_or_path


def read(file: VehicleFile) -> Settings:
    """A vehicle's settings: channels and control stack, every value checked."""
    channels = hal_spec.read(file)
    stack = onboard_spec.read(file, channels)
    settings = Settings(name=file.read("name", str), **asdict(channels), **asdict(stack))
    return replace(settings, params=onboard_spec_params.read(file, settings))
