"""Vehicles of one file in one world, in lockstep: every controller ticks, then the world moves on by one period."""

import time
from collections.abc import Callable
from typing import Any, Protocol

from hal.sim import SimDriver
from onboard.blackbox import BlackBox
from onboard.loop import Loop
from onboard.record import Recorder, Topic
from sim_plant.world import Body, World
from tools.say import Refused, patience
from tools.vehicles import Vehicle


class Swimmer(Protocol):
    """One vehicle of the fleet: a body in the world, and whoever controls it."""

    name: str
    body: Body

    @property
    def fault(self) -> str | None: ...
    def arm(self) -> None: ...
    def safe(self) -> None: ...
    def record(self, recorder: Recorder) -> None: ...
    def tick(self, time_ns: int, late_us: int) -> None: ...


class Own:
    """Controlled by a loop in this process."""

    def __init__(self, name: str, loop: Loop, body: Body) -> None:
        self.name = name
        self.loop = loop
        self.body = body
        self._black_box: BlackBox | None = None
        self._truth: Topic | None = None

    @property
    def fault(self) -> str | None:
        return self.loop.fault

    def arm(self) -> None:
        self.loop.arm()

    def safe(self) -> None:
        self.loop.board.safe()

    def record(self, recorder: Recorder) -> None:
        self._black_box = BlackBox(recorder, self.name, self.loop)
        self._truth = recorder.topic(f"/{self.name}/truth", [("float64", f) for f in self.body.truth_fields])

    def tick(self, time_ns: int, late_us: int) -> None:
        start_ns = time.perf_counter_ns()
        self.loop.tick(late_us)
        cost_us = (time.perf_counter_ns() - start_ns) // 1000
        if self._black_box and self._truth:
            self._black_box.write(time_ns, cost_us)
            self._truth.write(time_ns, self.body.truth())


class Fleet:
    """`launch(name, body)` makes each swimmer; without it they are this process's own."""

    def __init__(
        self,
        vehicle: Vehicle,
        scenario_name: str,
        seed: int,
        launch: Callable[[str, Body], Swimmer] | None = None,
    ) -> None:
        settings = vehicle.settings
        _, scenario = vehicle.scenario(scenario_name)
        world_spec = vehicle.worlds[scenario["world"]]
        self.about: dict[str, str] = {}  # what a log should say of it
        self.world = _or_refuse(World, world_spec, seed=seed)
        self.period_us = 1_000_000 // settings["rate_hz"]
        self.swimmers: list[Any] = []

        def own(name: str, body: Body) -> Own:
            return Own(name, vehicle.build_loop(scenario, SimDriver(body)), body)

        with patience("getting the plant ready; the first time it is compiled, which takes 20 s or more"):
            self._launch(vehicle, world_spec.vehicles, launch or own)
        self._recorder: Recorder | None = None
        self._target: Topic | None = None
        self._collisions = [0] * len(self.swimmers)

    def _launch(self, vehicle: Vehicle, count: int, launch: Callable[[str, Body], Swimmer]) -> None:
        actuators = [channel["name"] for channel in vehicle.settings["actuators"]]
        sensors = [channel["name"] for channel in vehicle.settings["sensors"]]
        for k in range(count):
            name = f"{vehicle.name}_{k + 1}"
            body = _or_refuse(self.world.add, vehicle.plant, actuators=actuators, sensors=sensors, name=name)
            self.swimmers.append(launch(name, body))
        self.world.step(0)

    def record(self, recorder: Recorder) -> None:
        """Write down every tick from now on, and what only a simulation knows: the truth."""
        self._recorder = recorder
        for swimmer in self.swimmers:
            swimmer.record(recorder)
        if self.world.target_m:
            self._target = recorder.topic("/target/truth", [("float64", "x_m"), ("float64", "y_m")])

    def arm(self) -> None:
        for swimmer in self.swimmers:
            swimmer.arm()

    def step(self, late_us: int = 0) -> None:
        time_ns = self.world.time_us * 1000
        for swimmer in self.swimmers:
            swimmer.tick(time_ns, late_us)
        if self._target:
            self._target.write(time_ns, self.world.target_m)
        collisions = self.world.collisions
        self.world.step(self.period_us)
        if self._recorder and self.world.collisions != collisions:
            self._note_collisions(self._recorder, self.world.collisions - collisions)

    def _note_collisions(self, recorder: Recorder, count: int) -> None:
        """One event a contact; a touch of two vehicles is one contact that names both."""
        now = [swimmer.body.collisions for swimmer in self.swimmers]
        touched = [s.name for s, a, b in zip(self.swimmers, now, self._collisions, strict=True) if a != b]
        self._collisions = now
        for _ in range(count):
            recorder.event(self.world.time_us * 1000, "collision", vehicles=touched)

    def safe(self) -> None:
        for swimmer in self.swimmers:
            swimmer.safe()

    @property
    def fault(self) -> str | None:
        for swimmer in self.swimmers:
            if swimmer.fault:
                return f"{swimmer.name}: {swimmer.fault}"
        return None


def _or_refuse(make, *given, **named):
    """The plant says in a sentence what it cannot do, such as finding room for so many vehicles."""
    try:
        return make(*given, **named)
    except ValueError as error:
        raise Refused(str(error)) from error
