"""Which sensor hears what an actuator really does, and when it is taken not to follow. CPython only.

    servo      feedback: its angle, rad                off_rad
    thruster   feedback: its turns, rev/s, no sign     off_n, and turn_n_s2: what so many turns push
    valve      feedback, or else pressure: Pa          off_pa

An actuator that nobody hears has none of these keys in the settings: a microcontroller need not carry them.
onboard/core/actuator_monitor.py goes by them.
"""

from typing import Any

from caudal.hal.core.build import UNITS
from caudal.hal.vehicle_file.reader import VehicleFile

HEARD_IN = {
    "servo": "rad",
    "thruster": "rev/s",
    "valve": "Pa",
}  # by the actuator's map: the unit of its feedback
# lag_s, found_s, and the share of what it should do that counts as off; a tenth of its room where nothing is said
STANDARD = {"servo": (0.02, 0.3), "thruster": (0.08, 0.4), "valve": (0.1, 1.0)}
ROOM_SHARE = 0.1


def complete(file: VehicleFile, channel: dict[str, Any], sensors: dict[str, Any]) -> None:
    """Check an actuator's plain settings, and fill in what its file leaves open; without feedback nothing is left."""
    kind, unit, at = channel["map"], UNITS[channel["map"]], f"actuator.{channel['name']}"
    off = f"off_{unit}"
    heard = channel["feedback"] or channel.get("pressure", "")
    if not heard:
        for key in ("lag_s", "found_s", off, "turn_n_s2"):
            if channel.pop(key, None):
                raise file.error(f"{at}.{key}", "nobody hears what it does; name a sensor in `feedback`")
        del channel["feedback"]
        return
    key = "feedback" if channel["feedback"] else "pressure"
    if heard not in sensors:
        raise file.error(f"{at}.{key}", f'there is no sensor "{heard}"')
    if sensors[heard].unit != HEARD_IN[kind]:
        problem = f'sensor "{heard}" reads {sensors[heard].unit}; name one of unit "{HEARD_IN[kind]}"'
        raise file.error(f"{at}.{key}", problem)
    if kind == "thruster" and not channel["turn_n_s2"]:
        raise file.error(
            f"{at}.turn_n_s2", "is needed to tell a push from turns: N a (rev/s)2, ahead and back"
        )
    channel["feedback"] = heard
    lag_s, found_s = STANDARD[kind]
    channel["lag_s"] = lag_s if channel["lag_s"] is None else channel["lag_s"]
    channel["found_s"] = channel["found_s"] or found_s
    channel[off] = channel[off] or ROOM_SHARE * (channel[f"max_{unit}"] - channel[f"min_{unit}"])
