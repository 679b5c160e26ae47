"""Vehicles as flat arrays: the record of a body and of a joint, and the bundle every kernel is given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim_plant.spec import PlantSpec

F, N = np.float64, np.int64


WORLD = np.dtype(
    [("time_us", N), ("pool", N), ("length_m", F), ("width_m", F), ("collisions", N), ("lasting", N)]
    + [("target", N), ("target_x_m", F), ("target_y_m", F), ("target_speed_m_s", F)]
    + [("target_radius_m", F), ("target_heading_rad", F), ("target_length_m", F)]
)

BODY = np.dtype(
    # where its parts stand in the other arrays
    [("first_joint", N), ("joints", N), ("first_actuator", N), ("actuators", N), ("first_sensor", N)]
    + [("sensors", N), ("next_sample_us", N), ("deflected_joints", N)]
    # motion
    + [("x_m", F), ("y_m", F), ("heading_rad", F), ("speed_m_s", F), ("yaw_rate_rad_s", F)]
    + [("surge_m_s2", F), ("force_n", F), ("collisions", N), ("blocked", N)]
    + [("old_x_m", F), ("old_y_m", F), ("old_heading_rad", F), ("old_speed_m_s", F)]
    # the law
    + [("mass_kg", F), ("area_m2", F), ("strouhal", F), ("turn_rad", F), ("viscosity_m2_s", F)]
    + [("density_kg_m3", F), ("depth_m", F), ("reynolds_m", F), ("beat_scale", F)]
    # hull
    + [("head_m", F), ("head_width_m", F), ("tail_width_m", F), ("reach_m", F), ("tail_m", F)]
    # what stopwatch and ruler read off the tail (strouhal.py)
    + [("beat_hz", F), ("beat_m", F), ("deflection_rad", F), ("travel", F), ("thrust_n", F)]
    + [("watch_rad_s", F), ("counted_hz", F), ("smooth_m", F), ("tip_m", F), ("middle_m", F)]
    + [("beside_m", F), ("path_m", F), ("seen_s", F), ("counted_s", F), ("moved_s", F), ("half_s", F)]
    + [("crossings", N)]
)

JOINT = np.dtype(
    [("length_m", F), ("deflects", N), ("angle_rad", F), ("old_rad", F)]
    # the tail's motion taken apart: mean + wave, and the wave a quarter beat on
    + [("mean_rad", F), ("wave_rad", F), ("quarter_rad", F)]
)


class Flat(NamedTuple):
    """All that a kernel needs, as one argument."""

    world: np.ndarray  # one WORLD record
    bodies: np.ndarray  # BODY
    joints: np.ndarray  # JOINT, body by body, front to tip
    actuators: np.ndarray  # actuators.ACTUATOR
    written: np.ndarray  # (body): 1 when commands_us are new
    commands_us: np.ndarray  # what the next step puts on each actuator's line
    due_us: np.ndarray  # (actuator, place in the line): when a pulse takes effect
    pulses_us: np.ndarray  # (actuator, place in the line)
    sensors: np.ndarray  # sensors.SENSOR
    counts: np.ndarray  # the newest unread count of each sensor, or NO_READING
    normals: np.ndarray  # (sensor, draw)
    uniforms: np.ndarray  # (sensor, draw)
    cylinders: np.ndarray  # (cylinder, 3): x, y, radius
    hulls: np.ndarray  # (body, head or tail, corner, 2)
    touching: np.ndarray  # (body, 4 walls + cylinders + bodies): 1 while a contact lasts


def pack_body(spec: PlantSpec) -> tuple[np.ndarray, np.ndarray]:
    """(one BODY record, its JOINT records), at rest at the origin with a straight tail."""
    body = np.zeros(1, BODY)
    row = body[0]
    row["mass_kg"], row["area_m2"] = spec.mass_kg, spec.wetted_area_m2
    row["strouhal"], row["turn_rad"] = spec.strouhal, spec.turn_rad_per_beat
    row["viscosity_m2_s"], row["density_kg_m3"] = spec.viscosity_m2_s, spec.density_kg_m3
    row["depth_m"], row["reynolds_m"] = spec.depth_m, spec.reynolds_length_m
    row["beat_scale"] = spec.tail_beat_scale
    hull = spec.hull
    row["head_m"], row["head_width_m"] = hull.head_length_m, hull.head_width_m
    row["tail_width_m"] = hull.tail_width_m
    row["tail_m"] = sum(link.length_m for link in spec.link)
    # No corner is ever farther from the base point than this: the broad phase's circle.
    row["reach_m"] = max(
        np.hypot(hull.head_length_m, hull.head_width_m / 2), np.hypot(row["tail_m"], hull.tail_width_m / 2)
    )
    row["watch_rad_s"] = 2 * np.pi  # until the tail says otherwise
    joints = np.zeros(len(spec.link), JOINT)
    for i, link in enumerate(spec.link):
        joints[i]["length_m"] = link.length_m
        joints[i]["deflects"] = link.joint in spec.deflection_joints
    row["joints"], row["deflected_joints"] = len(joints), joints["deflects"].sum()
    return body, joints
