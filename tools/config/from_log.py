"""The vehicle file that stands in a log, with the settings the run was given."""

from collections.abc import Iterable

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.log.reader import Log
from caudal.tools.common.output import UsageError


def vehicle_file(log: Log, overrides: Iterable[str] = ()) -> VehicleFile:
    """As recorded, and `overrides` on top."""
    if "vehicle_file" not in log.run:
        raise UsageError("the log does not hold its vehicle file; is it one that caudal run wrote?")
    recorded = [line for line in log.run.get("overrides", "").split("\n") if line]
    label = f"{log.run.get('vehicle')}.toml in the log"
    return VehicleFile.parse(log.run["vehicle_file"], label, [*recorded, *overrides])
