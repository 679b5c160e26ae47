"""The shape of a gait: one beat as a table of joint angles, and its first harmonic.

Computed once from a wave, in floats, and kept as integers. Portable.
"""

from caudal.hal.core.fixed_point import to_q14
from caudal.onboard.gait.phase import phase_of
from caudal.onboard.gait.undulation import Undulation
from caudal.onboard.gait.wave import Wave, first_harmonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.tables.stack import AnyGait


class Shape:
    """One beat as `rows` of joint angles, and each joint's amplitude and lead."""

    def __init__(self, table: "list[list[float]]") -> None:
        self.joints = len(table[0])
        self.rows = len(table)
        self.angles = [to_q14(angle) for row in table for angle in row]  # row after row
        harmonics = first_harmonic(table)
        self.amplitudes = [to_q14(amplitude) for amplitude, _ in harmonics]
        self.leads = [phase_of(lead_rad) for _, lead_rad in harmonics]


def wave_of(gait: "AnyGait") -> "Wave | Undulation":
    """The wave of a [gait] table."""
    if gait.kind == "tail":
        return Wave(gait.c1, gait.c2_per_m, gait.wavelength_m, gait.links_m)
    return Undulation(
        gait.amplitude_rad,
        gait.growth_per_m,
        gait.waves,
        gait.length_m,
        gait.joint_positions_m,
    )


def places_of(gait: "AnyGait") -> "list[float]":
    """Positions of the joints along the body, and of the tip, in m."""
    if gait.kind == "undulation":
        return list(gait.joint_positions_m) + [gait.length_m]
    joint_positions_m = [0.0]
    for length_m in gait.links_m:
        joint_positions_m.append(joint_positions_m[-1] + length_m)
    return joint_positions_m


def shape_of(gait: "AnyGait") -> Shape:
    """The shape of a [gait] table."""
    return Shape(wave_of(gait).table(gait.table_size))
