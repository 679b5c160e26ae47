"""The undulation of a long body: every joint swings by itself, in one travelling wave with a growing envelope.

    q_j(t) = Q exp(g s_j) sin(2 pi n s_j / L - w t)        (Natrix eq. 18)

s_j is the joint's distance from the snout, L the body's length, n the waves on it. With minus w t the wave runs
from head to tail: it swims forward. Portable; floats, used when a gait is built, not while it swims.
"""

import math


class Undulation:
    def __init__(self, amplitude_rad, growth_per_m, waves, length_m, places_m):
        self.amplitudes_rad = [amplitude_rad * math.exp(growth_per_m * s_m) for s_m in places_m]
        self.leads_rad = [2 * math.pi * waves * s_m / length_m for s_m in places_m]

    def angles(self, phase_rad):
        return [a * math.sin(lead - phase_rad) for a, lead in zip(self.amplitudes_rad, self.leads_rad)]

    def table(self, rows):
        """One beat as `rows` lists of joint angles, evenly spaced in phase."""
        return [self.angles(2 * math.pi * row / rows) for row in range(rows)]
