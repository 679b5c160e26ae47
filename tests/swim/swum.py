"""Whole runs of one vehicle, closed loop, kept for all tests that look at them."""

from functools import cache

import numpy as np

from caudal.tools.config.vehicle import open_vehicle
from caudal.tools.simulate.fleet import Fleet


@cache
def swum(name: str, scenario: str, seed: int, *overrides: str) -> dict[str, np.ndarray]:
    """The truth of a whole run by field, a row a tick."""
    vehicle = open_vehicle(name, list(overrides))
    fleet = Fleet(vehicle, scenario, seed)
    body = fleet.swimmers[0].body
    rows = []
    fleet.arm()
    for _ in range(round(vehicle.scenario(scenario)[1]["duration_s"] * 1e6 / fleet.period_us)):
        fleet.step()
        rows.append(body.truth())
    assert fleet.fault is None
    return dict(zip(body.truth_fields, np.array(rows).T, strict=True))
