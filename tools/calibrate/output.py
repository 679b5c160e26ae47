"""Where the values of a calibration go: into the vehicle file itself, or into a file of its own that --with reads.

What is there already counts, also what stands in --output's file: a calibration starts from what the vehicle goes by.
Whether the place can be written is known before anything moves.
"""

import argparse
import os
from pathlib import Path
from typing import Any

from caudal.onboard import vehicles
from caudal.tools.common import options, output
from caudal.tools.common.toml_edit import set_keys
from caudal.tools.config.pi_vehicle import PiVehicle, open_pi_vehicle

HEAD = "# Found by caudal calibrate on this vehicle; caudal run and others take it by --with.\n\n"


def add_into(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help="write to this file, made or amended, which --with reads (on a deployed vehicle "
        "/var/lib/caudal/calibration.toml), not to the vehicle file itself",
    )
    options.add_set(command)
    options.add_json(command)


class CalibrationFile:
    """The vehicle as it goes now, and the file that will hold what is found."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._json = args.json
        own = vehicles.find(args.vehicle)
        if args.output is None and args.vehicle in vehicles.names():
            raise output.UsageError(
                f"{args.vehicle} is a vehicle of the project's own and stays as it is; give --output FILE"
            )
        self._path = Path(own) if args.output is None else args.output
        self._check_place()
        lines = argparse.Namespace(set=[*args.set])
        if args.output is not None and args.output.exists():
            options.With([], "set")(None, lines, args.output)  # last: they count aboard too
        self.vehicle: PiVehicle = open_pi_vehicle(args.vehicle, lines.set)

    def _check_place(self) -> None:
        real = Path(os.path.realpath(self._path))
        folder = real.parent
        while not folder.exists():
            folder = folder.parent
        if real.is_dir() or not folder.is_dir():
            raise output.UsageError(f"{self._path} is no place for a file; choose another")
        if not os.access(folder, os.W_OK):
            raise output.UsageError(
                f"{folder} may not be written by this user; choose another place by --output"
            )

    def write(self, found: dict[str, tuple[Any, Any]], what: str) -> int:
        """Old and new by key: what changed is checked, written and shown."""
        new = {key: value for key, (old, value) in found.items() if value != old}
        problem = self.vehicle.refuses(new)
        if problem:
            raise output.UsageError(f"nothing was written: {problem}")
        if new:
            set_keys(self._path, new, HEAD)
        written = str(self._path) if new else None
        if self._json:
            keys = {key: {"old": old, "new": value} for key, (old, value) in found.items()}
            output.as_json({"calibrated": what, "keys": keys, "written": written})
        else:
            output.table([(key, old, value) for key, (old, value) in found.items()], ("key", "old", "new"))
            output.table([("written", written or "nothing: no value is another")])
        return 0
