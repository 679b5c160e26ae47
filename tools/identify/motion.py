"""The motion of one run in SI: readings, and the wrench of the thrusters.

Frames as in tools/identify/rigid_body_model.py. A pose is x, y, z (up, 0 at the surface), roll, pitch, heading; a state
is a pose and a velocity u v w p q r. Readings keep their own times; absent ones are left out.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

STEP_S = 0.05  # of the wrench and of every simulation
POSE = ("x", "y", "z", "roll", "pitch", "heading")
RATES = {"roll_rate": 9, "pitch_rate": 10, "turn_rate": 11}  # gyros: their index in a state
PLACES = {name: k for k, name in enumerate(POSE)} | RATES
LEVEL_READINGS = ("x", "y", "z", "heading", "turn_rate")


class Readings(NamedTuple):
    """The readings of one sensor."""

    time_s: np.ndarray
    value: np.ndarray  # angles unwrapped


class Motion(NamedTuple):
    """One run. Node k is at start_s + k STEP_S; wrench[k] is the mean from node k to node k + 1."""

    name: str
    start_s: float
    wrench: np.ndarray  # (step, 6): N and N m about the base's origin
    readings: Mapping[str, Readings]

    @property
    def nodes_s(self) -> np.ndarray:
        """Times of the nodes."""
        return self.start_s + STEP_S * np.arange(len(self.wrench) + 1)


def rotation(roll: np.ndarray, pitch: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """Rotation matrices (sample, 3, 3) from the base frame into the world frame."""
    cr, sr, cp, sp, ch, sh = (f(a) for a in (roll, pitch, heading) for f in (np.cos, np.sin))
    return np.array(
        [
            [ch * cp, ch * sp * sr - sh * cr, ch * sp * cr + sh * sr],
            [sh * cp, sh * sp * sr + ch * cr, sh * sp * cr - ch * sr],
            [-sp, cp * sr, cp * cr],
        ]
    ).transpose(2, 0, 1)


def mean_by_step(edges_s: np.ndarray, means: np.ndarray, start_s: float, steps: int) -> np.ndarray:
    """Converts means between `edges_s` to means over the grid's steps, with the same impulse."""
    impulse = np.vstack([np.zeros(means.shape[1]), np.cumsum(means * np.diff(edges_s)[:, None], axis=0)])
    nodes_s = start_s + STEP_S * np.arange(steps + 1)
    at_nodes = np.column_stack([np.interp(nodes_s, edges_s, column) for column in impulse.T])
    return np.diff(at_nodes, axis=0) / STEP_S
