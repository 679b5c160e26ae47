"""Where a vehicle's bodies are, from its joints' positions: what a log says, without a step of the plant."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tree.frames import rpy_matrix, sorted_bodies


@dataclass(frozen=True)
class Node:
    """A body and the joint that carries it, in its parent's frame."""

    name: str
    parent: int  # of the skeleton; the base has -1
    joint: str
    kind: str
    at_m: np.ndarray
    turn: np.ndarray
    axis: np.ndarray


class Skeleton:
    """A vehicle's bodies, parents first; the first is the base."""

    def __init__(self, plant: PlantSpec) -> None:
        self.nodes = _tree(plant) if plant.tree else _links(plant)
        self.place = {node.name: k for k, node in enumerate(self.nodes)}
        self.joints = [node.joint for node in self.nodes if node.joint]

    def pose(self, joints: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """(turns to the base's axes (body, 3, 3), places in the base's frame (body, 3)).

        Joints in rad or m; one that is not known stands at 0.
        """
        turns, places = np.empty((len(self.nodes), 3, 3)), np.empty((len(self.nodes), 3))
        turns[0], places[0] = np.eye(3), 0.0
        for k, node in enumerate(self.nodes[1:], start=1):
            frame = turns[node.parent] @ node.turn
            places[k] = places[node.parent] + turns[node.parent] @ node.at_m
            moved = joints.get(node.joint, 0.0)
            if node.kind == "prismatic":
                places[k] += frame @ (moved * node.axis)
                turns[k] = frame
            else:
                turns[k] = frame @ about(node.axis, moved)
        return turns, places


def _tree(plant: PlantSpec) -> list[Node]:
    assert plant.tree is not None
    bodies = [plant.tree.body[i] for i in sorted_bodies(plant.tree.body)]
    place = {body.name: k for k, body in enumerate(bodies)}
    nodes = [_fixed(bodies[0].name)]
    for body in bodies[1:]:
        assert body.joint is not None and body.parent is not None, "a tree's reader has seen to it"
        axis = np.array(body.joint.axis, dtype=float)
        nodes.append(
            Node(
                body.name, place[body.parent], body.joint.name, body.joint.kind, np.array(body.joint.at_m, dtype=float),
                rpy_matrix(body.joint.rpy_deg), axis / (np.linalg.norm(axis) or 1.0),
            )
        )  # fmt: skip
    return nodes


def _links(plant: PlantSpec) -> list[Node]:
    """The quick law's vehicle: a head, and links behind it that bend to port by a positive angle."""
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


def about(axis: np.ndarray, angle_rad: float) -> np.ndarray:
    """The turn by an angle about a unit vector (Rodrigues)."""
    x, y, z = axis
    s, c = math.sin(angle_rad), math.cos(angle_rad)
    d = 1.0 - c
    return np.array([
        [c + d * x * x, d * x * y - s * z, d * x * z + s * y],
        [d * x * y + s * z, c + d * y * y, d * y * z - s * x],
        [d * x * z - s * y, d * y * z + s * x, c + d * z * z],
    ])  # fmt: skip


def attitude(roll_rad: float, pitch_rad: float, heading_rad: float) -> np.ndarray:
    """The base's turn: roll right side down, pitch nose down, heading counter-clockwise."""
    return rpy_matrix(tuple(math.degrees(a) for a in (roll_rad, pitch_rad, heading_rad)))  # type: ignore[arg-type]


def quaternion(turn: np.ndarray) -> tuple[float, float, float, float]:
    """w x y z of a turn (Shepperd: by the largest of the four)."""
    (a, b, c), (d, e, f), (g, h, i) = turn.tolist()
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
