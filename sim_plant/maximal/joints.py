"""A link between two bodies: its gap, the motions that it allows, and the impulses that close the gap.

All vectors of a link are taken at its point, which moves with its second body, along the axes of the common frame. A
gap is a small displacement and rotation. A motion is one that the joints allow. A row is a unit force that the link
can apply to its bodies. Rows are orthogonal to all motions, so that no impulse does work on a joint.
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (
    add,
    axis_angle_matrix,
    cross,
    inertia_times,
    matrix,
    product,
    quaternion_matrix,
    rotate,
    rotate_back,
    rotate_quaternion,
    rotation_vector,
    scale,
    store,
    subtract,
    transpose,
    vector,
)
from caudal.sim_plant.base.types import Floats, Mat3, Record
from caudal.sim_plant.maximal.arrays import Chains
from caudal.sim_plant.tree.arrays import REVOLUTE, SPHERICAL
from caudal.sim_plant.tree.recursion import freedoms

PARALLEL = 1e-6  # sine of the angle below which two motions of a link count as one


@inner
def matrix_quaternion(m: Mat3) -> tuple[float, float, float, float]:
    """Quaternion w x y z of a rotation matrix (Shepperd: divide by the largest)."""
    trace = m[0] + m[4] + m[8]
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        return (0.25 * s, (m[7] - m[5]) / s, (m[2] - m[6]) / s, (m[3] - m[1]) / s)
    if m[0] >= m[4] and m[0] >= m[8]:
        s = 2.0 * math.sqrt(1.0 + m[0] - m[4] - m[8])
        return ((m[7] - m[5]) / s, 0.25 * s, (m[1] + m[3]) / s, (m[2] + m[6]) / s)
    if m[4] >= m[8]:
        s = 2.0 * math.sqrt(1.0 + m[4] - m[0] - m[8])
        return ((m[2] - m[6]) / s, (m[1] + m[3]) / s, 0.25 * s, (m[5] + m[7]) / s)
    s = 2.0 * math.sqrt(1.0 + m[8] - m[0] - m[4])
    return ((m[3] - m[1]) / s, (m[2] + m[6]) / s, (m[5] + m[7]) / s, 0.25 * s)


@inner
def invert_spd(m: Floats, n: int) -> None:
    """Invert the first n rows and columns of a symmetric positive definite matrix in place (Gauss-Jordan)."""
    for k in range(n):
        pivot = 1.0 / m[k, k]
        m[k, k] = 1.0
        for c in range(n):
            m[k, c] *= pivot
        for r in range(n):
            if r != k:
                factor = m[r, k]
                m[r, k] = 0.0
                for c in range(n):
                    m[r, c] -= factor * m[k, c]


@inner
def dot_6(a: Floats, first: int, b: Floats, second: int) -> float:
    """Scalar product of a[first:first + 6] and b[second:second + 6]."""
    total = 0.0
    for r in range(6):
        total += a[first + r] * b[second + r]
    return total


@inner
def measure_link(chains: Chains, link: Record, x: Floats) -> None:
    """Measure the gap and the motions of a link at the next poses: b, compared with where the joints of x put it."""
    a, b = chains.free_bodies[link.a], chains.free_bodies[link.b]
    turn, at = matrix(a.next_turn), vector(a.next_place, 0)
    turn_b = matrix(b.next_turn)
    point = add(vector(b.next_place, 0), rotate(turn_b, vector(link.end_at, 0)))
    store(link.point, 0, point)
    driven_v, driven_w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    n = 0
    for j in range(link.first, link.first + link.count):
        joint = chains.joints[j]
        at = add(at, rotate(turn, vector(joint.at, 0)))
        turn = product(turn, matrix(joint.turn))
        if joint.kind == SPHERICAL:
            q = joint.q_at
            turn = product(turn, quaternion_matrix(x[q], x[q + 1], x[q + 2], x[q + 3]))
            for k in range(3):
                axis = (turn[k], turn[3 + k], turn[6 + k])
                store(link.motions, 6 * n, cross(axis, subtract(point, at)))
                store(link.motions, 6 * n + 3, axis)
                n += 1
        elif freedoms(joint.kind) == 1:
            axis = rotate(turn, vector(joint.axis, 0))
            v, w = axis, (0.0, 0.0, 0.0)
            if joint.kind == REVOLUTE:
                turn = product(turn, axis_angle_matrix(vector(joint.axis, 0), x[joint.q_at]))
                v, w = cross(axis, subtract(point, at)), axis
            else:
                at = add(at, scale(x[joint.q_at], axis))
            if joint.driven:
                driven_v = add(driven_v, scale(x[joint.qd_at], v))
                driven_w = add(driven_w, scale(x[joint.qd_at], w))
            else:
                store(link.motions, 6 * n, v)
                store(link.motions, 6 * n + 3, w)
                n += 1
    link.count_motions = n
    store(link.driven_velocity, 0, driven_v)
    store(link.driven_velocity, 3, driven_w)
    turn_gap = matrix_quaternion(product(product(turn_b, matrix(link.end_turn)), transpose(turn)))
    store(link.gap, 0, subtract(point, at))
    store(link.gap, 3, rotation_vector(turn_gap[0], turn_gap[1], turn_gap[2], turn_gap[3]))
    for r in range(n):
        for c in range(r + 1):
            link.gram[r, c] = link.gram[c, r] = dot_6(link.motions, 6 * r, link.motions, 6 * c)
    invert_spd(link.gram, n)


@inner
def remove_free_motion(link: Record, motion: Floats) -> None:
    """Remove from a motion at the point the part that the joints allow; link.step has the amount of each."""
    n = link.count_motions
    for k in range(n):
        link.push[k] = dot_6(link.motions, 6 * k, motion, 0)
    for k in range(n):
        link.step[k] = 0.0
        for c in range(n):
            link.step[k] += link.gram[k, c] * link.push[c]
    for k in range(n):
        for r in range(6):
            motion[r] -= link.motions[6 * k + r] * link.step[k]


@inner
def move_joints(chains: Chains, link: Record, x: Floats) -> None:
    """Move the link's joints by link.step."""
    n = 0
    for j in range(link.first, link.first + link.count):
        joint = chains.joints[j]
        if joint.kind == SPHERICAL:
            rotate_quaternion(x, joint.q_at, vector(link.step, n), 1.0)
            n += 3
        elif freedoms(joint.kind) == 1 and not joint.driven:
            x[joint.q_at] += link.step[n]
            n += 1


@inner
def write_joint_rates(chains: Chains, link: Record, x: Floats) -> None:
    """Write the rates of the link's joints, from the motion of the bodies, to x."""
    a, b = chains.free_bodies[link.a], chains.free_bodies[link.b]
    w = subtract(vector(b.v, 3), vector(a.v, 3))
    v = add(subtract(vector(b.v, 0), vector(a.v, 0)), cross(w, vector(link.point, 0)))
    store(link.error, 0, subtract(v, vector(link.driven_velocity, 0)))
    store(link.error, 3, subtract(w, vector(link.driven_velocity, 3)))
    remove_free_motion(link, link.error)
    n = 0
    for j in range(link.first, link.first + link.count):
        joint = chains.joints[j]
        if not joint.driven:
            for k in range(freedoms(joint.kind)):
                if joint.qd_at >= 0:
                    x[joint.qd_at + k] = link.step[n]
                n += 1


@inner
def apply_joint_forces(chains: Chains, link: Record, tau: Floats) -> None:
    """Apply springs, dampers, servos and tau of the link's joints to its bodies."""
    n = 0
    for j in range(link.first, link.first + link.count):
        joint = chains.joints[j]
        if not joint.driven:
            for k in range(freedoms(joint.kind)):
                link.push[n] = 0.0
                if joint.body >= 0:
                    link.push[n] = chains.tree.bodies[joint.body].joint_force[k] + tau[joint.v_at + k]
                n += 1
    f, t = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(n):
        share = 0.0
        for c in range(n):
            share += link.gram[k, c] * link.push[c]
        f = add(f, scale(share, vector(link.motions, 6 * k)))
        t = add(t, scale(share, vector(link.motions, 6 * k + 3)))
    t = add(t, cross(vector(link.point, 0), f))
    a = chains.tree.bodies[chains.free_bodies[link.a].body]
    b = chains.tree.bodies[chains.free_bodies[link.b].body]
    for r in range(3):
        a.force[r] += f[r]
        a.force[r + 3] += t[r]
        b.force[r] -= f[r]
        b.force[r + 3] -= t[r]


@inner
def find_constraint_rows(link: Record) -> None:
    """Find the unit forces (rows) orthogonal to all motions of a measured link."""
    n = 0  # directions taken, from the end of link.rows
    for k in range(link.count_motions):
        if add_direction(
            link,
            n,
            link.motions,
            6 * k,
            PARALLEL * math.sqrt(dot_6(link.motions, 6 * k, link.motions, 6 * k)),
        ):
            n += 1
    rows = 6 - n
    link.count_rows = rows
    # Unit vectors, the most independent first: small remainders would be mostly rounding error.
    for _ in range(rows):
        best, most = 0, -1.0
        for e in range(6):
            left = 1.0
            for k in range(n):
                left -= link.rows[6 * (5 - k) + e] ** 2
            if left > most + 1e-9:
                best, most = e, left
        for r in range(6):
            link.step[r] = 1.0 if r == best else 0.0
        add_direction(link, n, link.step, 0, 0.0)
        n += 1


@inner
def add_direction(link: Record, n: int, given: Floats, first: int, least: float) -> bool:
    """Orthogonalise given[first:first + 6] against the n directions so far, and append it if longer than `least`."""
    into = 6 * (5 - n)
    for r in range(6):
        link.rows[into + r] = given[first + r]
    for _ in range(2):  # twice is enough (Kahan)
        for k in range(n):
            share = dot_6(link.rows, into, link.rows, 6 * (5 - k))
            for r in range(6):
                link.rows[into + r] -= share * link.rows[6 * (5 - k) + r]
    size = math.sqrt(dot_6(link.rows, into, link.rows, into))
    if size <= least:
        return False
    for r in range(6):
        link.rows[into + r] /= size
    return True


@inner
def prepare_link(chains: Chains, link: Record) -> None:
    """From a measured link and the inertia of its bodies: its rows, and the effect of a unit impulse along each."""
    find_constraint_rows(link)
    a, b, point = chains.free_bodies[link.a], chains.free_bodies[link.b], vector(link.point, 0)
    n = link.count_rows
    for k in range(n):
        f = vector(link.rows, 6 * k)
        t = add(vector(link.rows, 6 * k + 3), cross(point, f))
        store(link.wrench, 6 * k, f)
        store(link.wrench, 6 * k + 3, t)
        v, w = inertia_times(a.inverse_inertia, f, t)
        store(link.response_a, 6 * k, v)
        store(link.response_a, 6 * k + 3, w)
        v, w = inertia_times(b.inverse_inertia, f, t)
        store(link.response_b, 6 * k, v)
        store(link.response_b, 6 * k + 3, w)
        link.target_velocity[k] = dot_6(link.rows, 6 * k, link.driven_velocity, 0)
    for k in range(n):
        for c in range(n):
            link.effective_mass[k, c] = dot_6(link.wrench, 6 * k, link.response_a, 6 * c) + dot_6(
                link.wrench, 6 * k, link.response_b, 6 * c
            )
    invert_spd(link.effective_mass, n)


@inner
def apply_impulse(chains: Chains, link: Record, k: int, impulse: float) -> None:
    """Apply an impulse (N s) along row k."""
    a, b = chains.free_bodies[link.a], chains.free_bodies[link.b]
    link.impulse[k] += impulse
    for r in range(6):
        a.v[r] -= link.response_a[6 * k + r] * impulse
        b.v[r] += link.response_b[6 * k + r] * impulse


@inner
def cancel_error(chains: Chains, link: Record) -> float:
    """Apply the impulses that cancel link.error, a velocity along each row; returns the largest one."""
    n, worst = link.count_rows, 0.0
    for k in range(n):
        impulse = 0.0
        for c in range(n):
            impulse -= link.effective_mass[k, c] * link.error[c]
        apply_impulse(chains, link, k, impulse)
        worst = max(worst, abs(link.error[k]))
    return worst


@inner
def warm_start(chains: Chains, link: Record, x: Floats, dt_s: float) -> None:
    """Apply the link's last force over half a step: it changes little from step to step."""
    turn = matrix(chains.free_bodies[link.b].turn)
    store(link.gap, 0, rotate(turn, vector(x, link.load_at)))
    store(link.gap, 3, rotate(turn, vector(x, link.load_at + 3)))
    for k in range(link.count_rows):
        link.impulse[k] = 0.0
        apply_impulse(chains, link, k, 0.5 * dt_s * dot_6(link.rows, 6 * k, link.gap, 0))


@inner
def write_load(chains: Chains, link: Record, x: Floats, dt_s: float) -> None:
    """Write the force of the link's impulses over half a step to x."""
    turn = matrix(chains.free_bodies[link.b].turn)
    f, t = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(link.count_rows):
        f = add(f, scale(2.0 / dt_s * link.impulse[k], vector(link.rows, 6 * k)))
        t = add(t, scale(2.0 / dt_s * link.impulse[k], vector(link.rows, 6 * k + 3)))
    store(x, link.load_at, rotate_back(turn, f))
    store(x, link.load_at + 3, rotate_back(turn, t))


@inner
def solve_velocity(chains: Chains, link: Record) -> float:
    """Impulses after which the bodies move relative to each other as the joints allow; returns the largest error."""
    a, b = chains.free_bodies[link.a], chains.free_bodies[link.b]
    for k in range(link.count_rows):
        link.error[k] = (
            dot_6(link.wrench, 6 * k, b.v, 0) - dot_6(link.wrench, 6 * k, a.v, 0) - link.target_velocity[k]
        )
    return cancel_error(chains, link)


@inner
def solve_position(chains: Chains, link: Record, x: Floats, dt_s: float) -> float:
    """Impulses now that close the gap a step later, to first order; returns the largest velocity that takes."""
    measure_link(chains, link, x)
    remove_free_motion(link, link.gap)
    move_joints(chains, link, x)
    for k in range(link.count_rows):
        link.error[k] = dot_6(link.rows, 6 * k, link.gap, 0) / dt_s
    return cancel_error(chains, link)
