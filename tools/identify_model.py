"""The vehicle file's own model and thrusters: [control.model] and [control.thruster.*] as arrays."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta

from hal.vehicle_file import VehicleFile
from tools.motion_model import Matrices

Row = Annotated[list[float], Meta(min_length=6, max_length=6)]
Square = Annotated[list[Row], Meta(min_length=6, max_length=6)]
Vector = Annotated[list[float], Meta(min_length=3, max_length=3)]
Seconds = Annotated[float, Meta(ge=0, le=10)]


class Place(NamedTuple):
    """One thruster: what a newton of it does to the vehicle, and how it lags behind its pulse."""

    wrench: np.ndarray  # 6, about the base's origin
    lag_s: float
    delay_s: float


def read_model(file: VehicleFile) -> Matrices:
    if "model" not in _control(file):
        raise file.error(
            "control", "has no [control.model]; identification starts from one, so give a first guess"
        )

    def number(key: str) -> float:
        return file.read(f"control.model.{key}", float) if key in file.tables["control"]["model"] else 0.0

    inertia = np.array(file.read("control.model.inertia", Square), float)
    drag = np.array(file.read("control.model.drag", Square), float)
    quadratic = np.zeros(6)
    if "quadratic" in file.tables["control"]["model"]:
        quadratic = np.array(file.read("control.model.quadratic", Row), float)
    if not np.array_equal(inertia, inertia.T):
        raise file.error("control.model.inertia", "must be the same across its diagonal; an inertia is symmetric")
    return Matrices(
        inertia, drag, quadratic, number("net_weight_n"), number("righting_n_m"), number("lead_n_m")
    )


def read_thrusters(file: VehicleFile) -> dict[str, Place]:
    """By actuator; empty for a vehicle that says nothing of where its thrusters are."""
    places = {}
    for name, table in _control(file).get("thruster", {}).items():
        key = f"control.thruster.{name}"
        at_m, axis = (np.array(file.read(f"{key}.{part}", Vector), float) for part in ("at_m", "axis"))
        length = float(np.linalg.norm(axis))
        if not length > 0:
            raise file.error(f"{key}.axis", "has no length; give the direction of the thrust")
        axis = axis / length
        lag_s, delay_s = (
            file.read(f"{key}.{part}", Seconds) if part in table else 0.0 for part in ("lag_s", "delay_s")
        )
        places[name] = Place(np.concatenate([axis, np.cross(at_m, axis)]), lag_s, delay_s)
    return places


def _control(file: VehicleFile) -> dict[str, Any]:
    control = file.tables.get("control", {})
    return control if isinstance(control, dict) else {}
