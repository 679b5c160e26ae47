"""Checks a vehicle's files (vehicle, settings, calibration) as `caudal run --on pi` will read them.

`caudal deploy pi` does this before it sends anything. The release does it again on the vehicle, with the vehicle's own
Python, packages and calibration, before it becomes the current one.
"""

import argparse
import importlib
import sys

from caudal.hal.errors import CaudalError
from caudal.hal.tables import pi as pi_spec
from caudal.onboard.run.config import Controlled, open_controlled
from caudal.tools.common import options
from caudal.tools.config.known_tables import known_tables


def read_for_pi(vehicle: str, overrides: list[str], scenario: str | None) -> tuple[Controlled, str]:
    """The vehicle and its scenario's name; an error if the controller cannot run with them on a Pi."""
    controlled, name, settings = open_controlled(vehicle, overrides, scenario, known_tables())
    pi_spec.read(controlled.file, controlled.settings)
    controlled.try_without_readings(name, settings)
    return controlled, name


def main() -> int:
    """The command caudal-read of a release; 2 if the files cannot be read."""
    command = argparse.ArgumentParser(prog="caudal-read", description=__doc__)
    options.add_vehicle(command)
    command.add_argument("--scenario", metavar="NAME")
    options.add_set(command)
    try:
        args = command.parse_args()
        importlib.import_module("caudal.onboard.run.vehicle_run")  # with every package that a run needs
        controlled, scenario = read_for_pi(args.vehicle, args.set, args.scenario)
    except (CaudalError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{controlled.name} is valid, and {scenario} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
