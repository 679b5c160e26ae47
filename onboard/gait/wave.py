"""The travelling wave of a swimming tail, and the joint angles that put a chain of links onto it.

    y(x, t) = (c1 x + c2 x**2) sin(k x - w t)        Lighthill's wave as the tail-swimming literature uses it

x points aft from the first joint, y to port. With x aft, k x - w t runs head to tail: it swims forward.
A joint's angle is the turn from the link before it to its own; all angles in rad. Portable; floats, used
when a gait is built, not while it swims.
"""

import math


class Wave:
    def __init__(self, c1, c2_per_m, wavelength_m, links_m):
        self.c1 = c1
        self.c2_per_m = c2_per_m
        self.wave_number = 2 * math.pi / wavelength_m
        self.links_m = links_m

    def envelope_m(self, x_m):
        return (self.c1 + self.c2_per_m * x_m) * x_m

    def lateral_m(self, x_m, phase_rad):
        return self.envelope_m(x_m) * math.sin(self.wave_number * x_m - phase_rad)

    def nodes(self, phase_rad):
        """Where the joints and the tip lie, [(x, y), ...]: each link's end on the curve, link by link."""
        x_m = 0.0
        y_m = self.lateral_m(0.0, phase_rad)
        nodes = [(x_m, y_m)]
        for length_m in self.links_m:
            low, high = x_m, x_m + length_m
            for _ in range(60):  # the circle meets the curve once in this interval: halve it down
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

    def angles(self, phase_rad):
        """Joint angles that put the chain onto the wave."""
        nodes = self.nodes(phase_rad)
        angles = []
        before = 0.0
        for k in range(len(self.links_m)):
            direction = math.atan2(nodes[k + 1][1] - nodes[k][1], nodes[k + 1][0] - nodes[k][0])
            angles.append(direction - before)
            before = direction
        return angles

    def table(self, rows):
        """One beat as `rows` lists of joint angles, evenly spaced in phase."""
        return [self.angles(2 * math.pi * row / rows) for row in range(rows)]


def chain(links_m, angles):
    """Forward kinematics: [(x, y), ...] of joints and tip for given joint angles."""
    nodes = [(0.0, 0.0)]
    direction = 0.0
    for length_m, angle in zip(links_m, angles):
        direction += angle
        x_m, y_m = nodes[-1]
        nodes.append((x_m + length_m * math.cos(direction), y_m + length_m * math.sin(direction)))
    return nodes


def first_harmonic(table):
    """Amplitude and lead of each joint: angle ~ amplitude sin(phase + lead), the beat's first harmonic."""
    rows = len(table)
    harmonics = []
    for joint in range(len(table[0])):
        sines = cosines = 0.0
        for row in range(rows):  # not sum(): newer CPythons round it differently
            sines += table[row][joint] * math.sin(2 * math.pi * row / rows)
            cosines += table[row][joint] * math.cos(2 * math.pi * row / rows)
        amplitude = 2 / rows * math.sqrt(sines * sines + cosines * cosines)
        harmonics.append((amplitude, math.atan2(cosines, sines)))
    return harmonics
