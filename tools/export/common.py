"""What the writers of URDF and MJCF share: branches of a tree, carried water as a body, numbers as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

import numpy as np

from caudal.sim_plant.tables.tree import Body, TreeSpec
from caudal.tools.common.output import UsageError

RIGID = {"name", "mass_kg", "com_m", "inertia_kg_m2", "parent", "joint"}  # of a body; all else is water's
SEA = {"current_m_s", "wave", "spectrum"}
WORDS = {"hull": "buoyancy", "current_m_s": "current", "wave": "waves", "spectrum": "waves"}
ALIKE = 1e-9  # share of the largest number by which added inertia may differ between directions


@dataclass(frozen=True)
class Mass:
    """A rigid body's: kg, its centre in the body's frame, 3x3 about that centre (kg m2)."""

    mass_kg: float
    com_m: np.ndarray
    inertia_kg_m2: np.ndarray

    def together(self, other: Mass) -> Mass:
        """Both as one rigid body."""
        mass_kg = self.mass_kg + other.mass_kg
        com_m = (self.mass_kg * self.com_m + other.mass_kg * other.com_m) / mass_kg
        return Mass(mass_kg, com_m, self.about(com_m) + other.about(com_m))

    def about(self, at_m: np.ndarray) -> np.ndarray:
        """Inertia about a point (Steiner)."""
        d = self.com_m - at_m
        return self.inertia_kg_m2 + self.mass_kg * (np.dot(d, d) * np.eye(3) - np.outer(d, d))

    def snapshots(self) -> tuple[float, ...]:
        """ixx, iyy, izz, ixy, ixz, iyz."""
        i = self.inertia_kg_m2
        return i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]


def own_mass(body: Body) -> Mass:
    return Mass(body.mass_kg, np.array(body.com_m), body.inertia())


def carried_water(body: Body) -> Mass | None:
    """Added inertia as a rigid body: only water that resists alike in every direction moves as one."""
    if body.added_inertia is None or not body.added_inertia.matrix().any():
        return None
    m = body.added_inertia.matrix()
    mass_kg = float(np.trace(m[:3, :3])) / 3
    off = max(np.abs(m[:3, :3] - mass_kg * np.eye(3)).max(), np.abs(m[:3, 3:]).max())
    if mass_kg <= 0 or off > ALIKE * np.abs(m).max():
        raise UsageError(
            f"{body.name}: its added inertia is not the same in surge, sway and heave, so no rigid body has it; "
            f"export without --carried"
        )
    return Mass(mass_kg, np.array(body.added_inertia.at_m), m[3:, 3:])


def children(spec: TreeSpec, parent: Body) -> list[Body]:
    """In file order."""
    return [body for body in spec.body if body.parent == parent.name]


def water_left_out(spec: TreeSpec, carried: bool) -> list[str]:
    """Which of the water's laws a file of rigid bodies does not have, for its reader."""
    laws = {field for body in spec.body for field in body.__struct_fields__ if getattr(body, field)} - RIGID
    laws |= {field for field in spec.__struct_fields__ if np.any(getattr(spec, field))} & SEA
    laws -= {"added_inertia"} if carried else set()
    return sorted(WORDS.get(law, law.replace("_", " ")) for law in laws)


def numbers(values: Iterable[float]) -> str:
    """As text that reads back to the last bit."""
    return " ".join(repr(float(value) + 0.0) for value in values)  # + 0.0: no minus before a zero


def remark(text: str) -> Xml.Element:
    return Xml.Comment(f" {text.replace('--', '- -')} ")  # XML allows no -- in a comment


def as_text(root: Xml.Element) -> str:
    Xml.indent(root)
    return '<?xml version="1.0"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"
