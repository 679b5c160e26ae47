"""Shared parts of the URDF and MJCF writers: children of a body, added inertia as a rigid body, numbers as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

import numpy as np

from caudal.sim_plant.tables.tree import Body, TreeSpec
from caudal.tools.common.output import UsageError

RIGID = {
    "name",
    "mass_kg",
    "com_m",
    "inertia_kg_m2",
    "parent",
    "joint",
}  # keys of a body; the others are of the water
SEA = {"current_m_s", "wave", "spectrum"}
NAMES = {"hull": "buoyancy", "current_m_s": "current", "wave": "waves", "spectrum": "waves"}
SAME = 1e-9  # relative difference that added inertia may have between directions


@dataclass(frozen=True)
class Mass:
    """Mass (kg), centre of mass (m, body frame) and inertia about it (kg m2, 3x3) of a rigid body."""

    mass_kg: float
    com_m: np.ndarray
    inertia_kg_m2: np.ndarray

    def combined(self, other: Mass) -> Mass:
        """Returns both masses as one rigid body."""
        mass_kg = self.mass_kg + other.mass_kg
        com_m = (self.mass_kg * self.com_m + other.mass_kg * other.com_m) / mass_kg
        return Mass(mass_kg, com_m, self.about(com_m) + other.about(com_m))

    def about(self, at_m: np.ndarray) -> np.ndarray:
        """Returns the inertia about a point (Steiner)."""
        d = self.com_m - at_m
        inertia: np.ndarray = self.inertia_kg_m2 + self.mass_kg * (np.dot(d, d) * np.eye(3) - np.outer(d, d))
        return inertia

    def moments(self) -> tuple[float, ...]:
        """Returns ixx, iyy, izz, ixy, ixz, iyz."""
        i = self.inertia_kg_m2
        return i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]


def own_mass(body: Body) -> Mass:
    """Returns the mass of a body without water."""
    return Mass(body.mass_kg, np.array(body.com_m), body.inertia())


def added_mass(body: Body) -> Mass | None:
    """Returns the added inertia of a body as a rigid body; it must be the same in all directions of translation."""
    if body.added_inertia is None or not body.added_inertia.matrix().any():
        return None
    m = body.added_inertia.matrix()
    mass_kg = float(np.trace(m[:3, :3])) / 3
    off = max(np.abs(m[:3, :3] - mass_kg * np.eye(3)).max(), np.abs(m[:3, 3:]).max())
    if mass_kg <= 0 or off > SAME * np.abs(m).max():
        raise UsageError(
            f"{body.name}: its added inertia differs between surge, sway and heave, so it is not that of a rigid body; "
            f"export without --carried"
        )
    return Mass(mass_kg, np.array(body.added_inertia.at_m), m[3:, 3:])


def children(spec: TreeSpec, parent: Body) -> list[Body]:
    """Returns the children of a body in file order."""
    return [body for body in spec.body if body.parent == parent.name]


def water_left_out(spec: TreeSpec, carried: bool) -> list[str]:
    """Returns the names of the water's effects that a file of rigid bodies leaves out."""
    effects = {
        field for body in spec.body for field in body.__struct_fields__ if getattr(body, field)
    } - RIGID
    effects |= {field for field in spec.__struct_fields__ if np.any(getattr(spec, field))} & SEA
    effects -= {"added_inertia"} if carried else set()
    return sorted(NAMES.get(effect, effect.replace("_", " ")) for effect in effects)


def numbers(values: Iterable[float]) -> str:
    """Formats numbers so that they read back without loss."""
    return " ".join(repr(float(value) + 0.0) for value in values)  # + 0.0 turns -0.0 into 0.0


def add_comments(root: Xml.Element, lines: Iterable[str]) -> None:
    """Appends XML comments."""
    for line in lines:
        root.append(Xml.Comment(f" {line.replace('--', '- -')} "))  # XML allows no -- in a comment


def as_text(root: Xml.Element) -> str:
    """Returns the text of an XML file."""
    Xml.indent(root)
    return '<?xml version="1.0"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"
