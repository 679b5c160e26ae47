"""The travelling wave of a swimming tail, and the joint angles that fit a chain of links to it.

    y(x, t) = (c1 x + c2 x**2) sin(k x - w t)        Lighthill's wave as the tail-swimming literature uses it

x points aft from the first joint, y to port. With x aft, k x - w t runs head to tail: the vehicle swims forward.
A joint's angle is the turn from the link before it to its own; all angles in rad. Portable; floats, used
when a gait is built, not while it swims.
"""

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Wave:
    """The travelling wave of a tail of links."""

    def __init__(self, c1: float, c2_per_m: float, wavelength_m: float, links_m: "Sequence[float]") -> None:
        self.c1 = c1
        self.c2_per_m = c2_per_m
        self.wave_number = 2 * math.pi / wavelength_m
        self.links_m = links_m

    def envelope_m(self, x_m: float) -> float:
        """Amplitude at x."""
        return (self.c1 + self.c2_per_m * x_m) * x_m

    def lateral_m(self, x_m: float, phase_rad: float) -> float:
        """y at x."""
        return self.envelope_m(x_m) * math.sin(self.wave_number * x_m - phase_rad)

    def nodes(self, phase_rad: float) -> "list[tuple[float, float]]":
        """Positions of the joints and the tip, [(x, y), ...]: each link's end on the curve, link by link."""
        x_m = 0.0
        y_m = self.lateral_m(0.0, phase_rad)
        nodes = [(x_m, y_m)]
        for length_m in self.links_m:
            low, high = x_m, x_m + length_m
            for _ in range(60):  # the circle intersects the curve once in this interval: bisection
                middle = (low + high) / 2
                rise_m = self.lateral_m(middle, phase_rad) - y_m
                if (middle - x_m) * (middle - x_m) + rise_m * rise_m < length_m * length_m:
                    low = middle
                else:
                    high = middle
            x_m = (low + high) / 2
            y_m = self.lateral_m(x_m, phase_rad)
            nodes.append((x_m, y_m))
        return nodes

    def angles(self, phase_rad: float) -> "list[float]":
        """Joint angles that fit the chain to the wave."""
        nodes = self.nodes(phase_rad)
        angles = []
        before = 0.0
        for k in range(len(self.links_m)):
            direction = math.atan2(nodes[k + 1][1] - nodes[k][1], nodes[k + 1][0] - nodes[k][0])
            angles.append(direction - before)
            before = direction
        return angles

    def table(self, rows: int) -> "list[list[float]]":
        """One beat as `rows` lists of joint angles, evenly spaced in phase."""
        return [self.angles(2 * math.pi * row / rows) for row in range(rows)]


def chain(links_m: "Sequence[float]", angles: "Sequence[float]") -> "list[tuple[float, float]]":
    """Forward kinematics: [(x, y), ...] of joints and tip for given joint angles."""
    nodes = [(0.0, 0.0)]
    direction = 0.0
    for length_m, angle in zip(links_m, angles):
        direction += angle
        x_m, y_m = nodes[-1]
        nodes.append((x_m + length_m * math.cos(direction), y_m + length_m * math.sin(direction)))
    return nodes


def first_harmonic(table: "Sequence[Sequence[float]]") -> "list[tuple[float, float]]":
    """The beat's first harmonic: amplitude and lead of each joint; angle ~ amplitude sin(phase + lead)."""
    rows = len(table)
    harmonics = []
    for joint in range(len(table[0])):
        sines = cosines = 0.0
        for row in range(rows):  # not sum(): its rounding differs in newer CPythons
            sines += table[row][joint] * math.sin(2 * math.pi * row / rows)
            cosines += table[row][joint] * math.cos(2 * math.pi * row / rows)
        amplitude = 2 / rows * math.sqrt(sines * sines + cosines * cosines)
        harmonics.append((amplitude, math.atan2(cosines, sines)))
    return harmonics
