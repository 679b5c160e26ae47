"""The expected noise of each row of the equations of motion, from the vehicle file: the weights of D-optimality.

Identification gets accelerations from parabolas fitted to readings over a window of smooth_s. A fit to N = rate_hz
smooth_s readings with noise s has the noise

    s sqrt(720 / N) / smooth_s^2        in the second derivative of a position or a depth
    s sqrt(12 / N) / smooth_s           in the first derivative of a turn rate

which the vehicle's inertia converts to newtons and newton metres. The noise of velocity times drag is several times
smaller and left out. Rounding to counts adds a noise of 1 / sqrt(12) counts.
"""

from typing import Annotated

import numpy as np
from msgspec import Meta

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.tools.excite.tables import ExciteTable
from caudal.tools.identify.rigid_body_model import LEVEL

_NotNegative = Annotated[float, Meta(ge=0, le=1e6)]
_Positive = Annotated[float, Meta(gt=0, le=1e6)]
_Six = Annotated[
    list[Annotated[list[float], Meta(min_length=6, max_length=6)]], Meta(min_length=6, max_length=6)
]


def row_noise(file: VehicleFile, table: ExciteTable) -> np.ndarray:
    """Standard deviations of the equation errors in surge, sway, heave (N) and yaw (N m)."""
    window_s = table.smooth_s
    x, y, depth = (_variance(file, role, "noise_m", "metres_per_count") for role in ("x", "y", "depth"))
    turn = _variance(file, "turn_rate", "noise_rad_s", "rad_s_per_count")
    level = (x + y) / 2  # surge and sway mix both, by the heading
    acceleration = np.sqrt(np.array([level, level, depth, 0.0]) * 720 / window_s) / window_s**2
    acceleration[3] = np.sqrt(turn * 12 / window_s) / window_s
    inertia = file.read("control.model.inertia", _Six)
    masses = np.array([inertia[k][k] for k in LEVEL])
    if not (masses > 0).all():
        raise file.error(
            "control.model.inertia", "has a number on its diagonal that is not above 0; correct it"
        )
    return masses * acceleration


def _variance(file: VehicleFile, role: str, noise: str, count: str) -> float:
    """The variance of the estimator's sensor for this quantity, times the time between its readings."""
    name = file.read("estimate", dict).get(role, "")
    if not name:
        raise file.error(
            f"estimate.{role}", "names no sensor, whose noise is needed; name one, or use --objective cond"
        )
    key = f"plant.sensor.{name}"
    sensor = file.read(key, dict)
    own = file.read(f"{key}.{noise}", _NotNegative) if noise in sensor else 0.0
    si_per_count = file.read(f"{key}.{count}", _Positive)
    return (own**2 + si_per_count**2 / 12) / file.read(f"{key}.rate_hz", _Positive)
