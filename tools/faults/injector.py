"""Injects the faults of one vehicle into a running simulation: each begins and ends in its tick, and is logged."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from caudal.onboard.core.loop import Loop
from caudal.sim_plant.world.faults import leak, sag
from caudal.sim_plant.world.world import Body
from caudal.tools.common.output import UsageError
from caudal.tools.faults.command_faults import COMMAND_FAULTS, Each
from caudal.tools.faults.device_faults import (
    CountsEffect,
    FaultyBody,
    OutputsEffect,
    actuator_effect,
    battery_effect,
    bus_effect,
    no_pulses,
    sensor_effect,
)
from caudal.tools.faults.kinds import PI_CHIPS, WIRE, Fault
from caudal.tools.faults.process_faults import PROCESS, disk_full

if TYPE_CHECKING:
    from caudal.tools.config.vehicle import Vehicle

HOST_CONDITIONS = {
    "hot": "computer_hot", "undervoltage": "under_voltage", "full": "storage_full", "jumped": "clock_jumped",
    "hung": "bus_hung",
}  # fmt: skip
MOST = 100  # at a time: each costs every tick a little


class Instance(Protocol):
    """The vehicle instance; a `line` if its controller is on a HIL link, a `driver` if it is on emulated chips."""

    @property
    def name(self) -> str: ...
    @property
    def body(self) -> Body: ...


@dataclass
class Effect:
    """What a fault does when it begins, when it ends, and in every tick, whether it is on or not."""

    begin: Callable[[], object] = lambda: None
    end: Callable[[], object] = lambda: None
    each: Each | None = None


class FaultInjector:
    """Injects the faults of one vehicle instance, whose body has to be a FaultyBody."""

    def __init__(self, instance: Instance, vehicle: "Vehicle", seed: int) -> None:
        assert isinstance(instance.body, FaultyBody)
        self.body = instance.body
        self._instance, self._vehicle, self._seed = instance, vehicle, seed
        self._effects: dict[Fault, tuple[Effect, bool]] = {}
        self._stalled_ticks = 0
        self.recorder: Any = None  # the log's writer; its `descriptor` is the open file
        self.begun: dict[Fault, int] = {}  # the time at which each began first, ns

    @property
    def loop(self) -> Loop | None:
        """The instance's controller, if it is in this process and runs."""
        loop: Loop | None = getattr(self._instance, "loop", None)
        return loop

    def add(self, fault: Fault, now_s: float = 0.0) -> None:
        """Adds a fault; a UsageError if this instance cannot have it in this kind of run."""
        if fault.until_s <= now_s:
            raise UsageError(f"fault {fault}: second {fault.until_s:g} has passed; it is {now_s:g} s already")
        over = [one for one, (_, on) in self._effects.items() if one.until_s <= now_s and not on]
        for one in over:
            del self._effects[one]
        if len(self._effects) >= MOST:
            raise UsageError(f"fault {fault}: there are {MOST} already, the most at a time; clear some")
        while fault in self._effects:
            fault = replace(
                fault, at_s=math.nextafter(fault.at_s, math.inf)
            )  # given twice, it is injected twice
        self._effects[fault] = self._effect(fault), False

    def clear(self, time_ns: int, what: str = "") -> None:
        """Ends all faults, those of one target, or one by its name or text; also those still to come."""
        cleared = [u for u in self._effects if what in ("", u.target, u.name, str(u))]
        if what and not cleared:
            there = ", ".join(dict.fromkeys(map(str, self._effects))) or "none"
            raise UsageError(f"mend {what}: there is no such fault; there are {there}")
        for fault in cleared:
            effect, on = self._effects.pop(fault)
            if on:
                effect.end()
                self._log(time_ns, "fault cleared", fault)

    def step(self, time_ns: int, late_us: int) -> int | None:
        """Runs before each tick: by how much the tick is late (us), or None if the loop is stalled."""
        stalled = False
        for fault, (effect, was_on) in tuple(self._effects.items()):
            on = fault.on(time_ns / 1e9)
            if on != was_on:
                self._effects[fault] = effect, on
                if on:
                    self.begun.setdefault(fault, time_ns)
                (effect.begin if on else effect.end)()
                self._log(time_ns, "fault set" if on else "fault cleared", fault)
            if effect.each:
                effect.each(on)
            if on and fault.kind.name == "late":
                late_us += round(fault.size * 1e6)
            stalled |= on and fault.kind.name == "stalled"
        if stalled:
            self._stalled_ticks += 1
            return None
        late_us += self._stalled_ticks * 1_000_000 // int(self._vehicle.settings.rate_hz)
        self._stalled_ticks = 0
        return late_us

    def _log(self, time_ns: int, kind: str, fault: Fault) -> None:
        if self.recorder:
            self.recorder.event(time_ns, kind, vehicle=self._instance.name, fault=fault.name, text=str(fault))

    def _effect(self, fault: Fault) -> Effect:
        kind, body, vehicle = fault.kind, self.body, self._vehicle
        chips: Any = getattr(self._instance, "driver", None)
        line: Any = getattr(self._instance, "line", None)
        if chips and (kind.needs == PI_CHIPS or fault.name == "brown-out:pulses"):
            switch = chips.set_fault
            return Effect(
                lambda: switch(kind.name, fault.target, True), lambda: switch(kind.name, fault.target, False)
            )
        _check(fault, line is not None)
        if kind.family == "sensor":
            return self._counts(fault, lambda: sensor_effect(fault, body, vehicle, self._seed))
        if kind.name == "leaking":
            return Effect(lambda: leak(body, fault.target, fault.size), lambda: leak(body, fault.target, 0.0))
        if kind.family == "actuator":
            return self._outputs(fault, lambda: actuator_effect(fault, body, vehicle))
        if kind.name == "brown-out":
            return self._outputs(fault, lambda: no_pulses)
        if kind.name == "sags":
            if vehicle.plant.battery:
                return Effect(lambda: sag(body, fault.size), lambda: sag(body, -fault.size))
            return self._counts(fault, lambda: battery_effect(fault, body, vehicle))
        if kind.family == "bus":
            return self._counts(fault, lambda: bus_effect(body, vehicle), HOST_CONDITIONS.get(kind.name))
        if kind.family == "wire":
            return Effect(lambda: line.inject(kind.name, fault.size), lambda: line.inject(kind.name, 0.0))
        if kind.name == "killed":
            return Effect(line.kill, line.start)
        if kind.name in HOST_CONDITIONS:
            condition = HOST_CONDITIONS[kind.name]
            return Effect(lambda: self._send("host", condition, 1), lambda: self._send("host", condition, 0))
        if kind.name == "fails":
            return Effect(*disk_full(self))
        if kind.name in PROCESS:
            return Effect(*PROCESS[kind.name](fault, self))
        if kind.family == "station":
            return Effect(each=COMMAND_FAULTS[fault.name](fault, self._send, lambda: self.loop, self._seed))
        return Effect()  # late, stalled: see step

    def _counts(self, fault: Fault, make: Callable[[], CountsEffect], condition: str | None = None) -> Effect:
        effects = self.body.on_counts

        def begin() -> None:
            effects[fault] = make()
            if condition:
                self._send("host", condition, 1)

        def end() -> None:
            effects.pop(fault)
            if condition:
                self._send("host", condition, 0)

        return Effect(begin, end)

    def _outputs(self, fault: Fault, make: Callable[[], OutputsEffect]) -> Effect:
        effects = self.body.on_outputs
        return Effect(lambda: effects.update({fault: make()}), lambda: effects.pop(fault))

    def _send(self, kind: str, *values: object) -> None:
        if self.loop is not None:
            self.loop.send(kind, *values)


def _check(fault: Fault, on_link: bool) -> None:
    if fault.kind.needs == PI_CHIPS:
        raise UsageError(f"fault {fault}: breaks an emulated chip; give --on emulated with it")
    if fault.kind.needs == WIRE and not on_link:
        raise UsageError(f"fault {fault}: needs a controller on a HIL link; start the run with this fault")
    if on_link and fault.kind.name in ("late", "stalled"):
        raise UsageError(f"fault {fault}: a controller on a HIL link runs on the plant's time, not its own")
    if on_link and fault.name == "exception:driver":
        raise UsageError(
            f"fault {fault}: a controller on a HIL link has no driver; the link has its own faults"
        )
