"""Requests of a ground station (onboard/station/fault_requests.py) as faults of a simulated vehicle, and their end."""

import contextlib
from collections.abc import Callable

from caudal.onboard.tables.read import Settings
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.simulate.simulation import Simulation

SENSORS = {  # keys of [estimate]: what reads them falls out together
    "gyro": ("turn_rate",),
    "heading": ("heading",),
    "depth": ("depth",),
    "position": ("x", "y"),
}
KINDS = {  # of fault (tools/faults/kinds.py), by failure of a sensor or an actuator; each starts at once
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


def on_request(simulation: Simulation) -> Callable[[str, str], str | None]:
    """Injects a fault given as text (tools/faults/kinds.py), or with "mend NAME" clears it; None, or a refusal."""

    def request(vehicle: str, text: str) -> str | None:
        word, _, cleared = text.partition(" ")
        try:
            if word == "mend":
                simulation.clear(vehicle, cleared.strip())
            else:
                simulation.inject(vehicle, text)
        except UsageError as error:
            return str(error)
        return None

    return request


def rehearsal(vehicle: Vehicle, simulation: Simulation) -> Callable[[str, str], str | None]:
    """Returns a function that injects a fault, by a vehicle's name and a text; it returns None or a refusal."""
    by_text = on_request(simulation)

    def inject(name: str, asked: str) -> str | None:
        word, _, rest = asked.partition(" ")
        if word == "fault":
            return by_text(name, rest.strip())
        if word == "mend":
            return by_text(name, asked)
        part, befalls, which = rest.split(" ")
        kind, parts = parts_of(vehicle.settings, part)
        chosen = parts[int(which) - 1 : int(which)] if int(which) else parts
        targets = [channel for channels in chosen for channel in channels]
        if not targets:
            return f"this vehicle has no {part} {max(int(which), 1)}"
        if befalls == "ok":
            for target in targets:
                with contextlib.suppress(UsageError):  # what is well already stays so
                    simulation.clear(name, target)
            return None
        if befalls not in KINDS[kind]:
            return f"this vehicle has no {part} that could be {befalls}"
        refusals = [by_text(name, KINDS[kind][befalls].format(target)) for target in targets]
        return next((refusal for refusal in refusals if refusal), None)

    return inject


def parts_of(settings: Settings, part: str) -> tuple[str, list[list[str]]]:
    """Whether it is a sensor or an actuator, and each one there is of a kind that a station knows: its channels."""
    if part in SENSORS:
        found = [getattr(settings.estimate, key) for key in SENSORS[part]]
        return "sensor", [[name for name in found if name]] if any(found) else []
    if part in ("servo", "thruster"):
        return "actuator", [[channel.name] for channel in settings.actuators if channel.map == part]
    return "sensor", [[channel.name] for channel in settings.sensors if channel.name.startswith(part)]
