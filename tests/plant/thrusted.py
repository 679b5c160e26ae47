"""A vehicle with seven thrusters for tests of the plant: one body, its motors, its battery."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import numpy as np
from swimmer import open_water

from caudal.sim_plant.tables.read import PlantSpec, WorldSpec
from caudal.sim_plant.world.world import Body, World

INERTIA = np.diag([28.0, 40.0, 48.0, 0.9, 1.2, 1.6])
INERTIA[0, 2] = INERTIA[2, 0] = 1.5
INERTIA[1, 5] = INERTIA[5, 1] = 0.9
RIGID = np.diag([20.0, 20.0, 20.0, 0.45, 0.9, 1.1])
DRAG = np.diag([20.0, 32.0, 40.0, 2.0, 2.5, 2.0])
for _i, _j, _d in ((0, 1, 0.8), (1, 0, -0.5), (0, 2, 1.2), (1, 5, 0.6), (5, 1, 0.7), (2, 0, 0.9)):
    DRAG[_i, _j] = _d
QUADRATIC = [15.0, 25.0, 30.0, 0.5, 0.6, 0.5]
NET_WEIGHT_N = -2.0
RIGHTING_N_M = 198.2 * 0.02

PULSES_US = [1100, 1300, 1470, 1530, 1700, 1900]
VOLTS = [10.0, 14.0, 18.0]
FORCES_N = [
    [-22.0, -8.0, 0.0, 0.0, 9.0, 28.0],
    [-34.0, -12.0, 0.0, 0.0, 14.0, 44.0],
    [-45.0, -17.0, 0.0, 0.0, 19.0, 58.0],
]
CURRENTS_A = [
    [13.0, 3.0, 0.1, 0.1, 3.0, 13.0],
    [20.0, 5.0, 0.1, 0.1, 5.0, 20.0],
    [28.0, 7.0, 0.1, 0.1, 7.0, 27.0],
]
CURVES = [
    {"battery_v": v, "pulses_us": PULSES_US, "forces_n": n, "currents_a": a}
    for v, n, a in zip(VOLTS, FORCES_N, CURRENTS_A, strict=True)
]  # fmt: skip
PLACES = {
    "fore_port": ([0.22, 0.16, 0.0], [1, -1, 0]), "fore_starboard": ([0.22, -0.16, 0.0], [1, 1, 0]),
    "aft_port": ([-0.22, 0.16, 0.0], [1, 1, 0]), "aft_starboard": ([-0.22, -0.16, 0.0], [1, -1, 0]),
    "lift_port": ([-0.12, 0.14, 0.0], [0, 0, 1]), "lift_starboard": ([-0.12, -0.14, 0.0], [0, 0, 1]),
    "lift_fore": ([0.24, 0.0, 0.0], [0, 0, 1]),
}  # fmt: skip
SEVEN = list(PLACES)
AHEAD, YAW = [1, 1, 1, 1, 0, 0, 0], [-1, 1, -1, 1, 0, 0, 0]


def table(**changes: Any) -> dict[str, Any]:
    """The `plant` table as a vehicle file would give it; a change of "tree.x" or "body.x" is one of those tables."""
    upper = (INERTIA - RIGID)[np.triu_indices(6)].tolist()
    body: dict[str, Any] = {
        "name": "frame", "mass_kg": 20.0, "inertia_kg_m2": [0.45, 0.9, 1.1, 0.0, 0.0, 0.0],
        "hull": {"kind": "ellipsoid", "at_m": [0, 0, 0.02], "semi_axes_m": [0.36, 0.14, 0.09570078430905554]},
        "added_inertia": {"full": upper},
        "drag": {"linear_full": DRAG.tolist(), "quadratic": QUADRATIC},
    }  # fmt: skip
    tree: dict[str, Any] = {"body": [body]}
    thrusters = {
        n: {"kind": "thruster", "motor": "m", "at_m": at, "axis": axis} for n, (at, axis) in PLACES.items()
    }
    plant: dict[str, Any] = {
        "model": "tree", "step_us": 5000, "depth_m": 0.9, "tree": tree, "battery": {"volts": 16.0},
        "hull": {
            "head_length_m": 0.375, "stern_length_m": 0.375, "head_width_m": 0.4, "tail_width_m": 0.4, "keel_m": 0.15,
        },
        "motor": {"m": {"curve": copy.deepcopy(CURVES)}}, "actuator": thrusters,
    }  # fmt: skip
    for key, value in changes.items():
        where, _, name = key.rpartition("__")
        {"": plant, "tree": tree, "body": body}[where][name] = value
    return plant


def plant(**changes: Any) -> PlantSpec:
    return msgspec.convert(table(**changes), PlantSpec)


def each(**keys: Any) -> dict[str, Any]:
    """All seven thrusters with these keys in addition."""
    return {name: {**thruster, **keys} for name, thruster in table()["actuator"].items()}


def adrift(
    spec: PlantSpec, world: WorldSpec | None = None, sensors: list[str] | None = None
) -> tuple[World, Body]:
    made = World(world or open_water((0.0, 0.0, 0.0)))
    return made, made.add(spec, actuators=SEVEN, sensors=sensors or [], name="one")


def push(body: Body, ways: list[int], offset_us: int) -> None:
    """The same offset on each thruster, times its direction; 0 is neutral."""
    body.write([1500 + way * offset_us for way in ways])


def allocation() -> np.ndarray:
    """B, 6 x 7: pushes to the wrench at the base's origin (Panetsos and Kyriakopoulos eq. 5)."""
    columns = []
    for at, axis in PLACES.values():
        unit = np.array(axis) / np.linalg.norm(axis)
        columns.append(np.concatenate([unit, np.cross(at, unit)]))
    return np.array(columns).T
