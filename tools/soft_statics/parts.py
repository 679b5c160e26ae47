"""Reads a vehicle's modules and soft joints for the statics of `caudal bend` from the `plant` tables of its file.

The drag of a module is that of its slender links and quadratic drag, spread over its length. The drag of a soft joint
is that of the bodies between its slides.
"""

import math
from collections.abc import Sequence

from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tables.tree import Body, TreeSpec
from caudal.tools.common.output import UsageError
from caudal.tools.soft_statics.solver import Drag, Joint, Module


def parts_of(plant: PlantSpec, label: str, stiff: bool = False) -> list[Module | Joint]:
    """Returns modules and soft joints in alternation, from the base to the end."""
    tree = plant.tree
    if tree is None or not plant.soft:
        raise UsageError(f"{label} has no soft joints; choose a vehicle with [plant.soft.NAME] tables")
    by_joint = {body.joint.name: body for body in tree.body if body.joint}
    parts: list[Module | Joint] = []
    module = tree.body[0]
    remaining = dict(plant.soft)
    while remaining:
        next_ones = [
            name for name, soft in remaining.items() if by_joint[soft.joints[0]].parent == module.name
        ]
        if len(next_ones) != 1:
            raise UsageError(
                f"{label}: {len(next_ones)} soft joints begin at {module.name}; caudal bend needs a single row of them"
            )
        soft = remaining.pop(next_ones[0])
        bodies = [by_joint[joint] for joint in soft.joints]
        first = bodies[0].joint
        assert first is not None, "found by its joint"
        parts.append(_module(tree, module, first.at_m[0], label))
        bending_n_m_rad = soft.stiffness_n_m_rad * (soft.stiff_share if stiff else 1.0)
        drag = _drag(tree, bodies[:3], soft.length_m)
        # two slides in series, each of axial_n_per_m
        parts.append(Joint(soft.length_m, bending_n_m_rad, soft.axial_n_per_m / 2, drag))
        module = bodies[3]
    parts.append(_module(tree, module, None, label))
    return parts


def _module(tree: TreeSpec, body: Body, end_m: float | None, label: str) -> Module:
    """Returns a module from the body's origin (or the base's rear end) to its next joint (or its front end)."""
    ends_m = [point[0] for link in body.slender for point in (link.from_m, link.to_m)]
    if not ends_m:
        raise UsageError(f"{label}: {body.name} has no slender link, which gives its length; add one")
    start_m = min(ends_m) if body.parent is None else 0.0
    length_m = (max(ends_m) if end_m is None else end_m) - start_m
    if length_m <= 0:
        raise UsageError(f"{label}: {body.name} ends behind its start; the chain must extend along x")
    return Module(length_m, _drag(tree, [body], length_m))


def _drag(tree: TreeSpec, bodies: Sequence[Body], length_m: float) -> Drag:
    across = along = 0.0  # N s2/m2
    for body in bodies:
        for link in body.slender:
            side_kg_m = 0.5 * tree.density_kg_m3 * link.diameter_m * math.dist(link.from_m, link.to_m)
            across += side_kg_m * link.cn
            along += side_kg_m * math.pi * link.ct
        if body.drag is not None:
            along += body.drag.quadratic[0]
            across += body.drag.quadratic[1]
    return Drag(across / length_m, along / length_m)
