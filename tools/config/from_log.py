"""Reads the vehicle file of a log, with the overrides of its run."""

from collections.abc import Iterable

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.log.reader import Log
from caudal.tools.common.output import UsageError


def vehicle_file(log: Log, overrides: Iterable[str] = ()) -> VehicleFile:
    """The vehicle file as recorded, with more overrides."""
    if "vehicle_file" not in log.run:
        raise UsageError("the log does not hold its vehicle file; give a log that caudal run has written")
    recorded = [line for line in log.run.get("overrides", "").split("\n") if line]
    label = f"{log.run.get('vehicle')}.toml in the log"
    return VehicleFile.parse(log.run["vehicle_file"], label, [*recorded, *overrides])
