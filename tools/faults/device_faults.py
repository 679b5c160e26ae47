"""A body at whose door counts and outputs may be changed on their way: broken sensors and actuators."""

import math
import random
from collections import deque
from collections.abc import Callable
from typing import Any

from caudal.hal.core.build import build_sensor_map
from caudal.sim_plant.world.world import Body
from caudal.tools.faults.kinds import Fault, chips_or_none

SPIKES_EVERY = 10
LARGEST = 2**31 - 1  # of what a log and a wire take for a count
Counts = Callable[[list], None]


class FaultyBody:
    """In the place of a body, for whoever drives it. Effects are there while an upset lasts."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self.on_counts: dict[Fault, Counts] = {}
        self.on_outputs: dict[Fault, Counts] = {}
        self.seen: list[int | None] = [None] * len(body.sensors)  # the latest count of each sensor
        self.told: list[int] = [0] * len(body.actuators)  # what the body was written last

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)

    def read(self, counts: list) -> None:
        self._body.read(counts)
        for effect in tuple(self.on_counts.values()):
            effect(counts)
        for i, count in enumerate(counts):
            if count is not None:
                self.seen[i] = count

    def write(self, outputs: list) -> None:
        if not self.on_outputs:
            self._body.write(outputs)
            self.told[:] = outputs
            return
        told = list(outputs)
        for effect in tuple(self.on_outputs.values()):
            effect(told)
        self._body.write(told)
        self.told = told


def sensor_effect(fault: Fault, body: FaultyBody, vehicle: Any, seed: int) -> Counts:
    """What becomes of the counts of a tick while a sensor is upset."""
    index = body.sensors.index(fault.target)
    settings = vehicle.settings["sensors"][index]
    change = SENSORS[fault.kind.name](fault, body, build_sensor_map(settings), index, seed)
    # a bumper or a leak probe reads one bit; what more than that a fault makes of it is cut off at the pin
    low, high = (0, 1) if _is_switch(settings) else (-LARGEST, LARGEST)

    def effect(counts: list) -> None:
        count = change(counts[index])
        counts[index] = None if count is None else min(max(count, low), high)

    return effect


def _is_switch(settings: dict[str, Any]) -> bool:
    return settings["map"] == "linear" and (settings["low_count"], settings["high_count"]) == (0, 1)


def _silent(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    return lambda count: None


def _stuck(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    held = body.seen[index]
    return lambda count: None if count is None else held if held is not None else count


def _reads(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    value = map.to_count(fault.size)
    return lambda count: None if count is None else value


def _more(map: Any, count: int | None, more: float) -> int | None:
    return None if count is None else map.to_count(map.to_si(count) + more)


def _shifted(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    return lambda count: _more(map, count, fault.size)


def _scaled(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    return lambda count: None if count is None else map.to_count(map.to_si(count) * fault.size)


def _drifting(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    begun_us = body.time_us
    return lambda count: _more(map, count, fault.size * (body.time_us - begun_us) * 1e-6)


def _noisy(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    rng = _random(fault, seed)
    return lambda count: _more(map, count, rng.gauss(0.0, fault.size))


def _spikes(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    rng = _random(fault, seed)

    def change(count: int | None) -> int | None:
        hit = rng.random() * SPIKES_EVERY < 1
        return _more(map, count, rng.choice((-1, 1)) * fault.size) if hit else count

    return change


def _delayed(fault: Fault, body: FaultyBody, map: Any, index: int, seed: int) -> Callable:
    waiting: deque[tuple[int, int]] = deque()

    def change(count: int | None) -> int | None:
        if count is not None:
            waiting.append((body.time_us + round(fault.size * 1e6), count))
        return waiting.popleft()[1] if waiting and waiting[0][0] <= body.time_us else None

    return change


def _random(fault: Fault, seed: int) -> random.Random:
    return random.Random(f"{fault} {seed}")


SENSORS: dict[str, Callable[..., Callable]] = {
    "silent": _silent, "stuck": _stuck, "reads": _reads, "shifted": _shifted, "scaled": _scaled,
    "drifting": _drifting, "noisy": _noisy, "spikes": _spikes, "delayed": _delayed,
}  # fmt: skip


def bus_effect(fault: Fault, body: FaultyBody, vehicle: Any) -> Counts:
    """No reading of any chip on the vehicle's buses; of one without a [pi] table, none at all."""
    chips = chips_or_none(vehicle)
    places = chips["sensor"] if chips else {}
    on_bus = [
        i for i, name in enumerate(body.sensors)
        if chips is None or (name in places and "bus" in chips["chip"][places[name]["chip"]])
    ]  # fmt: skip

    def effect(counts: list) -> None:
        for index in on_bus:
            counts[index] = None

    return effect


def battery_effect(fault: Fault, body: FaultyBody, vehicle: Any) -> Counts:
    """Of a battery that the plant has no model of: its sensor shows less."""
    index = body.sensors.index("battery")
    map = build_sensor_map(vehicle.settings["sensors"][index])

    def effect(counts: list) -> None:
        counts[index] = _more(map, counts[index], -fault.size)

    return effect


def actuator_effect(fault: Fault, body: FaultyBody, vehicle: Any) -> Counts:
    """What becomes of the outputs of a tick while an actuator is upset."""
    index = body.actuators.index(fault.target)
    settings = vehicle.settings["actuators"][index]
    rest = {"servo": settings.get("centre_us", 1500), "thruster": settings.get("neutral_us", 1500)}
    change = ACTUATORS[fault.kind.name](fault, body, vehicle, index, rest.get(settings["map"], 0))

    def effect(told: list) -> None:
        told[index] = change(told[index])

    return effect


def _jammed(fault: Fault, body: FaultyBody, vehicle: Any, index: int, rest: int) -> Callable:
    """A servo stays where its joint is now, others at what they were told last."""
    plant, joint = vehicle.plant.actuator[fault.target], f"{fault.target}_rad"
    held = body.told[index]
    if hasattr(plant, "travel_rad") and joint in body.truth_fields:
        angle = body.truth()[body.truth_fields.index(joint)]
        held = max(1, round(plant.neutral_us + plant.direction * plant.us_per_rad * angle))
    return lambda output: held


def _dead(fault: Fault, body: FaultyBody, vehicle: Any, index: int, rest: int) -> Callable:
    return lambda output: 0


def _weak(fault: Fault, body: FaultyBody, vehicle: Any, index: int, rest: int) -> Callable:
    return lambda output: output and round(rest + (output - rest) * fault.size)


def _slow(fault: Fault, body: FaultyBody, vehicle: Any, index: int, rest: int) -> Callable:
    at, then_us = float(body.told[index] or rest), body.time_us

    def change(output: int) -> int:
        nonlocal at, then_us
        at += ((output or rest) - at) * (1.0 - math.exp((then_us - body.time_us) * 1e-6 / fault.size))
        then_us = body.time_us
        return output and round(at)

    return change


def _reversed(fault: Fault, body: FaultyBody, vehicle: Any, index: int, rest: int) -> Callable:
    return lambda output: output and max(1, 2 * rest - output)


ACTUATORS: dict[str, Callable[..., Callable]] = {
    "jammed": _jammed, "dead": _dead, "weak": _weak, "slow": _slow, "reversed": _reversed,
}  # fmt: skip


def no_pulses(told: list) -> None:
    """A pulse board without power."""
    told[:] = [0] * len(told)
