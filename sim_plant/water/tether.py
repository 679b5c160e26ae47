"""A tether from a vehicle's base to a fixed point: slack up to its length, then a spring; it drags and it twists.

It acts within every stage of a tree's step, as the water does, so that a taut tether gives back no more than it took.
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (
    add,
    cross,
    dot,
    matrix,
    minus,
    put,
    scale,
    turned,
    turned_back,
    vector,
)
from caudal.sim_plant.base.types import Record, Records
from caudal.sim_plant.tables.read import Tether

STEEPEST = 0.01  # square of the cosine of the pitch beyond which the heading, and so the twist, means nothing


def pack_tether(water: Records, tether: Tether, heading_rad: float) -> None:
    """Tie a tree that starts at this heading."""
    water["tethered"], water["tether_at"] = 1, tether.at_m
    water["tether_end"] = (tether.x_m, tether.y_m, -tether.depth_m)
    water["tether_slack_m"], water["tether_stiffness"] = tether.slack_m, tether.stiffness_n_per_m
    water["tether_drag"], water["tether_twist"] = tether.drag_n_s_per_m, tether.twist_n_m_per_rad
    water["start_heading_rad"] = water["last_heading_rad"] = heading_rad


@inner
def unwound(heading_rad: float, last_rad: float) -> float:
    """The heading that is nearest to the last one, whatever turns that takes."""
    turns = (heading_rad - last_rad) / (2.0 * math.pi)
    return heading_rad - 2.0 * math.pi * math.floor(turns + 0.5)


@inner
def hold(water: Record, base: Record) -> None:
    """Take the tether's forces off what the placed base asks for."""
    turn, at = matrix(water.turn), vector(water.tether_at, 0)
    v, w = vector(base.velocity, 0), vector(base.velocity, 3)
    force = scale(-water.tether_drag, add(v, cross(w, at)))
    way = minus(vector(water.tether_end, 0), add(vector(water.at, 0), turned(turn, at)))
    length_m = math.sqrt(dot(way, way))
    over_m = length_m - water.tether_slack_m
    if over_m > 0.0:
        force = add(force, turned_back(turn, scale(water.tether_stiffness * over_m / length_m, way)))
    # Along the gradient of the heading, not along the vertical: so the twist is a spring also when tilted.
    heading = unwound(math.atan2(turn[3], turn[0]), water.last_heading_rad)
    back_n_m = -water.tether_twist * (heading - water.start_heading_rad)
    lean = turn[6] / max(turn[0] * turn[0] + turn[3] * turn[3], STEEPEST)
    torque = turned_back(turn, scale(back_n_m, (-lean * turn[0], -lean * turn[3], 1.0)))
    put(base.force, 0, minus(vector(base.force, 0), force))
    put(base.force, 3, minus(vector(base.force, 3), add(torque, cross(at, force))))
