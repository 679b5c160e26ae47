"""The sensor that measures what an actuator does, and the limits by which the actuator does not follow. CPython only.

    servo      feedback: its angle, rad                tolerance_rad
    thruster   feedback: its speed, rev/s, no sign     tolerance_n, and turn_n_s2: force by speed
    valve      feedback, or else pressure: Pa          tolerance_pa

onboard/core/actuator_monitor.py applies them. Without feedback an actuator has none of these keys.
"""

from typing import Any, TypeVar

from msgspec.structs import replace

from caudal.hal.core.build import UNITS
from caudal.hal.vehicle_file.reader import VehicleFile

AnyActuator = TypeVar("AnyActuator", bound=Any)  # a Servo, Thruster or Valve of hal/tables/channels.py

FEEDBACK_UNITS = {"servo": "rad", "thruster": "rev/s", "valve": "Pa"}  # by the actuator's map
DEFAULTS = {"servo": (0.02, 0.3), "thruster": (0.08, 0.4), "valve": (0.1, 1.0)}  # lag_s, detect_s
TOLERANCE_SHARE = 0.1  # of the range from least to greatest command


def complete(file: VehicleFile, actuator: AnyActuator, sensors: dict[str, Any]) -> AnyActuator:
    """Checks an actuator's feedback and fills in defaults; without feedback none of its keys may be given."""
    kind, unit, at = actuator.map, UNITS[actuator.map], f"actuator.{actuator.name}"
    tolerance = f"tolerance_{unit}"
    sensor = actuator.feedback or getattr(actuator, "pressure", "")
    if not sensor:
        for key in ("lag_s", "detect_s", tolerance, "turn_n_s2"):
            if getattr(actuator, key, None):
                raise file.error(f"{at}.{key}", "needs feedback; name a sensor in `feedback`")
        return actuator
    key = "feedback" if actuator.feedback else "pressure"
    if sensor not in sensors:
        raise file.error(f"{at}.{key}", f'there is no sensor "{sensor}"')
    if sensors[sensor].unit != FEEDBACK_UNITS[kind]:
        problem = f'sensor "{sensor}" reads {sensors[sensor].unit}; name one of unit "{FEEDBACK_UNITS[kind]}"'
        raise file.error(f"{at}.{key}", problem)
    if kind == "thruster" and not actuator.turn_n_s2:
        raise file.error(
            f"{at}.turn_n_s2", "is needed to compute forces from speeds: N per (rev/s)2, ahead and back"
        )
    lag_s, detect_s = DEFAULTS[kind]
    span = getattr(actuator, f"max_{unit}") - getattr(actuator, f"min_{unit}")
    filled = {
        "feedback": sensor,
        "lag_s": lag_s if actuator.lag_s is None else actuator.lag_s,
        "detect_s": actuator.detect_s or detect_s,
        tolerance: getattr(actuator, tolerance) or TOLERANCE_SHARE * span,
    }
    return replace(actuator, **filled)
