"""Path of the tip of a beating tail in the world: its distance to either side of the mean path of the vehicle.

The head recoils: it sways and yaws against the tail, so the excursion of the tip against the body is not the width of
the wake. Here the tip comes from the recorded truth and is measured from the mean path: base position and direction of
travel, each averaged over one beat, so that they do not contain the beat and a turn does not change the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.tables.read import PlantSpec
from caudal.tools.log.poses import Skeleton, attitude
from caudal.tools.log.recorded_run import BASE

SLOW = 0.02  # tail lengths per beat, below which the heading gives the direction of travel


def tip_in_base(plant: PlantSpec, joints: Sequence[str], angles_rad: np.ndarray, last_m: float) -> np.ndarray:
    """Returns the tip (tick, 3) in the base's frame for joint angles (tick, joint); the last link is `last_m` long."""
    skeleton = Skeleton(plant)
    index = {node.joint: k for k, node in enumerate(skeleton.nodes)}
    _, rest = skeleton.pose({})
    last = index[joints[-1]]
    back = rest[last] - rest[index[joints[-2]]] if len(joints) > 1 else np.array([-1.0, 0.0, 0.0])
    tip: np.ndarray = np.tile(last_m * back / np.linalg.norm(back), (len(angles_rad), 1))
    while last > 0:
        node = skeleton.nodes[last]
        if node.joint in joints:
            tip = rotated(node.axis, angles_rad[:, list(joints).index(node.joint)], tip)
        tip = tip @ node.rotation.T + node.at_m
        last = node.parent
    return tip


def rotated(axis: np.ndarray, angles_rad: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Rotates each point (tick, 3) about one axis by its own angle (Rodrigues)."""
    s, c = np.sin(angles_rad)[:, None], np.cos(angles_rad)[:, None]
    out: np.ndarray = points * c + np.cross(axis, points) * s + np.outer(points @ axis, axis) * (1 - c)
    return out


def tip_in_world(base: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """Returns the tip (tick, 3) in world axes from `base` (tick, BASE) and a tip in its frame."""
    rotations = np.array([attitude(roll, pitch, heading) for heading, roll, pitch in base[:, 3 : len(BASE)]])
    out: np.ndarray = np.einsum("kij,kj->ki", rotations.reshape(-1, 3, 3), tip)
    return out + base[:, :3] * (1.0, 1.0, -1.0)


def lateral_m(
    time_s: np.ndarray, base: np.ndarray, tip: np.ndarray, beat_s: np.ndarray, length_m: float
) -> np.ndarray:
    """Returns how far the tip (tick, 3, world axes) is to port of the mean path; NaN within half a beat of the ends.

    `base` is as for tip_in_world, `beat_s` the duration of a beat at each tick.
    """
    ahead = np.column_stack([np.cos(base[:, 3]), np.sin(base[:, 3])])
    before, after = time_s - beat_s / 2, time_s + beat_s / 2
    centre, facing = (mean_over(time_s, values, before, after) for values in (base[:, :2], ahead))
    travel = at_times(time_s, base[:, :2], after) - at_times(time_s, base[:, :2], before)
    astern = (travel * facing).sum(axis=1, keepdims=True) < 0  # swims backward: port stays port
    slow = np.linalg.norm(travel, axis=1, keepdims=True) < SLOW * length_m
    travel = np.where(slow, facing, np.where(astern, -travel, travel))
    with np.errstate(invalid="ignore", divide="ignore"):
        travel = travel / np.linalg.norm(travel, axis=1, keepdims=True)
    offset = tip[:, :2] - centre
    inside = (before >= time_s[0]) & (after <= time_s[-1])
    return np.where(inside, travel[:, 0] * offset[:, 1] - travel[:, 1] * offset[:, 0], np.nan)


def at_times(time_s: np.ndarray, values: np.ndarray, wanted_s: np.ndarray) -> np.ndarray:
    """Interpolates columns (tick, column) at other times."""
    return np.column_stack([np.interp(wanted_s, time_s, column) for column in values.T])


def mean_over(time_s: np.ndarray, values: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Returns the mean of each column from one time to another (tick, column), by the trapezoidal rule."""
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(time_s)[:, None]
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(steps, axis=0)])
    total = at_times(time_s, sums, after) - at_times(time_s, sums, before)
    mean: np.ndarray = total / (after - before)[:, None]
    return mean
