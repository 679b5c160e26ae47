"""Predicts a run with a model: simulates it from its first state, from the wrench alone.

R2 compares velocities with the smoothed measured ones in each freedom: 1 - (squares of the difference) / (squares about
the mean). A freedom with too little motion has none. A high R2 does not prove the parameters: a model whose masses
compensate a thruster's wrong map predicts well with that map.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from caudal.tools.identify.motion import STEP_S
from caudal.tools.identify.rigid_body_model import FREEDOMS, LEVEL, Matrices
from caudal.tools.identify.shooting import pack, shoot
from caudal.tools.identify.trajectory import Track

EDGE_S = 2.0  # curves are less accurate at their ends
HARDLY = 3.0  # a velocity below so many times its curve's error is too little motion


class Prediction(NamedTuple):
    """A simulated run."""

    name: str
    velocity: np.ndarray  # (node, 6) simulated
    r2: dict[str, float | None]  # by freedom


def predict(model: Matrices, track: Track, rows: Sequence[int]) -> Prediction:
    """Simulates a run, and compares it with the track."""
    level = tuple(rows) == LEVEL
    start = track.states[None, :1].copy()
    held = track.held if level else None
    packed = pack(model, level)[None]
    steps = len(track.motion.wrench)
    states, _ = shoot(packed, start, np.array([0]), steps, track.motion.wrench, held)
    simulated = states[0, 0, :, 6:]
    edge = int(EDGE_S / STEP_S)
    r2: dict[str, float | None] = {}
    for row in rows:
        measured, found = (v[edge:-edge, row] for v in (track.velocity, simulated))
        spread = float(np.sum((measured - measured.mean()) ** 2))
        moved = np.sqrt(spread / len(measured)) > HARDLY * track.error(row, 1)
        left = float(np.sum((measured - found) ** 2))
        r2[FREEDOMS[row]] = 1 - left / spread if moved and np.isfinite(left) else None
    return Prediction(track.motion.name, simulated, r2)
