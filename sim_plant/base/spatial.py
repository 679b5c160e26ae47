"""Vectors, rotations and spatial inertias for kernels; nothing here allocates memory.

3-vectors are tuples and 3x3 matrices are tuples of nine numbers, row by row, so that both stay in registers. A spatial
vector is linear, then angular: a motion (v, w) or a force (f, n), both about one common origin. A spatial inertia is a
6x6 array [[A, B], [B', D]] with f = A v + B w and n = B' v + D w.
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.types import Floats, Mat3, Vec3


@inner
def cross(a: Vec3, b: Vec3) -> Vec3:
    """Cross product of two vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inner
def dot(a: Vec3, b: Vec3) -> float:
    """Scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def add(a: Vec3, b: Vec3) -> Vec3:
    """Sum of two vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inner
def subtract(a: Vec3, b: Vec3) -> Vec3:
    """Difference a - b of two vectors."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inner
def scale(k: float, a: Vec3) -> Vec3:
    """A vector times a number."""
    return (k * a[0], k * a[1], k * a[2])


@inner
def vector(array: Floats, first: int) -> Vec3:
    """The three numbers from array[first] as a vector."""
    return (array[first], array[first + 1], array[first + 2])


@inner
def matrix(array: Floats) -> Mat3:
    """The first nine numbers of an array as a 3x3 matrix."""
    return (array[0], array[1], array[2], array[3], array[4], array[5], array[6], array[7], array[8])


@inner
def store(array: Floats, first: int, a: Vec3) -> None:
    """Write a vector to array[first:first + 3]."""
    array[first], array[first + 1], array[first + 2] = a[0], a[1], a[2]


@inner
def store_matrix(array: Floats, m: Mat3) -> None:
    """Write a 3x3 matrix to the first nine numbers of an array."""
    for k in range(9):
        array[k] = m[k]


@inner
def copy(source: Floats, target: Floats) -> None:
    """Copy the numbers of a one-dimensional array into another of the same length."""
    for j in range(len(target)):
        target[j] = source[j]


@inner
def rotate(m: Mat3, a: Vec3) -> Vec3:
    """m a: a vector of the rotated frame, in the outer frame."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inner
def rotate_back(m: Mat3, a: Vec3) -> Vec3:
    """m' a: a vector of the outer frame, in the rotated frame."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inner
def product(m: Mat3, n: Mat3) -> Mat3:
    """Product m n of two 3x3 matrices."""
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
def transpose(m: Mat3) -> Mat3:
    """Transpose of a 3x3 matrix."""
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@inner
def inverse(m: Mat3) -> Mat3:
    """Inverse of a 3x3 matrix, by cofactors."""
    a, b, c = cross((m[3], m[4], m[5]), (m[6], m[7], m[8])), (m[6], m[7], m[8]), (m[0], m[1], m[2])
    d = cross(b, c)
    e = cross(c, (m[3], m[4], m[5]))
    k = 1.0 / dot(c, a)
    return (k * a[0], k * d[0], k * e[0], k * a[1], k * d[1], k * e[1], k * a[2], k * d[2], k * e[2])


@inner
def quaternion_matrix(w: float, x: float, y: float, z: float) -> Mat3:
    """Rotation matrix of a quaternion of any length above zero."""
    k = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        1.0 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y),
        k * (x * y + w * z), 1.0 - k * (x * x + z * z), k * (y * z - w * x),
        k * (x * z - w * y), k * (y * z + w * x), 1.0 - k * (x * x + y * y),
    )  # fmt: skip


@inner
def axis_angle_matrix(a: Vec3, angle_rad: float) -> Mat3:
    """Rotation matrix about the unit vector a (Rodrigues)."""
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
    """Rate of the quaternion x[first:first + 4] at the angular velocity w (rad/s, rotated frame), into out."""
    out[first] = 0.5 * (-x[first + 1] * w[0] - x[first + 2] * w[1] - x[first + 3] * w[2])
    out[first + 1] = 0.5 * (x[first] * w[0] + x[first + 2] * w[2] - x[first + 3] * w[1])
    out[first + 2] = 0.5 * (x[first] * w[1] + x[first + 3] * w[0] - x[first + 1] * w[2])
    out[first + 3] = 0.5 * (x[first] * w[2] + x[first + 1] * w[1] - x[first + 2] * w[0])


@inner
def rotate_quaternion(x: Floats, first: int, w: Vec3, dt_s: float) -> None:
    """Rotate the quaternion x[first:first + 4] by w dt, exactly (w in rad/s, rotated frame)."""
    rate = math.sqrt(dot(w, w))
    half = 0.5 * rate * dt_s
    k = math.sin(half) / rate if half > 1e-9 else 0.5 * dt_s
    c, u = math.cos(half), scale(k, w)
    q0, q = x[first], (x[first + 1], x[first + 2], x[first + 3])
    v = add(add(scale(q0, u), scale(c, q)), cross(q, u))
    x[first] = c * q0 - dot(q, u)
    x[first + 1], x[first + 2], x[first + 3] = v[0], v[1], v[2]


@inner
def normalize_quaternion(x: Floats, first: int) -> None:
    """Scale the quaternion x[first:first + 4] to length 1."""
    k = 1.0 / math.sqrt(x[first] ** 2 + x[first + 1] ** 2 + x[first + 2] ** 2 + x[first + 3] ** 2)
    for j in range(first, first + 4):
        x[j] *= k


@inner
def inertia_times(inertia: Floats, v: Vec3, w: Vec3) -> tuple[Vec3, Vec3]:
    """Force (f, n) of a spatial inertia times the motion (v, w)."""
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
    """3x3 block of a spatial inertia, from this row and column."""
    m, r, c = inertia, row, column
    return (
        m[r, c], m[r, c + 1], m[r, c + 2],
        m[r + 1, c], m[r + 1, c + 1], m[r + 1, c + 2],
        m[r + 2, c], m[r + 2, c + 1], m[r + 2, c + 2],
    )  # fmt: skip


@inner
def store_blocks(inertia: Floats, a: Mat3, b: Mat3, d: Mat3) -> None:
    """Write a spatial inertia from its blocks [[A, B], [B', D]]."""
    for r in range(3):
        for c in range(3):
            inertia[r, c] = a[3 * r + c]
            inertia[r, c + 3] = b[3 * r + c]
            inertia[c + 3, r] = b[3 * r + c]
            inertia[r + 3, c + 3] = d[3 * r + c]


@inner
def rotate_symmetric(m: Mat3, s: Mat3) -> Mat3:
    """m s m' of a symmetric matrix s; the result is exactly symmetric."""
    p = product(m, s)
    xx, xy, xz = rotate(m, (p[0], p[1], p[2]))
    yy = p[3] * m[3] + p[4] * m[4] + p[5] * m[5]
    yz = p[3] * m[6] + p[4] * m[7] + p[5] * m[8]
    zz = p[6] * m[6] + p[7] * m[7] + p[8] * m[8]
    return (xx, xy, xz, xy, yy, yz, xz, yz, zz)


@inner
def transform_inertia(own: Floats, turn: Mat3, at: Vec3, out: Floats) -> None:
    """Write to `out` the inertia `own` of a body frame, seen from a frame in which the body is at (turn, at)."""
    a = rotate_symmetric(turn, block(own, 0, 0))
    b = product(product(turn, block(own, 0, 3)), transpose(turn))
    d = rotate_symmetric(turn, block(own, 3, 3))
    # With x the matrix of `at cross`: first B - A x, row by row; then D - B' x + x (B - A x), by the columns of B.
    r0 = subtract((b[0], b[1], b[2]), cross((a[0], a[1], a[2]), at))
    r1 = subtract((b[3], b[4], b[5]), cross((a[3], a[4], a[5]), at))
    r2 = subtract((b[6], b[7], b[8]), cross((a[6], a[7], a[8]), at))
    o0, o1, o2 = cross(at, (b[0], b[3], b[6])), cross(at, (b[1], b[4], b[7])), cross(at, (b[2], b[5], b[8]))
    n0, n1, n2 = (
        cross(at, (r0[0], r1[0], r2[0])),
        cross(at, (r0[1], r1[1], r2[1])),
        cross(at, (r0[2], r1[2], r2[2])),
    )
    xx, xy, xz = d[0] + o0[0] + n0[0], d[1] + o0[1] + n1[0], d[2] + o0[2] + n2[0]
    yy, yz, zz = d[4] + o1[1] + n1[1], d[5] + o1[2] + n2[1], d[8] + o2[2] + n2[2]
    store_blocks(
        out,
        a,
        (r0[0], r0[1], r0[2], r1[0], r1[1], r1[2], r2[0], r2[1], r2[2]),
        (xx, xy, xz, xy, yy, yz, xz, yz, zz),
    )


@inner
def rigid_body_inertia(mass: float, about_com: Floats, turn: Mat3, com: Vec3, out: Floats) -> Mat3:
    """Write to `out` the inertia of a rigid body with its centre of mass at `com` (outer frame).

    Returns about_com, which is given in the body's axes, in the outer axes.
    """
    d = rotate_symmetric(turn, matrix(about_com))
    mx, my, mz = mass * com[0], mass * com[1], mass * com[2]
    xx, yy, zz = mx * com[0], my * com[1], mz * com[2]
    xy, xz, yz = mx * com[1], mx * com[2], my * com[2]
    store_blocks(
        out,
        (mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass),
        (0.0, mz, -my, -mz, 0.0, mx, my, -mx, 0.0),
        (d[0] + yy + zz, d[1] - xy, d[2] - xz, d[3] - xy, d[4] + xx + zz, d[5] - yz,
         d[6] - xz, d[7] - yz, d[8] + xx + yy),
    )  # fmt: skip
    return d


@inner
def solve_cholesky_6(m: Floats, b: Floats) -> None:
    """Solve m x = b in place for a symmetric positive definite 6x6 matrix (Cholesky); overwrites m."""
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
