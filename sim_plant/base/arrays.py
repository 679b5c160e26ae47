"""The arrays of a world and of a tree of bodies: the records in them, and the bundles that kernels receive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from caudal.sim_plant.base.types import Floats, Ints, Records, floats, ints
from caudal.sim_plant.tables.read import PlantSpec, Strouhal

NEVER_US = np.iinfo(np.int64).max


WORLD = np.dtype(
    ints("time_us pool")
    + floats("length_m width_m")
    + ints("collisions active_contacts target")
    + floats("target_x_m target_y_m target_speed_m_s")
    + ints("floor")
    + floats("depth_m target_radius_m target_heading_rad target_length_m")
)

BODY = np.dtype(
    # where its parts are in the other arrays
    ints("first_joint joints first_actuator actuators first_sensor sensors")
    + ints("next_sample_us deflected_joints first_soft softs first_skin skin_points")
    # least clearance of its skin since it was last read, and the point that had it
    + floats("skin_clearance_m")
    + ints("skin_point")
    # motion
    + floats(
        "x_m y_m heading_rad speed_m_s yaw_rate_rad_s roll_rad pitch_rad roll_rate_rad_s pitch_rate_rad_s"
    )
    + floats("surge_m_s2 force_n")
    + ints("collisions blocked")
    + floats("old_x_m old_y_m old_heading_rad old_speed_m_s")
    # the Strouhal model
    + floats("mass_kg area_m2 strouhal turn_rad viscosity_m2_s density_kg_m3 depth_m reynolds_m beat_scale")
    # the battery; with capacity_c 0 it never runs down
    + floats("battery_v full_v empty_v capacity_c drawn_c resistance_ohm hotel_a")
    # the hull; unwrapped_heading_rad counts whole turns, for the tether
    + ints("grounded has_hull")
    + floats("stern_m keel_m unwrapped_heading_rad head_m head_width_m tail_width_m reach_m tail_m")
    # what is measured on the moving tail (water/strouhal.py)
    + floats("beat_hz beat_m deflection_rad travel thrust_n observer_rad_s timed_hz smooth_m tip_m middle_m")
    + floats("tip_offset_m path_m crossing_s timed_s moved_s half_beat_s")
    + ints("crossings")
)

JOINT = np.dtype(
    ints("bends deflects")
    + floats("length_m angle_rad old_rad")
    # in a tree: its indices in a state (tree/arrays.py) and among driven joints (or -1), its body
    + ints("q_at qd_at driven_index body")
    # the observed motion of a tail joint: mean, wave, and the wave a quarter of a beat later
    + floats("mean_rad wave_rad quarter_rad")
)


class Flat(NamedTuple):
    """All arrays of a world, as one argument of a kernel."""

    world: Records  # one WORLD record
    bodies: Records  # BODY
    joints: Records  # JOINT, body by body, front to tip
    actuators: Records  # parts.actuators.ACTUATOR
    written: Ints  # (body): 1 when commands_us are new
    commands_us: Ints  # what the next step queues for each actuator, us; for a valve, uA
    curves: Records  # parts.motors.CURVE
    curve_points: Floats  # (point, 3) of all curves: us, N, A
    softs: Records  # world.soft_joints.SOFT
    due_us: Ints  # (actuator, index in its queue): when a pulse takes effect
    pulses_us: Ints  # (actuator, index in its queue)
    sensors: Records  # parts.sensors.SENSOR
    counts: Ints  # the newest unread count of each sensor, or NO_READING
    normals: Floats  # (sensor, draw)
    uniforms: Floats  # (sensor, draw)
    cylinders: Floats  # (cylinder, 3): x, y, radius
    spheres: Floats  # (sphere, 4): x, y, z, radius
    skin: Records  # world.clearance.POINT, body by body
    hulls: Floats  # (body, head or tail, corner, 2)
    touching: Ints  # (body, 4 walls + cylinders + bodies): 1 while a contact lasts


class Tree(NamedTuple):
    """All arrays of a tree of bodies and the work space of its kernels; each thread needs its own."""

    water: Records  # one tree.arrays.WATER record
    bodies: Records  # tree.arrays.BODY, parents first
    tubes: Records  # water.buoyancy.TUBE
    ellipsoids: Records  # water.buoyancy.ELLIPSOID
    corners: Floats  # (corner, 2) of all tubes; water.buoyancy.pack_hulls says how
    corner_sums: Floats  # (corner, 3), sums over them
    sections: Floats  # (section, 2): distance along the tube, weight
    foils: Records  # water.foils.FOIL
    edges: Records  # water.slender.EDGE
    links: Records  # water.slender.LINK
    link_points: Floats  # (point, 2) of all links: distance along the link, weight
    waves: Records  # water.waves.WAVE
    driven_q: Ints  # (driven joint): index of its position in a state
    driven_v: Ints  # (driven joint): index of its velocity in a state
    acceleration: Floats  # (6 + nv): of driven joints on entry, of all on return
    rate: Floats  # (state)
    stage: Floats  # (state)
    rk4_sum: Floats  # (state)
    saved: Floats  # (state): the last one without divergence


def pack_body(spec: PlantSpec, tail_m: float) -> Records:
    """One BODY record at rest at the origin; tail_m is the largest distance of the tail's tip from the base point."""
    body = np.zeros(1, BODY)
    body["depth_m"], body["tail_m"], body["joints"] = spec.depth_m, tail_m, len(spec.joints)
    hull = spec.hull
    if hull is not None:
        body["has_hull"], body["head_m"] = 1, hull.head_length_m
        body["head_width_m"], body["tail_width_m"] = hull.head_width_m, hull.tail_width_m
        body["stern_m"], body["keel_m"] = hull.stern_length_m, hull.keel_m
        # The broad phase's circle: no corner of the hull gets farther from the base point.
        body["reach_m"] = max(
            np.hypot(hull.head_length_m, hull.head_width_m / 2),
            np.hypot(hull.stern_length_m + tail_m, hull.tail_width_m / 2),
        )
    if spec.battery is not None:
        pack = spec.battery
        body["full_v"] = pack.volts
        body["resistance_ohm"], body["hotel_a"] = pack.resistance_ohm, pack.hotel_a
        body["battery_v"] = max(pack.volts - pack.resistance_ohm * pack.hotel_a, 0.0)
        if pack.capacity_ah is not None and pack.volts_empty is not None:
            body["capacity_c"], body["empty_v"] = 3600.0 * pack.capacity_ah, pack.volts_empty
    return body


def pack_tail(body: Records, tail: Strouhal) -> Records:
    """JOINT records of a straight tail; fills the Strouhal model's part of its BODY record."""
    body["mass_kg"], body["area_m2"] = tail.mass_kg, tail.wetted_area_m2
    body["strouhal"], body["turn_rad"] = tail.number, tail.turn_rad_per_beat
    body["viscosity_m2_s"], body["density_kg_m3"] = tail.viscosity_m2_s, tail.density_kg_m3
    body["reynolds_m"], body["beat_scale"] = tail.reynolds_length_m, tail.tail_beat_scale
    body["observer_rad_s"] = 2 * np.pi  # until a beat is measured
    joints = np.zeros(len(tail.link), JOINT)
    joints["bends"] = 1
    joints["length_m"] = [link.length_m for link in tail.link]
    joints["deflects"] = [link.joint in tail.deflection_joints for link in tail.link]
    body["deflected_joints"] = joints["deflects"].sum()
    return np.concatenate([joints, np.zeros(len(tail.idle), JOINT)])
