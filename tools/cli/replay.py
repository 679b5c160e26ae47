"""Runs the controller again on a log's recorded readings and commands and compares every output with the recording.

Exit code 0 if all are identical, 1 if not. With --set or --vehicle the controller is another than recorded.
"""

import argparse
from pathlib import Path

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.log.reader import Log
from caudal.onboard.run.config import read_settings
from caudal.onboard.run.replay import NEEDED, replay
from caudal.onboard.tables.read import Settings
from caudal.onboard.vehicles import TABLES, find
from caudal.tools.common import options, output
from caudal.tools.config.from_log import recorded_settings
from caudal.tools.config.known_tables import known_tables


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal replay`."""
    command.add_argument("log", type=Path, help="a log that caudal run wrote")
    command.add_argument("--vehicle", metavar="FILE", help="another vehicle file than the recorded one")
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Replays a log and prints the first difference."""
    log = Log(args.log, only=NEEDED)
    result = replay(log, _settings(log, args.vehicle, args.set), _Lines())
    if args.json:
        output.as_json(result)
    elif result["identical"]:
        print(f"identical: {result['ticks']} ticks, {result['commands']} commands.")
        if result["missing_from_tick"] is not None:
            print(
                f"Not compared: ticks from {result['missing_from_tick']} on, as the log lacks messages there."
            )
    else:
        print(f"differs: first at tick {result['tick']}, {result['channel']}: {result['found']}.")
    return 0 if result["identical"] and result["missing_from_tick"] is None else 1


def _settings(log: Log, vehicle_path: str | None, overrides: list[str]) -> Settings:
    if not vehicle_path:
        return recorded_settings(log, overrides)
    file = VehicleFile.open(find(vehicle_path), overrides)
    if known := known_tables():
        file.expect_tables((*TABLES, *known))
    return read_settings(file)


class _Lines:
    """A progress line for each vehicle."""

    def __init__(self) -> None:
        self._name = ""
        self._line: output.Progress | None = None

    def __call__(self, name: str, tick: int, ticks: int) -> None:
        if name != self._name or self._line is None:
            self._name, self._line = name, output.Progress(f"replaying {name}", ticks, "ticks")
        self._line.at(tick)
        if tick + 1 == ticks:
            self._line.end()
