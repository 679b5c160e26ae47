"""Finds vehicle files, and reads the tables of the HAL and the control stack. CPython only."""

from pathlib import Path

from msgspec.structs import asdict, replace

from caudal.hal.tables import channels
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.onboard.tables import params
from caudal.onboard.tables import read as stack
from caudal.onboard.tables.read import Settings

FOLDER = Path(__file__).parent
OWN_TABLES = ("name", "description", "format")
TABLES = (*OWN_TABLES, *channels.TABLES, *stack.TABLES, "param")


def names() -> list[str]:
    """Names of the shipped vehicles."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name_or_path: str) -> str:
    """The path of a shipped vehicle, of NAME.toml in this folder, or of a file given by its path."""
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
    file.expect_format()
    found = channels.read(file)
    settings = Settings(name=file.read("name", str), **asdict(found), **asdict(stack.read(file, found)))
    return replace(settings, params=params.read(file, settings))
