"""Tables `trial.NAME` of a vehicle file: the plant alone, with exact joint motion, no controller, no servos, no noise.

Trials check the physics of a plant: whether it conserves energy and momentum, how it rolls, where it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta, field

from caudal.hal.tables.types import Kind, NotNegative, Number, Positive, Table
from caudal.sim_plant.tables.tree import TreeSpec, scalar_joints


class _Wave(Kind, kw_only=True, frozen=True):
    """What a travelling and a frozen wave share."""

    joints: Annotated[list[str], Meta(min_length=1)]
    joint_positions_m: Annotated[list[NotNegative], Meta(min_length=1)]  # of the joints, from the snout
    length_m: Positive
    waves: Number  # on that length
    growth_per_m: Number = 0.0
    amplitude_rad: Number


class Undulate(_Wave, tag="undulate", kw_only=True, frozen=True):
    """q_j = Q exp(g s_j) sin(2 pi n s_j / L - w t) (Natrix eq. 18), from the first instant on."""

    frequency_hz: Number


class Frozen(_Wave, tag="frozen", kw_only=True, frozen=True):
    """q_j = Q exp(g s_j) cos(2 pi n s_j / L), constant in time."""


class Bend(Kind, tag="bend", kw_only=True, frozen=True):
    """All joints alike, there and back within two times half_s (Natrix eq. 17), smooth except at the turning point."""

    joints: Annotated[list[str], Meta(min_length=1)]
    half_s: Positive
    scale: Number = 0.00625  # 1/s4


class Still(Kind, tag="still", kw_only=True, frozen=True):
    """No driven motion; joints that are not driven move freely."""


class Start(Table, kw_only=True, frozen=True):
    """Pose, momentum and shape at the start."""

    afloat: bool = False  # in the equilibrium of its first shape, then rotated
    depth_m: Number = 0.0
    roll_deg: Number = 0.0
    pitch_deg: Number = 0.0
    momentum: Literal["base at rest", "none"] = "base at rest"  # none: of the vehicle and its added mass
    joints: dict[str, Number] = field(
        default_factory=dict
    )  # rad or m, of joints that the motion does not set


class Trial(Table, kw_only=True, frozen=True):
    """An open-loop experiment on the plant alone."""

    description: str
    duration_s: Positive
    step_s: Annotated[float, Meta(gt=0, le=0.1)] = 0.001
    method: Literal["rk4", "semi-implicit"] = "rk4"
    gravity: bool = True
    water: Literal["full", "buoyant", "none"] = "full"
    start: Start = Start()
    motion: Undulate | Frozen | Bend | Still = Still()


def validate_trial(trial: Trial, tree: TreeSpec | None) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a trial: (key below `trial.NAME`, what is wrong and what to do)."""
    if tree is None:
        yield "description", "a trial needs [plant.tree]; add it, or make this a scenario."
        return
    motion, joints = trial.motion, scalar_joints(tree)
    driven = [b.joint.name for b in tree.body if b.joint and b.joint.mode == "driven"]
    for name in getattr(motion, "joints", ()):
        if name not in driven:
            yield "motion.joints", f"{name} is not a driven joint; choose from {', '.join(driven)}."
    if isinstance(motion, _Wave) and len(motion.joint_positions_m) != len(motion.joints):
        yield (
            "motion.joint_positions_m",
            f"{len(motion.joint_positions_m)} places for {len(motion.joints)} joints; give one each.",
        )
    for name in trial.start.joints:
        if name not in joints:
            yield "start.joints", f"there is no joint {name}; choose from {', '.join(joints)}."
    if trial.start.afloat and (not trial.gravity or trial.water == "none"):
        yield "start.afloat", "nothing floats without gravity and water; do not turn them off."
