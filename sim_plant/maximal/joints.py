"""A link between two bodies: the gap in it, what it leaves free, and the impulses that close it.

All of a link's vectors are taken at its point, which moves with its second body, along the common frame's axes:
a gap is a small displacement and turn, a way is a motion that the link leaves free, a row is a unit force that
it can put on its bodies. Rows stand across all ways, so that no impulse does work on a joint.
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (  # fmt: skip
    add,
    axis_matrix,
    cross,
    inertia_times,
    matrix,
    minus,
    product,
    put,
    quaternion_matrix,
    quaternion_turn,
    rotation_vector,
    scale,
    transposed,
    turned,
    turned_back,
    vector,
)
from caudal.sim_plant.base.types import Floats, Mat3, Record
from caudal.sim_plant.maximal.arrays import Chains
from caudal.sim_plant.tree.arrays import REVOLUTE, SPHERICAL
from caudal.sim_plant.tree.recursion import freedoms

PARALLEL = 1e-6  # sine of the angle below which two ways of a link count as one


@inner
def matrix_quaternion(m: Mat3) -> tuple[float, float, float, float]:
    """Quaternion w x y z of a turn (Shepperd: divide by the largest)."""
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
def invert(m: Floats, n: int) -> None:
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
    total = 0.0
    for r in range(6):
        total += a[first + r] * b[second + r]
    return total


@inner
def measure(chains: Chains, link: Record, x: Floats) -> None:
    """Where b stands and where the joints of x, from a, would have it: gap and ways at the bodies' places ahead."""
    a, b = chains.frees[link.a], chains.frees[link.b]
    turn, at = matrix(a.ahead_turn), vector(a.ahead_place, 0)
    turn_b = matrix(b.ahead_turn)
    point = add(vector(b.ahead_place, 0), turned(turn_b, vector(link.end_at, 0)))
    put(link.point, 0, point)
    led_v, led_w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    n = 0
    for j in range(link.first, link.first + link.count):
        joint = chains.joints[j]
        at = add(at, turned(turn, vector(joint.at, 0)))
        turn = product(turn, matrix(joint.turn))
        if joint.kind == SPHERICAL:
            q = joint.q_at
            turn = product(turn, quaternion_matrix(x[q], x[q + 1], x[q + 2], x[q + 3]))
            for k in range(3):
                axis = (turn[k], turn[3 + k], turn[6 + k])
                put(link.ways, 6 * n, cross(axis, minus(point, at)))
                put(link.ways, 6 * n + 3, axis)
                n += 1
        elif freedoms(joint.kind) == 1:
            axis = turned(turn, vector(joint.axis, 0))
            v, w = axis, (0.0, 0.0, 0.0)
            if joint.kind == REVOLUTE:
                turn = product(turn, axis_matrix(vector(joint.axis, 0), x[joint.q_at]))
                v, w = cross(axis, minus(point, at)), axis
            else:
                at = add(at, scale(x[joint.q_at], axis))
            if joint.driven:
                led_v = add(led_v, scale(x[joint.qd_at], v))
                led_w = add(led_w, scale(x[joint.qd_at], w))
            else:
                put(link.ways, 6 * n, v)
                put(link.ways, 6 * n + 3, w)
                n += 1
    link.count_ways = n
    put(link.led, 0, led_v)
    put(link.led, 3, led_w)
    off = matrix_quaternion(product(product(turn_b, matrix(link.end_turn)), transposed(turn)))
    put(link.gap, 0, minus(point, at))
    put(link.gap, 3, rotation_vector(off[0], off[1], off[2], off[3]))
    for r in range(n):
        for c in range(r + 1):
            link.grasp[r, c] = link.grasp[c, r] = dot_6(link.ways, 6 * r, link.ways, 6 * c)
    invert(link.grasp, n)


@inner
def fit(link: Record, motion: Floats) -> None:
    """Take out of a motion at the point what the ways can do; link.step has how much of each."""
    n = link.count_ways
    for k in range(n):
        link.push[k] = dot_6(link.ways, 6 * k, motion, 0)
    for k in range(n):
        link.step[k] = 0.0
        for c in range(n):
            link.step[k] += link.grasp[k, c] * link.push[c]
    for k in range(n):
        for r in range(6):
            motion[r] -= link.ways[6 * k + r] * link.step[k]


@inner
def take_up(chains: Chains, link: Record, x: Floats) -> None:
    """Move the link's joints by link.step."""
    n = 0
    for j in range(link.first, link.first + link.count):
        joint = chains.joints[j]
        if joint.kind == SPHERICAL:
            quaternion_turn(x, joint.q_at, vector(link.step, n), 1.0)
            n += 3
        elif freedoms(joint.kind) == 1 and not joint.driven:
            x[joint.q_at] += link.step[n]
            n += 1


@inner
def read_rates(chains: Chains, link: Record, x: Floats) -> None:
    """Write the rates of the link's joints, as the bodies move, into x."""
    a, b = chains.frees[link.a], chains.frees[link.b]
    w = minus(vector(b.v, 3), vector(a.v, 3))
    v = add(minus(vector(b.v, 0), vector(a.v, 0)), cross(w, vector(link.point, 0)))
    put(link.miss, 0, minus(v, vector(link.led, 0)))
    put(link.miss, 3, minus(w, vector(link.led, 3)))
    fit(link, link.miss)
    n = 0
    for j in range(link.first, link.first + link.count):
        joint = chains.joints[j]
        if not joint.driven:
            for k in range(freedoms(joint.kind)):
                if joint.qd_at >= 0:
                    x[joint.qd_at + k] = link.step[n]
                n += 1


@inner
def push_bodies(chains: Chains, link: Record, tau: Floats) -> None:
    """Put springs, dampers, servos and tau of the link's joints on its bodies."""
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
            share += link.grasp[k, c] * link.push[c]
        f = add(f, scale(share, vector(link.ways, 6 * k)))
        t = add(t, scale(share, vector(link.ways, 6 * k + 3)))
    t = add(t, cross(vector(link.point, 0), f))
    a = chains.tree.bodies[chains.frees[link.a].body]
    b = chains.tree.bodies[chains.frees[link.b].body]
    for r in range(3):
        a.force[r] += f[r]
        a.force[r + 3] += t[r]
        b.force[r] -= f[r]
        b.force[r + 3] -= t[r]


@inner
def across(link: Record) -> None:
    """Rows: orthonormal, and across every way. The ways' own directions stand behind them as room to work in."""
    n = 0  # directions taken, from the end of link.rows
    for k in range(link.count_ways):
        if take_direction(
            link, n, link.ways, 6 * k, PARALLEL * math.sqrt(dot_6(link.ways, 6 * k, link.ways, 6 * k))
        ):
            n += 1
    rows = 6 - n
    link.count_rows = rows
    # Unit vectors, the most independent first: small remainders would be mostly rounding.
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
        take_direction(link, n, link.step, 0, 0.0)
        n += 1


@inner
def take_direction(link: Record, n: int, given: Floats, first: int, least: float) -> bool:
    """Put what is new in given[first:first + 6] behind the n directions taken; whether it is more than least."""
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
def hold(chains: Chains, link: Record) -> None:
    """From a measured link and its bodies' inertia: rows, and what a unit impulse along each does."""
    across(link)
    a, b, point = chains.frees[link.a], chains.frees[link.b], vector(link.point, 0)
    n = link.count_rows
    for k in range(n):
        f = vector(link.rows, 6 * k)
        t = add(vector(link.rows, 6 * k + 3), cross(point, f))
        put(link.wrench, 6 * k, f)
        put(link.wrench, 6 * k + 3, t)
        v, w = inertia_times(a.yields, f, t)
        put(link.on_a, 6 * k, v)
        put(link.on_a, 6 * k + 3, w)
        v, w = inertia_times(b.yields, f, t)
        put(link.on_b, 6 * k, v)
        put(link.on_b, 6 * k + 3, w)
        link.wanted[k] = dot_6(link.rows, 6 * k, link.led, 0)
    for k in range(n):
        for c in range(n):
            link.stiff[k, c] = dot_6(link.wrench, 6 * k, link.on_a, 6 * c) + dot_6(
                link.wrench, 6 * k, link.on_b, 6 * c
            )
    invert(link.stiff, n)


@inner
def strike(chains: Chains, link: Record, k: int, impulse: float) -> None:
    """An impulse (N s) along row k."""
    a, b = chains.frees[link.a], chains.frees[link.b]
    link.impulse[k] += impulse
    for r in range(6):
        a.v[r] -= link.on_a[6 * k + r] * impulse
        b.v[r] += link.on_b[6 * k + r] * impulse


@inner
def stop(chains: Chains, link: Record) -> float:
    """Impulses that take link.miss, a velocity along each row, to 0. Returns the largest miss there was."""
    n, worst = link.count_rows, 0.0
    for k in range(n):
        impulse = 0.0
        for c in range(n):
            impulse -= link.stiff[k, c] * link.miss[c]
        strike(chains, link, k, impulse)
        worst = max(worst, abs(link.miss[k]))
    return worst


@inner
def strike_again(chains: Chains, link: Record, x: Floats, dt_s: float) -> None:
    """Begin with the force that the link needed last, half a step long: it changes little from step to step."""
    turn = matrix(chains.frees[link.b].turn)
    put(link.gap, 0, turned(turn, vector(x, link.load_at)))
    put(link.gap, 3, turned(turn, vector(x, link.load_at + 3)))
    for k in range(link.count_rows):
        link.impulse[k] = 0.0
        strike(chains, link, k, 0.5 * dt_s * dot_6(link.rows, 6 * k, link.gap, 0))


@inner
def note_load(chains: Chains, link: Record, x: Floats, dt_s: float) -> None:
    """Write the force that the link's impulses make over half a step into x."""
    turn = matrix(chains.frees[link.b].turn)
    f, t = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(link.count_rows):
        f = add(f, scale(2.0 / dt_s * link.impulse[k], vector(link.rows, 6 * k)))
        t = add(t, scale(2.0 / dt_s * link.impulse[k], vector(link.rows, 6 * k + 3)))
    put(x, link.load_at, turned_back(turn, f))
    put(x, link.load_at + 3, turned_back(turn, t))


@inner
def meet_velocity(chains: Chains, link: Record) -> float:
    """Impulses after which the bodies move in each other as the link lets them."""
    a, b = chains.frees[link.a], chains.frees[link.b]
    for k in range(link.count_rows):
        link.miss[k] = dot_6(link.wrench, 6 * k, b.v, 0) - dot_6(link.wrench, 6 * k, a.v, 0) - link.wanted[k]
    return stop(chains, link)


@inner
def meet_position(chains: Chains, link: Record, x: Floats, dt_s: float) -> float:
    """Impulses now after which the gap a step ahead is closed, to first order; then joints and bodies are moved."""
    measure(chains, link, x)
    fit(link, link.gap)
    take_up(chains, link, x)
    for k in range(link.count_rows):
        link.miss[k] = dot_6(link.rows, 6 * k, link.gap, 0) / dt_s
    return stop(chains, link)
