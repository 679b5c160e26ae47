"""Tables `plant.soft.NAME`: joints that bend and stretch with the pressure of three chambers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated

import numpy as np
from msgspec import Meta

from caudal.hal.tables.types import NotNegative, Number, Positive, Table
from caudal.sim_plant.tables.devices import Pascals
from caudal.sim_plant.tables.tree import TreeSpec

JOINT_KINDS = (("prismatic", "x"), ("revolute", "y"), ("revolute", "z"), ("prismatic", "x"))
PerPascal = Annotated[float, Meta(ge=0, le=1.0)]


class SoftJoint(Table, kw_only=True, frozen=True):
    """Four joints in a row, prismatic x, revolute y, revolute z, prismatic x, and three chambers around them.

    The chambers set stiffness and rest of the four (world/soft_joints.py); the damping is that of the joints.
    """

    joints: tuple[str, str, str, str]
    chambers: tuple[str, str, str]  # valves of plant.actuator
    at_deg: tuple[Number, Number, Number] = (
        0.0,
        120.0,
        240.0,
    )  # direction of each chamber, from +y towards +z
    length_m: Positive  # straight and without pressure
    stretch_m_per_pa: PerPascal  # by the mean pressure
    bend_rad_per_pa: PerPascal  # by one chamber's pressure
    gain_two: NotNegative = 0.0  # additional share of bend by two chambers at two_pa, compared with one
    two_pa: Pascals = 0.3e6
    stiffness_n_m_rad: Positive  # of each bend, up to soft_pa in two chambers
    stiff_share: Positive = 1.0  # times that, from stiff_pa
    soft_pa: NotNegative = 0.1e6
    stiff_pa: Pascals = 0.5e6
    axial_n_per_m: Positive  # of each of the prismatic joints


def validate_soft_joints(
    softs: Mapping[str, SoftJoint], tree: TreeSpec | None, valves: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with soft joints: (key below `plant`, what is wrong and what to do)."""
    taken: set[str] = set()
    for name, soft in softs.items():
        at = f"soft.{name}"
        yield from ((f"{at}.joints", problem) for problem in _validate_joints(soft, tree, taken))
        taken.update(soft.joints)
        for chamber in soft.chambers:
            if chamber not in valves:
                choices = f"choose from {', '.join(valves)}" if valves else "there are none in plant.actuator"
                yield f"{at}.chambers", f"{chamber} is not a valve; {choices}."
        if len(set(soft.chambers)) < len(soft.chambers):
            yield f"{at}.chambers", "a valve is here twice; name a different one for each chamber."
        if soft.stiff_pa <= soft.soft_pa:
            yield (
                f"{at}.stiff_pa",
                f"{soft.stiff_pa:g} Pa is not above soft_pa, {soft.soft_pa:g} Pa; raise it.",
            )


def _validate_joints(soft: SoftJoint, tree: TreeSpec | None, taken: Collection[str]) -> Iterator[str]:
    carried = {body.joint.name: body for body in (tree.body if tree else []) if body.joint}
    before = None
    for joint_name, (kind, letter) in zip(soft.joints, JOINT_KINDS, strict=True):
        body = carried.get(joint_name)
        if body is None or body.joint is None:
            yield f"there is no joint {joint_name} in plant.tree; choose from {', '.join(carried) or 'none'}."
            return
        joint = body.joint
        if joint_name in taken:
            yield f"{joint_name} belongs to another soft joint; name different joints."
        if joint.kind != kind or joint.mode != "free":
            yield f'{joint_name} is {joint.kind} and "{joint.mode}"; here it must be {kind} and "free".'
        direction = np.eye(3)["xyz".index(letter)]
        if np.linalg.norm(np.cross(joint.axis, direction)) > 1e-9 or np.dot(joint.axis, direction) <= 0:
            yield f"{joint_name} must move along its own {letter}; give it that axis, and rotate it by rpy_deg."
        if before is not None and body.parent != before:
            yield f"{joint_name} does not follow the joint before it; give its body the parent {before}."
        before = body.name
