"""Vehicles as flat arrays: the record of a body and of a joint, and the bundle every kernel is given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from caudal.sim_plant.base.types import F, Floats, Ints, N, Records
from caudal.sim_plant.tables.read import PlantSpec, Strouhal

NEVER_US = np.iinfo(np.int64).max


WORLD = np.dtype(
    [("time_us", N), ("pool", N), ("length_m", F), ("width_m", F), ("collisions", N), ("lasting", N)]
    + [("target", N), ("target_x_m", F), ("target_y_m", F), ("target_speed_m_s", F)]
    + [
        ("floor", N),
        ("depth_m", F),
        ("target_radius_m", F),
        ("target_heading_rad", F),
        ("target_length_m", F),
    ]
)

BODY = np.dtype(
    # where its parts stand in the other arrays
    [("first_joint", N), ("joints", N), ("first_actuator", N), ("actuators", N), ("first_sensor", N)]
    + [("sensors", N), ("next_sample_us", N), ("deflected_joints", N), ("first_soft", N), ("softs", N)]
    # its skin, the least clearance since it was last looked at, and of which point
    + [("first_skin", N), ("skin_points", N), ("skin_m", F), ("skin_point", N)]
    # motion
    + [("x_m", F), ("y_m", F), ("heading_rad", F), ("speed_m_s", F), ("yaw_rate_rad_s", F)]
    + [("roll_rad", F), ("pitch_rad", F), ("roll_rate_rad_s", F), ("pitch_rate_rad_s", F)]
    + [("surge_m_s2", F), ("force_n", F), ("collisions", N), ("blocked", N)]
    + [("old_x_m", F), ("old_y_m", F), ("old_heading_rad", F), ("old_speed_m_s", F)]
    # the law
    + [("mass_kg", F), ("area_m2", F), ("strouhal", F), ("turn_rad", F), ("viscosity_m2_s", F)]
    + [("density_kg_m3", F), ("depth_m", F), ("reynolds_m", F), ("beat_scale", F)]
    # the battery; capacity_c 0 lasts for ever
    + [("battery_v", F), ("full_v", F), ("empty_v", F), ("capacity_c", F), ("drawn_c", F)]
    + [("resistance_ohm", F), ("hotel_a", F)]
    # hull; heading without turns taken off, for the tether
    + [("stern_m", F), ("keel_m", F), ("grounded", N), ("wound_rad", F)]
    + [("meets", N), ("head_m", F), ("head_width_m", F), ("tail_width_m", F), ("reach_m", F), ("tail_m", F)]
    # what stopwatch and ruler read off the tail (water/strouhal.py)
    + [("beat_hz", F), ("beat_m", F), ("deflection_rad", F), ("travel", F), ("thrust_n", F)]
    + [("watch_rad_s", F), ("counted_hz", F), ("smooth_m", F), ("tip_m", F), ("middle_m", F)]
    + [("beside_m", F), ("path_m", F), ("seen_s", F), ("counted_s", F), ("moved_s", F), ("half_s", F)]
    + [("crossings", N)]
)

JOINT = np.dtype(
    [("length_m", F), ("bends", N), ("deflects", N), ("angle_rad", F), ("old_rad", F)]
    # in a tree (tree_layout): its place in a state, in a vector of velocities, among driven joints (or -1), its body
    + [("q_at", N), ("qd_at", N), ("v_at", N), ("told", N), ("body", N)]
    # the tail's motion taken apart: mean + wave, and the wave a quarter beat on
    + [("mean_rad", F), ("wave_rad", F), ("quarter_rad", F)]
)


class Flat(NamedTuple):
    """All that a kernel needs, as one argument."""

    world: Records  # one WORLD record
    bodies: Records  # BODY
    joints: Records  # JOINT, body by body, front to tip
    actuators: Records  # actuators.ACTUATOR
    written: Ints  # (body): 1 when commands_us are new
    commands_us: Ints  # what the next step puts on each actuator's line; a valve's are uA
    curves: Records  # motors.CURVE
    curve_points: Floats  # (point, 3) of all curves: us, N, A
    softs: Records  # soft.SOFT
    due_us: Ints  # (actuator, place in the line): when a pulse takes effect
    pulses_us: Ints  # (actuator, place in the line)
    sensors: Records  # sensors.SENSOR
    counts: Ints  # the newest unread count of each sensor, or NO_READING
    normals: Floats  # (sensor, draw)
    uniforms: Floats  # (sensor, draw)
    cylinders: Floats  # (cylinder, 3): x, y, radius
    spheres: Floats  # (sphere, 4): x, y, z, radius
    skin: Records  # skin.POINT, body by body
    hulls: Floats  # (body, head or tail, corner, 2)
    touching: Ints  # (body, 4 walls + cylinders + bodies): 1 while a contact lasts


class Tree(NamedTuple):
    """A vehicle, and the room its kernels work in; one each thread."""

    water: Records  # one WATER record
    bodies: Records  # BODY, parents first
    tubes: Records  # buoyancy.TUBE
    rounds: Records  # buoyancy.ROUND
    corners: Floats  # (corner, 2) of all tubes, as water/buoyancy.py lays them out
    sums: Floats  # (corner, 3)
    along: Floats  # (section, 2)
    foils: Records  # foils.FOIL
    edges: Records  # slender.EDGE
    links: Records  # slender.LINK
    link_points: Floats  # (point, 2) of all links
    waves: Records  # waves.WAVE
    told_q: Ints  # (driven joint): its position in a state
    told_v: Ints  # (driven joint): its velocity in a state
    told: Floats  # (6 + nv): accelerations, of driven joints on entry, all on return
    rate: Floats  # (state)
    stage: Floats  # (state)
    sum: Floats  # (state)
    keep: Floats  # (state): the last sound one


def pack_body(spec: PlantSpec, tail_m: float) -> Records:
    """One BODY record, at rest at the origin; tail_m is the farthest its tip can be from the base point."""
    body = np.zeros(1, BODY)
    body["depth_m"], body["tail_m"], body["joints"] = spec.depth_m, tail_m, len(spec.joints)
    hull = spec.hull
    if hull is not None:
        body["meets"], body["head_m"] = 1, hull.head_length_m
        body["head_width_m"], body["tail_width_m"] = hull.head_width_m, hull.tail_width_m
        body["stern_m"], body["keel_m"] = hull.stern_length_m, hull.keel_m
        # No corner is ever farther from the base point than this: the broad phase's circle.
        body["reach_m"] = max(
            np.hypot(hull.head_length_m, hull.head_width_m / 2),
            np.hypot(hull.stern_length_m + tail_m, hull.tail_width_m / 2),
        )
    if spec.battery is not None:
        pack = spec.battery
        body["full_v"], body["resistance_ohm"], body["hotel_a"] = (
            pack.volts,
            pack.resistance_ohm,
            pack.hotel_a,
        )
        body["battery_v"] = max(pack.volts - pack.resistance_ohm * pack.hotel_a, 0.0)
        if pack.capacity_ah is not None and pack.volts_empty is not None:
            body["capacity_c"], body["empty_v"] = 3600.0 * pack.capacity_ah, pack.volts_empty
    return body


def pack_law(body: Records, law: Strouhal) -> Records:
    """JOINT records of a straight tail; the law's part of its BODY record."""
    body["mass_kg"], body["area_m2"] = law.mass_kg, law.wetted_area_m2
    body["strouhal"], body["turn_rad"] = law.number, law.turn_rad_per_beat
    body["viscosity_m2_s"], body["density_kg_m3"] = law.viscosity_m2_s, law.density_kg_m3
    body["reynolds_m"], body["beat_scale"] = law.reynolds_length_m, law.tail_beat_scale
    body["watch_rad_s"] = 2 * np.pi  # until the tail says otherwise
    joints = np.zeros(len(law.link), JOINT)
    joints["bends"] = 1
    joints["length_m"] = [link.length_m for link in law.link]
    joints["deflects"] = [link.joint in law.deflection_joints for link in law.link]
    body["deflected_joints"] = joints["deflects"].sum()
    return np.concatenate([joints, np.zeros(len(law.idle), JOINT)])
