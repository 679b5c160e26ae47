"""What tests of parameters share: a loop on made-up counts, and files with parameters of a test's own."""

import random
from functools import cache
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.build import build_loop
from caudal.onboard.tables.read import Scenario, Settings
from tests.conftest import ROOT

VEHICLES = ("fish", "snake", "ray", "rov", "hybrid")
FOLDER = ROOT / "onboard" / "vehicles"


class Noise:
    """Counts within what each sensor may say, now and then none; the same for the same seed."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self._random = random.Random(seed)
        self._ranges = [
            (s.low_count, s.high_count) if s.map == "linear" else (s.counts[0], s.counts[-1])
            for s in settings.sensors
        ]
        self._at = [self._random.uniform(low, high) for low, high in self._ranges]

    def read(self, counts: list) -> None:
        for k, (low, high) in enumerate(self._ranges):
            self._at[k] += self._random.gauss(0, 0.01 * (high - low))
            self._at[k] = min(max(self._at[k], low), high)
            counts[k] = None if self._random.random() < 0.02 else int(self._at[k])

    def write(self, outputs: list) -> None:
        pass

    def close(self) -> None:
        pass


@cache
def settings_of(vehicle: str, *overrides: str) -> Settings:
    return vehicles.read(VehicleFile.open(FOLDER / f"{vehicle}.toml", overrides))


def first_scenario(settings: Settings) -> Scenario:
    return next(iter(settings.scenarios.values()))


def loop_of(settings: Settings, scenario: str | None = None, seed: int = 1) -> Any:
    chosen = settings.scenarios[scenario] if scenario else first_scenario(settings)
    loop = build_loop(settings, chosen, Noise(settings, seed))
    loop.monitor.step = _without_action(loop.monitor.step)
    return loop


def _without_action(step: Any) -> Any:
    """The failsafe table, without consequences: made-up counts would trigger it at once, and hide all else."""

    def look(state: Any) -> None:
        step(state)
        state.action = 0
        state.mode = state.requested_mode

    return look


def ticked(loop: Any, ticks: int) -> list[Any]:
    """All that a loop asked and sent, tick by tick."""
    seen = []
    for _ in range(ticks):
        loop.tick()
        assert loop.fault is None
        seen.append(
            (list(loop.state.commands), list(loop.board.outputs), loop.state.active_rules, loop.state.mode)
        )
    return seen


def send(loop: Any, *order: Any) -> str | None:
    """Why it was refused, or None."""
    loop.send(*order)
    loop.tick()
    return loop.taken[-1][3]
