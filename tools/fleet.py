"""Vehicles of one file in one world, in lockstep: every loop ticks, then the world moves on by one period."""

import time
from pathlib import Path

import hal.sim
from onboard.app import build_loop
from onboard.blackbox import BlackBox
from onboard.record import Recorder
from sim_plant.world import World
from tools.vehicles import Vehicle


class Swimmer:
    """One vehicle of the fleet: its loop, its body in the world, and its black box."""

    def __init__(self, name, loop, body, recorder) -> None:
        self.name = name
        self.loop = loop
        self.body = body
        self.black_box = BlackBox(recorder, name, loop) if recorder else None
        self._truth = recorder.topic(f"/{name}/truth", [("float64", f) for f in body.truth_fields]) if recorder else None

    def tick(self, time_ns: int, late_us: int) -> None:
        start_ns = time.perf_counter_ns()
        self.loop.tick(late_us)
        cost_us = (time.perf_counter_ns() - start_ns) // 1000
        if self.black_box:
            self.black_box.write(time_ns, cost_us)
            self._truth.write(time_ns, self.body.truth())


class Fleet:
    def __init__(self, vehicle: Vehicle, scenario_name: str, seed: int, recorder: Recorder | None = None) -> None:
        settings = vehicle.settings
        _, scenario = vehicle.scenario(scenario_name)
        world_spec = vehicle.worlds[scenario["world"]]
        self.world = World(world_spec, seed=seed)
        self.period_us = 1_000_000 // settings["rate_hz"]
        self.swimmers = []
        actuators = [channel["name"] for channel in settings["actuators"]]
        sensors = [channel["name"] for channel in settings["sensors"]]
        for k in range(world_spec.vehicles):
            name = f"{vehicle.name}_{k + 1}"
            body = self.world.add(vehicle.plant, actuators=actuators, sensors=sensors, name=name)
            loop = build_loop(settings, scenario, hal.sim.SimDriver(body))
            self.swimmers.append(Swimmer(name, loop, body, recorder))
        self._recorder = recorder
        self._collisions = [0] * len(self.swimmers)
        self._target = None
        if recorder and self.world.target_m:
            self._target = recorder.topic("/target/truth", [("float64", "x_m"), ("float64", "y_m")])

    def arm(self) -> None:
        for swimmer in self.swimmers:
            swimmer.loop.arm()

    def step(self, late_us: int = 0) -> None:
        time_ns = self.world.time_us * 1000
        for swimmer in self.swimmers:
            swimmer.tick(time_ns, late_us)
        if self._target:
            self._target.write(time_ns, self.world.target_m)
        collisions = self.world.collisions
        self.world.step(self.period_us)
        if self.world.collisions != collisions and self._recorder:
            self._note_collisions(self.world.collisions - collisions)

    def _note_collisions(self, count: int) -> None:
        """One event a contact; a touch of two vehicles is one contact that names both."""
        now = [swimmer.body.collisions for swimmer in self.swimmers]
        touched = [s.name for s, a, b in zip(self.swimmers, now, self._collisions, strict=True) if a != b]
        self._collisions = now
        for _ in range(count):
            self._recorder.event(self.world.time_us * 1000, "collision", vehicles=touched)

    def safe(self) -> None:
        for swimmer in self.swimmers:
            swimmer.loop.board.safe()

    @property
    def fault(self) -> str | None:
        for swimmer in self.swimmers:
            if swimmer.loop.fault:
                return f"{swimmer.name}: {swimmer.loop.fault}"
        return None


def default_log(vehicle: Vehicle, scenario_name: str, seed: int) -> Path:
    return Path("runs") / f"{vehicle.name}-{scenario_name}-{seed}.mcap"
