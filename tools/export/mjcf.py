"""Writes a tree of bodies as MJCF for MuJoCo: bodies, joints with springs and dampers, inertias, hulls as geoms."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import numpy as np

from caudal.sim_plant.tables.tree import TRIANGLE, Body, Ellipsoid, Joint, TreeSpec, Tube
from caudal.tools.common.output import UsageError
from caudal.tools.export.common import (
    Mass,
    add_comments,
    added_mass,
    as_text,
    children,
    numbers,
    own_mass,
    water_left_out,
)

TYPES = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}
# MuJoCo rejects moving bodies without mass (below 1e-15 kg, 1e-14 kg m2). These values are also small for its water
# model, which takes such a body as a box with sides of sqrt(6 inertia / mass).
LEAST_KG, LEAST_KG_M2 = 1e-10, 2e-14
ROUNDING = 1e-12  # share of the largest moment that MuJoCo's sums may lose


def mjcf(spec: TreeSpec, name: str, carried: bool = False) -> str:
    """Returns the text of the file; `carried` adds the added inertia as rigid bodies."""
    root = Xml.Element("mujoco", model=name)
    add_comments(root, _comments(spec, carried))
    Xml.SubElement(
        root, "compiler", angle="radian", eulerseq="XYZ", inertiafromgeom="false", autolimits="true"
    )
    Xml.SubElement(
        root, "option", gravity=numbers([0, 0, -spec.gravity_m_s2]), timestep="0.001", integrator="RK4"
    )
    defaults = Xml.SubElement(root, "default")
    # Hulls do not collide with each other: neighbours overlap at their joints.
    Xml.SubElement(defaults, "geom", contype="0", conaffinity="0", fluidshape="ellipsoid")
    base = _body(spec, spec.body[0], carried)
    base.insert(0, Xml.Element("freejoint", name=f"{spec.body[0].name}_floats"))
    Xml.SubElement(root, "worldbody").append(base)
    joints = [body.joint for body in spec.body if body.joint and body.joint.kind in ("revolute", "prismatic")]
    actuated = [joint for joint in joints if joint.mode != "free"]
    if actuated:
        actuators = Xml.SubElement(root, "actuator")
        for joint in actuated:
            Xml.SubElement(actuators, "motor", name=joint.name, joint=joint.name)
    return as_text(root)


def _comments(spec: TreeSpec, carried: bool) -> list[str]:
    lines = [
        "SI units. Find joints by name: MuJoCo sorts them by branches.",
        "Velocity of the base: linear in world axes, angular in body axes.",
    ]
    if any(body.joint and body.joint.mode == "driven" for body in spec.body):
        lines.append("Driven joints have motors: MuJoCo has no joints with prescribed motion.")
    if any(_is_massless(body) for body in spec.body):
        lines.append(
            f"Bodies without mass have {LEAST_KG:g} kg, {LEAST_KG_M2:g} kg m2: MuJoCo requires a mass of moving bodies."
        )
    if left_out := water_left_out(spec, carried):
        lines.append(f"Left out, as MuJoCo has no such models: {', '.join(left_out)}.")
    lines.append(
        f'MuJoCo\'s own water model is off; option density="{spec.density_kg_m3:g}" turns it on: drag, lift and added '
        "mass of an ellipsoid around each geom (of a box of the same inertia for a body without geom), fully immersed "
        "at any depth, without buoyancy or surface."
    )
    if carried and any(added_mass(body) for body in spec.body):
        lines.append("Bodies named ..._water are added inertia: inertia without weight.")
    return lines


def _is_massless(body: Body) -> bool:
    return body.mass_kg == 0 and body.joint is not None and body.joint.kind != "fixed"


def _body(spec: TreeSpec, body: Body, carried: bool) -> Xml.Element:
    element = Xml.Element("body", name=body.name)
    if body.joint is not None:
        element.set("pos", numbers(body.joint.at_m))
        element.set("euler", numbers(np.radians(body.joint.rpy_deg)))
        if body.joint.kind != "fixed":
            element.append(_joint(body.joint))
    if body.mass_kg > 0:
        element.append(_inertial(own_mass(body)))
    elif _is_massless(body):
        element.append(_inertial(Mass(LEAST_KG, np.zeros(3), LEAST_KG_M2 * np.eye(3))))
    if body.hull is not None:
        element.append(_geom(body.hull))
    if carried and (water := added_mass(body)):
        element.append(_water(body, water))
    for child in children(spec, body):
        element.append(_body(spec, child, carried))
    return element


def _joint(joint: Joint) -> Xml.Element:
    element = Xml.Element("joint", name=joint.name, type=TYPES[joint.kind])
    if joint.kind != "spherical":
        element.set("axis", numbers(np.array(joint.axis) / np.linalg.norm(joint.axis)))
        if joint.rest:
            element.set("springref", numbers([joint.rest]))
    for key, value in (("stiffness", joint.stiffness), ("damping", joint.damping)):
        if value:
            element.set(key, numbers([value]))
    return element


def _inertial(mass: Mass) -> Xml.Element:
    return Xml.Element(
        "inertial",
        pos=numbers(mass.com_m),
        mass=numbers([mass.mass_kg]),
        fullinertia=numbers(Mass(mass.mass_kg, mass.com_m, _allowed(mass.inertia_kg_m2)).moments()),
    )


def _allowed(inertia: np.ndarray) -> np.ndarray:
    """Enlarges the inertia of a flat plate by a rounding error, as MuJoCo requires the triangle inequality exactly."""
    small, middle, large = np.linalg.eigvalsh(inertia)
    missing = max(0.0, LEAST_KG_M2 - small, (1 + ROUNDING) * large - small - middle)
    allowed: np.ndarray = inertia + missing * np.eye(3)
    return allowed


def _geom(hull: Tube | Ellipsoid) -> Xml.Element:
    if isinstance(hull, Tube):
        ends = numbers([*hull.from_m, *hull.to_m])
        return Xml.Element("geom", type="cylinder", fromto=ends, size=numbers([hull.radius_m]))
    return Xml.Element("geom", type="ellipsoid", pos=numbers(hull.at_m), size=numbers(hull.semi_axes_m))


def _water(body: Body, water: Mass) -> Xml.Element:
    """Returns a separate body for added inertia: in MuJoCo only a whole body can be weightless."""
    small, middle, large = np.linalg.eigvalsh(water.inertia_kg_m2)
    if small + middle < large * (1 - TRIANGLE):
        raise UsageError(
            f"{body.name}: the moments {small:.3g}, {middle:.3g}, {large:.3g} kg m2 of its added inertia are not those "
            f"of a rigid body, which MuJoCo requires; export without --carried"
        )
    element = Xml.Element("body", name=f"{body.name}_water", gravcomp="1")
    element.append(_inertial(water))
    return element
