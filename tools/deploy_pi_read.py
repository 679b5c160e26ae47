"""Does a vehicle's computer understand its files: vehicle, settings and calibration, read as `caudal run --on pi` will.

`caudal deploy pi` does this before anything is sent; the release itself does it again on the vehicle, with the
vehicle's own Python, packages and calibration, before it becomes the current one.
"""

import argparse
import importlib
import sys

import onboard.vehicle
from hal import pi_spec
from hal.vehicle_file import VehicleFileError
from tools import options, say
from tools.controlled import Controlled, open_controlled


def read_for_pi(vehicle: str, overrides: list[str], scenario: str | None) -> tuple[Controlled, str]:
    """The vehicle and its scenario's name, or the sentence that says what does not fit."""
    controlled, name, settings = open_controlled(vehicle, overrides, scenario)
    _expect_tables(controlled)
    pi_spec.read(controlled.file, controlled.settings)
    controlled.try_without_readings(name, settings)
    return controlled, name


def _expect_tables(controlled: Controlled) -> None:
    """A table or key that belongs to nobody is a slip. Where the plant is not installed, its tables are not known."""
    try:
        from sim_plant.spec import TABLES
    except ImportError:
        return
    controlled.file.expect_tables((*onboard.vehicle.TABLES, *TABLES, "excite"))


def main() -> int:
    command = argparse.ArgumentParser(prog="caudal-read", description=__doc__)
    options.add_vehicle(command)
    command.add_argument("--scenario", metavar="NAME")
    options.add_set(command)
    try:
        args = command.parse_args()
        importlib.import_module(
            "tools.aboard"
        )  # with every package a run needs: do they load on this computer?
        controlled, scenario = read_for_pi(args.vehicle, args.set, args.scenario)
    except (VehicleFileError, say.Refused, ImportError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{controlled.name} reads, and {scenario} ticks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
