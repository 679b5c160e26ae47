"""What three hydraulic chambers do to a soft joint, as the controller believes it.

A chamber under pressure grows longer: the joint stretches by the mean of the three, and bends away from the stronger. A
bend vector is (to port, up) in the near module's axes, as long as the bend in radians.
Springs pull its four coordinates (d1, th1, th2, d2) to the shape it would have without load; the angles' springs grow
stiffer with the pressures' sum.
"""

import math


class Chambers:
    def __init__(self, soft):
        self.soft = soft
        self._ways = [(math.cos(a), math.sin(a)) for a in (math.radians(deg) for deg in soft["at_deg"])]

    def rest(self, pressures):
        """(d, th1, th2 at rest, stiffness of the angles) under three pressures (Pa)."""
        soft = self.soft
        total = pressures[0] + pressures[1] + pressures[2]
        py = pz = 0.0
        for p, (c, s) in zip(pressures, self._ways, strict=True):
            py += p * c
            pz += p * s
        pull = math.hypot(py, pz)
        bend = soft["bend_rad_per_pa"] * pull * (1 + soft["gain_two"] * (total - pull) / soft["two_pa"])
        ny, nz = (-py / pull, -pz / pull) if pull > 1e-9 else (0.0, 0.0)
        half = 0.5 * min(bend, 2.0)
        chord = math.tan(half) / half if half > 1e-6 else 1.0
        d = 0.5 * (soft["length_m"] + soft["stretch_m_per_pa"] * total / 3) * chord
        stiff = (0.5 * total - soft["soft_pa"]) / (soft["stiff_pa"] - soft["soft_pa"])
        stiff = 1 + (soft["stiff_share"] - 1) * min(max(stiff, 0.0), 1.0)
        return d, *bend_angles(bend, ny, nz), soft["stiffness_n_m_rad"] * stiff

    def pressures_for(self, port, up, ease_pa):
        """Three pressures (Pa), the least of them ease_pa, at which the joint rests with this bend vector (rad)."""
        soft = self.soft
        bend = math.hypot(port, up)
        if bend < 1e-9:
            return [ease_pa] * 3
        # the pull, away from the bend, as the two chambers beside it give it
        shares = _two_beside(-port / bend, -up / bend, self._ways)
        alone = pull = bend / soft["bend_rad_per_pa"]
        for _ in range(6):  # what presses against itself bends further
            against = (pull * (sum(shares) - 1) + 3 * ease_pa) / soft["two_pa"]
            pull = alone / (1 + soft["gain_two"] * against)
        return [ease_pa + pull * share for share in shares]

    def force(self, q, pressures):
        """Forces on the four coordinates."""
        d, y, z, stiffness = self.rest(pressures)
        axial = self.soft["axial_n_per_m"]
        return axial * (d - q[0]), stiffness * (y - q[1]), stiffness * (z - q[2]), axial * (d - q[3])


def _two_beside(to_y, to_z, ways):
    """Shares, none below 0 and one of them 0, with which the three ways make the unit vector (to_y, to_z)."""
    found = []
    for i in range(3):
        (ay, az), (by, bz) = ways[i], ways[(i + 1) % 3]
        area = ay * bz - az * by
        a, b = (to_y * bz - to_z * by) / area, (ay * to_z - az * to_y) / area
        found.append((min(a, b), i, a, b))
    _, i, a, b = max(found)
    shares = [0.0] * 3
    shares[i], shares[(i + 1) % 3] = max(a, 0.0), max(b, 0.0)
    return shares


def bend_angles(bend, ny, nz):
    """th1, th2 that point the tip along (cos bend, sin bend ny, sin bend nz); past 80 degrees they go on straight."""
    most = math.radians(80.0)
    share = 1.0
    if bend > most:
        share, bend = bend / most, most
    z = math.asin(math.sin(bend) * ny)
    y = math.atan2(-math.sin(bend) * nz, math.cos(bend))
    return y * share, z * share


def bend_vector(y, z):
    """(port, up, slopes) of a universal joint turned by th1 = y, th2 = z: how far, and to which side, its axis is bent.

    Its length is the whole bend. Unlike the angles it has no gap anywhere near a quarter turn, where th1 turns the far
    side about its own axis and bends nothing. slopes: how port and up change with y and z, row by row.
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
