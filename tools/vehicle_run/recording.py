"""A run's log: where it goes, and what it says of its run."""

import argparse
from pathlib import Path

from caudal.onboard.log.recorder import Recorder
from caudal.tools.common import output
from caudal.tools.common.version import VERSION
from caudal.tools.vehicle_run.config import Controlled


def about_run(args: argparse.Namespace, vehicle: Controlled, scenario_name: str, on: str) -> dict[str, str]:
    """What a log says of its run."""
    return {
        "version": VERSION,
        "vehicle": vehicle.name,
        "vehicle_file": vehicle.file.text,
        "vehicle_digest": vehicle.file.digest(),
        "overrides": "\n".join(vehicle.file.overrides),
        "scenario": scenario_name,
        "seed": str(args.seed),
        "on": on,
        "realtime": str(args.realtime),
    }


def open_recorder(log: Path, about: dict[str, str], lossless: bool) -> Recorder:
    try:
        return Recorder(log, about, lossless=lossless)
    except OSError as error:
        raise output.UsageError(
            f"cannot record in {log}: {error.strerror}; choose another place with --log"
        ) from error


def next_log_path(vehicle: Controlled, scenario_name: str, seed: int) -> Path:
    """A name below runs/ that no earlier run has taken."""
    name = f"{vehicle.name}-{scenario_name}-{seed}"
    path = Path("runs") / f"{name}.mcap"
    count = 1
    while path.exists():
        count += 1
        path = path.with_name(f"{name}-{count}.mcap")
    return path
