"""Equilibrium of a floating vehicle: the heave, roll and pitch at which weight and buoyancy balance."""

from __future__ import annotations

import numpy as np

from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tree.arrays import rotation_matrix
from caudal.sim_plant.tree.model import Model

ITERATIONS = 60
MAX_STEP = np.array([0.01, 0.1, 0.1])  # m, rad, rad: largest move of one iteration
NUDGE = 1e-6
TOLERANCE = 1e-11  # of the weight, and of the weight times one metre


def rotated(state: Floats, x_rad: float, y_rad: float = 0.0, z_rad: float = 0.0) -> Floats:
    """The state with its base rotated by a rotation vector (rad), world axes, about the base's origin."""
    turned = state.copy()
    axis = np.array([x_rad, y_rad, z_rad])
    half = 0.5 * np.linalg.norm(axis)
    w, v = np.cos(half), axis * (0.5 * np.sinc(half / np.pi))
    q0, q = state[3], state[4:7]
    turned[3] = w * q0 - np.dot(v, q)
    turned[4:7] = w * q + q0 * v + np.cross(v, q)
    return turned


def find_equilibrium(model: Model, state: Floats) -> Floats:
    """The state at rest in the nearest equilibrium that Newton's method finds; the joints keep their positions."""
    x = state.copy()
    x[7:13] = 0.0
    x[model.lags.start - model.freedoms + 6 :] = 0.0
    weight = model.spec.gravity_m_s2 * sum(body.mass_kg for body in model.spec.body)
    for _ in range(ITERATIONS):
        needed = _holding_force(model, x)
        slope = np.column_stack(
            [
                (_holding_force(model, _displaced(x, d)) - _holding_force(model, _displaced(x, -d)))
                / (2 * NUDGE)
                for d in NUDGE * np.eye(3)
            ]
        )
        move, *_ = np.linalg.lstsq(slope, -needed, rcond=1e-9)
        if np.abs(needed).max() <= TOLERANCE * weight:
            return x
        x = _displaced(x, move / max(1.0, np.abs(move / MAX_STEP).max()))
    raise ValueError(
        f"{model.label}: found no equilibrium in {ITERATIONS} iterations; start nearer to one, with hulls that "
        f"displace more than the vehicle weighs, and with gravity and fluid on."
    )


def _displaced(state: Floats, by: Floats) -> Floats:
    """The state, moved by (heave in m, roll, pitch in rad)."""
    moved = rotated(state, by[1], by[2])
    moved[2] += by[0]
    return moved


def _holding_force(model: Model, state: Floats) -> Floats:
    """Force up (N) and torques about world x and y (N m) that would hold the vehicle in this state."""
    base, force = rotation_matrix(state[3:7]), model.bias(state)
    return np.array([(base @ force[:3])[2], *(base @ force[3:6])[:2]])
