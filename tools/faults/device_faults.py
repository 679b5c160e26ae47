"""Faults of sensors and actuators, injected into the counts and outputs of a simulated body."""

import math
import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from caudal.hal.core.build import build_sensor_map
from caudal.hal.tables.channels import Sensor
from caudal.hal.tables.pi import OnBus
from caudal.sim_plant.tables.devices import Servo
from caudal.sim_plant.world.world import Body
from caudal.tools.faults.kinds import Fault, chips_or_none

if TYPE_CHECKING:
    from caudal.tools.config.vehicle import Vehicle

SPIKES_EVERY = 10
LARGEST = 2**31 - 1  # count that a log and a HIL link can hold
Counts = list[int | None]
CountsEffect = Callable[[Counts], None]
CountChange = Callable[[int | None], int | None]
OutputsEffect = Callable[[list[int]], None]
OutputChange = Callable[[int], int]


class FaultyBody(Body):
    """A body whose counts and outputs pass through effects. It shares the state of the body that it wraps."""

    def __init__(self, body: Body) -> None:
        self.__dict__ = vars(body)
        self.on_counts: dict[Fault, CountsEffect] = {}
        self.on_outputs: dict[Fault, OutputsEffect] = {}
        self.last_counts: Counts = [None] * len(body.sensors)
        self.last_outputs: list[int] = [0] * len(body.actuators)

    def read(self, counts: Counts) -> None:
        """Fills `counts`, with the effects of active faults."""
        super().read(counts)
        for effect in tuple(self.on_counts.values()):
            effect(counts)
        for i, count in enumerate(counts):
            if count is not None:
                self.last_counts[i] = count

    def write(self, outputs: Sequence[int]) -> None:
        """Writes the outputs, with the effects of active faults."""
        changed = list(outputs)
        for effect in tuple(self.on_outputs.values()):
            effect(changed)
        super().write(changed)
        self.last_outputs = changed


class SensorMap(Protocol):
    """Counts of a sensor to SI and back."""

    def to_si(self, count: int) -> float: ...
    def to_count(self, value: float) -> int: ...


def sensor_effect(fault: Fault, body: FaultyBody, vehicle: "Vehicle", seed: int) -> CountsEffect:
    """Changes the counts of a tick as a faulty sensor does."""
    index = body.sensors.index(fault.target)
    settings = vehicle.settings.sensors[index]
    change = SENSORS[fault.kind.name](fault, body, build_sensor_map(settings), index, seed)
    # a bumper or a leak probe is read as one bit
    low, high = (0, 1) if _is_switch(settings) else (-LARGEST, LARGEST)

    def effect(counts: Counts) -> None:
        count = change(counts[index])
        counts[index] = None if count is None else min(max(count, low), high)

    return effect


def _is_switch(settings: Sensor) -> bool:
    return settings.map == "linear" and (settings.low_count, settings.high_count) == (0, 1)


def _silent(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    return lambda count: None


def _stuck(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    held = body.last_counts[index]
    return lambda count: None if count is None else held if held is not None else count


def _reads(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    value = map.to_count(fault.size)
    return lambda count: None if count is None else value


def _plus(map: SensorMap, count: int | None, more: float) -> int | None:
    return None if count is None else map.to_count(map.to_si(count) + more)


def _shifted(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    return lambda count: _plus(map, count, fault.size)


def _scaled(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    return lambda count: None if count is None else map.to_count(map.to_si(count) * fault.size)


def _drifting(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    begun_us = body.time_us
    return lambda count: _plus(map, count, fault.size * (body.time_us - begun_us) * 1e-6)


def _noisy(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    rng = _random(fault, seed)
    return lambda count: _plus(map, count, rng.gauss(0.0, fault.size))


def _spikes(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    rng = _random(fault, seed)

    def change(count: int | None) -> int | None:
        hit = rng.random() * SPIKES_EVERY < 1
        return _plus(map, count, rng.choice((-1, 1)) * fault.size) if hit else count

    return change


def _delayed(fault: Fault, body: FaultyBody, map: SensorMap, index: int, seed: int) -> CountChange:
    waiting: deque[tuple[int, int]] = deque()

    def change(count: int | None) -> int | None:
        if count is not None:
            waiting.append((body.time_us + round(fault.size * 1e6), count))
        return waiting.popleft()[1] if waiting and waiting[0][0] <= body.time_us else None

    return change


def _random(fault: Fault, seed: int) -> random.Random:
    return random.Random(f"{fault} {seed}")


SENSORS: dict[str, Callable[[Fault, FaultyBody, SensorMap, int, int], CountChange]] = {
    "silent": _silent, "stuck": _stuck, "reads": _reads, "shifted": _shifted, "scaled": _scaled,
    "drifting": _drifting, "noisy": _noisy, "spikes": _spikes, "delayed": _delayed,
}  # fmt: skip


def bus_effect(body: FaultyBody, vehicle: "Vehicle") -> CountsEffect:
    """No reading of any chip on the vehicle's buses; of a vehicle without a [pi] table, none at all."""
    pi = chips_or_none(vehicle)
    readings = pi.readings if pi else {}
    on_bus = [
        i for i, name in enumerate(body.sensors)
        if pi is None or (name in readings and isinstance(pi.chip[readings[name].chip], OnBus))
    ]  # fmt: skip

    def effect(counts: Counts) -> None:
        for index in on_bus:
            counts[index] = None

    return effect


def battery_effect(fault: Fault, body: FaultyBody, vehicle: "Vehicle") -> CountsEffect:
    """A lower voltage at the sensor of a battery that the plant does not model."""
    index = body.sensors.index("battery")
    map = build_sensor_map(vehicle.settings.sensors[index])

    def effect(counts: Counts) -> None:
        counts[index] = _plus(map, counts[index], -fault.size)

    return effect


def actuator_effect(fault: Fault, body: FaultyBody, vehicle: "Vehicle") -> OutputsEffect:
    """Changes the outputs of a tick so that an actuator does what a faulty one does."""
    index = body.actuators.index(fault.target)
    settings = vehicle.settings.actuators[index]
    rest = 0
    if settings.map == "servo":
        rest = settings.centre_us
    elif settings.map == "thruster":
        rest = settings.neutral_us
    change = ACTUATORS[fault.kind.name](fault, body, vehicle, index, rest)

    def effect(outputs: list[int]) -> None:
        outputs[index] = change(outputs[index])

    return effect


def _jammed(fault: Fault, body: FaultyBody, vehicle: "Vehicle", index: int, rest: int) -> OutputChange:
    """A servo stays where its joint is now, others at their last output."""
    plant, joint = vehicle.plant.actuator[fault.target], f"{fault.target}_rad"
    held = body.last_outputs[index]
    if isinstance(plant, Servo) and joint in body.truth_fields:
        angle = body.truth()[body.truth_fields.index(joint)]
        held = max(1, round(plant.neutral_us + plant.direction * plant.us_per_rad * angle))
    return lambda output: held


def _dead(fault: Fault, body: FaultyBody, vehicle: "Vehicle", index: int, rest: int) -> OutputChange:
    return lambda output: 0


def _weak(fault: Fault, body: FaultyBody, vehicle: "Vehicle", index: int, rest: int) -> OutputChange:
    return lambda output: output and round(rest + (output - rest) * fault.size)


def _slow(fault: Fault, body: FaultyBody, vehicle: "Vehicle", index: int, rest: int) -> OutputChange:
    at, then_us = float(body.last_outputs[index] or rest), body.time_us

    def change(output: int) -> int:
        nonlocal at, then_us
        at += ((output or rest) - at) * (1.0 - math.exp((then_us - body.time_us) * 1e-6 / fault.size))
        then_us = body.time_us
        return output and round(at)

    return change


def _reversed(fault: Fault, body: FaultyBody, vehicle: "Vehicle", index: int, rest: int) -> OutputChange:
    return lambda output: output and max(1, 2 * rest - output)


ACTUATORS: dict[str, Callable[[Fault, FaultyBody, "Vehicle", int, int], OutputChange]] = {
    "jammed": _jammed, "dead": _dead, "weak": _weak, "slow": _slow, "reversed": _reversed,
}  # fmt: skip


def no_pulses(outputs: list[int]) -> None:
    """A pulse board without power."""
    outputs[:] = [0] * len(outputs)
