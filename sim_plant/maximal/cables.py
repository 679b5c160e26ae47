"""A rod or a tendon: one length, along guides on two or more bodies, and the impulses that keep it.

An impulse is a tension over time, positive if it pulls; the sum of a tendon's impulses in a step never pushes.
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (
    add,
    cross,
    dot,
    inertia_times,
    matrix,
    rotate,
    scale,
    store,
    subtract,
    vector,
)
from caudal.sim_plant.base.types import Record, Vec3
from caudal.sim_plant.maximal.arrays import Chains
from caudal.sim_plant.maximal.joints import dot_6

MIN_DISTANCE_M = 1e-9  # guides nearer to each other have no direction between them


@inner
def guide_point(chains: Chains, guide: Record) -> Vec3:
    """Position of a guide on the next pose of its body, common frame."""
    free_body = chains.free_bodies[chains.ends[guide.end].free_body]
    return add(vector(free_body.next_place, 0), rotate(matrix(free_body.next_turn), vector(guide.at, 0)))


@inner
def add_pull(end: Record, point: Vec3, force: Vec3) -> None:
    """Add a force at a point to what a unit tension does at a rope's end."""
    store(end.wrench, 0, add(vector(end.wrench, 0), force))
    store(end.wrench, 3, add(vector(end.wrench, 3), cross(point, force)))


@inner
def measure_rope(chains: Chains, rope: Record, pulls: bool) -> None:
    """Write the excess of the rope over its length at the next poses; with `pulls`, also what a unit tension does."""
    last = rope.first_end + rope.count_ends
    if pulls:
        for e in range(rope.first_end, last):
            chains.ends[e].wrench[:] = 0.0
    here, length = guide_point(chains, chains.guides[rope.first]), 0.0
    for g in range(rope.first + 1, rope.first + rope.count):
        there = guide_point(chains, chains.guides[g])
        span = subtract(there, here)
        part = math.sqrt(dot(span, span))
        length += part
        if pulls and part > MIN_DISTANCE_M:
            add_pull(chains.ends[chains.guides[g - 1].end], here, scale(1.0 / part, span))
            add_pull(chains.ends[chains.guides[g].end], there, scale(-1.0 / part, span))
        here = there
    rope.excess_m = length - rope.length_m


@inner
def prepare_rope(chains: Chains, rope: Record) -> None:
    """From the inertia of the bodies: the effect of a unit impulse of the rope."""
    measure_rope(chains, rope, True)
    rope.inverse_mass = 0.0
    for e in range(rope.first_end, rope.first_end + rope.count_ends):
        end = chains.ends[e]
        v, w = inertia_times(
            chains.free_bodies[end.free_body].inverse_inertia, vector(end.wrench, 0), vector(end.wrench, 3)
        )
        store(end.response, 0, v)
        store(end.response, 3, w)
        rope.inverse_mass += dot_6(end.wrench, 0, end.response, 0)


@inner
def apply_tension(chains: Chains, rope: Record, impulse: float) -> float:
    """Add to the rope's impulse (N s), as far as it can pull; returns the part that was added."""
    if rope.pulls_only:
        impulse = max(impulse, -rope.impulse)
    rope.impulse += impulse
    for e in range(rope.first_end, rope.first_end + rope.count_ends):
        end = chains.ends[e]
        free_body = chains.free_bodies[end.free_body]
        for r in range(6):
            free_body.v[r] += end.response[r] * impulse
    return impulse


@inner
def solve_rope_position(chains: Chains, rope: Record, dt_s: float) -> float:
    """Impulse now after which the rope is no longer than its length a step later; returns the velocity change (m/s)."""
    measure_rope(chains, rope, False)
    if rope.inverse_mass > 0.0:
        rate: float = rope.inverse_mass * apply_tension(
            chains, rope, rope.excess_m / (dt_s * rope.inverse_mass)
        )
        return abs(rate)
    return 0.0


@inner
def solve_rope_velocity(chains: Chains, rope: Record) -> float:
    """Impulse after which a taut rope lengthens at its set rate; returns the velocity change (m/s)."""
    if rope.taut and rope.inverse_mass > 0.0:
        shrinks = 0.0
        for e in range(rope.first_end, rope.first_end + rope.count_ends):
            end = chains.ends[e]
            shrinks += dot_6(end.wrench, 0, chains.free_bodies[end.free_body].v, 0)
        rate: float = rope.inverse_mass * apply_tension(
            chains, rope, -(shrinks + rope.rate_m_s) / rope.inverse_mass
        )
        return abs(rate)
    return 0.0
