"""What a ground station asks for (onboard/station/rehearsals.py), as upsets of a simulated vehicle, and their end."""

import contextlib
from collections.abc import Callable
from typing import Any

from tools.fleet import Fleet
from tools.say import Refused
from tools.shown import rehearsed
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


def rehearsal(vehicle: Vehicle, fleet: Fleet) -> Callable[[str, str], str | None]:
    """What lets something go wrong in a running fleet, by a vehicle's name and words; it gives None, or why not."""
    by_text = rehearsed(fleet)

    def befall(name: str, asked: str) -> str | None:
        word, _, rest = asked.partition(" ")
        if word == "fault":
            return by_text(name, rest.strip())
        if word == "mend":
            return by_text(name, asked)
        part, befalls, which = rest.split(" ")
        kind, targets = targets_of(vehicle.settings, part, int(which))
        if not targets:
            return f"this vehicle has no {part} {max(int(which), 1)}"
        if befalls == "ok":
            for target in targets:
                with contextlib.suppress(Refused):  # what is well already stays so
                    fleet.mend(name, target)
            return None
        if befalls not in KINDS[kind]:
            return f"this vehicle has no {part} that could be {befalls}"
        refusals = [by_text(name, KINDS[kind][befalls].format(target)) for target in targets]
        return next((refusal for refusal in refusals if refusal), None)

    return befall


def targets_of(settings: dict[str, Any], part: str, which: int) -> tuple[str, list[str]]:
    """Channels' names by the part that a station knows; the `which`-th of several, from 1, or all for 0."""
    kind = "sensor"
    if part in SENSORS:
        found = settings["estimate"][SENSORS[part]]
        names = [found] if found else []
    elif part in ("servo", "thruster"):
        kind = "actuator"
        names = [channel["name"] for channel in settings["actuators"] if channel["map"] == part]
    else:
        names = [channel["name"] for channel in settings["sensors"] if channel["name"].startswith(part)]
    return kind, names[which - 1 : which] if which else names
