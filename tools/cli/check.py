"""Checks a vehicle file: reads all its tables, builds its controllers, and runs one tick of each scenario."""

import argparse

from caudal.onboard.run.config import open_file
from caudal.onboard.run.unread import never_read
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import open_vehicle, read_vehicle


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal check`."""
    command.add_argument("file", help="the path of a vehicle file, or a vehicle's name")
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Prints a summary of a valid file; an invalid one raises."""
    vehicle = open_vehicle(args.file, args.set)
    settings = vehicle.settings
    for name, scenario in settings.scenarios.items():
        vehicle.try_without_readings(name, scenario)
    vehicle.try_params()
    each = {name: read_vehicle(open_file(args.file, args.set, name)) for name in settings.scenarios}
    for key in never_read(each):
        raise vehicle.file.error(key, "no scenario reads it; remove it")
    summary = {
        "vehicle": vehicle.name,
        "sound": True,
        "rate_hz": settings.rate_hz,
        "actuators": len(settings.actuators),
        "sensors": len(settings.sensors),
        "scenarios": list(settings.scenarios),
        "trials": list(vehicle.trials),
        "params": len(settings.params),
        "digest": vehicle.file.digest(),
    }
    if args.json:
        output.as_json(summary)
    else:
        print(f"{args.file} is valid.")
        output.table(
            [
                (key, ", ".join(value) or "none" if isinstance(value, list) else value)
                for key, value in summary.items()
            ]
        )
    return 0
