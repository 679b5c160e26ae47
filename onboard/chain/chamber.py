"""Model of a soft joint's three hydraulic chambers, as the controller knows it.

A chamber under pressure grows longer: the joint stretches by the mean of the three, and bends away from the stronger
ones. A bend vector is (to port, up) in the near module's axes; its length is the bending angle in rad. Springs pull
the joint's four coordinates (d1, th1, th2, d2) to the shape that it would have without load. The angles' springs grow
stiffer with the sum of the pressures.
"""

import math
from collections.abc import Sequence

from caudal.onboard.tables.chain import Soft


class Chambers:
    """The three chambers of one soft joint, by its table."""

    def __init__(self, soft: Soft) -> None:
        self.at_deg = soft.at_deg
        self.length_m = soft.length_m
        self.stretch_m_per_pa = soft.stretch_m_per_pa
        self._bend_rad_per_pa = soft.bend_rad_per_pa
        self._gain_two = soft.gain_two
        self._two_pa = soft.two_pa
        self._soft_pa = soft.soft_pa
        self._stiff_pa = soft.stiff_pa
        self._stiff_share = soft.stiff_share
        self._stiffness_n_m_rad = soft.stiffness_n_m_rad
        self._axial_n_per_m = soft.axial_n_per_m
        self._directions = [(math.cos(a), math.sin(a)) for a in (math.radians(deg) for deg in soft.at_deg)]

    def rest(self, pressures: Sequence[float]) -> tuple[float, float, float, float]:
        """(d (m), th1, th2 (rad) without load, stiffness of the angles (N m/rad)) under three pressures (Pa)."""
        total = pressures[0] + pressures[1] + pressures[2]
        py = pz = 0.0
        for p, (c, s) in zip(pressures, self._directions, strict=True):
            py += p * c
            pz += p * s
        pull = math.hypot(py, pz)
        bend = self._bend_rad_per_pa * pull * (1 + self._gain_two * (total - pull) / self._two_pa)
        ny, nz = (-py / pull, -pz / pull) if pull > 1e-9 else (0.0, 0.0)
        half = 0.5 * min(bend, 2.0)
        chord = math.tan(half) / half if half > 1e-6 else 1.0
        d = 0.5 * (self.length_m + self.stretch_m_per_pa * total / 3) * chord
        stiff = (0.5 * total - self._soft_pa) / (self._stiff_pa - self._soft_pa)
        stiff = 1 + (self._stiff_share - 1) * min(max(stiff, 0.0), 1.0)
        return d, *bend_angles(bend, ny, nz), self._stiffness_n_m_rad * stiff

    def pressures_for(self, port: float, up: float, ease_pa: float) -> list[float]:
        """Three pressures (Pa) at which the joint rests with this bend vector (rad); the lowest of them is ease_pa."""
        bend = math.hypot(port, up)
        if bend < 1e-9:
            return [ease_pa] * 3
        # the pull, away from the bend, as the two chambers next to it give it
        shares = _shares_of_two(-port / bend, -up / bend, self._directions)
        alone = pull = bend / self._bend_rad_per_pa
        for _ in range(6):  # pressures against each other bend further
            against = (pull * (sum(shares) - 1) + 3 * ease_pa) / self._two_pa
            pull = alone / (1 + self._gain_two * against)
        return [ease_pa + pull * share for share in shares]

    def force(self, q: Sequence[float], pressures: Sequence[float]) -> tuple[float, float, float, float]:
        """Spring forces on the four coordinates (N, N m)."""
        d, y, z, stiffness = self.rest(pressures)
        axial = self._axial_n_per_m
        return axial * (d - q[0]), stiffness * (y - q[1]), stiffness * (z - q[2]), axial * (d - q[3])


def _shares_of_two(to_y: float, to_z: float, directions: Sequence[tuple[float, float]]) -> list[float]:
    """Shares, none below 0 and one of them 0, with which the three directions make the unit vector (to_y, to_z)."""
    found = []
    for i in range(3):
        (ay, az), (by, bz) = directions[i], directions[(i + 1) % 3]
        area = ay * bz - az * by
        a, b = (to_y * bz - to_z * by) / area, (ay * to_z - az * to_y) / area
        found.append((min(a, b), i, a, b))
    _, i, a, b = max(found)
    shares = [0.0] * 3
    shares[i], shares[(i + 1) % 3] = max(a, 0.0), max(b, 0.0)
    return shares


def bend_angles(bend: float, ny: float, nz: float) -> tuple[float, float]:
    """th1, th2 that point the tip along (cos bend, sin bend ny, sin bend nz); beyond 80 degrees they grow linearly."""
    most = math.radians(80.0)
    share = 1.0
    if bend > most:
        share, bend = bend / most, most
    z = math.asin(math.sin(bend) * ny)
    y = math.atan2(-math.sin(bend) * nz, math.cos(bend))
    return y * share, z * share


def bend_vector(y: float, z: float) -> tuple[float, float, tuple[float, float, float, float]]:
    """(port, up, slopes) of a universal joint at th1 = y, th2 = z: how far, and to which side, its axis is bent.

    Its length is the whole bending angle. Unlike the angles it is smooth near a quarter turn, where th1 turns the far
    side about its own axis and bends nothing. slopes: derivatives of port and up by y and z, row by row.
    """
    c1, s1, c2, s2 = math.cos(y), math.sin(y), math.cos(z), math.sin(z)
    c = min(max(c1 * c2, -1.0), 1.0)
    bend = math.acos(c)
    if bend < 1e-3:
        g, slope = 1.0, -1.0 / 3.0
    else:
        s = math.sin(bend)
        g = bend / s
        slope = (g * c - 1) / (s * s)  # of g with c
    to_port, to_up = s2, -s1 * c2
    with_y, with_z = slope * -s1 * c2, slope * -c1 * s2
    slopes = (
        with_y * to_port, with_z * to_port + g * c2,
        with_y * to_up - g * c1 * c2, with_z * to_up + g * s1 * s2,
    )  # fmt: skip
    return g * to_port, g * to_up, slopes
