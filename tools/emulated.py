"""Vehicles on emulated chips: the real drivers and registers between board and plant, and what breaks them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hal import pi_spec
from hal.emulated.faults import KINDS
from hal.emulated.wiring import EmulatedDriver
from onboard.record import Recorder, Topic
from sim_plant.world import Body
from tools.fleet import Fleet, Own
from tools.say import Refused
from tools.vehicles import Vehicle


@dataclass(frozen=True)
class Fault:
    kind: str
    target: str
    at_s: float
    for_s: float

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}@{self.at_s:g}+{self.for_s:g}"

    @property
    def until_s(self) -> float:
        return self.at_s + self.for_s

    def on(self, time_s: float) -> bool:
        return self.at_s <= time_s < self.until_s


def read_fault(text: str, targets: list[str]) -> Fault:
    """KIND:CHIP@AT[+FOR], seconds; without FOR it lasts half a second."""
    match = re.fullmatch(r"([a-z-]+):([a-z0-9_]+)@([0-9.]+)(?:\+([0-9.]+))?", text)
    try:
        if not match:
            raise ValueError
        fault = Fault(match[1], match[2], float(match[3]), float(match[4] or 0.5))
    except ValueError:
        raise Refused(
            f"--fault {text}: write KIND:CHIP@AT or KIND:CHIP@AT+FOR, such as nack:imu@12+0.5"
        ) from None
    for what, given, known in (("kind", fault.kind, KINDS), ("chip", fault.target, targets)):
        if given not in known:
            raise Refused(f"--fault {text}: there is no {what} {given}; there are {', '.join(known)}")
    return fault


class OnChips(Own):
    """Controlled by a loop in this process, through emulated chips; faults befall the first vehicle alone."""

    def __init__(self, name: str, loop: Any, body: Body, driver: EmulatedDriver, faults: list[Fault]) -> None:
        super().__init__(name, loop, body)
        self.driver = driver
        self._faults = {fault: False for fault in faults}
        self._recorder: Recorder | None = None
        self._pulses: Topic | None = None
        self._news: list[str] = []

    def safe(self) -> None:
        """At the end: the safe state, then no pulses at all."""
        super().safe()
        self.driver.close()

    def record(self, recorder: Recorder) -> None:
        super().record(recorder)
        self._recorder = recorder
        self._pulses = recorder.topic(f"/{self.name}/pulses", [("float64", a) for a in self.body.actuators])

    def tick(self, time_ns: int, late_us: int) -> None:
        for fault, was_on in self._faults.items():
            on = fault.on(time_ns / 1e9)
            if on != was_on:
                self._faults[fault] = on
                self.driver.set_fault(fault.kind, fault.target, on)
                self._note(
                    time_ns, "fault set" if on else "fault cleared", fault=fault.kind, chip=fault.target
                )
        super().tick(time_ns, late_us)
        if self._pulses:
            self._pulses.write(time_ns, self.driver.pulses_us)
        for kind, device, reason in self.driver.news():
            self._note(time_ns, kind, device=device, reason=reason)
            self._news.append(f"{kind}: {device}: {reason}")

    def take_news(self) -> list[str]:
        """What became of devices since the last call."""
        news, self._news = self._news, []
        return news

    def _note(self, time_ns: int, kind: str, **details: Any) -> None:
        if self._recorder:
            self._recorder.event(time_ns, kind, vehicle=self.name, tick=self.loop.ticks, **details)


def chips_of(vehicle: Vehicle) -> dict[str, Any]:
    """The vehicle's [pi] table."""
    return pi_spec.read(vehicle.file, vehicle.settings)


def emulated_fleet(
    vehicle: Vehicle, scenario_name: str, seed: int, faults: list[Fault], registers: Path | None = None
) -> Fleet:
    """As a fleet on the plant alone, with a Raspberry Pi's chips in between.

    `registers` is a file that holds the first vehicle's PCA9685, as power does: they outlive this process.
    """
    pi = chips_of(vehicle)
    _, scenario = vehicle.scenario(scenario_name)

    def launch(name: str, body: Body) -> OnChips:
        first = name.endswith("_1")
        driver = EmulatedDriver(
            vehicle.settings,
            pi,
            vehicle.settings["rate_hz"],
            body,
            lambda: body.time_us,
            registers if first else None,
        )
        return OnChips(name, vehicle.build_loop(scenario, driver), body, driver, faults if first else [])

    fleet = Fleet(vehicle, scenario_name, seed, launch)
    fleet.about = {
        "pulse_step_us": repr(fleet.swimmers[0].driver.step_us),
        "faults": " ".join(map(str, faults)),
    }
    return fleet
