"""A tether from a vehicle's base to a fixed point: slack up to its length, then a spring, with drag and twist.

It acts in every stage of a tree's step, as the water does: a taut tether gives back no more energy than it took.
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (
    add,
    cross,
    dot,
    matrix,
    rotate,
    rotate_back,
    scale,
    subtract,
    vector,
)
from caudal.sim_plant.base.types import Record, Records
from caudal.sim_plant.tables.read import Tether
from caudal.sim_plant.water.wrench import apply_force

MIN_COS_PITCH_SQUARED = 0.01  # at steeper pitch the heading, and with it the twist, is not well defined


def pack_tether(water: Records, tether: Tether, heading_rad: float) -> None:
    """Write a tether into a tree's WATER record; heading_rad is the heading at the start."""
    water["tethered"], water["tether_at"] = 1, tether.at_m
    water["tether_end"] = (tether.x_m, tether.y_m, -tether.depth_m)
    water["tether_slack_m"], water["tether_stiffness"] = tether.slack_m, tether.stiffness_n_per_m
    water["tether_drag"], water["tether_twist"] = tether.drag_n_s_per_m, tether.twist_n_m_per_rad
    water["start_heading_rad"] = water["last_heading_rad"] = heading_rad


@inner
def unwrap_heading(heading_rad: float, last_rad: float) -> float:
    """The heading (rad) nearest to the last one, whole turns added."""
    turns = (heading_rad - last_rad) / (2.0 * math.pi)
    return heading_rad - 2.0 * math.pi * math.floor(turns + 0.5)


@inner
def apply_tether(water: Record, base: Record) -> None:
    """Apply the tether's force and twist to the placed base."""
    turn, at = matrix(water.turn), vector(water.tether_at, 0)
    v, w = vector(base.velocity, 0), vector(base.velocity, 3)
    force = scale(-water.tether_drag, add(v, cross(w, at)))
    span = subtract(vector(water.tether_end, 0), add(vector(water.at, 0), rotate(turn, at)))
    length_m = math.sqrt(dot(span, span))
    over_m = length_m - water.tether_slack_m
    if over_m > 0.0:
        force = add(force, rotate_back(turn, scale(water.tether_stiffness * over_m / length_m, span)))
    # Along the gradient of the heading, not along the vertical, so that the twist conserves energy at any tilt.
    heading = unwrap_heading(math.atan2(turn[3], turn[0]), water.last_heading_rad)
    back_n_m = -water.tether_twist * (heading - water.start_heading_rad)
    lean = turn[6] / max(turn[0] * turn[0] + turn[3] * turn[3], MIN_COS_PITCH_SQUARED)
    torque = rotate_back(turn, scale(back_n_m, (-lean * turn[0], -lean * turn[3], 1.0)))
    apply_force(base, force, add(torque, cross(at, force)))
