"""A vehicle in the plant, its controller in this process or on a HIL link, and a cause for every failsafe."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from caudal.hal.serial_ports import Port
from caudal.hal.sim import SimDriver
from caudal.onboard.core.loop import Loop
from caudal.onboard.link.controller import Controller
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.faulty_port import FaultyPort
from caudal.tools.hil.fixture import WaitClock
from caudal.tools.hil.plant_side import PlantSide
from caudal.tools.hil.pty import open_line
from caudal.tools.hil.remote_vehicle import Remote
from caudal.tools.simulate.simulation import SimSession, Simulation
from tests.waiting import LIMIT_S, wait_for

NAN = float("nan")


class Bench:
    """One vehicle, armed in its first tick. `late_us` is what its ticks are late."""

    def __init__(self, vehicle: str, scenario: str, overrides: list[str], early: Callable | None) -> None:
        self.vehicle, self.scenario_name, self.scenario = open_scenario(vehicle, overrides, scenario)
        self.late_us = 0
        self.simulation = Simulation(self.vehicle, self.scenario_name, 1, self.launch)
        self.body = self.simulation.instances[0].body
        if early:
            early(self)
        self.simulation.arm()

    def launch(self, name: str, body: Any) -> Any:
        raise NotImplementedError

    @property
    def loop(self) -> Loop:
        raise NotImplementedError

    @property
    def rate_hz(self) -> int:
        return self.vehicle.settings.rate_hz

    def inject(self, *texts: str) -> None:
        """From the next tick on (tools/faults/kinds.py), until it is cleared."""
        for text in texts:
            self.simulation.inject(self.simulation.instances[0].name, text)

    def clear(self) -> None:
        self.simulation.clear(self.simulation.instances[0].name)

    def step(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.simulation.step(self.late_us)

    def row(self, name: str) -> Any:
        return next(row for row in self.loop.monitor.rules if row.name == name)

    def sensor(self, name: str) -> dict[str, Any]:
        return next(s for s in self.vehicle.settings.sensors if s.name == name)

    def old_ticks(self, *names: str) -> int:
        return max(round(self.sensor(name).max_age_s * self.rate_hz) for name in names) + 1

    def close(self) -> None:
        self.simulation.safe()


class Simulated(Bench):
    def launch(self, name: str, body: Any) -> SimSession:
        return SimSession(name, self.vehicle.build_loop(self.scenario, SimDriver(body)), body)

    @property
    def loop(self) -> Loop:
        return self.simulation.instances[0].loop


class Wired(Bench):
    """The controller in a thread, behind a pseudo-terminal; between two ticks it waits for the next readings."""

    link_timeout_ms = round(1000 * LIMIT_S)

    def launch(self, name: str, body: Any) -> Remote:
        master, slave = open_line()
        here, there = FaultyPort(Port(master, "plant")), Port(slave, "controller")
        settings, digest = self.vehicle.settings, self.vehicle.file.digest()
        self._ports = here, there
        self.line = here
        self.controller = Controller(settings, self.scenario, digest, there)
        self._thread = threading.Thread(
            target=self.controller.serve, args=(self.link_timeout_ms,), daemon=True
        )
        self._thread.start()
        self.end = PlantSide(settings, digest, here, WaitClock(here, self._thread))
        return Remote(name, body, self.end, 1_000_000 // self.rate_hz, patience_s=LIMIT_S)

    @property
    def loop(self) -> Loop:
        assert self.controller.loop is not None
        return self.controller.loop

    def step(self, ticks: int = 1) -> None:
        loop = self.loop
        if "tick" not in vars(loop):
            tick = loop.tick
            loop.tick = lambda late_us=0: tick(self.late_us)  # type: ignore[method-assign]
        super().step(ticks)

    @property
    def remote(self) -> Remote:
        return self.simulation.instances[0]

    def close(self) -> None:
        super().close()
        while self._thread.is_alive():
            self.end.bye()
            self._thread.join(0.1)
        for port in self._ports:
            port.close()


class Cuttable(Wired):
    """Its wire may be cut: neither end then waits for longer than it must."""

    link_timeout_ms = 1000

    def cut(self) -> None:
        self.line.cut = True

    def clear(self) -> None:
        self.line.cut = False

    def wait_for_link_timeout(self) -> None:
        """The controller's, which goes by its own clock."""
        wait_for(lambda: self.controller.timed_out, "the controller's link timeout")


@dataclass(frozen=True)
class Cause:
    """How a row is provoked: `begin` and `end` of its cause, `slack` ticks that the cause itself takes to be one."""

    vehicle: str
    scenario: str
    begin: Callable[[Bench], None]
    end: Callable[[Bench], None]
    slack: Callable[[Bench], int] = lambda bench: 0
    before: Callable[[Bench], None] = lambda bench: None  # commands that the cause needs
    early: bool = False  # from before the first tick on


def silent(*names: str) -> dict[str, Any]:
    """Sensors by name; all of them without any."""

    def begin(bench: Bench) -> None:
        bench.inject(*(f"silent:{name}" for name in names or bench.body.sensors))

    return {
        "begin": begin,
        "end": Bench.clear,
        "slack": lambda bench: bench.old_ticks(*names) if names else 0,
    }


def reading(name: str, value: float) -> dict[str, Any]:
    """A sensor that reads a value, whenever it reads one at all."""
    return {
        "begin": lambda bench: bench.inject(f"reads:{name}*{value:g}"),
        "end": Bench.clear,
        "slack": lambda bench: bench.old_ticks(name),
    }


def shifted(name: str, by: float) -> dict[str, Any]:
    return {"begin": lambda bench: bench.inject(f"shifted:{name}*{by:g}"), "end": Bench.clear}


def wild(name: str, by: float) -> dict[str, Any]:
    return {
        "begin": lambda bench: bench.inject(f"noisy:{name}*{by:g}"),
        "end": Bench.clear,
        "slack": lambda bench: 2 * bench.rate_hz,
    }


def late(periods: float) -> dict[str, Any]:
    def begin(bench: Bench) -> None:
        bench.late_us = round(periods * 1_000_000 / bench.rate_hz)

    def end(bench: Bench) -> None:
        bench.late_us = 0

    return {"begin": begin, "end": end}


def host(word: str) -> dict[str, Any]:
    return {
        "begin": lambda bench: bench.loop.send("host", word, 1),
        "end": lambda bench: bench.loop.send("host", word, 0),
    }


def jam(actuator: str, swing_s: float) -> dict[str, Any]:
    """It stays where it is, which for a part of `swing_s` may be its set-point."""
    return {
        "begin": lambda bench: bench.inject(f"jammed:{actuator}"),
        "end": Bench.clear,
        "slack": lambda bench: found_ticks(bench, actuator, swing_s),
    }


def dead(actuator: str) -> dict[str, Any]:
    """It gets no more than would have it rest, and runs down."""
    return {
        "begin": lambda bench: bench.inject(f"dead:{actuator}"),
        "end": Bench.clear,
        "slack": lambda bench: found_ticks(bench, actuator, 0.0),
    }


def found_ticks(bench: Bench, actuator: str, swing_s: float) -> int:
    """What the vehicle file says it takes to be found; before that it runs down, which takes some of its lags."""
    settings = next(a for a in bench.vehicle.settings.actuators if a.name == actuator)
    return round((settings.detect_s + 3 * settings.lag_s + swing_s) * bench.rate_hz)


def no_number(bench: Bench) -> None:
    last = bench.loop.stages[-1]
    asked = last.step

    def step(state: Any) -> None:
        asked(state)
        state.commands[0] = NAN

    last.step = step
    bench.loop.mended = lambda: setattr(last, "step", asked)  # type: ignore[attr-defined]


def manual(bench: Bench) -> None:
    bench.loop.send("sticks", 0.2, 0.0, 0.0, 0.0)
    bench.loop.send("mode", "manual", "pilot")


def sticks_again(bench: Bench) -> None:
    bench.loop.send("sticks", 0.0, 0.0, 0.0, 0.0)


def limit_ticks(row: str) -> Callable[[Bench], int]:
    def slack(bench: Bench) -> int:
        settings = next(r for r in bench.vehicle.settings.failsafes if r.name == row)
        return round(settings.limit_s * bench.rate_hz) + 1

    return slack


ROV = ("rov", "station")
CAUSES: dict[str, Cause] = {
    "not_armed": Cause(*ROV, lambda bench: bench.loop.send("disarm"), lambda bench: bench.loop.send("arm")),
    "bad_command": Cause(*ROV, no_number, lambda bench: bench.loop.mended()),  # type: ignore[attr-defined]
    "overrun": Cause(*ROV, **late(1.5)),
    "stalled": Cause(*ROV, **late(26)),
    "wire_lost": Cause(*ROV, **silent()),
    "bus_hung": Cause(*ROV, **host("bus_hung")),
    "attitude_lost": Cause(*ROV, **silent("heading")),
    "attitude_wrong": Cause(*ROV, **shifted("heading", 1.5)),
    "depth_lost": Cause(*ROV, **silent("depth")),
    "estimate_wrong": Cause(*ROV, **wild("x", 0.5)),
    "capsized": Cause(*ROV, **reading("roll", 2.0)),
    "too_deep": Cause(*ROV, **reading("depth", 99.0)),
    "out_of_bounds": Cause(*ROV, **shifted("x", 20.0) | {"slack": lambda bench: 5}, early=True),
    "mode_unable": Cause(*ROV, **silent("x", "y") | {"slack": lambda bench: 0}, early=True),
    "pilot_lost": Cause(*ROV, lambda bench: None, sticks_again, limit_ticks("pilot_lost"), before=manual),
    "station_lost": Cause(
        *ROV,
        lambda bench: None,
        lambda bench: bench.loop.send("station"),
        limit_ticks("station_lost"),
        before=lambda bench: bench.loop.send("station"),
    ),
    "battery_low": Cause(*ROV, **reading("battery", 13.2)),
    "battery_critical": Cause(*ROV, **reading("battery", 12.0)),
    "leak": Cause(*ROV, **reading("leak", 1.0)),
    "housing_pressure": Cause(*ROV, **reading("housing_pressure", 130e3)),
    "housing_temperature": Cause(*ROV, **reading("housing_temperature", 350.0)),
    "servo_stalled": Cause("fish", "cruise", **jam("tail_4", 0.5)),
    "thruster_dead": Cause(*ROV, **dead("lift_fore")),
    "valve_stuck": Cause("hybrid", "mode1", **dead("aft_a")),
    "over_pressure": Cause("hybrid", "mode1", **reading("aft_a_pressure", 590e3)),
    "computer_hot": Cause(*ROV, **host("computer_hot")),
    "under_voltage": Cause(*ROV, **host("under_voltage")),
    "storage_full": Cause(*ROV, **host("storage_full")),
    "clock_jumped": Cause(*ROV, **host("clock_jumped")),
    "params_lost": Cause(*ROV, **host("params_lost")),
}
