"""Writes a tree of bodies as URDF: links, joints, inertias, and hulls as visuals."""

from __future__ import annotations

import math
from xml.etree import ElementTree as Xml

import numpy as np

from caudal.sim_plant.tables.tree import Body, Ellipsoid, Joint, TreeSpec, Tube
from caudal.tools.common.output import UsageError
from caudal.tools.export.common import (
    Mass,
    add_comments,
    added_mass,
    as_text,
    numbers,
    own_mass,
    water_left_out,
)

TYPES = {"revolute": "continuous", "prismatic": "prismatic", "fixed": "fixed"}
FAR = "1e6"  # URDF requires limits of prismatic joints; ours have none


def urdf(spec: TreeSpec, name: str, carried: bool = False) -> str:
    """Returns the text of the file; `carried` adds the added inertia to the links."""
    robot = Xml.Element("robot", name=name)
    add_comments(robot, _comments(spec, carried))
    for body in spec.body:
        robot.append(_link(body, carried))
    for body in spec.body:
        if body.joint is not None:
            robot.append(_joint(body, body.joint))
    return as_text(robot)


def _comments(spec: TreeSpec, carried: bool) -> list[str]:
    joints = [body.joint for body in spec.body if body.joint]
    lines = [
        f"SI units. {spec.body[0].name} floats: load it with a free-flying root joint.",
        "Find joints by name: their order depends on the loader (Pinocchio: by name among the children of a link).",
        f"Gravity is {spec.gravity_m_s2:g} m/s2 along -z.",
    ]
    if any(joint.kind == "revolute" for joint in joints):
        lines.append(
            "Revolute joints have no limits, so they are continuous; Pinocchio stores them as cosine and sine."
        )
    if any(body.mass_kg == 0 for body in spec.body):
        lines.append("A link without an inertial has no mass: it connects two joints.")
    if any(joint.stiffness for joint in joints):
        lines.append("Left out, as URDF has no springs: joint stiffness.")
    if left_out := water_left_out(spec, carried):
        lines.append(f"Left out, as URDF has no water: {', '.join(left_out)}.")
    if carried and any(added_mass(body) for body in spec.body):
        lines.append(
            "Inertials include added inertia, which has no weight: they are exact only without gravity."
        )
    return lines


def _link(body: Body, carried: bool) -> Xml.Element:
    link = Xml.Element("link", name=body.name)
    mass: Mass | None = own_mass(body) if body.mass_kg > 0 else None
    if carried and (water := added_mass(body)):
        mass = mass.combined(water) if mass else water
    if mass is not None:
        inertial = Xml.SubElement(link, "inertial")
        Xml.SubElement(inertial, "origin", xyz=numbers(mass.com_m), rpy="0 0 0")
        Xml.SubElement(inertial, "mass", value=numbers([mass.mass_kg]))
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        moments = {key: numbers([value]) for key, value in zip(keys, mass.moments(), strict=True)}
        Xml.SubElement(inertial, "inertia", moments)
    if body.hull is not None:
        link.append(_visual(body.hull))
    return link


def _visual(hull: Tube | Ellipsoid) -> Xml.Element:
    """Returns a cylinder or sphere of the hull's volume; URDF has neither lobes nor ellipsoids."""
    if isinstance(hull, Tube):
        along = np.subtract(hull.to_m, hull.from_m)
        at_m, length_m = np.add(hull.from_m, hull.to_m) / 2, float(np.linalg.norm(along))
        radius_m = hull.radius_m * math.sqrt(1 + hull.lobe_share**2 / 2)
    else:
        at_m, semi = np.array(hull.at_m), np.array(hull.semi_axes_m)
        if semi.max() == semi.min():
            return _shape("sphere", at_m, np.zeros(3), radius=numbers(semi[:1]))
        # The axis that differs most from the median becomes the length of the cylinder: a rod or a disc.
        odd = int(np.abs(np.log(semi / np.median(semi))).argmax())
        along, length_m = np.eye(3)[odd], float(4 / 3 * semi[odd])
        radius_m = math.sqrt(np.prod(np.delete(semi, odd)))
    x, y, z = along / np.linalg.norm(along)
    rpy = np.array(
        [0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x)]
    )  # rotates z to the axis of the hull
    return _shape("cylinder", at_m, rpy, radius=numbers([radius_m]), length=numbers([length_m]))


def _shape(kind: str, at_m: np.ndarray, rpy_rad: np.ndarray, **sizes: str) -> Xml.Element:
    visual = Xml.Element("visual")
    Xml.SubElement(visual, "origin", xyz=numbers(at_m), rpy=numbers(rpy_rad))
    Xml.SubElement(Xml.SubElement(visual, "geometry"), kind, sizes)
    return visual


def _joint(body: Body, joint: Joint) -> Xml.Element:
    if joint.kind not in TYPES:
        raise UsageError(
            f"{joint.name} is {joint.kind}, which URDF does not have; three joints instead would have other "
            f"coordinates; export mjcf"
        )
    element = Xml.Element("joint", name=joint.name, type=TYPES[joint.kind])
    Xml.SubElement(element, "parent", link=body.parent or "")
    Xml.SubElement(element, "child", link=body.name)
    Xml.SubElement(element, "origin", xyz=numbers(joint.at_m), rpy=numbers(np.radians(joint.rpy_deg)))
    if joint.kind != "fixed":
        Xml.SubElement(element, "axis", xyz=numbers(np.array(joint.axis) / np.linalg.norm(joint.axis)))
        if joint.damping:
            Xml.SubElement(element, "dynamics", damping=numbers([joint.damping]), friction="0")
    if joint.kind == "prismatic":
        Xml.SubElement(element, "limit", lower=f"-{FAR}", upper=FAR, effort=FAR, velocity=FAR)
    return element
