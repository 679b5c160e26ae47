"""The shape of a gait: one beat as a table of joint angles, and its first harmonic.

Made from a wave once, in floats; what the two gait sources need of it is kept as integers. Portable.
"""

from caudal.hal.core.fixed_point import to_q14
from caudal.onboard.gait.phase import phase_of
from caudal.onboard.gait.undulation import Undulation
from caudal.onboard.gait.wave import Wave, first_harmonic


class Shape:
    def __init__(self, table):
        self.joints = len(table[0])
        self.rows = len(table)
        self.angles = [to_q14(angle) for row in table for angle in row]  # row after row
        harmonics = first_harmonic(table)
        self.amplitudes = [to_q14(amplitude) for amplitude, _ in harmonics]
        self.leads = [phase_of(lead_rad) for _, lead_rad in harmonics]


def wave_of(settings):
    """The wave that the vehicle file's [gait] table describes."""
    if settings["kind"] == "tail":
        return Wave(settings["c1"], settings["c2_per_m"], settings["wavelength_m"], settings["links_m"])
    return Undulation(
        settings["amplitude_rad"],
        settings["growth_per_m"],
        settings["waves"],
        settings["length_m"],
        settings["places_m"],
    )


def places_of(settings):
    """Where the joints are along the body, and the tip, in m."""
    if settings["kind"] == "undulation":
        return list(settings["places_m"]) + [settings["length_m"]]
    places_m = [0.0]
    for length_m in settings["links_m"]:
        places_m.append(places_m[-1] + length_m)
    return places_m


def shape_of(settings):
    return Shape(wave_of(settings).table(settings["rows"]))
