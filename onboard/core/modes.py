"""Modes: what a vehicle is about, who may say so, and what each needs to know. One table. Portable.

    auto      the scenario's own task              goto      a place that was asked for
    manual    a pilot's sticks                     mission   way-points, one after the other
    hold      stays as well as it can              surface   goes up by what [surface] says

A failsafe may put `hold` or `surface` in the place of what was asked for; a pilot may then ask for what he likes, and
gets it once the failsafe has cleared. A mission's items may ask for `hold` or `surface`; that counts only while the
mission has the vehicle.
"""

AUTO, MANUAL, HOLD, GOTO, MISSION, SURFACE = 0, 1, 2, 3, 4, 5
NAMES = ("auto", "manual", "hold", "goto", "mission", "surface")

PLACE = ("x_m", "y_m", "heading_rad")
POSE = ("x_m", "y_m", "depth_m", "heading_rad")

# By control.kind: a mode, and the estimates without which it cannot be. A tail has those that its file has tables for.
TAIL = {AUTO: (), MANUAL: (), HOLD: (), GOTO: PLACE, MISSION: PLACE, SURFACE: ()}
WRENCH = {AUTO: POSE, MANUAL: POSE, HOLD: POSE, GOTO: POSE, MISSION: POSE, SURFACE: ()}
CHAIN = {AUTO: POSE, HOLD: POSE, SURFACE: ()}

PILOT, MISSION_ITSELF = "pilot", "mission"
MAY = {PILOT: NAMES, MISSION_ITSELF: ("hold", "surface")}


def missing(mode, modes, estimate):
    """The estimates that a mode needs and the vehicle does not have; () if it has all."""
    unknown = None
    for field in modes[mode]:
        if getattr(estimate, field) is None:
            unknown = unknown or []
            unknown.append(field)
    return unknown or ()
