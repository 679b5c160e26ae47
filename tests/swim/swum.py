"""Whole runs of one vehicle, closed loop, kept for all tests that look at them."""

from functools import cache

import numpy as np

from caudal.tools.config.vehicle import open_vehicle
from caudal.tools.simulate.simulation import Simulation


@cache
def swum(name: str, scenario: str, seed: int, *overrides: str) -> dict[str, np.ndarray]:
    """The truth of a whole run by field, a row a tick."""
    vehicle = open_vehicle(name, list(overrides))
    simulation = Simulation(vehicle, scenario, seed)
    body = simulation.instances[0].body
    rows = []
    simulation.arm()
    for _ in range(round(vehicle.scenario(scenario)[1].duration_s * 1e6 / simulation.period_us)):
        simulation.step()
        rows.append(body.truth())
    assert simulation.fault is None
    return dict(zip(body.truth_fields, np.array(rows).T, strict=True))
