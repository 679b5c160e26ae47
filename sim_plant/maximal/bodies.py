"""Bodies with coordinates of their own: from a state to the common frame, one step ahead, and back."""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (
    add,
    cross,
    dot,
    matrix,
    normalize_quaternion,
    product,
    quaternion_matrix,
    rotate,
    rotate_back,
    rotate_quaternion,
    scale,
    store,
    store_matrix,
    subtract,
    transpose,
    vector,
)
from caudal.sim_plant.base.types import Floats, Record
from caudal.sim_plant.maximal.arrays import Chains
from caudal.sim_plant.maximal.cables import measure_rope, prepare_rope
from caudal.sim_plant.maximal.joints import (
    apply_joint_forces,
    invert_spd,
    matrix_quaternion,
    measure_link,
    move_joints,
    prepare_link,
    remove_free_motion,
    write_joint_rates,
)
from caudal.sim_plant.tree.recursion import load_lags, place_base, place_body, tree_bias, update_tree


@inner
def place_bodies(chains: Chains, x: Floats) -> None:
    """Put the bodies of a state into the common frame, and set the joints as measured between them."""
    tree = chains.tree
    water = tree.water[0]
    place_base(water, tree.bodies[0], x)
    base, at, drift = quaternion_matrix(x[3], x[4], x[5], x[6]), vector(x, 0), vector(water.drift, 0)
    for i in range(len(chains.free_bodies)):
        free_body = chains.free_bodies[i]
        s = free_body.at
        turn = product(transpose(base), quaternion_matrix(x[s + 3], x[s + 4], x[s + 5], x[s + 6]))
        there = rotate_back(base, subtract(vector(x, s), at))
        w = rotate(turn, vector(x, s + 10))
        v = subtract(rotate(turn, vector(x, s + 7)), drift)
        store_matrix(free_body.turn, turn)
        store_matrix(free_body.next_turn, turn)
        store(free_body.place, 0, there)
        store(free_body.next_place, 0, there)
        store(free_body.v, 0, add(v, cross(there, w)))
        store(free_body.v, 3, w)
    for i in range(len(chains.links)):
        link = chains.links[i]
        measure_link(chains, link, x)
        remove_free_motion(link, link.gap)
        move_joints(chains, link, x)
        measure_link(chains, link, x)
        write_joint_rates(chains, link, x)


@inner
def prepare(chains: Chains, x: Floats, tau: Floats) -> None:
    """Place the bodies of a state, set their forces, and prepare the constraints of links and ropes."""
    tree = chains.tree
    place_bodies(chains, x)
    for i in range(1, len(tree.bodies)):
        body = tree.bodies[i]
        place_body(body, tree.bodies[body.parent], x)  # for the force of its joint, and for massless bodies
        if chains.free_index[i] >= 0:
            free_body = chains.free_bodies[chains.free_index[i]]
            store_matrix(body.turn, matrix(free_body.turn))
            store(body.at, 0, vector(free_body.place, 0))
            for r in range(6):
                body.velocity[r] = free_body.v[r]
    load_lags(tree, x)
    tree_bias(tree)
    for i in range(len(chains.links)):
        apply_joint_forces(chains, chains.links[i], tau)
    for r in range(6):
        tree.bodies[0].force[r] -= tau[r]
    for i in range(len(chains.free_bodies)):
        free_body = chains.free_bodies[i]
        body = tree.bodies[free_body.body]
        for r in range(6):
            free_body.start_v[r] = free_body.v[r]
            for c in range(6):
                free_body.inverse_inertia[r, c] = body.inertia[r, c]
        invert_spd(free_body.inverse_inertia, 6)
    for i in range(len(chains.links)):
        prepare_link(chains, chains.links[i])
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.length_m = x[rope.load_at + 1]
        prepare_rope(chains, rope)


@inner
def predict_pose(free_body: Record, dt_s: float) -> None:
    """Set a body's next pose: its velocity, a screw motion, for one step."""
    turn, shift = scale(dt_s, vector(free_body.v, 3)), scale(dt_s, vector(free_body.v, 0))
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
        rotate(moved, vector(free_body.place, 0)),
        add(shift, add(scale(b, once), scale(c, cross(turn, once)))),
    )
    store_matrix(free_body.next_turn, product(moved, matrix(free_body.turn)))
    store(free_body.next_place, 0, at)


@inner
def move_bodies(chains: Chains, x: Floats, dt_s: float, drift_s: float) -> None:
    """Move the bodies to their next poses; their velocities are extrapolated from the middle of the step."""
    water = chains.tree.water[0]
    base, at = quaternion_matrix(x[3], x[4], x[5], x[6]), vector(x, 0)
    carried = scale(drift_s, vector(water.current_m_s, 0))
    for i in range(len(chains.free_bodies)):
        free_body = chains.free_bodies[i]
        s, there, turn = free_body.at, vector(free_body.next_place, 0), matrix(free_body.next_turn)
        v, w = vector(free_body.v, 0), vector(free_body.v, 3)
        store(free_body.middle_v, 0, rotate_back(turn, add(v, cross(w, there))))
        store(free_body.middle_v, 3, rotate_back(turn, w))
        store(x, s, add(add(at, carried), rotate(base, there)))
        rotate_quaternion(x, s + 3, rotate_back(matrix(free_body.turn), w), dt_s)
        normalize_quaternion(x, s + 3)
        v = subtract(scale(2.0, v), vector(free_body.start_v, 0))
        w = subtract(scale(2.0, w), vector(free_body.start_v, 3))
        store(x, s + 7, rotate_back(turn, add(add(v, cross(w, there)), vector(water.drift, 0))))
        store(x, s + 10, rotate_back(turn, w))


@inner
def write_velocities(chains: Chains, x: Floats) -> None:
    """Write the velocities of bodies and joints to x."""
    drift = vector(chains.tree.water[0].drift, 0)
    for i in range(len(chains.free_bodies)):
        free_body = chains.free_bodies[i]
        turn, w = matrix(free_body.turn), vector(free_body.v, 3)
        v = add(add(vector(free_body.v, 0), cross(w, vector(free_body.place, 0))), drift)
        store(x, free_body.at + 7, rotate_back(turn, v))
        store(x, free_body.at + 10, rotate_back(turn, w))
    for i in range(len(chains.links)):
        write_joint_rates(chains, chains.links[i], x)


@compiled
def spread_state(chains: Chains, x: Floats) -> None:
    """Write the coordinates of every body, from the tree's state at the beginning of x."""
    tree = chains.tree
    update_tree(tree, x[: len(tree.rate)])
    base, at, drift = quaternion_matrix(x[3], x[4], x[5], x[6]), vector(x, 0), vector(tree.water[0].drift, 0)
    for i in range(1, len(chains.free_bodies)):
        s, body = chains.free_bodies[i].at, tree.bodies[chains.free_bodies[i].body]
        turn, there, w = matrix(body.turn), vector(body.at, 0), vector(body.velocity, 3)
        store(x, s, add(at, rotate(base, there)))
        q = matrix_quaternion(product(base, turn))
        x[s + 3], x[s + 4], x[s + 5], x[s + 6] = q
        store(x, s + 7, rotate_back(turn, add(add(vector(body.velocity, 0), cross(w, there)), drift)))
        store(x, s + 10, rotate_back(turn, w))
    for _ in range(20):  # joints of closures may start far from 0
        place_bodies(chains, x)


@compiled
def largest_gaps(chains: Chains, x: Floats, out: Floats) -> None:
    """Write to `out` the largest gap between points (m) and between directions (rad) of all links and ropes."""
    place_bodies(chains, x)
    out[0] = out[1] = 0.0
    for i in range(len(chains.links)):
        link = chains.links[i]
        measure_link(chains, link, x)
        remove_free_motion(link, link.gap)
        gap, turn = vector(link.gap, 0), vector(link.gap, 3)
        out[0] = max(out[0], math.sqrt(dot(gap, gap)))
        out[1] = max(out[1], math.sqrt(dot(turn, turn)))
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.length_m = x[rope.load_at + 1]
        measure_rope(chains, rope, False)
        out[0] = max(out[0], rope.excess_m if rope.pulls_only else abs(rope.excess_m))
