"""From the vehicle file's [gait] table to a gait: `source` chooses where the wave comes from. Portable."""

from caudal.onboard.gait.cpg import CpgGait
from caudal.onboard.gait.gait import TableGait
from caudal.onboard.gait.shape import shape_of


def build_gait(settings, board, rate_hz):
    shape = shape_of(settings)
    joints = [board.actuator(name) for name in settings["joints"]]
    share = settings["turn_share"]
    convergence_per_s = settings["convergence_per_s"]
    if settings["source"] == "table":
        return TableGait(shape, joints, share, rate_hz, convergence_per_s)
    return CpgGait(shape, joints, share, rate_hz, convergence_per_s, settings["coupling_per_s"])
