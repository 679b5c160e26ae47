"""Runs a trial of the plant alone for `caudal run`: no controller, no board; its figures, and its states in a log."""

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace

from caudal.onboard.log.recorder import Recorder
from caudal.sim_plant.tree import trial
from caudal.sim_plant.tree.model import Model, PlantDiverged
from caudal.tools.common.output import UsageError, slow_notice
from caudal.tools.config.vehicle import Vehicle

BASE = [
    "x_m",
    "y_m",
    "z_m",
    "q_w",
    "q_x",
    "q_y",
    "q_z",
    "u_m_s",
    "v_m_s",
    "w_m_s",
    "p_rad_s",
    "q_rad_s",
    "r_rad_s",
]


def figures(
    vehicle: Vehicle,
    name: str,
    seconds: float | None = None,
    seen: Callable[[float, np.ndarray], None] | None = None,
) -> dict[str, Any]:
    """Metrics of an open-loop experiment, for its own duration or the given one."""
    spec, tree = vehicle.trials[name], vehicle.plant.tree
    assert tree is not None, "reading the trials saw to that"
    if seconds is not None:
        spec = replace(spec, duration_s=seconds)
    return {"simulated_s": spec.duration_s, **trial.run(tree, spec, vehicle.name, seen)}


def record(vehicle: Vehicle, name: str, seconds: float | None, recorder: Recorder) -> dict[str, Any]:
    """The same, with every sample's state in the log."""
    assert vehicle.plant.tree is not None
    model = Model(vehicle.plant.tree, label=vehicle.name)
    parts = BASE + [""] * (model.size - len(BASE))
    for joint in model.joints:
        for ending, place in (("", model.q[joint]), ("_rate", model.qd[joint])):
            for k in range(place.start, place.stop):
                many = f"_{k - place.start}" if place.stop - place.start > 1 else ""
                parts[k] = f"{joint.lower()}{ending}{many}"
    for k in range(model.lags.start, model.size):
        parts[k] = f"lag_{k - model.lags.start}"
    topic = recorder.topic(f"/{vehicle.name}/trial", [("float64", part) for part in parts])
    with slow_notice("trying the plant; the first time it is compiled, which takes up to a minute"):
        try:
            return figures(
                vehicle, name, seconds, lambda time_s, x: topic.write(round(time_s * 1e9), x.tolist())
            )
        except PlantDiverged as error:
            raise UsageError(str(error)) from error
