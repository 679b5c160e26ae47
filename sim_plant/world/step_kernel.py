"""The compiled calls that a world makes: one step of everything, and looking at one body."""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Flat
from caudal.sim_plant.base.jit import compiled
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.parts.actuators import drive, post, tell
from caudal.sim_plant.parts.sensors import sample_due, target_at
from caudal.sim_plant.scene.contact import clearance_m, place_hull, settle
from caudal.sim_plant.water.strouhal import swim

__all__ = ["advance", "clearance_m", "observe", "put", "sample_due", "target_at"]


LINE_FULL, DIVERGED = 1, 2


@compiled
def advance(flat: Flat, duration_us: int, step_us: int) -> tuple[int, int]:
    """Step the world by duration_us. Returns (what went wrong: 0 or LINE_FULL; whose line of pulses that is)."""
    world = flat.world[0]
    for i in range(len(flat.bodies)):
        if flat.written[i] and not post(flat, i):
            return LINE_FULL, i
        sample_due(flat, i)
    end_us = world.time_us + duration_us
    while world.time_us < end_us:
        dt_us = min(step_us, end_us - world.time_us)
        dt_s = dt_us * 1e-6
        now_s = (world.time_us + dt_us) * 1e-6
        for i in range(len(flat.bodies)):
            body = flat.bodies[i]
            body.old_x_m, body.old_y_m = body.x_m, body.y_m
            body.old_heading_rad, body.old_speed_m_s = body.heading_rad, body.speed_m_s
            for k in range(body.first_joint, body.first_joint + body.joints):
                flat.joints[k].old_rad = flat.joints[k].angle_rad
            drive(flat, i, world.time_us, dt_us)
            swim(body, flat.joints, now_s, dt_s)
            place_hull(flat, i)
        settle(flat)
        world.time_us += dt_us
        for i in range(len(flat.bodies)):
            body = flat.bodies[i]
            body.surge_m_s2 = (body.speed_m_s - body.old_speed_m_s) / dt_s
        for i in range(len(flat.bodies)):
            sample_due(flat, i)
    return 0, 0


@compiled
def put(flat: Flat, i: int, x_m: float, y_m: float, heading_rad: float) -> float:
    """Set body i down at a pose; returns its clearance there, 0 if it touches or overlaps."""
    body = flat.bodies[i]
    body.x_m, body.y_m, body.heading_rad = x_m, y_m, heading_rad
    place_hull(flat, i)
    return clearance_m(flat, i)


@compiled
def observe(flat: Flat, i: int, out: Floats) -> None:
    """Fill `out` with world.SEEN, TAIL_SEEN, the joint angles of body i, its thrusters' pushes and its voltage."""
    body = flat.bodies[i]
    out[0], out[1], out[2], out[3] = body.x_m, body.y_m, body.depth_m, body.heading_rad
    out[4], out[5], out[6] = body.speed_m_s, body.yaw_rate_rad_s, clearance_m(flat, i)
    out[7], out[8] = body.beat_hz, body.beat_m * body.beat_scale
    out[9], out[10] = body.deflection_rad, body.thrust_n
    for k in range(body.joints):
        out[11 + k] = flat.joints[body.first_joint + k].angle_rad
    tell(flat, i, out, 11 + body.joints)
