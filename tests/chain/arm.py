"""The hybrid vehicle's chain for tests: its settings, its plant's model, and states of both."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from caudal import sim_plant
from caudal.onboard.chain.lead import euler_turn
from caudal.onboard.chain.model import Chain
from caudal.tools.config.vehicle import Vehicle, open_scenario
from caudal.tools.vehicle_run.config import NullDriver


@cache
def vehicle(scenario: str = "mode1", *overrides: str) -> tuple[Vehicle, dict[str, Any]]:
    found, _, settings = open_scenario("hybrid", list(overrides), scenario)
    return found, settings


def chain() -> Chain:
    return Chain(vehicle()[0].settings["control"])


@cache
def model() -> sim_plant.Model:
    return sim_plant.load("hybrid")


def controller(scenario: str, *overrides: str) -> Any:
    """A scenario's controller behind a board with nothing on it."""
    found, settings = vehicle(scenario, *overrides)
    return found.build_loop(settings, NullDriver()).stages[0].account


class State:
    """Attitude, speeds and joints drawn at random, for the chain and as a state of the plant."""

    def __init__(self, rng: np.random.Generator, still: bool = False) -> None:
        self.turn = euler_turn(*rng.uniform(-0.8, 0.8, 3))
        self.velocity = np.zeros(6) if still else rng.normal(0.0, 0.3, 6)
        bends = rng.uniform(-0.7, 0.7, 4)
        slides = rng.uniform(0.15, 0.19, 4)
        self.q = np.array([slides[0], *bends[:2], slides[1], slides[2], *bends[2:], slides[3]])
        self.qd = np.zeros(8) if still else rng.normal(0.0, 0.3, 8)
        self.pressures = rng.uniform(20e3, 300e3, 6)

    def update(self, chain: Chain) -> None:
        chain.update(self.turn, self.velocity, self.q, self.qd, self.pressures)

    def plant(self) -> np.ndarray:
        x = model().state()
        x[2] = -4.0
        x[3:7] = quaternion(self.turn)
        x[7:13], x[13:21], x[21:29] = self.velocity, self.q, self.qd
        return x


def quaternion(turn: np.ndarray) -> np.ndarray:
    w = math.sqrt(max(0.0, 1 + turn[0, 0] + turn[1, 1] + turn[2, 2])) / 2
    cross = turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]
    return np.array([w, *(part / (4 * w) for part in cross)])
