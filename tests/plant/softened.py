"""Three modules with two soft joints between them for tests of the plant, and what their chambers should do."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
from swimmer import open_water
from thrusted import CURVES

from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.world.world import Body, World

CRACK_UA, PA_PER_UA = 120_000, 5.0
VALVES = [f"{joint}_{chamber}" for joint in ("fore", "aft") for chamber in "abc"]
AT_DEG = {"a": 0.0, "b": 120.0, "c": 240.0}
LENGTH_M = 0.3
LAW: dict[str, Any] = {
    "length_m": LENGTH_M, "stretch_m_per_pa": 0.1673e-6, "bend_rad_per_pa": 5.12e-6, "gain_two": 0.08, "two_pa": 0.3e6,
    "stiffness_n_m_rad": 0.651, "stiff_share": 3.0, "soft_pa": 0.1e6, "stiff_pa": 0.5e6, "axial_n_per_m": 6000.0,
}  # fmt: skip
MODULE: dict[str, Any] = {
    "mass_kg": 12.0, "com_m": [0.3, 0.0, -0.01], "inertia_kg_m2": [0.06, 0.4, 0.4, 0.0, 0.0, 0.0],
    "added_inertia": {"at_m": [0.3, 0.0, 0.0], "diagonal": [1.2, 11.0, 11.0, 0.0, 0.35, 0.35]},
}  # fmt: skip


def joint(name: str, kind: str, axis: list[int], damping: float, at_m: float = 0.0) -> dict[str, Any]:
    return {"name": name, "kind": kind, "axis": axis, "damping": damping, "at_m": [at_m, 0, 0]}


def soft_bodies(name: str, parent: str, far: str, at_m: float, damped: bool) -> list[dict[str, Any]]:
    """The four bodies of a soft joint; the far module is the last."""
    axial, bending = (150.0, 2.5) if damped else (0.0, 0.0)
    x, y, z = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    middle = {"mass_kg": 6.0, "inertia_kg_m2": [0.03, 0.05, 0.05, 0.0, 0.0, 0.0]}  # the joint, full of water
    parts = [
        {"name": f"{name}_1", "parent": parent, "joint": joint(f"{name}_d1", "prismatic", x, axial, at_m), **middle},
        {"name": f"{name}_2", "parent": f"{name}_1", "joint": joint(f"{name}_th1", "revolute", y, bending)},
        {"name": f"{name}_3", "parent": f"{name}_2", "joint": joint(f"{name}_th2", "revolute", z, bending)},
        {"name": far, "parent": f"{name}_3", "joint": joint(f"{name}_d2", "prismatic", x, axial), **MODULE},
    ]  # fmt: skip
    return [{"mass_kg": 0.0, **part} for part in parts]


def table(
    joints: tuple[str, ...] = ("fore", "aft"), damped: bool = True, valve: dict | None = None, **changes: Any
) -> dict[str, Any]:
    """The `plant` table as a vehicle file would give it, of these soft joints; `valve` changes every valve."""
    bodies = [{"name": "m1", **MODULE}]
    for k, name in enumerate(joints):
        bodies += soft_bodies(name, f"m{k + 1}", f"m{k + 2}", 0.6, damped)
    one = {
        "kind": "valve",
        "cracking_current_ua": CRACK_UA,
        "pa_per_ua": PA_PER_UA,
        "supply_pa": 1e6,
        **(valve or {}),
    }
    valves = [name for name in VALVES if name.split("_")[0] in joints]
    d_ends = [f"{name}_{part}" for name in joints for part in ("d1", "d2")]
    th_ends = [f"{name}_{part}" for name in joints for part in ("th1", "th2")]
    stroke = {"kind": "stroke", "metres_per_count": 1e-5, "rate_hz": 1000.0}
    angle = {"kind": "joint", "rad_per_count": 1e-4, "rate_hz": 1000.0}
    pressure = {"kind": "pressure", "pascals_per_count": 10.0, "rate_hz": 1000.0}
    plant: dict[str, Any] = {
        "model": "tree", "step_us": 1000, "depth_m": 5.0,
        "tree": {"gravity_m_s2": 0.0, "body": bodies}, "actuator": {name: dict(one) for name in valves},
        "soft": {
            name: {
                "joints": [f"{name}_d1", f"{name}_th1", f"{name}_th2", f"{name}_d2"],
                "chambers": [f"{name}_a", f"{name}_b", f"{name}_c"], "at_deg": list(AT_DEG.values()), **LAW,
            }
            for name in joints
        },
        "sensor": {
            **{f"{name}_p": {**pressure, "chamber": name} for name in valves},
            **{end: {**stroke, "joint": end} for end in d_ends}, **{end: {**angle, "joint": end} for end in th_ends},
        },
    }  # fmt: skip
    plant.update(changes)
    return plant


def plant(**changes: Any) -> PlantSpec:
    return msgspec.convert(table(**changes), PlantSpec)


PUSHER: dict[str, Any] = {"motor": {"m": {"curve": CURVES}}, "battery": {"volts": 14.0}}


def pusher(body: str, at_m: list[float], axis: list[float], **keys: Any) -> dict[str, Any]:
    return {"kind": "thruster", "motor": "m", "body": body, "at_m": at_m, "axis": axis, **keys}


def put_in(spec: PlantSpec) -> tuple[World, Body]:
    """The vehicle alone in open water, with all that it has."""
    world = World(open_water((0.0, 0.0, 0.0)))
    return world, world.add(spec, actuators=list(spec.actuator), sensors=list(spec.sensor), name="one")


def currents_ua(pressures_pa: dict[str, float]) -> list[int]:
    """For all valves; none for chambers that are not named."""
    return [CRACK_UA + round(pressures_pa[v] / PA_PER_UA) if pressures_pa.get(v) else 0 for v in VALVES]


def settled(pressures_pa: dict[str, float], spec: PlantSpec | None = None) -> tuple[World, Body]:
    """After a minute at these pressures."""
    world, body = put_in(spec or plant(step_us=2000))
    body.write(currents_ua(pressures_pa))
    world.step(60_000_000)
    return world, body


def counts(body: Body) -> dict[str, int]:
    found: list[int | None] = [None] * len(body.sensors)
    body.read(found)
    return {name: count for name, count in zip(body.sensors, found, strict=True) if count is not None}


def turns(world: World, body: Body, near: str, far: str) -> tuple[np.ndarray, np.ndarray]:
    """The far body in the frame of the near one: its rotation 3x3, and its origin (m)."""
    model, x = world.models[0], body.state()
    (near_turn, near_at), (far_turn, far_at) = model.pose(x, near), model.pose(x, far)
    return near_turn.T @ far_turn, near_turn.T @ (far_at - near_at)


def away_from(pressures_pa: dict[str, float], name: str = "fore") -> tuple[float, np.ndarray]:
    """The bend (rad) of a soft joint by its formula, and the direction (y, z) of it."""
    pressed = {chamber: pressures_pa.get(f"{name}_{chamber}", 0.0) for chamber in AT_DEG}
    vector = -sum(
        p * np.array([math.cos(math.radians(AT_DEG[c])), math.sin(math.radians(AT_DEG[c]))])
        for c, p in pressed.items()
    )
    size, total = float(np.linalg.norm(vector)), sum(pressed.values())
    return 5.12e-6 * size * (1 + 0.08 * (total - size) / 0.3e6), vector / max(size, 1e-12)
