"""The hybrid vehicle's chain for tests: its model, its plant's model, its controllers, and states of both models."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from caudal import sim_plant
from caudal.onboard.chain.arrays import Floats
from caudal.onboard.chain.model import ChainModel
from caudal.onboard.chain.priority import TaskPriorityControl
from caudal.onboard.chain.rotations import euler_rotation
from caudal.onboard.run.null_driver import NullDriver
from caudal.onboard.tables.chain import Chain, PrioritisedTasks
from caudal.tools.config.vehicle import Vehicle, open_scenario


@cache
def vehicle(scenario: str = "mode1", *overrides: str) -> tuple[Vehicle, PrioritisedTasks]:
    """The hybrid as a scenario sets it up, and the scenario's table."""
    found, _, settings = open_scenario("hybrid", list(overrides), scenario)
    return found, settings


def control() -> Chain:
    """Its table `control`."""
    return vehicle()[0].settings.control


def chain() -> ChainModel:
    """Its model."""
    return ChainModel(control())


@cache
def model() -> sim_plant.Model:
    """Its plant's model."""
    return sim_plant.load("hybrid")


def controller(scenario: str, *overrides: str) -> TaskPriorityControl:
    """A scenario's controller on a board with nothing connected."""
    found, settings = vehicle(scenario, *overrides)
    return found.build_loop(settings, NullDriver()).stages[0].diagnostics


class State:
    """Attitude, speeds and joints drawn at random, for the chain and as a state of the plant."""

    def __init__(self, rng: np.random.Generator, still: bool = False) -> None:
        self.rotation = euler_rotation(*rng.uniform(-0.8, 0.8, 3))
        self.velocity = np.zeros(6) if still else rng.normal(0.0, 0.3, 6)
        bends = rng.uniform(-0.7, 0.7, 4)
        slides = rng.uniform(0.15, 0.19, 4)
        self.q = np.array([slides[0], *bends[:2], slides[1], slides[2], *bends[2:], slides[3]])
        self.qd = np.zeros(8) if still else rng.normal(0.0, 0.3, 8)
        self.pressures = rng.uniform(20e3, 300e3, 6)

    def update(self, chain: ChainModel) -> None:
        """Compute the chain's model for this state."""
        chain.update(self.rotation, self.velocity, self.q, self.qd, self.pressures)

    def plant(self) -> Floats:
        """The same as a state of the plant."""
        x = model().state()
        x[2] = -4.0
        x[3:7] = quaternion(self.rotation)
        x[7:13], x[13:21], x[21:29] = self.velocity, self.q, self.qd
        return x


def quaternion(rotation: Floats) -> Floats:
    """w, x, y, z of a rotation matrix."""
    w = math.sqrt(max(0.0, 1 + rotation[0, 0] + rotation[1, 1] + rotation[2, 2])) / 2
    skew = (
        rotation[2, 1] - rotation[1, 2],
        rotation[0, 2] - rotation[2, 0],
        rotation[1, 0] - rotation[0, 1],
    )
    return np.array([w, *(part / (4 * w) for part in skew)])
