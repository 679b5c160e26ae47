"""The snake in water that only carries it: undulation (Natrix eq. 18), frozen shapes, starts."""

from __future__ import annotations

import numpy as np

from caudal import sim_plant
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.vehicles import find
from caudal.sim_plant.tree.equilibrium import find_equilibrium, rotated

FILE = VehicleFile.open(find("snake"), ["plant.tree.water=buoyant"])
LENGTH_M, WAVES, ENVELOPE = 1.24, 1.5, 0.1
PLACES_M = {"q0": 0.115, "q3": 0.390, "q4": 0.560, "q5": 0.730, "q6": 0.900, "q7": 1.070}  # from the snout


def frozen(model: sim_plant.Model, amplitude_rad: float) -> np.ndarray:
    """At rest in a cosine shape, at the surface."""
    x = model.state()
    for name, s in PLACES_M.items():
        x[model.q[name]] = amplitude_rad * np.exp(ENVELOPE * s) * np.cos(2 * np.pi * WAVES * s / LENGTH_M)
    return x


def undulation(
    model: sim_plant.Model, amplitude_rad: float, hz: float, steps: int, dt_s: float
) -> np.ndarray:
    """Positions, velocities, accelerations of the driven joints at every half step (eq. 18)."""
    t = 0.5 * dt_s * np.arange(2 * steps + 1)
    motion, w = np.zeros((len(t), 3, len(model.driven))), 2 * np.pi * hz
    for name, s in PLACES_M.items():
        phase, k = 2 * np.pi * WAVES * s / LENGTH_M - w * t, model.driven.index(name)
        a = amplitude_rad * np.exp(ENVELOPE * s)
        motion[:, 0, k], motion[:, 1, k] = a * np.sin(phase), -a * w * np.cos(phase)
        motion[:, 2, k] = -a * w * w * np.sin(phase)
    return motion


def at_start(model: sim_plant.Model, motion: np.ndarray, roll_deg: float = 1.0) -> np.ndarray:
    """In equilibrium at the first row of `motion`, then rotated; no momentum while the joints move."""
    x = model.state()
    for k, name in enumerate(model.driven):
        x[model.q[name]] = motion[0, 0, k]
    x = rotated(find_equilibrium(model, x), np.radians(roll_deg))
    for k, name in enumerate(model.driven):
        x[model.qd[name]] = motion[0, 1, k]
    mass, joints = model.mass_matrix(x), x[-(model.freedoms - 6) :]
    x[7:13] = np.linalg.solve(mass[:6, :6], -mass[:6, 6:] @ joints)
    return x


def roll_deg(states: np.ndarray) -> np.ndarray:
    """Roll of the base, Euler angle x of z-y-x, one each state."""
    w, x, y, z = states[:, 3:7].T
    return np.degrees(np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)))
