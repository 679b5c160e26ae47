"""Soft joints: the pressures of three chambers set the springs of four joints, once per step.

A chamber under pressure gets longer, and the joint bends away from it. The bend follows the vector sum P of the
pressures, seen along the axis, with gain_two in addition for pressures that oppose each other (Sum - |P|). The four
joints are a universal joint between two slides. Rotated by th1 about y and th2 about z, its far axis is
(c1 c2, s2, -s1 c2). Slides of half the arc's length times tan(b/2)/(b/2) put its far end where an arc of the bend b has
it.

Angles to that axis exist for every bend, but not without a jump: beyond a quarter turn in the plane of y, th1 would
jump by half a turn. So near that plane, from NEAR_RAD on, they blend into the bend's components along y and z. The
axis is exact up to NEAR_RAD, in the planes of y and z, and more than asin(BLEND_COSINE) from the plane of y. There the
other two of three regular chambers bend it to. In between it is off by up to 12 degrees at a quarter turn and 30 at
FULL_RAD. Beyond FULL_RAD, which no joint reaches, the angles grow with the bend, and so does a blocked joint's torque.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.types import Floats, Record, Records, floats, ints
from caudal.sim_plant.tables.soft_joints import SoftJoint
from caudal.sim_plant.tree.model import Model

NEAR_RAD, FAR_RAD, FULL_RAD = math.radians(60.0), math.radians(85.0), 2.0
BLEND_COSINE = 0.7

COPIED_KEYS = (
    "length_m stretch_m_per_pa bend_rad_per_pa stiffness_n_m_rad stiff_share soft_pa stiff_pa axial_n_per_m"
)
SOFT = np.dtype(
    # bodies of its joints, in their tree; its chambers' valves among all actuators, or -1; direction of each chamber
    ints("body", 4) + ints("valve", 3) + floats("y z", 3) + floats("gain_per_pa") + floats(COPIED_KEYS)
)


def pack_softs(softs: Mapping[str, SoftJoint], model: Model, valves: Mapping[str, int]) -> Records:
    """SOFT records; a chamber whose valve is not in `valves` stays without pressure."""
    rows = np.zeros(len(softs), SOFT)
    carried = {body.joint.name: body.name for body in model.spec.body if body.joint}
    for row, soft in zip(rows, softs.values(), strict=True):
        row["body"] = [model.place(carried[joint]) for joint in soft.joints]
        row["valve"] = [valves.get(chamber, -1) for chamber in soft.chambers]
        row["y"], row["z"] = np.cos(np.radians(soft.at_deg)), np.sin(np.radians(soft.at_deg))
        row["gain_per_pa"] = soft.gain_two / soft.two_pa
        for key in COPIED_KEYS.split():
            row[key] = getattr(soft, key)
    return rows


def set_rest_positions(softs: Mapping[str, SoftJoint], model: Model, x: Floats) -> None:
    """Set soft joints in a state to their rest without pressure: straight, at their length."""
    for soft in softs.values():
        for joint in (soft.joints[0], soft.joints[3]):
            x[model.q[joint]] = 0.5 * soft.length_m


@inner
def smoothstep(share: float) -> float:
    """Cubic step from 0 at 0 to 1 at 1, with slope 0 at both ends."""
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


@inner
def rest_angles(bend_rad: float, y: float, z: float) -> tuple[float, float]:
    """th1 and th2 (rad) of a bend towards the unit vector (y, z)."""
    b = min(bend_rad, FULL_RAD)
    th1 = math.atan2(-math.sin(b) * z, math.cos(b))
    th2 = math.asin(min(max(math.sin(b) * y, -1.0), 1.0))
    blend = smoothstep((b - NEAR_RAD) / (FAR_RAD - NEAR_RAD)) * smoothstep(1.0 - abs(z) / BLEND_COSINE)
    th1 += blend * (-b * z - th1)
    th2 += blend * (b * y - th2)
    return th1 - (bend_rad - b) * z, th2 + (bend_rad - b) * y


@inner
def set_soft_springs(soft: Record, actuators: Records, bodies: Records) -> None:
    """Set stiffness and rest of a soft joint's four springs from its chambers' mean pressures in this step."""
    total, y, z = 0.0, 0.0, 0.0
    for c in range(3):
        if soft.valve[c] >= 0:
            pressure_pa = actuators[soft.valve[c]].mean_pa
            total += pressure_pa
            y -= pressure_pa * soft.y[c]
            z -= pressure_pa * soft.z[c]
    resultant = math.hypot(y, z)
    bend_rad = soft.bend_rad_per_pa * resultant * (1.0 + soft.gain_per_pa * (total - resultant))
    th1, th2, half = 0.0, 0.0, 0.5 * min(bend_rad, FULL_RAD)
    if resultant > 0.0:
        th1, th2 = rest_angles(bend_rad, y / resultant, z / resultant)
    slide_m = 0.5 * (soft.length_m + soft.stretch_m_per_pa * total / 3.0)
    slide_m *= math.tan(half) / half if half > 1e-4 else 1.0 + half * half / 3.0
    stiffened = min(max((0.5 * total - soft.soft_pa) / (soft.stiff_pa - soft.soft_pa), 0.0), 1.0)
    bodies[soft.body[0]].rest = bodies[soft.body[3]].rest = slide_m
    bodies[soft.body[1]].rest, bodies[soft.body[2]].rest = th1, th2
    for k in range(1, 3):
        bodies[soft.body[k]].stiffness = soft.stiffness_n_m_rad * (1.0 + (soft.stiff_share - 1.0) * stiffened)
    bodies[soft.body[0]].stiffness = bodies[soft.body[3]].stiffness = soft.axial_n_per_m
