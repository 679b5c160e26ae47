"""Bodies on their own: from a state into the common frame and weighed there, ahead by a step, and back."""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (  # fmt: skip
    add,
    cross,
    dot,
    matrix,
    minus,
    product,
    put,
    put_matrix,
    quaternion_matrix,
    quaternion_turn,
    quaternion_unit,
    scale,
    transposed,
    turned,
    turned_back,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record
from caudal.sim_plant.maximal.arrays import Chains
from caudal.sim_plant.maximal.cables import hold_rope, stretch
from caudal.sim_plant.maximal.joints import (  # fmt: skip
    fit,
    hold,
    invert,
    matrix_quaternion,
    measure,
    push_bodies,
    read_rates,
    take_up,
)
from caudal.sim_plant.tree.recursion import place_base, place_body, sweep, weigh


@inner
def place(chains: Chains, x: Floats) -> None:
    """The bodies of a state in the common frame, and the joints as they stand in it."""
    tree = chains.tree
    water = tree.water[0]
    place_base(water, tree.bodies[0], x)
    base, at, drift = quaternion_matrix(x[3], x[4], x[5], x[6]), vector(x, 0), vector(water.drift, 0)
    for i in range(len(chains.frees)):
        free = chains.frees[i]
        s = free.at
        turn = product(transposed(base), quaternion_matrix(x[s + 3], x[s + 4], x[s + 5], x[s + 6]))
        there = turned_back(base, minus(vector(x, s), at))
        w = turned(turn, vector(x, s + 10))
        v = minus(turned(turn, vector(x, s + 7)), drift)
        put_matrix(free.turn, turn)
        put_matrix(free.ahead_turn, turn)
        put(free.place, 0, there)
        put(free.ahead_place, 0, there)
        put(free.v, 0, add(v, cross(there, w)))
        put(free.v, 3, w)
    for i in range(len(chains.links)):
        link = chains.links[i]
        measure(chains, link, x)
        fit(link, link.gap)
        take_up(chains, link, x)
        measure(chains, link, x)
        read_rates(chains, link, x)


@inner
def prepare(chains: Chains, x: Floats, tau: Floats) -> None:
    """Place and weigh the bodies of a state, and find what links and ropes hold."""
    tree = chains.tree
    place(chains, x)
    for i in range(1, len(tree.bodies)):
        body = tree.bodies[i]
        place_body(body, tree.bodies[body.parent], x)  # for its joint's force, and for bodies without mass
        if chains.free_of[i] >= 0:
            free = chains.frees[chains.free_of[i]]
            put_matrix(body.turn, matrix(free.turn))
            put(body.at, 0, vector(free.place, 0))
            for r in range(6):
                body.velocity[r] = free.v[r]
    for i in range(len(tree.foils)):
        foil = tree.foils[i]
        if foil.lags:
            foil.lag[0], foil.lag[1] = x[foil.lag_at], x[foil.lag_at + 1]
    weigh(tree)
    for i in range(len(chains.links)):
        push_bodies(chains, chains.links[i], tau)
    for r in range(6):
        tree.bodies[0].force[r] -= tau[r]
    for i in range(len(chains.frees)):
        free = chains.frees[i]
        body = tree.bodies[free.body]
        for r in range(6):
            free.before[r] = free.v[r]
            for c in range(6):
                free.yields[r, c] = body.inertia[r, c]
        invert(free.yields, 6)
    for i in range(len(chains.links)):
        hold(chains, chains.links[i])
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.length_m = x[rope.load_at + 1]
        hold_rope(chains, rope)


@inner
def look_ahead(free: Record, dt_s: float) -> None:
    """Where a body's velocity, a screw, takes it in a step."""
    turn, shift = scale(dt_s, vector(free.v, 3)), scale(dt_s, vector(free.v, 0))
    t = dot(turn, turn)
    if t < 1e-3:
        a = 1.0 - t / 6.0 * (1.0 - t / 20.0 * (1.0 - t / 42.0))
        b = 0.5 - t / 24.0 * (1.0 - t / 30.0 * (1.0 - t / 56.0))
        c = 1.0 / 6.0 - t / 120.0 * (1.0 - t / 42.0 * (1.0 - t / 72.0))
    else:
        angle = math.sqrt(t)
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / t
        c = (1.0 - a) / t
    x, y, z = turn
    moved = (
        1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y,
        b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x,
        b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y),
    )  # fmt: skip
    once = cross(turn, shift)
    at = add(
        turned(moved, vector(free.place, 0)), add(shift, add(scale(b, once), scale(c, cross(turn, once))))
    )
    put_matrix(free.ahead_turn, product(moved, matrix(free.turn)))
    put(free.ahead_place, 0, at)


@inner
def move(chains: Chains, x: Floats, dt_s: float, drift_s: float) -> None:
    """Put the bodies where they looked ahead to; their velocities are run on from the middle of the step."""
    water = chains.tree.water[0]
    base, at = quaternion_matrix(x[3], x[4], x[5], x[6]), vector(x, 0)
    carried = scale(drift_s, vector(water.current_m_s, 0))
    for i in range(len(chains.frees)):
        free = chains.frees[i]
        s, there, turn = free.at, vector(free.ahead_place, 0), matrix(free.ahead_turn)
        v, w = vector(free.v, 0), vector(free.v, 3)
        put(free.half, 0, turned_back(turn, add(v, cross(w, there))))
        put(free.half, 3, turned_back(turn, w))
        put(x, s, add(add(at, carried), turned(base, there)))
        quaternion_turn(x, s + 3, turned_back(matrix(free.turn), w), dt_s)
        quaternion_unit(x, s + 3)
        v = minus(scale(2.0, v), vector(free.before, 0))
        w = minus(scale(2.0, w), vector(free.before, 3))
        put(x, s + 7, turned_back(turn, add(add(v, cross(w, there)), vector(water.drift, 0))))
        put(x, s + 10, turned_back(turn, w))


@inner
def note_velocities(chains: Chains, x: Floats) -> None:
    """Write the velocities of bodies and joints into x."""
    drift = vector(chains.tree.water[0].drift, 0)
    for i in range(len(chains.frees)):
        free = chains.frees[i]
        turn, w = matrix(free.turn), vector(free.v, 3)
        v = add(add(vector(free.v, 0), cross(w, vector(free.place, 0))), drift)
        put(x, free.at + 7, turned_back(turn, v))
        put(x, free.at + 10, turned_back(turn, w))
    for i in range(len(chains.links)):
        read_rates(chains, chains.links[i], x)


@compiled
def spread(chains: Chains, x: Floats) -> None:
    """Write every body's own numbers, from the tree's at the beginning of x."""
    tree = chains.tree
    sweep(tree, x[: len(tree.rate)])
    base, at, drift = quaternion_matrix(x[3], x[4], x[5], x[6]), vector(x, 0), vector(tree.water[0].drift, 0)
    for i in range(1, len(chains.frees)):
        s, body = chains.frees[i].at, tree.bodies[chains.frees[i].body]
        turn, there, w = matrix(body.turn), vector(body.at, 0), vector(body.velocity, 3)
        put(x, s, add(at, turned(base, there)))
        q = matrix_quaternion(product(base, turn))
        x[s + 3], x[s + 4], x[s + 5], x[s + 6] = q
        put(x, s + 7, turned_back(turn, add(add(vector(body.velocity, 0), cross(w, there)), drift)))
        put(x, s + 10, turned_back(turn, w))
    for _ in range(20):  # closures' joints may begin far from 0
        place(chains, x)


@compiled
def gaps(chains: Chains, x: Floats, out: Floats) -> None:
    """Fill out with the largest gap between points (m) and between directions (rad) that a link should hold."""
    place(chains, x)
    out[0] = out[1] = 0.0
    for i in range(len(chains.links)):
        link = chains.links[i]
        measure(chains, link, x)
        fit(link, link.gap)
        gap, turn = vector(link.gap, 0), vector(link.gap, 3)
        out[0] = max(out[0], math.sqrt(dot(gap, gap)))
        out[1] = max(out[1], math.sqrt(dot(turn, turn)))
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.length_m = x[rope.load_at + 1]
        stretch(chains, rope, False)
        out[0] = max(out[0], rope.over_m if rope.pulls_only else abs(rope.over_m))
