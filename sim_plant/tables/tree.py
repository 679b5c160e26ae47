"""Table `plant.tree` of a vehicle file: bodies, joints, and what water does to them.

Frames: x forward, y left, z up in every body, at a point that the file chooses; the world's z = 0 is the water's
surface. The first body is the floating base. A joint is at `at_m`, rotated by `rpy_deg` (roll, pitch, yaw about the
fixed axes), in its parent's frame. The frame of its body is the joint's frame, moved by the joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, field
from msgspec.structs import replace
from numpy.typing import NDArray

from caudal.hal.tables.types import Kind, NotNegative, Number, Positive, Table
from caudal.sim_plant.tables.closures import AnyClosure, validate_closures
from caudal.sim_plant.tables.water import ORIGIN, Edge, Foil, Jonswap, Slender, Three, Wave, validate_water

Six = tuple[Number, Number, Number, Number, Number, Number]
SixAtLeastZero = tuple[NotNegative, NotNegative, NotNegative, NotNegative, NotNegative, NotNegative]
TRIANGLE = 1e-9  # share of the largest moment by which rounded moments may violate the triangle inequality


class Joint(Table, kw_only=True, frozen=True):
    """Moves a body relative to its parent. Stiffness, damping and rest in N m/rad, N m s/rad, rad, or N/m, N s/m, m.

    driven: it moves exactly as given, whatever torque that takes. torque, free: it moves as forces make it; an actuator
    pushes only a joint with mode "torque". The spring of a spherical joint pulls against the whole angle of rotation;
    beyond half a turn it pulls the other way round.
    """

    name: str
    kind: Literal["revolute", "prismatic", "spherical", "fixed"] = "revolute"
    mode: Literal["driven", "torque", "free"] = "free"
    axis: Three = (0.0, 0.0, 1.0)  # in the joint's frame; scaled to length 1
    at_m: Three = ORIGIN
    rpy_deg: Three = ORIGIN
    stiffness: NotNegative = 0.0
    damping: NotNegative = 0.0
    rest: Number = 0.0


class AddedInertia(Table, kw_only=True, frozen=True):
    """Added mass in surge, sway, heave (kg), roll, pitch, yaw (kg m2), along the body's axes about at_m.

    diagonal: those six. full: the 21 numbers of the upper triangle, row by row.
    """

    at_m: Three = ORIGIN
    diagonal: SixAtLeastZero | None = None
    full: Annotated[list[Number], Meta(min_length=21, max_length=21)] | None = None

    def matrix(self) -> NDArray[np.float64]:
        """6x6 about at_m."""
        if self.full is None:
            return np.diag(self.diagonal or (0.0,) * 6)
        upper = np.zeros((6, 6))
        upper[np.triu_indices(6)] = self.full
        return upper + np.triu(upper, 1).T


class Drag(Table, kw_only=True, frozen=True):
    """Drag against the motion of at_m through the water, axis by axis: linear v + quadratic |v| v.

    linear_full, instead of linear: the force along each axis from the motion along all six, row by row.
    """

    at_m: Three = ORIGIN
    linear: SixAtLeastZero = (0.0,) * 6  # N s/m three times, N m s/rad three times
    linear_full: tuple[Six, Six, Six, Six, Six, Six] | None = None
    quadratic: SixAtLeastZero = (0.0,) * 6  # N s2/m2, N m s2/rad2

    def matrix(self) -> NDArray[np.float64]:
        """6x6 of the linear part."""
        return np.diag(self.linear) if self.linear_full is None else np.array(self.linear_full)


class Tube(Kind, tag="tube", kw_only=True, frozen=True):
    """A straight closed hull with section r = radius (1 + lobe_share cos(lobes angle)), angle from `apex`."""

    from_m: Three
    to_m: Three
    radius_m: Positive
    apex: Three = (0.0, 0.0, 1.0)  # where the first lobe points, body axes
    lobes: Annotated[int, Meta(ge=2, le=12)] = 3
    lobe_share: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    sections: Annotated[int, Meta(ge=8, le=360)] = 48  # corners of a section
    gauss: Annotated[int, Meta(ge=1, le=32)] = 5  # sections along the hull

    def corners_m(self) -> NDArray[np.float64]:
        """(corner, 2) of a section: metres across and towards the apex, counter-clockwise seen from to_m."""
        angle = 2 * np.pi * np.arange(self.sections) / self.sections
        radius = self.radius_m * (1 + self.lobe_share * np.cos(self.lobes * angle))
        return np.column_stack([-radius * np.sin(angle), radius * np.cos(angle)])


class Ellipsoid(Kind, tag="ellipsoid", kw_only=True, frozen=True):
    """A closed hull with semi-axes along the body's axes; equal ones make a ball, a small one a disc."""

    at_m: Three = ORIGIN
    semi_axes_m: tuple[Positive, Positive, Positive]


class Body(Table, kw_only=True, frozen=True):
    """A body of a tree, its joint to its parent, and what the water does to it."""

    name: str
    mass_kg: NotNegative
    com_m: Three = ORIGIN
    inertia_kg_m2: Six | None = None  # ixx, iyy, izz, ixy, ixz, iyz about the centre of mass, body axes
    parent: str | None = None
    joint: Joint | None = None
    added_inertia: AddedInertia | None = None
    drag: Drag | None = None
    hull: Tube | Ellipsoid | None = None
    foil: list[Foil] = field(default_factory=list)
    edge: list[Edge] = field(default_factory=list)
    slender: list[Slender] = field(default_factory=list)

    def inertia(self) -> NDArray[np.float64]:
        """3x3 about the centre of mass, body axes (kg m2)."""
        xx, yy, zz, xy, xz, yz = self.inertia_kg_m2 or (0.0,) * 6
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


class TreeSpec(Table, kw_only=True, frozen=True):
    """Table `plant.tree`."""

    gravity_m_s2: NotNegative = 9.81
    density_kg_m3: Positive = 1000.0
    water: Literal["full", "buoyant", "none"] = "full"  # all its forces, buoyancy alone, or none
    current_m_s: Three = ORIGIN  # of the water, world axes
    wave: list[Wave] = field(default_factory=list)
    spectrum: Jonswap | None = None
    body: Annotated[list[Body], Meta(min_length=1)] = field(default_factory=list)
    closure: list[AnyClosure] = field(default_factory=list)


def with_buoyancy_only(spec: TreeSpec) -> TreeSpec:
    """The same vehicle in water that only carries it."""
    bodies = [replace(b, added_inertia=None, drag=None, foil=[], edge=[], slender=[]) for b in spec.body]
    return replace(spec, body=bodies, current_m_s=ORIGIN)


def scalar_joints(spec: TreeSpec) -> list[str]:
    """Names of the joints with one freedom, in file order."""
    joints = [body.joint for body in spec.body if body.joint]
    return [joint.name for joint in joints if joint.kind in ("revolute", "prismatic")]


def validate_tree(spec: TreeSpec) -> Iterator[tuple[str, str]]:
    """Yield where tables do not fit together: (key below `plant.tree`, what is wrong and what to do)."""
    names = [body.name for body in spec.body]
    joints = [body.joint.name for body in spec.body if body.joint]
    for i, body in enumerate(spec.body):
        if body.name in names[:i]:
            yield f"body.{i}.name", f"two bodies are named {body.name}; give each its own name."
        if body.joint and joints.count(body.joint.name) > 1:
            yield f"body.{i}.joint.name", f"two joints are named {body.joint.name}; give each its own name."
        yield from ((f"body.{i}{key}", problem) for key, problem in _validate_joint(spec, i, names))
        yield from ((f"body.{i}{key}", problem) for key, problem in _validate_mass(spec, i))
        yield from ((f"body.{i}{key}", problem) for key, problem in _validate_water(body))
    yield from validate_closures(spec.closure, spec.body)
    if (spec.wave or spec.spectrum) and spec.gravity_m_s2 == 0:
        yield (
            "gravity_m_s2",
            "without gravity there is no surface for waves; give gravity, or remove the waves.",
        )


def _validate_joint(spec: TreeSpec, i: int, names: list[str]) -> Iterator[tuple[str, str]]:
    body = spec.body[i]
    if i == 0:
        if body.parent is not None or body.joint is not None:
            yield "", f"{body.name} is the first body, the floating base; remove its parent and its joint."
        return
    if body.parent is None or body.joint is None:
        yield "", f"{body.name} needs a parent and a joint; only the first body has none."
        return
    if body.parent not in names:
        yield ".parent", f"there is no body {body.parent}; choose from {', '.join(names)}."
        return
    joint = body.joint
    if joint.kind in ("revolute", "prismatic") and math.hypot(*joint.axis) < 1e-9:
        yield ".joint.axis", "the axis has no length; give one such as [0, 0, 1]."
    if joint.kind == "spherical" and joint.mode == "driven":
        yield ".joint.mode", f"{joint.name} is spherical and cannot be driven; use three revolute joints."
    if joint.kind == "spherical" and joint.rest != 0:
        yield ".joint.rest", f"{joint.name} is spherical and rests at 0; remove rest."
    seen, at = [body.name], body.parent
    while at in names and at not in seen:
        seen.append(at)
        at = spec.body[names.index(at)].parent or ""
    if at in seen:
        loop = " -> ".join([*seen[seen.index(at) :], at])
        yield (
            ".parent",
            f"the joints make a loop, {loop}; a tree has none: give one of the bodies another parent.",
        )


def _validate_mass(spec: TreeSpec, i: int) -> Iterator[tuple[str, str]]:
    body = spec.body[i]
    if body.mass_kg == 0:
        if body.inertia_kg_m2 is not None and any(body.inertia_kg_m2):
            yield ".mass_kg", f"{body.name} has inertia but no mass; give mass_kg above 0."
        if i == 0:
            yield ".mass_kg", f"{body.name} is the floating base and has no mass; give mass_kg above 0."
        elif not any(other.parent == body.name for other in spec.body):
            yield ".mass_kg", f"{body.name} has no mass and carries no body; give mass_kg above 0."
        return
    if body.inertia_kg_m2 is None:
        yield "", f"{body.name} has mass but no inertia_kg_m2; give [ixx, iyy, izz, ixy, ixz, iyz]."
        return
    small, middle, large = np.linalg.eigvalsh(body.inertia())
    if small <= 0:
        yield (
            ".inertia_kg_m2",
            f"it is not positive definite (least principal moment {small:.3g} kg m2); "
            f"check the signs and the order ixx, iyy, izz, ixy, ixz, iyz.",
        )
    elif small + middle < large * (1 - TRIANGLE):
        yield (
            ".inertia_kg_m2",
            f"no mass has the principal moments {small:.3g}, {middle:.3g}, {large:.3g} kg m2: "
            f"the largest is more than the sum of the others; check the numbers.",
        )


def _validate_water(body: Body) -> Iterator[tuple[str, str]]:
    added, hull = body.added_inertia, body.hull
    yield from validate_water(body.foil, body.edge, body.slender)
    if added is not None:
        if (added.diagonal is None) == (added.full is None):
            yield ".added_inertia", "give either diagonal (6 numbers) or full (21 numbers)."
        else:
            moments = np.linalg.eigvalsh(added.matrix())
            if moments[0] < -1e-9 * max(moments[-1], 0.0):
                yield (
                    ".added_inertia.full",
                    "the added inertia of some motion would be negative; check the upper triangle, row by row.",
                )
    drag = body.drag
    if drag is not None and drag.linear_full is not None:
        if any(drag.linear):
            yield ".drag.linear", "linear_full includes the linear drag; remove one of the two."
        shares = np.linalg.eigvalsh(drag.matrix() + drag.matrix().T)
        if shares[0] < -1e-9 * max(shares[-1], 0.0):
            yield (
                ".drag.linear_full",
                "drag would accelerate some motion; make the off-diagonal entries smaller.",
            )
    if isinstance(hull, Tube):
        axis, apex = np.subtract(hull.to_m, hull.from_m), np.array(hull.apex)
        if np.linalg.norm(axis) < 1e-9:
            yield ".hull.to_m", "the hull has no length; from_m and to_m must differ."
        elif np.linalg.norm(np.cross(axis, apex)) <= 1e-6 * np.linalg.norm(axis) * np.linalg.norm(apex):
            yield ".hull.apex", "the apex has no length or is parallel to the hull; point it across."
        edges = np.roll(hull.corners_m(), -1, axis=0) - hull.corners_m()
        following = np.roll(edges, -1, axis=0)
        if np.any(edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0] <= 0):
            most = 1 / (1 + hull.lobes**2)
            yield ".hull.lobe_share", f"the section is concave between its lobes; stay below {most:.3f}."
