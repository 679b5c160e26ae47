"""Poses of a vehicle's bodies, computed from its joint positions without stepping the plant.

A rotation is a matrix (3, 3) that turns a vector from a body's axes into those of the frame it is given in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tree.frames import rpy_matrix, sorted_bodies


@dataclass(frozen=True)
class Node:
    """A body and the joint that connects it to its parent, in the parent's frame."""

    name: str
    parent: int  # index in the skeleton; -1 for the base
    joint: str
    kind: str
    at_m: np.ndarray
    rotation: np.ndarray
    axis: np.ndarray


class Pose(NamedTuple):
    """The pose of a vehicle: its base in the world, its bodies in the base's frame."""

    at_m: np.ndarray
    rotation: np.ndarray
    rotations: np.ndarray  # (body, 3, 3)
    positions: np.ndarray  # (body, 3), m

    def in_base(self, body: int, point_m: Sequence[float] | np.ndarray) -> np.ndarray:
        """Converts a point in a body's frame into the base's frame."""
        at_m: np.ndarray = self.positions[body] + self.rotations[body] @ point_m
        return at_m


class Skeleton:
    """A vehicle's bodies, parents first; the first is the base."""

    def __init__(self, plant: PlantSpec) -> None:
        self.nodes = _tree(plant) if plant.tree else _links(plant)
        self.index = {node.name: k for k, node in enumerate(self.nodes)}
        self.joints = [node.joint for node in self.nodes if node.joint]

    def pose(self, joints: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Returns (rotations (body, 3, 3), positions (body, 3) in m) of all bodies in the base's frame.

        `joints` holds rad or m by name; a missing joint is at 0.
        """
        rotations, positions = np.empty((len(self.nodes), 3, 3)), np.empty((len(self.nodes), 3))
        rotations[0], positions[0] = np.eye(3), 0.0
        for k, node in enumerate(self.nodes[1:], start=1):
            frame = rotations[node.parent] @ node.rotation
            positions[k] = positions[node.parent] + rotations[node.parent] @ node.at_m
            moved = joints.get(node.joint, 0.0)
            if node.kind == "prismatic":
                positions[k] += frame @ (moved * node.axis)
                rotations[k] = frame
            else:
                rotations[k] = frame @ rotation_about(node.axis, moved)
        return rotations, positions


def _tree(plant: PlantSpec) -> list[Node]:
    assert plant.tree is not None
    bodies = [plant.tree.body[i] for i in sorted_bodies(plant.tree.body)]
    index = {body.name: k for k, body in enumerate(bodies)}
    nodes = [_fixed(bodies[0].name)]
    for body in bodies[1:]:
        assert body.joint is not None and body.parent is not None, "checked by the reader of trees"
        axis = np.array(body.joint.axis, dtype=float)
        nodes.append(
            Node(
                body.name, index[body.parent], body.joint.name, body.joint.kind, np.array(body.joint.at_m, dtype=float),
                rpy_matrix(body.joint.rpy_deg), axis / (np.linalg.norm(axis) or 1.0),
            )
        )  # fmt: skip
    return nodes


def _links(plant: PlantSpec) -> list[Node]:
    """Returns the nodes of the Strouhal model: a head, and links behind it that bend to port by a positive angle."""
    nodes = [_fixed("head")]
    behind_m = 0.0
    for k, link in enumerate(plant.strouhal.link if plant.strouhal else []):
        at_m = np.array([-behind_m, 0.0, 0.0])
        nodes.append(
            Node(f"link_{k + 1}", k, link.joint, "revolute", at_m, np.eye(3), np.array([0.0, 0.0, -1.0]))
        )
        behind_m = link.length_m
    return nodes


def _fixed(name: str) -> Node:
    return Node(name, -1, "", "fixed", np.zeros(3), np.eye(3), np.zeros(3))


def rotation_about(axis: np.ndarray, angle_rad: float) -> np.ndarray:
    """Returns the rotation by an angle about a unit vector (Rodrigues)."""
    x, y, z = axis
    s, c = math.sin(angle_rad), math.cos(angle_rad)
    d = 1.0 - c
    return np.array([
        [c + d * x * x, d * x * y - s * z, d * x * z + s * y],
        [d * x * y + s * z, c + d * y * y, d * y * z - s * x],
        [d * x * z - s * y, d * y * z + s * x, c + d * z * z],
    ])  # fmt: skip


def attitude(roll_rad: float, pitch_rad: float, heading_rad: float) -> np.ndarray:
    """Returns the base's rotation: roll right side down, pitch nose down, heading counter-clockwise."""
    return rpy_matrix((math.degrees(roll_rad), math.degrees(pitch_rad), math.degrees(heading_rad)))


def quaternion(rotation: np.ndarray) -> tuple[float, float, float, float]:
    """Returns w, x, y, z of a rotation (Shepperd: by the largest of the four)."""
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    four = (a + e + i, a - e - i, e - a - i, i - a - e)
    k = four.index(max(four))
    s = 2.0 * math.sqrt(1.0 + four[k])
    if k == 0:
        return s / 4, (h - f) / s, (c - g) / s, (d - b) / s
    if k == 1:
        return (h - f) / s, s / 4, (b + d) / s, (c + g) / s
    if k == 2:
        return (c - g) / s, (b + d) / s, s / 4, (f + h) / s
    return (d - b) / s, (c + g) / s, (f + h) / s, s / 4
