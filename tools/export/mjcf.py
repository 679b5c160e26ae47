"""A tree of bodies as MJCF, MuJoCo's format: bodies, joints with springs and dampers, inertias, hulls as geoms."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import numpy as np

from caudal.sim_plant.tables.tree import TRIANGLE, Body, Ellipsoid, Joint, TreeSpec, Tube
from caudal.tools.common.output import UsageError
from caudal.tools.export.common import (
    Mass,
    as_text,
    carried_water,
    children,
    numbers,
    own_mass,
    remark,
    water_left_out,
)

TYPES = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}
# MuJoCo takes no moving body without mass (its least is 1e-15 kg, 1e-14 kg m2): a speck, small also to its law of
# water, which makes a box with sides of sqrt(6 inertia / mass) of it.
SPECK_KG, SPECK_KG_M2 = 1e-10, 2e-14
ROUNDING = 1e-12  # share of the largest moment that MuJoCo's own sums may lose


def mjcf(spec: TreeSpec, name: str, carried: bool = False) -> str:
    """The file's text; `carried` adds bodies for the added inertia that acts like a rigid body."""
    root = Xml.Element("mujoco", model=name)
    for line in _remarks(spec, carried):
        root.append(remark(line))
    Xml.SubElement(
        root, "compiler", angle="radian", eulerseq="XYZ", inertiafromgeom="false", autolimits="true"
    )
    Xml.SubElement(
        root, "option", gravity=numbers([0, 0, -spec.gravity_m_s2]), timestep="0.001", integrator="RK4"
    )
    defaults = Xml.SubElement(root, "default")
    # Hulls do not touch each other here either: neighbours overlap at their joints.
    Xml.SubElement(defaults, "geom", contype="0", conaffinity="0", fluidshape="ellipsoid")
    base = _body(spec, spec.body[0], carried)
    base.insert(0, Xml.Element("freejoint", name=f"{spec.body[0].name}_floats"))
    Xml.SubElement(root, "worldbody").append(base)
    pushed = [body.joint for body in spec.body if body.joint and body.joint.kind in ("revolute", "prismatic")]
    pushed = [joint for joint in pushed if joint.mode != "free"]
    if pushed:
        actuators = Xml.SubElement(root, "actuator")
        for joint in pushed:
            Xml.SubElement(actuators, "motor", name=joint.name, joint=joint.name)
    return as_text(root)


def _remarks(spec: TreeSpec, carried: bool) -> list[str]:
    lines = [
        "SI units. Find joints by name: MuJoCo orders them branch by branch.",
        "Velocity of the base: linear in world axes, angular in its own.",
    ]
    if any(body.joint and body.joint.mode == "driven" for body in spec.body):
        lines.append("Driven joints have motors here: MuJoCo has no joint that moves as told at any torque.")
    if any(_is_nothing(body) for body in spec.body):
        lines.append(
            f"Bodies without mass have {SPECK_KG:g} kg, {SPECK_KG_M2:g} kg m2: MuJoCo takes no moving body without."
        )
    if left_out := water_left_out(spec, carried):
        lines.append(f"Left out, as the laws are not MuJoCo's: {', '.join(left_out)}.")
    lines.append(
        f'Its own model of water, off here, is option density="{spec.density_kg_m3:g}": drag, lift and added mass '
        "of an ellipsoid about each geom (of a box of the same inertia, where a body has none), fully immersed "
        "whatever the depth; no buoyancy, no surface."
    )
    if carried and any(carried_water(body) for body in spec.body):
        lines.append("Bodies named ..._water are the water that is carried: inertia without weight.")
    return lines


def _is_nothing(body: Body) -> bool:
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
    elif _is_nothing(body):
        element.append(_inertial(Mass(SPECK_KG, np.zeros(3), SPECK_KG_M2 * np.eye(3))))
    if body.hull is not None:
        element.append(_geom(body.hull))
    if carried and (water := carried_water(body)):
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
        fullinertia=numbers(Mass(mass.mass_kg, mass.com_m, _allowed(mass.inertia_kg_m2)).snapshots()),
    )


def _allowed(inertia: np.ndarray) -> np.ndarray:
    """MuJoCo minds the last bit: a flat plate, whose moments just make a triangle, is made a hair thicker."""
    small, middle, large = np.linalg.eigvalsh(inertia)
    lacks = max(0.0, SPECK_KG_M2 - small, (1 + ROUNDING) * large - small - middle)
    return inertia + lacks * np.eye(3)


def _geom(hull: Tube | Ellipsoid) -> Xml.Element:
    if isinstance(hull, Tube):
        ends = numbers([*hull.from_m, *hull.to_m])
        return Xml.Element("geom", type="cylinder", fromto=ends, size=numbers([hull.radius_m]))
    return Xml.Element("geom", type="ellipsoid", pos=numbers(hull.at_m), size=numbers(hull.semi_axes_m))


def _water(body: Body, water: Mass) -> Xml.Element:
    """A body of its own, fast to the other: only a whole body can be without weight in MuJoCo."""
    small, middle, large = np.linalg.eigvalsh(water.inertia_kg_m2)
    if small + middle < large * (1 - TRIANGLE):
        raise UsageError(
            f"{body.name}: no mass has the moments {small:.3g}, {middle:.3g}, {large:.3g} kg m2 of its added "
            f"inertia, and MuJoCo takes no others; export without --carried"
        )
    element = Xml.Element("body", name=f"{body.name}_water", gravcomp="1")
    element.append(_inertial(water))
    return element
