"""A simulated vehicle with ground stations, for tests: it ticks by itself, and no tick is ever late by its own account.

Parameters are a stand-in of 300 with the interface of `loop.helm.params`, so that lists have the length that counts.
"""

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from caudal.onboard.station.address import read_address
from caudal.onboard.station.signing import Signing
from caudal.onboard.station.stations import Stations
from caudal.onboard.station.vehicle_link import VehicleLink
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.on_request_faults import rehearsal
from caudal.tools.simulate.simulation import Simulation
from tests.waiting import LIMIT_S, wait_for

PATIENCE_S = LIMIT_S
SLOW = [
    "failsafe.pilot_lost={limit_s=10}",
    "failsafe.station_lost={limit_s=60}",
]  # a busy machine is no failure
ORIGIN = (47.397742, 8.545594)


class StandIn:
    """Parameters as the helm has them: names, value, set."""

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
            return f"{name}: {value:g} lies outside -1000 to 1000"
        self.values[name] = value
        return None

    @property
    def settings(self) -> list[dict[str, Any]]:
        return [{"name": name, "kind": "int" if name[0] == "W" else "float"} for name in self.names]


class Afloat:
    """`with Afloat(...) as vehicle:` one vehicle of a scenario in its plant, its stations' thread, and its ticks."""

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
        settings = dict(opened.settings)
        self.params = StandIn()
        if parameters:
            self.loop.handler.params = self.params
            settings["params"] = self.params.settings
        vehicle_links = [
            VehicleLink(
                instance.name,
                instance.loop,
                settings,
                number=k,
                origin=ORIGIN,
                logs=logs,
                rehearse=self._rehearse(opened, instance.name),
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
        self.most_orders = 0  # taken in one tick
        self.late: list[float] = []  # by the wall clock, for those who print it
        self._paced = paced
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._swim, daemon=True)
        self._after = self.instance.bridge.after
        self.instance.bridge.after = self._keep_notes

    def _rehearse(self, vehicle: Any, name: str) -> Any:
        inject = rehearsal(vehicle, self.simulation)
        return lambda asked: inject(name, asked)

    def __enter__(self) -> "Afloat":
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
        self.most_orders = max(self.most_orders, len(self.loop.taken))
        return notes

    def _swim(self) -> None:
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
            else:  # the machine was busy: no hurry
                self.late.append(now_s - due_s)
                due_s = now_s

    @property
    def place_m(self) -> tuple[float, float]:
        """In the plant, not by its own belief."""
        truth = dict(zip(self.instance.body.truth_fields, self.instance.body.truth(), strict=True))
        return truth["x_m"], truth["y_m"]

    def moved_m(self, since: tuple[float, float]) -> float:
        here = self.place_m
        return ((here[0] - since[0]) ** 2 + (here[1] - since[1]) ** 2) ** 0.5


def until(what: str, true: Callable[[], object]) -> None:
    """Waits until something is so."""
    wait_for(true, what)


def free_port(kind: int = socket.SOCK_DGRAM) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
