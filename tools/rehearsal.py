"""Failures that a ground station asks for (MAV_CMD_INJECT_FAILURE), as upsets of a simulated vehicle."""

from collections.abc import Callable
from typing import Any

from tools.fleet import Fleet
from tools.say import Refused
from tools.vehicles import Vehicle

SENSORS = {"gyro": "turn_rate", "heading": "heading", "depth": "depth", "position": "x"}  # keys of [estimate]
KINDS = {  # of upset (tools/upsets.py), by what befalls a sensor or an actuator; each begins at once
    "sensor": {
        "off": "silent:{}",
        "stuck": "stuck:{}",
        "garbage": "spikes:{}",
        "wrong": "shifted:{}",
        "slow": "delayed:{}",
        "delayed": "delayed:{}",
        "intermittent": "silent:{}/0.5",
    },
    "actuator": {
        "off": "dead:{}",
        "stuck": "jammed:{}",
        "wrong": "reversed:{}",
        "slow": "slow:{}",
        "intermittent": "dead:{}/0.5",
    },
}


def rehearsal(vehicle: Vehicle, fleet: Fleet) -> Callable[[str, str, str, int], str | None]:
    """What lets something go wrong in a running fleet; it gives None, or why not."""

    def befall(name: str, part: str, befalls: str, which: int) -> str | None:
        if befalls == "ok":
            fleet.mend(name)
            return None
        kind, target = target_of(vehicle.settings, part, max(which, 1))
        text = KINDS[kind].get(befalls)
        if target is None or text is None:
            return f"this vehicle has no {part} {max(which, 1)} that could be {befalls}"
        try:
            fleet.upset(name, text.format(target))
        except Refused as error:
            return str(error)
        return None

    return befall


def target_of(settings: dict[str, Any], part: str, which: int) -> tuple[str, str | None]:
    """A channel's name by the part that a station knows; the `which`-th of several, from 1."""
    if part in SENSORS:
        return "sensor", settings["estimate"][SENSORS[part]] or None
    if part in ("servo", "thruster"):
        names = [channel["name"] for channel in settings["actuators"] if channel["map"] == part]
        return "actuator", names[which - 1] if which <= len(names) else None
    names = [channel["name"] for channel in settings["sensors"] if channel["name"].startswith(part)]
    return "sensor", names[which - 1] if which <= len(names) else None
