"""Which sensor hears what an actuator really does, and when it is taken not to follow. CPython only.

    servo      feedback: its angle, rad                off_rad
    thruster   feedback: its turns, rev/s, no sign     off_n, and turn_n_s2: what so many turns push
    valve      feedback, or else pressure: Pa          off_pa

An actuator that nobody hears has none of these keys in the settings: a microcontroller need not carry them.
onboard/core/actuator_monitor.py goes by them.
"""

from typing import Any, TypeVar

from msgspec.structs import replace

from caudal.hal.core.build import UNITS
from caudal.hal.vehicle_file.reader import VehicleFile

AnyActuator = TypeVar("AnyActuator", bound=Any)  # a Servo, Thruster or Valve of hal/tables/channels.py

HEARD_IN = {
    "servo": "rad",
    "thruster": "rev/s",
    "valve": "Pa",
}  # by the actuator's map: the unit of its feedback
# lag_s, found_s, and the share of what it should do that counts as off; a tenth of its room where nothing is said
STANDARD = {"servo": (0.02, 0.3), "thruster": (0.08, 0.4), "valve": (0.1, 1.0)}
ROOM_SHARE = 0.1


def complete(file: VehicleFile, actuator: AnyActuator, sensors: dict[str, Any]) -> AnyActuator:
    """Check an actuator's feedback, and fill in what its file leaves open; without feedback nothing may be given."""
    kind, unit, at = actuator.map, UNITS[actuator.map], f"actuator.{actuator.name}"
    off = f"off_{unit}"
    sensor = actuator.feedback or getattr(actuator, "pressure", "")
    if not sensor:
        for key in ("lag_s", "found_s", off, "turn_n_s2"):
            if getattr(actuator, key, None):
                raise file.error(f"{at}.{key}", "nobody hears what it does; name a sensor in `feedback`")
        return actuator
    key = "feedback" if actuator.feedback else "pressure"
    if sensor not in sensors:
        raise file.error(f"{at}.{key}", f'there is no sensor "{sensor}"')
    if sensors[sensor].unit != HEARD_IN[kind]:
        problem = f'sensor "{sensor}" reads {sensors[sensor].unit}; name one of unit "{HEARD_IN[kind]}"'
        raise file.error(f"{at}.{key}", problem)
    if kind == "thruster" and not actuator.turn_n_s2:
        raise file.error(
            f"{at}.turn_n_s2", "is needed to tell a push from turns: N a (rev/s)2, ahead and back"
        )
    lag_s, found_s = STANDARD[kind]
    room = getattr(actuator, f"max_{unit}") - getattr(actuator, f"min_{unit}")
    filled = {
        "feedback": sensor,
        "lag_s": lag_s if actuator.lag_s is None else actuator.lag_s,
        "found_s": actuator.found_s or found_s,
        off: getattr(actuator, off) or ROOM_SHARE * room,
    }
    return replace(actuator, **filled)
