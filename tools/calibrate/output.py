"""Writes the results of a calibration to the vehicle file, or with --output to another file that --with reads.

A calibration starts from the values in both files. Whether the file can be written is checked before anything moves.
"""

import argparse
import os
from pathlib import Path
from typing import Any

from caudal.onboard import vehicles
from caudal.tools.common import options, output
from caudal.tools.common.toml_edit import set_keys
from caudal.tools.config.pi_vehicle import PiVehicle, open_pi_vehicle

HEAD = "# Written by caudal calibrate for this vehicle; caudal run and other commands read it by --with.\n\n"


def add_output(command: argparse.ArgumentParser) -> None:
    """Adds the options --output, --set, --with and --json."""
    command.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help="write to this new or existing file, which --with reads, instead of the vehicle file (on a deployed "
        "vehicle /var/lib/caudal/calibration.toml)",
    )
    options.add_set(command)
    options.add_json(command)


class CalibrationFile:
    """The vehicle with its present values, and the file to which the results will be written."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._json = args.json
        own = vehicles.find(args.vehicle)
        if args.output is None and args.vehicle in vehicles.names():
            raise output.UsageError(
                f"{args.vehicle} comes with Caudal and is not changed; give --output FILE"
            )
        self._path = Path(own) if args.output is None else args.output
        check_writable(self._path, "--output")
        lines = list(args.set)
        if args.output is not None and args.output.exists():
            lines += options.lines_of(args.output, "--output")  # last, as on the vehicle
        self.vehicle: PiVehicle = open_pi_vehicle(args.vehicle, lines)

    def write(self, found: dict[str, tuple[Any, Any]], what: str) -> int:
        """Checks, writes and prints the values that changed; `found` holds old and new values by key."""
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
            output.table([("written", written or "nothing, as no value has changed")])
        return 0


def check_writable(path: Path, option: str) -> None:
    """A UsageError if this user cannot write a file here."""
    real = Path(os.path.realpath(path))
    folder = real.parent
    while not folder.exists():
        folder = folder.parent
    if real.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise output.UsageError(f"{path} cannot be written; choose another file with {option}")
