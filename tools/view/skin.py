"""Skins over several bodies: the smooth skin of a tail, the bellows of a soft joint.

A skin is a mesh whose vertices follow bones; a bone is a frame on a body or along a bent tube.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tables.soft_joints import SoftJoint
from caudal.sim_plant.tables.tree import Body, Ellipsoid
from caudal.tools.log.poses import Skeleton
from caudal.tools.view.mesh import Mesh, frame_along, grid_faces

SECTIONS = 72
AROUND = 40
RIBS = 9  # of a soft joint
BONES = 8  # along a soft joint


@dataclass(frozen=True)
class Skin:
    """A mesh whose vertices follow the frames of bodies."""

    mesh: Mesh
    weights: np.ndarray  # (vertex, bone)
    bodies: list[int]  # index in the skeleton, one per bone


def tail_skin(skeleton: Skeleton, bodies: Sequence[Body]) -> tuple[Skin, Skin]:
    """Makes back and belly over a row of ellipsoid hulls, front to back, in the straight configuration.

    Half-widths and heights at the centres are those of the hulls; between hulls the skin is smooth.
    """
    _, positions = skeleton.pose({})
    hulls = [body.hull for body in bodies if isinstance(body.hull, Ellipsoid)]
    assert len(hulls) == len(bodies), "checked by the reader of [look]"
    own = [skeleton.index[body.name] for body in bodies]
    middles = np.array([positions[k] + hull.at_m for k, hull in zip(own, hulls, strict=True)])
    semi = np.array([hull.semi_axes_m for hull in hulls])
    nose, stern = middles[0, 0] + semi[0, 0], middles[-1, 0] - semi[-1, 0]
    # from nose to stern: the front of the first hull, knots at the centres, smaller ones where two hulls meet
    ease = np.linspace(0, 1, SECTIONS) ** 1.3
    x = nose + (stern - nose) * ease
    knots_x, knots = [], []
    for k in range(len(own)):
        knots_x.append(middles[k, 0])
        knots.append(np.concatenate([semi[k, 1:], middles[k, 1:]]))
        if k + 1 < len(own):
            knots_x.append(middles[k, 0] - semi[k, 0])
            both = 0.5 * (semi[k, 1:] + semi[k + 1, 1:])
            knots.append(np.concatenate([both, 0.5 * (middles[k, 1:] + middles[k + 1, 1:])]))
    knots_x.append(stern)
    knots.append(np.concatenate([0.55 * semi[-1, 1:], middles[-1, 1:]]))
    order = np.argsort(knots_x)
    shape = np.column_stack([
        np.interp(x, np.array(knots_x)[order], np.array(knots)[order, c]) for c in range(4)
    ])  # fmt: skip
    shape = _softened(shape)
    front = np.clip((x - middles[0, 0]) / semi[0, 0], 0, 1)
    shape[:, :2] *= np.sqrt(np.maximum(1 - front**2.2, 0.0))[:, None]
    weights = _weights(x, AROUND // 2 + 1, positions[own, 0], semi[:, 0])
    back, belly = (_rings(x, shape, low, low + np.pi) for low in (0.0, np.pi))
    return Skin(back, weights, own), Skin(belly, weights, own)


def _rings(x: np.ndarray, shape: np.ndarray, low: float, high: float) -> Mesh:
    """Makes half a skin: ellipses from one angle to another, from +y over the top."""
    angle = np.linspace(low, high, AROUND // 2 + 1)
    vertices = np.stack([
        np.broadcast_to(x[:, None], (len(x), len(angle))),
        shape[:, 2:3] + shape[:, 0:1] * np.cos(angle),
        shape[:, 3:4] + shape[:, 1:2] * np.sin(angle),
    ], -1)  # fmt: skip
    return vertices.reshape(-1, 3), grid_faces(len(x), len(angle), closed=False)[:, ::-1]


def _softened(shape: np.ndarray, times: int = 6) -> np.ndarray:
    for _ in range(times):
        shape[1:-1] = 0.25 * shape[:-2] + 0.5 * shape[1:-1] + 0.25 * shape[2:]
    return shape


def _weights(x: np.ndarray, around: int, joints_x: np.ndarray, semi_x: np.ndarray) -> np.ndarray:
    """Returns weights: each body moves its own length, blended at a joint over a third of the shorter neighbour."""
    weights = np.zeros((len(x), len(joints_x)))
    weights[:, 0] = 1.0
    for k in range(1, len(joints_x)):
        reach = 0.66 * min(semi_x[k - 1], semi_x[k])
        s = np.clip((joints_x[k] - x) / (2 * reach) + 0.5, 0, 1)
        s = s * s * (3 - 2 * s)
        weights[:, k] = s
        weights[:, :k] *= (1 - s)[:, None]
    return np.repeat(weights, around, axis=0)


@dataclass(frozen=True)
class Bellows:
    """The tube of a soft joint, from the face of the body before it to the face of the body behind it."""

    mesh: Mesh
    weights: np.ndarray
    rest: np.ndarray  # positions of the bones (bone, 3), straight along x
    before: int
    before_at: np.ndarray  # the face, in the frame of the body before it
    behind: int

    def bones(self, rotations: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns rotations (bone, 3, 3) and positions (bone, 3) along a curve that is normal to both faces."""
        start = positions[self.before] + rotations[self.before] @ self.before_at
        end, out, into = positions[self.behind], rotations[self.before][:, 0], rotations[self.behind][:, 0]
        reach = np.linalg.norm(end - start)
        t = np.linspace(0, 1, BONES)[:, None]
        at = (2 * t**3 - 3 * t**2 + 1) * start + (t**3 - 2 * t**2 + t) * reach * out
        at = at + (3 * t**2 - 2 * t**3) * end + (t**3 - t**2) * reach * into
        slope = (6 * t**2 - 6 * t) * (start - end) + (3 * t**2 - 4 * t + 1) * reach * out
        slope = slope + (3 * t**2 - 2 * t) * reach * into
        up = (1 - t) * rotations[self.before][:, 2] + t * rotations[self.behind][:, 2]
        return np.stack([frame_along(w, u) for w, u in zip(slope, up, strict=True)]), at


def make_bellows(skeleton: Skeleton, plant: PlantSpec, soft: SoftJoint, radius_m: float) -> Bellows:
    """Makes the tube of a soft joint (radius in m)."""
    assert plant.tree is not None
    carried = {body.joint.name: body for body in plant.tree.body if body.joint}
    first, last = carried[soft.joints[0]], carried[soft.joints[-1]]
    assert first.joint is not None and first.parent is not None
    x = np.linspace(0.0, soft.length_m, 12 * RIBS + 1)
    ribbed = radius_m * (0.9 + 0.08 * np.cos(2 * np.pi * RIBS * x / soft.length_m))
    angle = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    vertices = np.stack([
        np.broadcast_to(x[:, None], (len(x), AROUND)), ribbed[:, None] * np.cos(angle), ribbed[:, None] * np.sin(angle),
    ], -1).reshape(-1, 3)  # fmt: skip
    rest = np.linspace(0, soft.length_m, BONES)
    share = np.maximum(0.0, 1 - np.abs(x[:, None] - rest) / (rest[1] - rest[0]))
    return Bellows(
        mesh=(vertices, grid_faces(len(x), AROUND)),
        weights=np.repeat(share / share.sum(axis=1, keepdims=True), AROUND, axis=0),
        rest=np.column_stack([rest, np.zeros((BONES, 2))]),
        before=skeleton.index[first.parent],
        before_at=np.array(first.joint.at_m, dtype=float),
        behind=skeleton.index[last.name],
    )
