"""Simulation and replay as functions of a Python program: `caudal.simulate`, `caudal.replay`."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.run import replay as recorded_run
from caudal.onboard.run import runner
from caudal.onboard.run.config import in_scenario
from caudal.onboard.run.recording import about_run, open_recorder
from caudal.tools.common.output import UsageError
from caudal.tools.config.from_log import recorded_settings
from caudal.tools.config.vehicle import Vehicle, open_vehicle, read_vehicle
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.summary.summarize import summarise


@dataclass(frozen=True)
class Result:
    """A simulated run: its summary (the figures that `caudal run --json` prints) and its log."""

    summary: dict[str, Any]
    log: Log


def load_vehicle(name_or_path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Vehicle:
    """A vehicle by its name or the path of its file, with overrides (KEY=VALUE)."""
    return open_vehicle(os.fspath(name_or_path), list(overrides))


def simulate(
    vehicle: Vehicle | str,
    scenario: str | None = None,
    *,
    seconds: float | None = None,
    seed: int = 0,
    log: str | os.PathLike[str] | None = None,
) -> Result:
    """Runs a scenario (default: the file's first) against the plant, unpaced.

    `seconds`: of simulated time, by default the scenario's own; `log`: where the log is to stay.
    """
    if isinstance(vehicle, str):
        vehicle = load_vehicle(vehicle)
    raw, given = VehicleFile.parse(vehicle.file.text, vehicle.file.label), vehicle.file.overrides
    vehicle = read_vehicle(in_scenario(raw, given, scenario))
    name, settings = vehicle.scenario(scenario)
    vehicle.refuse_unread(name, given)
    simulation = Simulation(vehicle, name, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.mcap") if log is None else Path(log)
        about = about_run(vehicle, name, "sim", seed=seed) | simulation.about
        recorder: Recorder = open_recorder(path, about, lossless=True)
        with recorder:
            simulation.record(recorder)
            runner.run(simulation, seconds=seconds or settings.duration_s, arm_after_s=0.0)
        if recorder.failed:
            raise UsageError(f"the recording in {path} is not complete: {recorder.failed}")
        recorded = Log(path)
    return Result(summarise(recorded, vehicle.settings) | {"fault": simulation.fault}, recorded)


def replay(log: Log | str | os.PathLike[str]) -> dict[str, Any]:
    """Runs the controller again on a log's readings: `identical`, and where it is not, the first difference."""
    recorded = log if isinstance(log, Log) else Log(Path(log))
    return recorded_run.replay(recorded, recorded_settings(recorded))
