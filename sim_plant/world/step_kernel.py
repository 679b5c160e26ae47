"""Kernels that a world of Strouhal vehicles calls: step all of it, place a body, observe a body."""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Flat
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.parts.actuators import observe_actuators, queue_commands, step_actuators
from caudal.sim_plant.parts.sensors import sample_due
from caudal.sim_plant.scene.contact import clearance_m, place_hull, resolve_contacts
from caudal.sim_plant.water.strouhal import step_swimmer

QUEUE_FULL, DIVERGED = 1, 2


@inner
def queue_all(flat: Flat) -> int:
    """Queue the new commands and sample the due sensors of all bodies; the body whose queue is full, or -1."""
    for i in range(len(flat.bodies)):
        if flat.written[i] and not queue_commands(flat, i):
            return i
        sample_due(flat, i)
    return -1


@inner
def save_pose(flat: Flat, i: int) -> None:
    """Save the pose, speed and joint angles of body i before a step."""
    body = flat.bodies[i]
    body.old_x_m, body.old_y_m = body.x_m, body.y_m
    body.old_heading_rad, body.old_speed_m_s = body.heading_rad, body.speed_m_s
    for k in range(body.first_joint, body.first_joint + body.joints):
        flat.joints[k].old_rad = flat.joints[k].angle_rad


@compiled
def advance(flat: Flat, duration_us: int, step_us: int) -> tuple[int, int]:
    """Step the world by duration_us; returns (0, or QUEUE_FULL; the index of the body at fault)."""
    world = flat.world[0]
    full = queue_all(flat)
    if full >= 0:
        return QUEUE_FULL, full
    end_us = world.time_us + duration_us
    while world.time_us < end_us:
        dt_us = min(step_us, end_us - world.time_us)
        dt_s = dt_us * 1e-6
        now_s = (world.time_us + dt_us) * 1e-6
        for i in range(len(flat.bodies)):
            body = flat.bodies[i]
            save_pose(flat, i)
            step_actuators(flat, i, world.time_us, dt_us)
            step_swimmer(body, flat.joints, now_s, dt_s)
            place_hull(flat, i)
        resolve_contacts(flat)
        world.time_us += dt_us
        for i in range(len(flat.bodies)):
            body = flat.bodies[i]
            body.surge_m_s2 = (body.speed_m_s - body.old_speed_m_s) / dt_s
        for i in range(len(flat.bodies)):
            sample_due(flat, i)
    return 0, 0


@compiled
def place_at(flat: Flat, i: int, x_m: float, y_m: float, heading_rad: float) -> float:
    """Put body i at a pose; returns its clearance there (m), 0 if it touches or overlaps something."""
    body = flat.bodies[i]
    body.x_m, body.y_m, body.heading_rad = x_m, y_m, heading_rad
    place_hull(flat, i)
    return clearance_m(flat, i)


@compiled
def observe(flat: Flat, i: int, out: Floats) -> None:
    """Write to `out` TRUTH_FIELDS, TAIL_TRUTH_FIELDS, body i's joint angles, and what observe_actuators adds."""
    body = flat.bodies[i]
    out[0], out[1], out[2], out[3] = body.x_m, body.y_m, body.depth_m, body.heading_rad
    out[4], out[5], out[6] = body.speed_m_s, body.yaw_rate_rad_s, clearance_m(flat, i)
    out[7], out[8] = body.beat_hz, body.beat_m * body.beat_scale
    out[9], out[10] = body.deflection_rad, body.thrust_n
    for k in range(body.joints):
        out[11 + k] = flat.joints[body.first_joint + k].angle_rad
    observe_actuators(flat, i, out, 11 + body.joints)
