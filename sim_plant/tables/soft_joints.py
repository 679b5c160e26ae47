"""Tables `plant.soft.NAME`: joints that bend and stretch by the pressure of three chambers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated

import numpy as np
from msgspec import Meta

from caudal.sim_plant.tables.devices import Pascals
from caudal.sim_plant.tables.tree import TreeSpec
from caudal.sim_plant.tables.types import AtLeastZero, Number, Positive, Table

PARTS = (("prismatic", "x"), ("revolute", "y"), ("revolute", "z"), ("prismatic", "x"))
PER_PASCAL = Annotated[float, Meta(ge=0, le=1.0)]


class Soft(Table, kw_only=True, frozen=True):
    """Four joints in a row, prismatic x, revolute y, revolute z, prismatic x, and three chambers round them.

    The chambers set stiffness and rest of the four (world/soft_joints.py); their damping is the joints' own.
    """

    joints: tuple[str, str, str, str]
    chambers: tuple[str, str, str]  # valves of plant.actuator
    at_deg: tuple[Number, Number, Number] = (0.0, 120.0, 240.0)  # of the chambers, from +y towards +z
    length_m: Positive  # straight and without pressure
    stretch_m_per_pa: PER_PASCAL  # by the mean pressure
    bend_rad_per_pa: PER_PASCAL  # by one chamber's pressure
    gain_two: AtLeastZero = 0.0  # how much further two chambers at two_pa bend it than one
    two_pa: Pascals = 0.3e6
    stiffness_n_m_rad: Positive  # of each bend, while the pressures of two chambers are up to soft_pa
    stiff_share: Positive = 1.0  # times that from stiff_pa on
    soft_pa: AtLeastZero = 0.1e6
    stiff_pa: Pascals = 0.5e6
    axial_n_per_m: Positive  # of each of the prismatic joints


def soft_problems(
    softs: Mapping[str, Soft], tree: TreeSpec | None, valves: Collection[str]
) -> Iterator[tuple[str, str]]:
    """What is wrong with soft joints: (key below `plant`, what to do)."""
    taken: set[str] = set()
    for name, soft in softs.items():
        at = f"soft.{name}"
        yield from ((f"{at}.joints", problem) for problem in _joints(soft, tree, taken))
        taken.update(soft.joints)
        for chamber in soft.chambers:
            if chamber not in valves:
                choices = f"choose from {', '.join(valves)}" if valves else "there are none in plant.actuator"
                yield f"{at}.chambers", f"{chamber} is not a valve; {choices}."
        if len(set(soft.chambers)) < len(soft.chambers):
            yield f"{at}.chambers", "a valve stands here twice; each chamber has its own."
        if soft.stiff_pa <= soft.soft_pa:
            yield (
                f"{at}.stiff_pa",
                f"{soft.stiff_pa:g} Pa is not above soft_pa, {soft.soft_pa:g} Pa; raise it.",
            )


def _joints(soft: Soft, tree: TreeSpec | None, taken: Collection[str]) -> Iterator[str]:
    carried = {body.joint.name: body for body in (tree.body if tree else []) if body.joint}
    before = None
    for joint_name, (kind, letter) in zip(soft.joints, PARTS, strict=True):
        body = carried.get(joint_name)
        if body is None or body.joint is None:
            yield f"there is no joint {joint_name} in plant.tree; choose from {', '.join(carried) or 'none'}."
            return
        joint = body.joint
        if joint_name in taken:
            yield f"{joint_name} belongs to another soft joint; give each its own."
        if joint.kind != kind or joint.mode != "free":
            yield f'{joint_name} is {joint.kind} and "{joint.mode}"; here it must be {kind} and "free".'
        way = np.eye(3)["xyz".index(letter)]
        if np.linalg.norm(np.cross(joint.axis, way)) > 1e-9 or np.dot(joint.axis, way) <= 0:
            yield f"{joint_name} must move along its own {letter}; give it that axis, and turn it by rpy_deg."
        if before is not None and body.parent != before:
            yield f"{joint_name} does not follow the joint before it; hang its body on {before}."
        before = body.name
