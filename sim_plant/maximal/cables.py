"""A rod or a tendon: one length, along guides on two bodies or more, and the impulses that keep it.

An impulse is a tension over time, positive where it pulls; a tendon's sum of impulses in a step never pushes.
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
    minus,
    put,
    scale,
    turned,
    vector,
)
from caudal.sim_plant.base.types import Record, Vec3
from caudal.sim_plant.maximal.arrays import Chains
from caudal.sim_plant.maximal.joints import dot_6

SHORT_M = 1e-9  # guides nearer than this have no direction between them


@inner
def guide_point(chains: Chains, guide: Record) -> Vec3:
    free = chains.frees[chains.ends[guide.end].free]
    return add(vector(free.ahead_place, 0), turned(matrix(free.ahead_turn), vector(guide.at, 0)))


@inner
def pull_at(end: Record, point: Vec3, force: Vec3) -> None:
    put(end.wrench, 0, add(vector(end.wrench, 0), force))
    put(end.wrench, 3, add(vector(end.wrench, 3), cross(point, force)))


@inner
def stretch(chains: Chains, rope: Record, pulls: bool) -> None:
    """Write how much longer than its length the rope is ahead; with `pulls`, what a unit tension does too."""
    last = rope.first_end + rope.count_ends
    if pulls:
        for e in range(rope.first_end, last):
            chains.ends[e].wrench[:] = 0.0
    here, length = guide_point(chains, chains.guides[rope.first]), 0.0
    for g in range(rope.first + 1, rope.first + rope.count):
        there = guide_point(chains, chains.guides[g])
        way = minus(there, here)
        part = math.sqrt(dot(way, way))
        length += part
        if pulls and part > SHORT_M:
            pull_at(chains.ends[chains.guides[g - 1].end], here, scale(1.0 / part, way))
            pull_at(chains.ends[chains.guides[g].end], there, scale(-1.0 / part, way))
        here = there
    rope.over_m = length - rope.length_m


@inner
def hold_rope(chains: Chains, rope: Record) -> None:
    """From the bodies' inertia: what a unit impulse does."""
    stretch(chains, rope, True)
    rope.yields = 0.0
    for e in range(rope.first_end, rope.first_end + rope.count_ends):
        end = chains.ends[e]
        v, w = inertia_times(chains.frees[end.free].yields, vector(end.wrench, 0), vector(end.wrench, 3))
        put(end.on, 0, v)
        put(end.on, 3, w)
        rope.yields += dot_6(end.wrench, 0, end.on, 0)


@inner
def pull(chains: Chains, rope: Record, impulse: float) -> float:
    """Add to the rope's impulse (N s), as far as it can pull. Returns how much it took."""
    if rope.pulls_only:
        impulse = max(impulse, -rope.impulse)
    rope.impulse += impulse
    for e in range(rope.first_end, rope.first_end + rope.count_ends):
        end = chains.ends[e]
        free = chains.frees[end.free]
        for r in range(6):
            free.v[r] += end.on[r] * impulse
    return impulse


@inner
def pull_position(chains: Chains, rope: Record, dt_s: float) -> float:
    """An impulse now after which the rope is no longer than its length a step ahead. Returns the rate it takes."""
    stretch(chains, rope, False)
    if rope.yields > 0.0:
        rate: float = rope.yields * pull(chains, rope, rope.over_m / (dt_s * rope.yields))
        return abs(rate)
    return 0.0


@inner
def pull_velocity(chains: Chains, rope: Record) -> float:
    """An impulse after which a taut rope grows as its length does. Returns the rate it takes (m/s)."""
    if rope.taut and rope.yields > 0.0:
        shrinks = 0.0
        for e in range(rope.first_end, rope.first_end + rope.count_ends):
            end = chains.ends[e]
            shrinks += dot_6(end.wrench, 0, chains.frees[end.free].v, 0)
        rate: float = rope.yields * pull(chains, rope, -(shrinks + rope.rate_m_s) / rope.yields)
        return abs(rate)
    return 0.0
