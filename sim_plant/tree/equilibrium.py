"""Where a vehicle floats at rest: heave, roll and pitch at which weight and buoyancy balance."""

from __future__ import annotations

import numpy as np

from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tree.arrays import quaternion_turn
from caudal.sim_plant.tree.model import Model

TRIES = 60
STEP = np.array([0.01, 0.1, 0.1])  # m, rad, rad: most that one try moves
NUDGE = 1e-6
BALANCED = 1e-11  # of weight, and of weight times a metre


def rolled(state: Floats, x_rad: float, y_rad: float = 0.0, z_rad: float = 0.0) -> Floats:
    """The state with its base turned by a rotation vector, world axes, about the base's origin."""
    turned = state.copy()
    axis = np.array([x_rad, y_rad, z_rad])
    half = 0.5 * np.linalg.norm(axis)
    w, v = np.cos(half), axis * (0.5 * np.sinc(half / np.pi))
    q0, q = state[3], state[4:7]
    turned[3] = w * q0 - np.dot(v, q)
    turned[4:7] = w * q + q0 * v + np.cross(v, q)
    return turned


def afloat(model: Model, state: Floats) -> Floats:
    """The state at rest, with the joints where they are, in the nearest equilibrium Newton's way finds."""
    x = state.copy()
    x[7:13] = 0.0
    x[model.lags.start - model.freedoms + 6 :] = 0.0
    weight = model.spec.gravity_m_s2 * sum(body.mass_kg for body in model.spec.body)
    for _ in range(TRIES):
        asked = _asked(model, x)
        slope = np.column_stack(
            [
                (_asked(model, _moved(x, d)) - _asked(model, _moved(x, -d))) / (2 * NUDGE)
                for d in NUDGE * np.eye(3)
            ]
        )
        move, *_ = np.linalg.lstsq(slope, -asked, rcond=1e-9)
        if np.abs(asked).max() <= BALANCED * weight:
            return x
        x = _moved(x, move / max(1.0, np.abs(move / STEP).max()))
    raise ValueError(
        f"{model.label}: found no place to float in {TRIES} tries; start nearer to one, with hulls that displace "
        f"more than the vehicle weighs and gravity and fluid on."
    )


def _moved(state: Floats, by: Floats) -> Floats:
    moved = rolled(state, by[1], by[2])
    moved[2] += by[0]
    return moved


def _asked(model: Model, state: Floats) -> Floats:
    """Force up (N) and torques about world x and y (N m) that would hold the vehicle."""
    base, force = quaternion_turn(state[3:7]), model.bias(state)
    return np.array([(base @ force[:3])[2], *(base @ force[3:6])[:2]])
