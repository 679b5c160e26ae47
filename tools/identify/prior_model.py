"""Reads the vehicle file's model and thrusters, [control.model] and [control.thruster], as arrays."""

from typing import NamedTuple

import numpy as np

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.tables.thrusters import ModelTable, ThrusterPlace, model_problems
from caudal.tools.identify.rigid_body_model import Matrices


class Place(NamedTuple):
    """One thruster: the wrench of a newton of its force, and its lag."""

    wrench: np.ndarray  # 6, about the base's origin
    lag_s: float


def read_model(file: VehicleFile) -> Matrices:
    """The vehicle file's model."""
    if "model" not in file.tables.get("control", {}):
        raise file.error(
            "control", "has no [control.model], from which identification starts; add a first guess"
        )
    table = file.read("control.model", ModelTable)
    for key, problem in model_problems(table):
        raise file.error(f"control.{key}", problem)
    return Matrices(
        np.array(table.inertia), np.array(table.drag), np.array(table.quadratic),
        table.net_weight_n, table.righting_n_m, table.lead_n_m,
    )  # fmt: skip


def read_thrusters(file: VehicleFile) -> dict[str, Place]:
    """Thrusters by actuator; empty if the file has no [control.thruster]."""
    if "thruster" not in file.tables.get("control", {}):
        return {}
    places = {}
    for name, table in file.read("control.thruster", dict[str, ThrusterPlace]).items():
        axis = np.array(table.axis) / np.linalg.norm(table.axis)
        places[name] = Place(np.concatenate([axis, np.cross(table.at_m, axis)]), table.lag_s)
    return places
