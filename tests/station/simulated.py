"""A simulated vehicle with ground stations. It ticks in a thread of its own, and no tick counts as late.

Its parameters are 300 fake ones with the interface of `loop.handler.params`, so that lists are long.
"""

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from caudal.onboard.station.address import read_address
from caudal.onboard.station.signing import Signing
from caudal.onboard.station.stations import Stations
from caudal.onboard.station.vehicle_link import VehicleLink
from caudal.onboard.tables.params import Param
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.on_request_faults import rehearsal
from caudal.tools.simulate.simulation import Simulation
from tests.waiting import LIMIT_S, wait_for

TIMEOUT_S = LIMIT_S
SLOW = [
    "failsafe.pilot_lost={limit_s=10}",
    "failsafe.station_lost={limit_s=60}",
]  # a busy machine must not trip a failsafe
ORIGIN = (47.397742, 8.545594)


class FakeParams:
    """Parameters with the interface of the command handler's: names, value, set."""

    def __init__(self, count: int = 300) -> None:
        self.names = [f"TUNE_{k:03d}" for k in range(count - 10)] + [f"WHOLE_{k}" for k in range(10)]
        self.values: dict[str, float] = {name: 0.25 * k for k, name in enumerate(self.names)}
        for name in self.names[-10:]:
            self.values[name] = 7

    def value(self, name: str) -> float:
        return self.values[name]

    def set(self, name: str, value: float, armed: bool) -> str | None:
        if name not in self.values:
            return f"there is no parameter {name}"
        if not -1000 <= value <= 1000:
            return f"{name}: {value:g} is outside -1000 to 1000"
        self.values[name] = value
        return None

    @property
    def tables(self) -> list[Param]:
        """The tables of the vehicle file."""
        return [
            Param(
                name=name, key=name, unit="", low=-1000.0, high=1000.0, default=self.values[name], description="",
                kind="int" if name[0] == "W" else "float", armed=True, live=True, places=[],
            )
            for name in self.names
        ]  # fmt: skip


class SimulatedVehicle:
    """`with SimulatedVehicle(...) as vehicle:` runs a scenario's plant and loop, and the thread of its stations."""

    def __init__(
        self,
        *addresses: str,
        vehicle: str = "fish",
        scenario: str = "track",
        overrides: tuple[str, ...] = (),
        signing: Signing | None = None,
        logs: Path | None = None,
        parameters: bool = True,
        paced: bool = True,
    ) -> None:
        opened, name, _ = open_scenario(vehicle, [*SLOW, *overrides], scenario)
        self.simulation = Simulation(opened, name, seed=1)
        self.instance = self.simulation.instances[0]
        self.loop = self.instance.loop
        settings = opened.settings
        self.params = FakeParams()
        if parameters:
            self.loop.handler.params = self.params
            settings = replace(settings, params=self.params.tables)
        vehicle_links = [
            VehicleLink(
                instance.name,
                instance.loop,
                settings,
                number=k,
                origin=ORIGIN,
                logs=logs,
                inject=self._fault_injection(opened, instance.name),
            )
            for k, instance in enumerate(self.simulation.instances)
        ]
        for instance, vehicle_link in zip(self.simulation.instances, vehicle_links, strict=True):
            instance.bridge = vehicle_link.bridge
        self.vehicle_link = vehicle_links[0]
        self.notes: list[tuple[str, dict]] = []
        self.signing = signing
        self.stations = Stations(vehicle_links, [read_address(text) for text in addresses], signing)
        self.ticks = 0
        self.most_commands = 0  # executed in one tick
        self.late: list[float] = []  # by the wall clock, to print
        self._paced = paced
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._after = self.instance.bridge.after
        self.instance.bridge.after = self._keep_notes

    def _fault_injection(self, vehicle: Any, name: str) -> Any:
        inject = rehearsal(vehicle, self.simulation)
        return lambda request: inject(name, request)

    def __enter__(self) -> "SimulatedVehicle":
        self.simulation.step(0)  # compiles
        self.stations.start()
        if self._paced:
            self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._ending.set()
        if self._paced:
            self._thread.join()
        self.stations.stop()
        self.simulation.safe()
        assert self.stations.errors == 0, self.notes

    def _keep_notes(self) -> list:
        notes = self._after()
        self.notes += notes
        self.most_commands = max(self.most_commands, len(self.loop.taken))
        return notes

    def _run(self) -> None:
        period_s = self.simulation.period_us / 1e6
        due_s = time.monotonic()
        while not self._ending.is_set():
            self.simulation.step(0)
            self.ticks += 1
            due_s += period_s
            now_s = time.monotonic()
            if now_s < due_s:
                time.sleep(due_s - now_s)
                self.late.append(time.monotonic() - due_s)
            else:  # the machine was busy: do not catch up
                self.late.append(now_s - due_s)
                due_s = now_s

    @property
    def position_m(self) -> tuple[float, float]:
        """The true position in the plant."""
        truth = dict(zip(self.instance.body.truth_fields, self.instance.body.truth(), strict=True))
        return truth["x_m"], truth["y_m"]

    def moved_m(self, since: tuple[float, float]) -> float:
        here = self.position_m
        return ((here[0] - since[0]) ** 2 + (here[1] - since[1]) ** 2) ** 0.5


def until(what: str, condition: Callable[[], object]) -> None:
    """Waits for a condition."""
    wait_for(condition, what)


def free_port(kind: int = socket.SOCK_DGRAM) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
