"""Lists the vehicles that come with Caudal, and the scenarios of each."""

import argparse

from caudal.onboard import vehicles as onboard_vehicle
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import Vehicle, open_vehicle


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal list`."""
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Prints vehicles and scenarios."""
    vehicles = {name: open_vehicle(name) for name in onboard_vehicle.names()}
    if args.json:
        output.as_json({name: dict(descriptions(vehicle)) for name, vehicle in vehicles.items()})
        return 0
    for name, vehicle in vehicles.items():
        print(f"{name}: {vehicle.file.tables.get('description', '')}")
        output.table(descriptions(vehicle))
    return 0


def descriptions(vehicle: Vehicle) -> list[tuple[str, str]]:
    """Scenarios, then trials of the plant, each with its description."""
    scenarios = [(name, s.description) for name, s in vehicle.settings.scenarios.items()]
    return scenarios + [
        (name, f"{trial.description} (plant alone)") for name, trial in vehicle.trials.items()
    ]
