"""Vectors, turns and spatial inertias, compiled; no call allocates.

3-vectors are tuples, 3x3 matrices tuples of nine (row by row): both live in registers. A spatial vector
is linear then angular: a motion (v, w), a force (f, n), both taken about one common origin. A spatial
inertia is a 6x6 array, [[A, B], [B', D]], with f = A v + B w and n = B' v + D w.
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.types import Floats, Mat3, Vec3


@inner
def cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inner
def dot(a: Vec3, b: Vec3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def add(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inner
def minus(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inner
def scale(k: float, a: Vec3) -> Vec3:
    return (k * a[0], k * a[1], k * a[2])


@inner
def vector(array: Floats, first: int) -> Vec3:
    """Three numbers, from array[first]."""
    return (array[first], array[first + 1], array[first + 2])


@inner
def matrix(array: Floats) -> Mat3:
    """Nine numbers as a 3x3 matrix."""
    return (array[0], array[1], array[2], array[3], array[4], array[5], array[6], array[7], array[8])


@inner
def put(array: Floats, first: int, a: Vec3) -> None:
    array[first], array[first + 1], array[first + 2] = a[0], a[1], a[2]


@inner
def put_matrix(array: Floats, m: Mat3) -> None:
    for k in range(9):
        array[k] = m[k]


@inner
def turned(m: Mat3, a: Vec3) -> Vec3:
    """m a: from the turned frame into the outer one."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inner
def turned_back(m: Mat3, a: Vec3) -> Vec3:
    """m' a: from the outer frame into the turned one."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inner
def product(m: Mat3, n: Mat3) -> Mat3:
    return (
        m[0] * n[0] + m[1] * n[3] + m[2] * n[6],
        m[0] * n[1] + m[1] * n[4] + m[2] * n[7],
        m[0] * n[2] + m[1] * n[5] + m[2] * n[8],
        m[3] * n[0] + m[4] * n[3] + m[5] * n[6],
        m[3] * n[1] + m[4] * n[4] + m[5] * n[7],
        m[3] * n[2] + m[4] * n[5] + m[5] * n[8],
        m[6] * n[0] + m[7] * n[3] + m[8] * n[6],
        m[6] * n[1] + m[7] * n[4] + m[8] * n[7],
        m[6] * n[2] + m[7] * n[5] + m[8] * n[8],
    )


@inner
def transposed(m: Mat3) -> Mat3:
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@inner
def inverse(m: Mat3) -> Mat3:
    """Of a 3x3 matrix, by its cofactors."""
    a, b, c = cross((m[3], m[4], m[5]), (m[6], m[7], m[8])), (m[6], m[7], m[8]), (m[0], m[1], m[2])
    d = cross(b, c)
    e = cross(c, (m[3], m[4], m[5]))
    k = 1.0 / dot(c, a)
    return (k * a[0], k * d[0], k * e[0], k * a[1], k * d[1], k * e[1], k * a[2], k * d[2], k * e[2])


@inner
def quaternion_matrix(w: float, x: float, y: float, z: float) -> Mat3:
    """Turn of a quaternion of any length but zero."""
    k = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        1.0 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y),
        k * (x * y + w * z), 1.0 - k * (x * x + z * z), k * (y * z - w * x),
        k * (x * z - w * y), k * (y * z + w * x), 1.0 - k * (x * x + y * y),
    )  # fmt: skip


@inner
def axis_matrix(a: Vec3, angle_rad: float) -> Mat3:
    """Turn about the unit vector a (Rodrigues)."""
    s, c = math.sin(angle_rad), math.cos(angle_rad)
    k = 1.0 - c
    return (
        c + k * a[0] * a[0], k * a[0] * a[1] - s * a[2], k * a[0] * a[2] + s * a[1],
        k * a[0] * a[1] + s * a[2], c + k * a[1] * a[1], k * a[1] * a[2] - s * a[0],
        k * a[0] * a[2] - s * a[1], k * a[1] * a[2] + s * a[0], c + k * a[2] * a[2],
    )  # fmt: skip


@inner
def rotation_vector(w: float, x: float, y: float, z: float) -> Vec3:
    """Axis times angle (rad, at most pi) of a quaternion: its logarithm."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    k = 2.0 * math.atan2(s, w) / s if s > 1e-12 else 2.0 / w
    return (k * x, k * y, k * z)


@inner
def quaternion_rate(x: Floats, first: int, w: Vec3, out: Floats) -> None:
    """Rate of the quaternion x[first:first + 4] that turns with w (rad/s, in the turned frame)."""
    out[first] = 0.5 * (-x[first + 1] * w[0] - x[first + 2] * w[1] - x[first + 3] * w[2])
    out[first + 1] = 0.5 * (x[first] * w[0] + x[first + 2] * w[2] - x[first + 3] * w[1])
    out[first + 2] = 0.5 * (x[first] * w[1] + x[first + 3] * w[0] - x[first + 1] * w[2])
    out[first + 3] = 0.5 * (x[first] * w[2] + x[first + 1] * w[1] - x[first + 2] * w[0])


@inner
def quaternion_turn(x: Floats, first: int, w: Vec3, dt_s: float) -> None:
    """Turn the quaternion x[first:first + 4] by w dt (w in the turned frame), exactly."""
    rate = math.sqrt(dot(w, w))
    half = 0.5 * rate * dt_s
    k = math.sin(half) / rate if half > 1e-9 else 0.5 * dt_s
    c, u = math.cos(half), scale(k, w)
    q0, q = x[first], (x[first + 1], x[first + 2], x[first + 3])
    v = add(add(scale(q0, u), scale(c, q)), cross(q, u))
    x[first] = c * q0 - dot(q, u)
    x[first + 1], x[first + 2], x[first + 3] = v[0], v[1], v[2]


@inner
def quaternion_unit(x: Floats, first: int) -> None:
    """Bring x[first:first + 4] back to length 1."""
    k = 1.0 / math.sqrt(x[first] ** 2 + x[first + 1] ** 2 + x[first + 2] ** 2 + x[first + 3] ** 2)
    for j in range(first, first + 4):
        x[j] *= k


@inner
def inertia_times(inertia: Floats, v: Vec3, w: Vec3) -> tuple[Vec3, Vec3]:
    """(f, n) of an inertia for the motion (v, w)."""
    m = inertia
    return (
        (
            m[0, 0] * v[0] + m[0, 1] * v[1] + m[0, 2] * v[2]
            + m[0, 3] * w[0] + m[0, 4] * w[1] + m[0, 5] * w[2],
            m[1, 0] * v[0] + m[1, 1] * v[1] + m[1, 2] * v[2]
            + m[1, 3] * w[0] + m[1, 4] * w[1] + m[1, 5] * w[2],
            m[2, 0] * v[0] + m[2, 1] * v[1] + m[2, 2] * v[2]
            + m[2, 3] * w[0] + m[2, 4] * w[1] + m[2, 5] * w[2],
        ),
        (
            m[3, 0] * v[0] + m[3, 1] * v[1] + m[3, 2] * v[2]
            + m[3, 3] * w[0] + m[3, 4] * w[1] + m[3, 5] * w[2],
            m[4, 0] * v[0] + m[4, 1] * v[1] + m[4, 2] * v[2]
            + m[4, 3] * w[0] + m[4, 4] * w[1] + m[4, 5] * w[2],
            m[5, 0] * v[0] + m[5, 1] * v[1] + m[5, 2] * v[2]
            + m[5, 3] * w[0] + m[5, 4] * w[1] + m[5, 5] * w[2],
        ),
    )  # fmt: skip


@inner
def block(inertia: Floats, row: int, column: int) -> Mat3:
    """A 3x3 block of an inertia."""
    m, r, c = inertia, row, column
    return (
        m[r, c], m[r, c + 1], m[r, c + 2],
        m[r + 1, c], m[r + 1, c + 1], m[r + 1, c + 2],
        m[r + 2, c], m[r + 2, c + 1], m[r + 2, c + 2],
    )  # fmt: skip


@inner
def put_blocks(inertia: Floats, a: Mat3, b: Mat3, d: Mat3) -> None:
    """Write an inertia from its blocks."""
    for r in range(3):
        for c in range(3):
            inertia[r, c] = a[3 * r + c]
            inertia[r, c + 3] = b[3 * r + c]
            inertia[c + 3, r] = b[3 * r + c]
            inertia[r + 3, c + 3] = d[3 * r + c]


@inner
def turned_symmetric(m: Mat3, s: Mat3) -> Mat3:
    """m s m' of a symmetric matrix; as symmetric, to the bit."""
    p = product(m, s)
    xx, xy, xz = turned(m, (p[0], p[1], p[2]))
    yy = p[3] * m[3] + p[4] * m[4] + p[5] * m[5]
    yz = p[3] * m[6] + p[4] * m[7] + p[5] * m[8]
    zz = p[6] * m[6] + p[7] * m[7] + p[8] * m[8]
    return (xx, xy, xz, xy, yy, yz, xz, yz, zz)


@inner
def placed_inertia(own: Floats, turn: Mat3, at: Vec3, out: Floats) -> None:
    """out: `own`, given in a body's frame, seen from a frame in which the body stands at (turn, at)."""
    a = turned_symmetric(turn, block(own, 0, 0))
    b = product(product(turn, block(own, 0, 3)), transposed(turn))
    d = turned_symmetric(turn, block(own, 3, 3))
    # With x the matrix of `at cross`: B - A x row by row, then D - B' x + x (B - A x) by B's columns, old and new.
    r0 = minus((b[0], b[1], b[2]), cross((a[0], a[1], a[2]), at))
    r1 = minus((b[3], b[4], b[5]), cross((a[3], a[4], a[5]), at))
    r2 = minus((b[6], b[7], b[8]), cross((a[6], a[7], a[8]), at))
    o0, o1, o2 = cross(at, (b[0], b[3], b[6])), cross(at, (b[1], b[4], b[7])), cross(at, (b[2], b[5], b[8]))
    n0, n1, n2 = (
        cross(at, (r0[0], r1[0], r2[0])),
        cross(at, (r0[1], r1[1], r2[1])),
        cross(at, (r0[2], r1[2], r2[2])),
    )
    xx, xy, xz = d[0] + o0[0] + n0[0], d[1] + o0[1] + n1[0], d[2] + o0[2] + n2[0]
    yy, yz, zz = d[4] + o1[1] + n1[1], d[5] + o1[2] + n2[1], d[8] + o2[2] + n2[2]
    put_blocks(
        out,
        a,
        (r0[0], r0[1], r0[2], r1[0], r1[1], r1[2], r2[0], r2[1], r2[2]),
        (xx, xy, xz, xy, yy, yz, xz, yz, zz),
    )


@inner
def placed_rigid(mass: float, about_com: Floats, turn: Mat3, com: Vec3, out: Floats) -> Mat3:
    """out: a rigid body of `mass` whose centre of mass stands at com; about_com in the body's axes.

    Returns about_com in the outer axes.
    """
    d = turned_symmetric(turn, matrix(about_com))
    mx, my, mz = mass * com[0], mass * com[1], mass * com[2]
    xx, yy, zz = mx * com[0], my * com[1], mz * com[2]
    xy, xz, yz = mx * com[1], mx * com[2], my * com[2]
    put_blocks(
        out,
        (mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass),
        (0.0, mz, -my, -mz, 0.0, mx, my, -mx, 0.0),
        (d[0] + yy + zz, d[1] - xy, d[2] - xz, d[3] - xy, d[4] + xx + zz, d[5] - yz,
         d[6] - xz, d[7] - yz, d[8] + xx + yy),
    )  # fmt: skip
    return d


@inner
def solve_6(m: Floats, b: Floats) -> None:
    """Solve m x = b in place for a symmetric positive definite 6x6 (Cholesky); m is overwritten."""
    for c in range(6):
        for r in range(c, 6):
            s = m[r, c]
            for k in range(c):
                s -= m[r, k] * m[c, k]
            m[r, c] = math.sqrt(s) if r == c else s / m[c, c]
    for r in range(6):
        for k in range(r):
            b[r] -= m[r, k] * b[k]
        b[r] /= m[r, r]
    for r in range(5, -1, -1):
        for k in range(r + 1, 6):
            b[r] -= m[k, r] * b[k]
        b[r] /= m[r, r]
