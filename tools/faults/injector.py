"""The upsets of one vehicle in a running simulation: each begins and ends in its tick, and the log says so."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from caudal.sim_plant.world.faults import leak, sag
from caudal.tools.common.output import UsageError
from caudal.tools.faults.command_faults import ORDERS
from caudal.tools.faults.device_faults import (
    actuator_effect,
    battery_effect,
    bus_effect,
    no_pulses,
    sensor_effect,
)
from caudal.tools.faults.kinds import PI_CHIPS, WIRE, Fault
from caudal.tools.faults.process_faults import PROCESS, disk_full

HOST_WORDS = {
    "hot": "computer_hot", "undervoltage": "under_voltage", "full": "storage_full", "jumped": "clock_jumped",
    "hung": "bus_hung",
}  # fmt: skip


MOST = 100  # at a time: each costs every tick a little


class Effect:
    """What an upset does: `begin` and `end`, and `each` tick, whether it is on or not."""

    def __init__(
        self,
        begin: Callable[[], Any] = lambda: None,
        end: Callable[[], Any] = lambda: None,
        each: Callable[[bool], Any] | None = None,
    ) -> None:
        self.begin, self.end, self.each = begin, end, each


class FaultInjector:
    """Of a swimmer: something with a name, a body and a loop; a `line` if behind a wire, a `driver` on chips."""

    def __init__(self, instance: Any, vehicle: Any, seed: int) -> None:
        self._swimmer, self._vehicle, self._seed = instance, vehicle, seed
        self._effects: dict[Fault, tuple[Effect, bool]] = {}
        self._stalled_ticks = 0
        self.recorder: Any = None
        self.begun: dict[Fault, int] = {}  # the time at which each began first, ns

    def add(self, fault: Fault, now_s: float = 0.0) -> None:
        """Refuses what cannot befall this vehicle where it swims now."""
        if fault.until_s <= now_s:
            raise UsageError(f"fault {fault}: second {fault.until_s:g} has passed; it is {now_s:g} s already")
        over = [one for one, (_, on) in self._effects.items() if one.until_s <= now_s and not on]
        for one in over:
            del self._effects[one]
        if len(self._effects) >= MOST:
            raise UsageError(f"fault {fault}: {MOST} at a time are enough; mend some")
        while fault in self._effects:
            fault = replace(fault, at_s=math.nextafter(fault.at_s, math.inf))  # the same twice is two of it
        self._effects[fault] = self._effect(fault), False

    def clear(self, time_ns: int, what: str = "") -> None:
        """All is well from now on, or one fault is over, or all of one part."""
        mended = [u for u in self._effects if what in ("", u.target, u.name, str(u))]
        if what and not mended:
            there = ", ".join(dict.fromkeys(map(str, self._effects))) or "none"
            raise UsageError(f"mend {what}: there is no such fault; there are {there}")
        for fault in mended:
            effect, on = self._effects.pop(fault)
            if on:
                effect.end()
                self._note(time_ns, "fault cleared", fault)

    def step(self, time_ns: int, late_us: int) -> int | None:
        """Before a tick; how late it starts, or None if the loop stands still."""
        stalled = False
        for fault, (effect, was_on) in tuple(self._effects.items()):
            on = fault.on(time_ns / 1e9)
            if on != was_on:
                self._effects[fault] = effect, on
                if on:
                    self.begun.setdefault(fault, time_ns)
                (effect.begin if on else effect.end)()
                self._note(time_ns, "fault set" if on else "fault cleared", fault)
            if effect.each:
                effect.each(on)
            if on and fault.kind.name == "late":
                late_us += round(fault.size * 1e6)
            stalled |= on and fault.kind.name == "stalled"
        if stalled:
            self._stalled_ticks += 1
            return None
        late_us += self._stalled_ticks * 1_000_000 // self._vehicle.settings["rate_hz"]
        self._stalled_ticks = 0
        return late_us

    def _note(self, time_ns: int, kind: str, fault: Fault) -> None:
        if self.recorder:
            self.recorder.event(time_ns, kind, vehicle=self._swimmer.name, fault=fault.name, text=str(fault))

    def _effect(self, fault: Fault) -> Effect:
        kind, body = fault.kind, self._swimmer.body
        chips, line = getattr(self._swimmer, "driver", None), getattr(self._swimmer, "line", None)
        if chips and (kind.needs == PI_CHIPS or fault.name == "brown-out:pulses"):
            switch = chips.set_fault
            return Effect(
                lambda: switch(kind.name, fault.target, True), lambda: switch(kind.name, fault.target, False)
            )
        if kind.needs == PI_CHIPS:
            raise UsageError(f"fault {fault}: breaks an emulated chip; give --on emulated with it")
        if kind.needs == WIRE and line is None:
            raise UsageError(f"fault {fault}: needs a controller behind a wire; start the run with it")
        if kind.name in ("late", "stalled") and line is not None:
            raise UsageError(
                f"fault {fault}: a controller behind a wire goes by the plant's time, not its own"
            )
        if fault.name == "exception:driver" and line is not None:
            raise UsageError(
                f"fault {fault}: a controller behind a wire has no driver, and the wire has its own faults"
            )
        if kind.family == "sensor":
            return self._counts(fault, lambda: sensor_effect(fault, body, self._vehicle, self._seed))
        if fault.name == "leaking:" + fault.target:
            return Effect(lambda: leak(body, fault.target, fault.size), lambda: leak(body, fault.target, 0.0))
        if kind.family == "actuator":
            return self._outputs(fault, lambda: actuator_effect(fault, body, self._vehicle))
        if kind.name == "brown-out":
            return self._outputs(fault, lambda: no_pulses)
        if kind.name == "sags":
            if self._vehicle.plant.battery:
                return Effect(lambda: sag(body, fault.size), lambda: sag(body, -fault.size))
            return self._counts(fault, lambda: battery_effect(fault, body, self._vehicle))
        if kind.family == "bus":
            return self._counts(
                fault, lambda: bus_effect(fault, body, self._vehicle), HOST_WORDS.get(kind.name)
            )
        if kind.family == "wire":
            return Effect(lambda: line.inject(kind.name, fault.size), lambda: line.inject(kind.name, 0.0))
        if kind.name == "killed":
            return Effect(line.kill, line.start)
        if kind.name in HOST_WORDS:
            word = HOST_WORDS[kind.name]
            return Effect(lambda: self._tell("host", word, 1), lambda: self._tell("host", word, 0))
        if kind.name == "fails":
            return Effect(*disk_full(self))
        if kind.family == "process" and kind.name in PROCESS:
            return Effect(*PROCESS[kind.name](fault, self._swimmer))
        if kind.family == "station":
            return Effect(each=ORDERS[fault.name](fault, self._tell, lambda: self._swimmer.loop, self._seed))
        return Effect()  # late and stalled ones: see step

    def _counts(self, fault: Fault, make: Callable[[], Any], word: str | None = None) -> Effect:
        held = self._swimmer.body.on_counts

        def begin() -> None:
            held[fault] = make()
            if word:
                self._tell("host", word, 1)

        def end() -> None:
            held.pop(fault)
            if word:
                self._tell("host", word, 0)

        return Effect(begin, end)

    def _outputs(self, fault: Fault, make: Callable[[], Any]) -> Effect:
        held = self._swimmer.body.on_outputs
        return Effect(lambda: held.update({fault: make()}), lambda: held.pop(fault))

    def _tell(self, *order: Any) -> None:
        loop = self._swimmer.loop
        if loop is not None:
            loop.send(*order)
