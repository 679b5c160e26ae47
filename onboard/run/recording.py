"""The log of a run: its path, and what it says of the run."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from caudal.hal.errors import CaudalError
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.run.config import Controlled

try:
    VERSION = version("caudal")
except PackageNotFoundError:
    VERSION = "unpackaged"


def about_run(
    vehicle: Controlled, scenario_name: str, on: str, *, seed: int = 0, realtime: bool = False
) -> dict[str, str]:
    """What a log says of its run. `on`: sim, emulated, pi, hil:..., or trial."""
    return {
        "version": VERSION,
        "vehicle": vehicle.name,
        "vehicle_file": vehicle.file.text,
        "vehicle_digest": vehicle.file.digest(),
        "overrides": "\n".join(vehicle.file.overrides),
        "scenario": scenario_name,
        "seed": str(seed),
        "on": on,
        "realtime": str(realtime),
    }


def open_recorder(log: Path, about: dict[str, str], lossless: bool) -> Recorder:
    """The recorder of a new log; an error in a sentence if it cannot be written."""
    try:
        return Recorder(log, about, lossless=lossless)
    except OSError as error:
        raise CaudalError(
            f"cannot record in {log}: {error.strerror}; choose another place with --log"
        ) from error


def next_log_path(vehicle: Controlled, scenario_name: str, seed: int) -> Path:
    """A name under runs/ that no earlier run has taken."""
    name = f"{vehicle.name}-{scenario_name}-{seed}"
    path = Path("runs") / f"{name}.mcap"
    count = 1
    while path.exists():
        count += 1
        path = path.with_name(f"{name}-{count}.mcap")
    return path
