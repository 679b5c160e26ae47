"""Builds the gait of the [gait] table; `source` selects the look-up table or the oscillators. Portable."""

from caudal.onboard.gait.cpg import CpgGait
from caudal.onboard.gait.gait import TableGait
from caudal.onboard.gait.shape import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.gait.gait import Gait
    from caudal.onboard.tables.stack import AnyGait


def build_gait(table: "AnyGait", board: "Board", rate_hz: int) -> "Gait":
    """A gait at rest."""
    shape = shape_of(table)
    joints = [board.actuator(name) for name in table.joints]
    share = table.turn_share
    convergence_per_s = table.convergence_per_s
    if table.source == "table":
        return TableGait(shape, joints, share, rate_hz, convergence_per_s)
    return CpgGait(shape, joints, share, rate_hz, convergence_per_s, table.coupling_per_s)
