"""The undulation of a long body: every joint swings by itself, in one travelling wave with a growing envelope.

    q_j(t) = Q exp(g s_j) sin(2 pi n s_j / L - w t)        (Natrix eq. 18)

s_j is the joint's distance from the snout, L the body's length, n the waves on it. With minus w t the wave runs
from head to tail: the vehicle swims forward. Portable; floats, used when a gait is built, not while it swims.
"""

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Undulation:
    """The travelling wave of joint angles of a long body."""

    def __init__(
        self,
        amplitude_rad: float,
        growth_per_m: float,
        waves: float,
        length_m: float,
        joint_positions_m: "Sequence[float]",
    ) -> None:
        self.amplitudes_rad = [amplitude_rad * math.exp(growth_per_m * s_m) for s_m in joint_positions_m]
        self.leads_rad = [2 * math.pi * waves * s_m / length_m for s_m in joint_positions_m]

    def angles(self, phase_rad: float) -> "list[float]":
        """Joint angles at a phase."""
        return [a * math.sin(lead - phase_rad) for a, lead in zip(self.amplitudes_rad, self.leads_rad)]

    def table(self, rows: int) -> "list[list[float]]":
        """One beat as `rows` lists of joint angles, evenly spaced in phase."""
        return [self.angles(2 * math.pi * row / rows) for row in range(rows)]
