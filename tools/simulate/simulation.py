"""Vehicles of one file in one world, in lockstep: every controller ticks, then the world moves on by one period."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from caudal.hal.emulated.wiring import EmulatedDriver
from caudal.hal.sim import SimDriver
from caudal.onboard.core.loop import Loop
from caudal.onboard.log.recorder import LogWriter, TopicWriter
from caudal.onboard.run.arming import Notify, ignore
from caudal.onboard.run.session import Session
from caudal.onboard.tables.read import Scenario
from caudal.sim_plant.world.world import Body, World
from caudal.tools.common.output import UsageError, slow_notice
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.faults.device_faults import FaultyBody
from caudal.tools.faults.injector import FaultInjector
from caudal.tools.faults.kinds import WIRE, Fault, read_fault

T = TypeVar("T")


class VehicleInstance(Protocol):
    """One vehicle of a simulation: a body in the world, and its controller."""

    name: str
    body: Body
    injector: FaultInjector | None

    @property
    def fault(self) -> str | None:
        """Why its controller has stopped, or None."""

    def arm(self) -> None:
        """Arms it."""

    def safe(self) -> None:
        """Puts its actuators into their safe state."""

    def record(self, writer: LogWriter) -> None:
        """Logs every tick from now on."""

    def tick(self, time_ns: int, late_us: int) -> None:
        """One tick of its controller."""


Launch = Callable[[str, Body], VehicleInstance]
OnLink = Callable[[str, Body, "Vehicle", Scenario, int], VehicleInstance]


class SimSession(Session):
    """A simulated vehicle whose loop runs in this process; on emulated chips, their `driver` goes with it."""

    def __init__(
        self,
        name: str,
        loop: Loop,
        body: Body,
        driver: EmulatedDriver | None = None,
        notify: Notify = ignore,
    ) -> None:
        super().__init__(name, loop, devices=driver, notify=notify)
        self.body = body
        self.driver = driver
        self.injector: FaultInjector | None = None

    def safe(self) -> None:
        """The safe state; on emulated chips then no pulses at all."""
        super().safe()
        if self.driver:
            self.driver.close()

    def record(self, writer: LogWriter) -> None:
        """Logs every tick, the truth, and the pulses of emulated chips."""
        super().record(writer)
        body, driver = self.body, self.driver
        truth = writer.topic(f"/{self.name}/truth", [("float64", f) for f in body.truth_fields])
        self.after.insert(0, lambda session, time_ns: truth.write(time_ns, body.truth()))
        if driver:
            pulses = writer.topic(f"/{self.name}/pulses", [("float64", a) for a in body.actuators])
            self.after.insert(1, lambda session, time_ns: pulses.write(time_ns, driver.pulses_us))


class Simulation:
    """Vehicles in their world. `launch(name, body)` makes each instance; without it their loops run in this process.

    `faults` and those of the scenario are injected into the first, which `on_link` makes if one of them is of a HIL
    link.
    """

    def __init__(
        self,
        vehicle: Vehicle,
        scenario_name: str,
        seed: int,
        launch: Launch | None = None,
        faults: Sequence[Fault] = (),
        on_link: OnLink | None = None,
        notify: Notify = ignore,
    ) -> None:
        _, scenario = vehicle.scenario(scenario_name)
        self.vehicle = vehicle
        self.faults = [*(read_fault(text, vehicle) for text in scenario.faults), *faults]
        world_spec = vehicle.worlds[scenario.world]
        self.about = {"faults": " ".join(map(str, self.faults))} if self.faults else {}  # for the log
        self.world: World = _or_raise(World, world_spec, seed=seed)
        self.period_us = 1_000_000 // vehicle.settings.rate_hz
        self.instances: list[Any] = []
        self.after_step: list[Callable[[], None]] = []

        def own(name: str, body: Body) -> VehicleInstance:
            if on_link and not self.instances and any(fault.kind.needs == WIRE for fault in self.faults):
                return on_link(name, body, vehicle, scenario, seed)
            return SimSession(name, vehicle.build_loop(scenario, SimDriver(body)), body, notify=notify)

        with slow_notice("getting the plant ready; the first time it is compiled, which takes 20 s or more"):
            self._launch(vehicle, world_spec.vehicles, launch or own)
        for fault in self.faults:
            self.instances[0].injector.add(fault)
        self._writer: LogWriter | None = None
        self._target: TopicWriter | None = None
        self._collisions = [0] * len(self.instances)

    def _launch(self, vehicle: Vehicle, count: int, launch: Launch) -> None:
        actuators = [channel.name for channel in vehicle.settings.actuators]
        sensors = [channel.name for channel in vehicle.settings.sensors]
        for k in range(count):
            name = f"{vehicle.name}_{k + 1}"
            body = _or_raise(self.world.add, vehicle.plant, actuators=actuators, sensors=sensors, name=name)
            instance = launch(name, FaultyBody(body))
            if instance.injector is None:
                instance.injector = FaultInjector(instance, vehicle, self.world.seed)
            if isinstance(instance, Session):
                instance.before = instance.injector.step
            self.instances.append(instance)
        self.world.step(0)

    @property
    def sessions(self) -> list[Session]:
        """The vehicles whose loops run in this process."""
        return [instance for instance in self.instances if isinstance(instance, Session)]

    def inject(self, name: str, text: str) -> None:
        """Injects a fault (tools/faults/kinds.py) into one of the vehicles, from now on or later."""
        now_s = self.world.time_us / 1e6
        self._named(name).injector.add(read_fault(text, self.vehicle, now_s), now_s)

    def clear(self, name: str, what: str = "") -> None:
        """Ends faults of a vehicle, and those to come: one by its name, those of a target, or all."""
        self._named(name).injector.clear(self.world.time_us * 1000, what)

    def _named(self, name: str) -> Any:
        for instance in self.instances:
            if instance.name == name:
                return instance
        names = ", ".join(instance.name for instance in self.instances)
        raise UsageError(f"there is no vehicle {name} here; there are {names}")

    def record(self, writer: LogWriter) -> None:
        """Logs every tick from now on, and what only a simulation knows: the truth."""
        self._writer = writer
        for instance in self.instances:
            instance.injector.recorder = writer
            instance.record(writer)
        if self.world.target_m:
            self._target = writer.topic("/target/truth", [("float64", "x_m"), ("float64", "y_m")])

    def arm(self) -> None:
        """Arms all vehicles."""
        for instance in self.instances:
            instance.arm()

    def step(self, late_us: int = 0) -> None:
        """One tick of every vehicle, then one period of the world."""
        time_ns = self.world.time_us * 1000
        for instance in self.instances:
            instance.tick(time_ns, late_us)
        if self._target and self.world.target_m:
            self._target.write(time_ns, self.world.target_m)
        collisions = self.world.collisions
        self.world.step(self.period_us)
        if self._writer and self.world.collisions != collisions:
            self._log_collisions(self._writer, self.world.collisions - collisions)
        for call in self.after_step:
            call()

    def _log_collisions(self, writer: LogWriter, count: int) -> None:
        """One event per contact; a contact of two vehicles is one event that names both."""
        now = [instance.body.collisions for instance in self.instances]
        touched = [s.name for s, a, b in zip(self.instances, now, self._collisions, strict=True) if a != b]
        self._collisions = now
        for _ in range(count):
            writer.event(self.world.time_us * 1000, "collision", vehicles=touched)

    def safe(self) -> None:
        """Puts the actuators of all vehicles into their safe state."""
        for instance in self.instances:
            instance.safe()

    @property
    def fault(self) -> str | None:
        """Why the first vehicle that has stopped did so, or None."""
        for instance in self.instances:
            if instance.fault:
                return f"{instance.name}: {instance.fault}"
        return None


def _or_raise(make: Callable[..., T], *given: Any, **named: Any) -> T:
    """The plant says in a sentence what it cannot do, such as finding room for so many vehicles."""
    try:
        return make(*given, **named)
    except ValueError as error:
        raise UsageError(str(error)) from error
