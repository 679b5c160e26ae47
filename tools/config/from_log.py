"""Reads the vehicle file of a log, with the overrides of its run."""

from collections.abc import Iterable
from functools import lru_cache

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.log.reader import Log
from caudal.onboard.tables.read import Settings
from caudal.tools.common.output import UsageError
from caudal.tools.config.known_tables import known_tables


def vehicle_file(log: Log, overrides: Iterable[str] = ()) -> VehicleFile:
    """The vehicle file as recorded, with more overrides."""
    return _file(*_key(log, overrides))


def recorded_settings(log: Log, overrides: Iterable[str] = ()) -> Settings:
    """The settings that its run had, with more overrides."""
    return _settings(*_key(log, overrides))


def _key(log: Log, overrides: Iterable[str]) -> tuple[str, str, tuple[str, ...]]:
    if "vehicle_file" not in log.run:
        raise UsageError("the log does not hold its vehicle file; give a log that caudal run has written")
    recorded = [line for line in log.run.get("overrides", "").split("\n") if line]
    return log.run["vehicle_file"], f"{log.run.get('vehicle')}.toml in the log", (*recorded, *overrides)


@lru_cache(maxsize=2)  # a report reads its log's several times
def _file(text: str, label: str, overrides: tuple[str, ...]) -> VehicleFile:
    return VehicleFile.parse(text, label, overrides)


@lru_cache(maxsize=2)
def _settings(text: str, label: str, overrides: tuple[str, ...]) -> Settings:
    file = _file(text, label, overrides)
    if known := known_tables():
        file.expect_tables((*vehicles.TABLES, *known))
    return vehicles.read(file)
