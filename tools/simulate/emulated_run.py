"""Vehicles on emulated chips: the real drivers and registers between board and plant."""

from pathlib import Path
from typing import Any

from caudal.hal.emulated.wiring import EmulatedDriver
from caudal.hal.tables import pi as pi_spec
from caudal.onboard.log.recorder import LogWriter, TopicWriter
from caudal.sim_plant.world.world import Body
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.faults.kinds import Fault
from caudal.tools.simulate.simulation import Own, Simulation


class OnChips(Own):
    """Controlled by a loop in this process, through emulated chips."""

    def __init__(self, name: str, loop: Any, body: Body, driver: EmulatedDriver) -> None:
        super().__init__(name, loop, body)
        self.driver = driver
        self._recorder: LogWriter | None = None
        self._pulses: TopicWriter | None = None
        self._news: list[str] = []
        self._hung = False  # as the loop was told

    def safe(self) -> None:
        """At the end: the safe state, then no pulses at all."""
        super().safe()
        self.driver.close()

    def record(self, recorder: LogWriter) -> None:
        super().record(recorder)
        self._recorder = recorder
        self._pulses = recorder.topic(f"/{self.name}/pulses", [("float64", a) for a in self.body.actuators])

    def tick(self, time_ns: int, late_us: int) -> None:
        if self.driver.hung != self._hung:
            self._hung = not self._hung
            self.loop.send("host", "bus_hung", int(self._hung))
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


def chips_of(vehicle: Vehicle) -> pi_spec.Pi:
    """The vehicle's [pi] table."""
    return pi_spec.read(vehicle.file, vehicle.settings)


def emulated_simulation(
    vehicle: Vehicle, scenario_name: str, seed: int, faults: list[Fault], registers: Path | None = None
) -> Simulation:
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
        return OnChips(name, vehicle.build_loop(scenario, driver), body, driver)

    simulation = Simulation(vehicle, scenario_name, seed, launch, faults)
    simulation.about["pulse_step_us"] = repr(simulation.instances[0].driver.step_us)
    return simulation
