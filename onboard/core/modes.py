"""Modes: what the vehicle does, who may request each mode, and the estimates it needs. Portable.

    auto      the scenario's own task              goto      to a requested pose
    manual    manual control                       mission   waypoints in order
    hold      station keeping                      surface   ascends as [surface] says

A failsafe may replace the requested mode by `hold` or `surface`. The pilot may still request any mode; it takes effect
once the failsafe has cleared. A mission may request `hold` or `surface`, but only while the mode is `mission`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from caudal.onboard.core.state import Estimate

    Needs = Mapping[int, Sequence[str]]  # by mode: the estimates without which it is not available

AUTO, MANUAL, HOLD, GOTO, MISSION, SURFACE = 0, 1, 2, 3, 4, 5
NAMES = ("auto", "manual", "hold", "goto", "mission", "surface")

PLACE = ("x_m", "y_m", "heading_rad")
POSE = ("x_m", "y_m", "depth_m", "heading_rad")

# By control.kind, each mode with the estimates it needs. A tail has the modes that its file has tables for.
TAIL: "Needs" = {AUTO: (), MANUAL: (), HOLD: (), GOTO: PLACE, MISSION: PLACE, SURFACE: ()}
WRENCH: "Needs" = {AUTO: POSE, MANUAL: POSE, HOLD: POSE, GOTO: POSE, MISSION: POSE, SURFACE: ()}
CHAIN: "Needs" = {AUTO: POSE, HOLD: POSE, SURFACE: ()}

PILOT, MISSION_ITEM = "pilot", "mission"
MAY_REQUEST = {PILOT: NAMES, MISSION_ITEM: ("hold", "surface")}


def missing(mode: int, needs: "Needs", estimate: "Estimate") -> "Sequence[str]":
    """The estimates that a mode needs and the vehicle does not have; () if it has all."""
    unknown: list[str] | None = None
    for field in needs[mode]:
        if getattr(estimate, field) is None:
            unknown = unknown or []
            unknown.append(field)
    return unknown or ()
