"""Does a vehicle's computer understand its files: vehicle, settings and calibration, read as `caudal run --on pi` will.

`caudal deploy pi` does this before anything is sent; the release itself does it again on the vehicle, with the
vehicle's own Python, packages and calibration, before it becomes the current one.
"""

import argparse
import importlib
import sys

from caudal.hal.tables import pi as pi_spec
from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.tools.common import options, output
from caudal.tools.vehicle_run.config import Controlled, open_controlled


def read_for_pi(vehicle: str, overrides: list[str], scenario: str | None) -> tuple[Controlled, str]:
    """The vehicle and its scenario's name, or the sentence that says what does not fit."""
    controlled, name, settings = open_controlled(vehicle, overrides, scenario)
    pi_spec.read(controlled.file, controlled.settings)
    controlled.try_without_readings(name, settings)
    return controlled, name


def main() -> int:
    command = argparse.ArgumentParser(prog="caudal-read", description=__doc__)
    options.add_vehicle(command)
    command.add_argument("--scenario", metavar="NAME")
    options.add_set(command)
    try:
        args = command.parse_args()
        importlib.import_module(
            "caudal.tools.vehicle_run.vehicle_run"
        )  # with every package a run needs: do they load here?
        controlled, scenario = read_for_pi(args.vehicle, args.set, args.scenario)
    except (VehicleFileError, output.UsageError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{controlled.name} reads, and {scenario} ticks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
