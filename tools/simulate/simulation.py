"""Vehicles of one file in one world, in lockstep: every controller ticks, then the world moves on by one period."""

import time
from collections.abc import Callable
from typing import Any, Protocol

from caudal.hal.sim import SimDriver
from caudal.onboard.core.loop import Loop
from caudal.onboard.log.recorder import LogWriter, TopicWriter
from caudal.onboard.log.tick_log import TickLog
from caudal.sim_plant.world.world import Body, World
from caudal.tools.common.output import UsageError, slow_notice
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.faults.device_faults import FaultyBody
from caudal.tools.faults.injector import FaultInjector
from caudal.tools.faults.kinds import WIRE, Fault, read_fault
from caudal.tools.vehicle_run.param_keeper import ParamKeeper


class VehicleInstance(Protocol):
    """One vehicle of the fleet: a body in the world, and whoever controls it."""

    name: str
    body: Body
    injector: FaultInjector | None  # what goes wrong with it, where that can be

    @property
    def fault(self) -> str | None: ...
    def arm(self) -> None: ...
    def safe(self) -> None: ...
    def record(self, recorder: LogWriter) -> None: ...
    def tick(self, time_ns: int, late_us: int) -> None: ...


class Own:
    """Controlled by a loop in this process."""

    def __init__(self, name: str, loop: Loop, body: Body) -> None:
        self.name = name
        self.loop = loop
        self.body = body
        self.kept: ParamKeeper | None = None
        self.injector: FaultInjector | None = None
        self.on_tick: Callable[[str, Loop, int], None] | None = None  # with the name of its log's topics
        self.bridge: Any = None  # to ground stations (onboard/station/bridge.py)
        self._recorder: LogWriter | None = None
        self._black_box: TickLog | None = None
        self._truth: TopicWriter | None = None

    @property
    def fault(self) -> str | None:
        return self.loop.fault

    def arm(self) -> None:
        self.loop.arm()

    def safe(self) -> None:
        self.loop.board.safe()

    def record(self, recorder: LogWriter) -> None:
        if self.injector:
            self.injector.recorder = recorder
        self._recorder = recorder
        self._black_box = TickLog(recorder, self.name, self.loop)
        self._truth = recorder.topic(f"/{self.name}/truth", [("float64", f) for f in self.body.truth_fields])

    def tick(self, time_ns: int, late_us: int) -> None:
        if self.injector:
            late = self.injector.step(time_ns, late_us)
            if late is None:
                return  # the loop stands still
            late_us = late
        start_ns = time.perf_counter_ns()
        if self.bridge:
            self.bridge.before()
        self.loop.tick(late_us)
        notes = self.bridge.after() if self.bridge else ()
        cost_us = (time.perf_counter_ns() - start_ns) // 1000
        if self._black_box and self._truth:
            self._black_box.write(time_ns, cost_us)
            self._truth.write(time_ns, self.body.truth())
        if self.kept:
            self.kept.after_tick(time_ns)
        if self.on_tick:
            self.on_tick(self.name, self.loop, time_ns)
        if self._recorder:
            for kind, details in notes:
                self._recorder.event(time_ns, kind, **details)


class Simulation:
    """`launch(name, body)` makes each swimmer; without it they are this process's own. `upsets`, and
    those of the scenario, befall the first."""

    def __init__(
        self,
        vehicle: Vehicle,
        scenario_name: str,
        seed: int,
        launch: Callable[[str, Body], VehicleInstance] | None = None,
        faults: list[Fault] | None = None,
    ) -> None:
        settings = vehicle.settings
        _, scenario = vehicle.scenario(scenario_name)
        self.vehicle = vehicle
        self.faults = [*(read_fault(text, vehicle) for text in scenario["faults"]), *(faults or ())]
        world_spec = vehicle.worlds[scenario["world"]]
        self.about = (
            {"faults": " ".join(map(str, self.faults))} if self.faults else {}
        )  # what a log says of it
        self.world = _or_refuse(World, world_spec, seed=seed)
        self.period_us = 1_000_000 // settings["rate_hz"]
        self.instances: list[Any] = []
        self.on_step: Callable[[], None] | None = None

        def own(name: str, body: Body) -> VehicleInstance:
            if any(fault.kind.needs == WIRE for fault in self.faults) and not self.instances:
                from caudal.tools.hil.in_process_wire import WiredVehicle

                return WiredVehicle(name, body, vehicle, scenario, seed)
            return Own(name, vehicle.build_loop(scenario, SimDriver(body)), body)

        with slow_notice("getting the plant ready; the first time it is compiled, which takes 20 s or more"):
            self._launch(vehicle, world_spec.vehicles, launch or own)
        for fault in self.faults:
            self.instances[0].injector.add(fault)
        self._recorder: LogWriter | None = None
        self._target: TopicWriter | None = None
        self._collisions = [0] * len(self.instances)

    def _launch(self, vehicle: Vehicle, count: int, launch: Callable[[str, Body], VehicleInstance]) -> None:
        actuators = [channel["name"] for channel in vehicle.settings["actuators"]]
        sensors = [channel["name"] for channel in vehicle.settings["sensors"]]
        for k in range(count):
            name = f"{vehicle.name}_{k + 1}"
            body = _or_refuse(self.world.add, vehicle.plant, actuators=actuators, sensors=sensors, name=name)
            instance = launch(name, FaultyBody(body))
            instance.injector = instance.injector or FaultInjector(instance, vehicle, self.world.seed)
            self.instances.append(instance)
        self.world.step(0)

    def inject(self, swimmer_name: str, text: str) -> None:
        """Let something go wrong with one of the vehicles: a fault as tools/faults/kinds.py has it, from now on or
        later."""
        now_s = self.world.time_us / 1e6
        self._named(swimmer_name).injector.add(read_fault(text, self.vehicle, now_s), now_s)

    def clear(self, swimmer_name: str, what: str = "") -> None:
        """End what goes wrong with it, and what was still to come: a fault by its name, a part's, or all."""
        self._named(swimmer_name).injector.clear(self.world.time_us * 1000, what)

    def _named(self, name: str) -> Any:
        for instance in self.instances:
            if instance.name == name:
                return instance
        names = ", ".join(instance.name for instance in self.instances)
        raise UsageError(f"there is no vehicle {name} here; there are {names}")

    def record(self, recorder: LogWriter) -> None:
        """Write down every tick from now on, and what only a simulation knows: the truth."""
        self._recorder = recorder
        for instance in self.instances:
            instance.record(recorder)
        if self.world.target_m:
            self._target = recorder.topic("/target/truth", [("float64", "x_m"), ("float64", "y_m")])

    def arm(self) -> None:
        for instance in self.instances:
            instance.arm()

    def step(self, late_us: int = 0) -> None:
        time_ns = self.world.time_us * 1000
        for instance in self.instances:
            instance.tick(time_ns, late_us)
        if self._target:
            self._target.write(time_ns, self.world.target_m)
        collisions = self.world.collisions
        self.world.step(self.period_us)
        if self._recorder and self.world.collisions != collisions:
            self._note_collisions(self._recorder, self.world.collisions - collisions)
        if self.on_step:
            self.on_step()

    def _note_collisions(self, recorder: LogWriter, count: int) -> None:
        """One event a contact; a touch of two vehicles is one contact that names both."""
        now = [instance.body.collisions for instance in self.instances]
        touched = [s.name for s, a, b in zip(self.instances, now, self._collisions, strict=True) if a != b]
        self._collisions = now
        for _ in range(count):
            recorder.event(self.world.time_us * 1000, "collision", vehicles=touched)

    def safe(self) -> None:
        for instance in self.instances:
            instance.safe()

    @property
    def fault(self) -> str | None:
        for instance in self.instances:
            if instance.fault:
                return f"{instance.name}: {instance.fault}"
        return None


def _or_refuse(make, *given, **named):
    """The plant says in a sentence what it cannot do, such as finding room for so many vehicles."""
    try:
        return make(*given, **named)
    except ValueError as error:
        raise UsageError(str(error)) from error
