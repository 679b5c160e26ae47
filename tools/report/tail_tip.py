"""The tip of a beating tail on its way through the world: how far it goes to the sides of the way that is swum.

A swimmer's head recoils: it sways and yaws against its tail, so that a tip's excursion against the body is not the
wake's width. Here the tip is placed by the recorded truth, and looked at from the mean way: base and direction, each
averaged over one beat, so that neither has the beat in it and a turn takes nothing away and adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.tables.read import PlantSpec
from caudal.tools.log.poses import Skeleton, attitude
from caudal.tools.log.recorded_run import BASE

SLOW = 0.02  # of the tail's length a beat: below it the heading says which way is ahead


def tip_in_base(plant: PlantSpec, joints: Sequence[str], angles_rad: np.ndarray, last_m: float) -> np.ndarray:
    """(tick, 3) in the base's frame, of angles (tick, joint); the last joint's link is `last_m` long."""
    skeleton = Skeleton(plant)
    at = {node.joint: k for k, node in enumerate(skeleton.nodes)}
    _, rest = skeleton.pose({})
    last = at[joints[-1]]
    back = rest[last] - rest[at[joints[-2]]] if len(joints) > 1 else np.array([-1.0, 0.0, 0.0])
    tip = np.tile(last_m * back / np.linalg.norm(back), (len(angles_rad), 1))
    while last > 0:
        node = skeleton.nodes[last]
        if node.joint in joints:
            tip = turned(node.axis, angles_rad[:, list(joints).index(node.joint)], tip)
        tip = tip @ node.turn.T + node.at_m
        last = node.parent
    return tip


def turned(axis: np.ndarray, angles_rad: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(tick, 3): each point turned about one axis by its own angle (Rodrigues)."""
    s, c = np.sin(angles_rad)[:, None], np.cos(angles_rad)[:, None]
    return points * c + np.cross(axis, points) * s + np.outer(points @ axis, axis) * (1 - c)


def tip_in_world(base: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """(tick, 3), of a base (tick, x y depth heading roll pitch) and a tip in its frame."""
    turns = np.array([attitude(roll, pitch, heading) for heading, roll, pitch in base[:, 3 : len(BASE)]])
    return base[:, :3] * (1.0, 1.0, -1.0) + np.einsum("kij,kj->ki", turns.reshape(-1, 3, 3), tip)


def beside_way_m(
    time_s: np.ndarray, base: np.ndarray, tip: np.ndarray, beat_s: np.ndarray, length_m: float
) -> np.ndarray:
    """(tick): how far a tip in the world is to port of the mean way; not a number within half a beat of the ends.

    base as for tip_in_world; beat_s: how long a beat takes at each tick.
    """
    ahead = np.column_stack([np.cos(base[:, 3]), np.sin(base[:, 3])])
    before, after = time_s - beat_s / 2, time_s + beat_s / 2
    middle, faced = (mean_over(time_s, values, before, after) for values in (base[:, :2], ahead))
    way = at_times(time_s, base[:, :2], after) - at_times(time_s, base[:, :2], before)
    astern = (way * faced).sum(axis=1, keepdims=True) < 0  # it swims backward: port stays port
    slow = np.linalg.norm(way, axis=1, keepdims=True) < SLOW * length_m
    way = np.where(slow, faced, np.where(astern, -way, way))
    with np.errstate(invalid="ignore", divide="ignore"):
        way = way / np.linalg.norm(way, axis=1, keepdims=True)
    off = tip[:, :2] - middle
    inside = (before >= time_s[0]) & (after <= time_s[-1])
    return np.where(inside, way[:, 0] * off[:, 1] - way[:, 1] * off[:, 0], np.nan)


def at_times(time_s: np.ndarray, values: np.ndarray, asked_s: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(asked_s, time_s, column) for column in values.T])


def mean_over(time_s: np.ndarray, values: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(tick, column): the mean of each column from one time to another, by trapezoids."""
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(time_s)[:, None]
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(steps, axis=0)])
    return (at_times(time_s, sums, after) - at_times(time_s, sums, before)) / (after - before)[:, None]
