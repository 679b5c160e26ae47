"""Kinematics of soft joints: three models with one interface, and chains of them. Needs numpy.

A soft joint leads from its near frame, x along it, to its far frame. All models have these methods:

    transform(q)           4 x 4, the far frame in the near one
    jacobian(q)            6 x n, velocity of the far frame's origin, then angular velocity, in the near
                           frame's axes, a column a coordinate
    jacobian_rate(q, qd)   6 x n, the time derivative of the Jacobian
    at(q, share)           transform and Jacobian of the section at that share of the joint's length
    start()                coordinates of the straight joint at its own length

Lengths in metres, angles in radians. A positive bend about y takes the far end down, one about z to port.

Universal: two prismatic joints with a universal joint between them; four coordinates, closed form.
ConstantCurvature: an arc of length l. Its bend is a vector across x, so that the straight joint is not a special
case: R = exp([b]x), which has no twist, and the arc is the integral of R x. Piecewise: such arcs in series.
"""

from collections.abc import Sequence
from math import asin, atan2, cos, factorial, sin
from typing import Protocol

import numpy as np

from caudal.onboard.chain.arrays import Floats

Numbers = Sequence[float] | Floats
POWERS = np.arange(24)  # of the series: exact to rounding up to a bend of one turn
SERIES = np.array([[(-1) ** j / factorial(2 * j + k) for j in range(len(POWERS))] for k in range(7)])


class SoftJoint(Protocol):
    """The interface of every model of a soft joint, and of every chain of them."""

    coordinates: tuple[str, ...]

    def start(self) -> Floats:
        """Coordinates of the straight joint at its own length."""

    def transform(self, q: Numbers) -> Floats:
        """The far frame in the near one, 4 x 4."""

    def jacobian(self, q: Numbers) -> Floats:
        """Velocity of the far frame by the coordinates' rates, 6 x n."""

    def jacobian_rate(self, q: Numbers, qd: Numbers) -> Floats:
        """Time derivative of the Jacobian, 6 x n."""

    def at(self, q: Numbers, share: float) -> tuple[Floats, Floats]:
        """Transform and Jacobian of the section at that share of the length."""


class Universal:
    """A prismatic, a universal and a prismatic joint: Trans(x, d1) Rot(y, th1) Rot(z, th2) Trans(x, d2)."""

    coordinates: tuple[str, ...] = ("d1_m", "th1_rad", "th2_rad", "d2_m")

    def __init__(self, length_m: float) -> None:
        self.length_m = length_m

    def start(self) -> Floats:
        """Coordinates of the straight joint at its own length."""
        return np.array([self.length_m / 2, 0.0, 0.0, self.length_m / 2])

    def transform(self, q: Numbers) -> Floats:
        """The far frame in the near one, 4 x 4."""
        d1, th1, th2, d2 = q
        transform = np.eye(4)
        transform[:3, :3] = turn = universal_rotation(th1, th2)
        transform[:3, 3] = d2 * turn[:, 0]
        transform[0, 3] += d1
        return transform

    def jacobian(self, q: Numbers) -> Floats:
        """Velocity of the far frame by the coordinates' rates, 6 x n."""
        _, th1, th2, d2 = q
        c1, s1, c2, s2 = cos(th1), sin(th1), cos(th2), sin(th2)
        return np.array(
            [
                [1.0, -d2 * s1 * c2, -d2 * c1 * s2, c1 * c2],
                [0.0, 0.0, d2 * c2, s2],
                [0.0, -d2 * c1 * c2, d2 * s1 * s2, -s1 * c2],
                [0.0, 0.0, s1, 0.0],
                [0.0, 1.0, 0.0, 0.0],
                [0.0, 0.0, c1, 0.0],
            ]
        )

    def jacobian_rate(self, q: Numbers, qd: Numbers) -> Floats:
        """Time derivative of the Jacobian, 6 x n."""
        _, th1, th2, d2 = q
        _, w1, w2, v2 = qd
        c1, s1, c2, s2 = cos(th1), sin(th1), cos(th2), sin(th2)
        # derivatives of the products in the Jacobian
        cc, cs = -s1 * c2 * w1 - c1 * s2 * w2, -s1 * s2 * w1 + c1 * c2 * w2
        sc, ss = c1 * c2 * w1 - s1 * s2 * w2, c1 * s2 * w1 + s1 * c2 * w2
        return np.array(
            [
                [0.0, -v2 * s1 * c2 - d2 * sc, -v2 * c1 * s2 - d2 * cs, cc],
                [0.0, 0.0, v2 * c2 - d2 * s2 * w2, c2 * w2],
                [0.0, -v2 * c1 * c2 - d2 * cc, v2 * s1 * s2 + d2 * ss, -sc],
                [0.0, 0.0, c1 * w1, 0.0],
                [0.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, -s1 * w1, 0.0],
            ]
        )

    def at(self, q: Numbers, share: float) -> tuple[Floats, Floats]:
        """Half of the length lies on either side of the bend, however far each half is stretched."""
        d1, th1, th2, d2 = q
        if share <= 0.5:
            transform, jacobian = np.eye(4), np.zeros((6, 4))
            transform[0, 3], jacobian[0, 0] = 2 * share * d1, 2 * share
            return transform, jacobian
        beyond = 2 * share - 1
        to = (d1, th1, th2, beyond * d2)
        return self.transform(to), self.jacobian(to) * (1.0, 1.0, 1.0, beyond)


class ConstantCurvature:
    """An arc of length l whose tangent turns by the vector (0, bend_y, bend_z), and whose frame does not twist."""

    coordinates: tuple[str, ...] = ("l_m", "bend_y_rad", "bend_z_rad")

    def __init__(self, length_m: float) -> None:
        self.length_m = length_m

    def start(self) -> Floats:
        """Coordinates of the straight joint at its own length."""
        return np.array([self.length_m, 0.0, 0.0])

    def transform(self, q: Numbers) -> Floats:
        """The far frame in the near one, 4 x 4."""
        l_m, b_y, b_z = q
        c = stumpff(b_y * b_y + b_z * b_z)
        return np.array(
            [
                [c[0], -c[1] * b_z, c[1] * b_y, l_m * c[1]],
                [c[1] * b_z, 1.0 - c[2] * b_z * b_z, c[2] * b_y * b_z, l_m * c[2] * b_z],
                [-c[1] * b_y, c[2] * b_y * b_z, 1.0 - c[2] * b_y * b_y, -l_m * c[2] * b_y],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )

    def jacobian(self, q: Numbers) -> Floats:
        """Velocity of the far frame by the coordinates' rates, 6 x n."""
        l_m, b_y, b_z = q
        yy, yz, zz = b_y * b_y, b_y * b_z, b_z * b_z
        c = stumpff(yy + zz)
        g, h = c[3] - c[2], 2 * c[4] - c[3]  # derivatives of c_1 and c_2 by b, over b
        return np.array(
            [
                [c[1], l_m * b_y * g, l_m * b_z * g],
                [c[2] * b_z, l_m * yz * h, l_m * (zz * h + c[2])],
                [-c[2] * b_y, -l_m * (yy * h + c[2]), -l_m * yz * h],
                [0.0, -c[2] * b_z, c[2] * b_y],
                [0.0, c[1] + c[3] * yy, c[3] * yz],
                [0.0, c[3] * yz, c[1] + c[3] * zz],
            ]
        )

    def jacobian_rate(self, q: Numbers, qd: Numbers) -> Floats:
        """The product rule, entry by entry; names with r are rates."""
        l_m, b_y, b_z = q
        l_r, y_r, z_r = qd
        yy, yz, zz = b_y * b_y, b_y * b_z, b_z * b_z
        yy_r, yz_r, zz_r = 2 * b_y * y_r, b_y * z_r + b_z * y_r, 2 * b_z * z_r
        c = stumpff(yy + zz)
        c_r = [(yy_r + zz_r) / 2 * (k * c[k + 2] - c[k + 1]) for k in range(5)]  # d c_k / d b^2, twice
        g, h = c[3] - c[2], 2 * c[4] - c[3]
        g_r, h_r = c_r[3] - c_r[2], 2 * c_r[4] - c_r[3]
        chord = np.array([[b_y * g, b_z * g], [yz * h, zz * h + c[2]], [-yy * h - c[2], -yz * h]])
        chord_r = np.array(
            [
                [y_r * g + b_y * g_r, z_r * g + b_z * g_r],
                [yz_r * h + yz * h_r, zz_r * h + zz * h_r + c_r[2]],
                [-yy_r * h - yy * h_r - c_r[2], -yz_r * h - yz * h_r],
            ]
        )
        rate = np.zeros((6, 3))
        rate[:3, 0] = c_r[1], c_r[2] * b_z + c[2] * z_r, -c_r[2] * b_y - c[2] * y_r
        rate[:3, 1:] = l_r * chord + l_m * chord_r
        rate[3:, 1:] = [
            [-c_r[2] * b_z - c[2] * z_r, c_r[2] * b_y + c[2] * y_r],
            [c_r[1] + c_r[3] * yy + c[3] * yy_r, c_r[3] * yz + c[3] * yz_r],
            [c_r[3] * yz + c[3] * yz_r, c_r[1] + c_r[3] * zz + c[3] * zz_r],
        ]
        return rate

    def at(self, q: Numbers, share: float) -> tuple[Floats, Floats]:
        """Transform and Jacobian of the section at that share of the length."""
        part = share * np.asarray(q)  # a part of an arc is an arc
        return self.transform(part), share * self.jacobian(part)


class Rigid:
    """A straight module: a joint without coordinates, so that a chain may contain it."""

    coordinates: tuple[str, ...] = ()

    def __init__(self, length_m: float) -> None:
        self.length_m = length_m

    def start(self) -> Floats:
        """Coordinates of the straight joint at its own length."""
        return np.zeros(0)

    def transform(self, q: Numbers) -> Floats:
        """The far frame in the near one, 4 x 4."""
        return self.at(q, 1.0)[0]

    def jacobian(self, q: Numbers) -> Floats:
        """Velocity of the far frame by the coordinates' rates, 6 x n."""
        return np.zeros((6, 0))

    def jacobian_rate(self, q: Numbers, qd: Numbers) -> Floats:
        """Time derivative of the Jacobian, 6 x n."""
        return np.zeros((6, 0))

    def at(self, q: Numbers, share: float) -> tuple[Floats, Floats]:
        """Transform and Jacobian of the section at that share of the length."""
        transform = np.eye(4)
        transform[0, 3] = share * self.length_m
        return transform, np.zeros((6, 0))


class Series:
    """Parts in series; its coordinates are those of the parts, in order. It is a part itself."""

    def __init__(self, parts: Sequence[SoftJoint]) -> None:
        self.parts = list(parts)
        names = [f"{name}_{k}" for k, part in enumerate(self.parts) for name in part.coordinates]
        self.coordinates = tuple(names)
        ends = np.cumsum([0] + [len(part.coordinates) for part in self.parts])
        self.places = [
            slice(int(a), int(b)) for a, b in zip(ends, ends[1:])
        ]  # of each part's coordinates in q

    def start(self) -> Floats:
        """Coordinates of the straight joint at its own length."""
        return np.concatenate([part.start() for part in self.parts])

    def transform(self, q: Numbers) -> Floats:
        """The far frame in the near one, 4 x 4."""
        transform = np.eye(4)
        for part, place in zip(self.parts, self.places):
            transform = transform @ part.transform(q[place])
        return transform

    def jacobian(self, q: Numbers) -> Floats:
        """Velocity of the far frame by the coordinates' rates, 6 x n."""
        return self.reach(q, len(self.parts))[1]

    def jacobian_rate(self, q: Numbers, qd: Numbers) -> Floats:
        """Time derivative of the Jacobian, 6 x n."""
        q, qd = np.asarray(q), np.asarray(qd)
        rate, near, spin = np.zeros((6, len(q))), np.eye(4), np.zeros(3)  # spin: of the near frame
        jacobian = np.zeros((6, len(q)))
        for part, place in zip(self.parts, self.places):
            own, own_rate = part.jacobian(q[place]), part.jacobian_rate(q[place], qd[place])
            turn, far = near[:3, :3], near @ part.transform(q[place])
            arm = far[:3, 3] - near[:3, 3]
            arm_rate = cross(spin, arm) + turn @ own[:3] @ qd[place]
            rate[:3] += cross(rate[3:], arm) + cross(jacobian[3:], arm_rate)
            for half in (slice(0, 3), slice(3, 6)):
                jacobian[half, place] = turn @ own[half]
                rate[half, place] = turn @ own_rate[half] + cross(spin, jacobian[half, place])
            spin = spin + jacobian[3:, place] @ qd[place]
            near = far
        return rate

    def at(self, q: Numbers, share: float) -> tuple[Floats, Floats]:
        """Each part takes the same share of the length."""
        part = min(int(share * len(self.parts)), len(self.parts) - 1)
        return self.section(q, part, share * len(self.parts) - part)

    def section(self, q: Numbers, part: int, share: float) -> tuple[Floats, Floats]:
        """Transform and Jacobian of the section at that share of a part's length."""
        near, jacobian = self.reach(q, part)
        own, own_jacobian = self.parts[part].at(q[self.places[part]], share)
        return onto(near, jacobian, own, own_jacobian, self.places[part])

    def reach(self, q: Numbers, parts: int) -> tuple[Floats, Floats]:
        """Transform and Jacobian of the frame behind the first `parts` parts."""
        transform, jacobian = np.eye(4), np.zeros((6, len(self.coordinates)))
        for part, place in zip(self.parts[:parts], self.places):
            own, own_jacobian = part.transform(q[place]), part.jacobian(q[place])
            transform, jacobian = onto(transform, jacobian, own, own_jacobian, place)
        return transform, jacobian


class Piecewise(Series):
    """Arcs in series, each with its own length and bend."""

    def __init__(self, length_m: float, pieces: int) -> None:
        super().__init__([ConstantCurvature(length_m / pieces) for _ in range(pieces)])
        self.length_m = length_m


def universal_rotation(th1: float, th2: float) -> Floats:
    """Rotation matrix Rot(y, th1) Rot(z, th2)."""
    c1, s1, c2, s2 = cos(th1), sin(th1), cos(th2), sin(th2)
    return np.array([[c1 * c2, -c1 * s2, s1], [s2, c2, 0.0], [-s1 * c2, s1 * s2, c1]])


def universal_like(q: Numbers) -> Floats:
    """Coordinates of the universal joint with the far origin and far x axis of an arc.

    The roll differs: a universal joint turns about y, then z, an arc about both at once. At a bend of 30 degrees the
    far frames differ by up to 4 degrees about their x; at 88 by 43 half way between the axes, by at most 69.
    """
    l_m, b_y, b_z = q
    c = stumpff(b_y * b_y + b_z * b_z)
    d_m = l_m * c[1] / (1 + c[0])  # l tan(b / 2) / b
    return np.array([d_m, atan2(c[1] * b_y, c[0]), asin(c[1] * b_z), d_m])


def stumpff(x: float) -> list[float]:
    """c_k(x) = sum over j of (-x)^j / (2 j + k)!, k from 0 to 6; x is a bend squared.

    c_0 = cos b, c_1 = sin b / b, c_2 = (1 - cos b) / b^2 and so on, but also defined at b = 0.
    """
    c: list[float] = (SERIES @ x**POWERS).tolist()
    return c


def cross(a: Floats, b: Floats) -> Floats:
    """Cross product of vectors, or of columns and a vector; ten times as fast as numpy's for these sizes."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def onto(
    near: Floats, jacobian: Floats, own: Floats, own_jacobian: Floats, place: slice
) -> tuple[Floats, Floats]:
    """Transform, and Jacobian over all coordinates, of a part whose near frame moves itself."""
    turn = near[:3, :3]
    far, moved = near @ own, jacobian.copy()
    moved[:3] += cross(jacobian[3:], far[:3, 3] - near[:3, 3])
    moved[:3, place] += turn @ own_jacobian[:3]
    moved[3:, place] += turn @ own_jacobian[3:]
    return far, moved
