"""The vehicles that come with Caudal, and the scenarios each can swim."""

import argparse

import onboard.vehicle
from tools import options, say
from tools.vehicles import open_vehicle


def arguments(command: argparse.ArgumentParser) -> None:
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    vehicles = {name: open_vehicle(name) for name in onboard.vehicle.names()}
    if args.json:
        say.as_json(
            {
                name: {scenario: s["about"] for scenario, s in vehicle.settings["scenarios"].items()}
                for name, vehicle in vehicles.items()
            }
        )
        return 0
    for name, vehicle in vehicles.items():
        print(f"{name}: {vehicle.file.tables.get('about', '')}")
        say.table([(scenario, s["about"]) for scenario, s in vehicle.settings["scenarios"].items()])
    return 0
