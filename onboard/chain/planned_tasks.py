"""Hand, base and shape that follow a plan (shape_plan.py), instead of each its own reference. Needs numpy.

The plan has already weighed base against shape: while the hand is at its pose, the planned shape puts the base where it
can be. So the shape has priority over the base. A hand whose attitude is free gets it from the plan, by a task of its
own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from caudal.onboard.chain.arrays import Floats
from caudal.onboard.chain.hierarchy import Level
from caudal.onboard.chain.model import ChainModel
from caudal.onboard.chain.rotations import euler_angles
from caudal.onboard.chain.shape_hold import ShapeHold
from caudal.onboard.chain.shape_plan import ShapePlan
from caudal.onboard.chain.straight_run import thrust_rows
from caudal.onboard.chain.tasks import AttitudeTask, PoseTask, PositionTask, ShapeTask, Task
from caudal.onboard.chain.thrusters import Thrusters

HOLD_DAMPING = 0.02


class PlannedTasks:
    """A scenario's first three tasks under a plan; `served` are all its tasks in their order of priority.

    `attitude` is the hand's attitude task, None for a hand whose pose is given.
    """

    def __init__(
        self,
        hand: PoseTask | PositionTask,
        attitude: AttitudeTask | None,
        base: PositionTask,
        shape: ShapeTask,
        others: Sequence[Task[Any]],
        plan: ShapePlan,
        hold: ShapeHold,
        thrusters: Thrusters,
        dt: float,
    ) -> None:
        self._hand, self._attitude, self._base, self._shape = hand, attitude, base, shape
        self._plan, self.hold = plan, hold
        self._thrusters, self._dt = thrusters, dt
        self._last_base = np.zeros(3)
        first: list[Task[Any]] = [hand, shape, base] if attitude is None else [hand, attitude, shape, base]
        self.served = [*first, *others]

    def start(self, chain: ChainModel) -> None:
        """Begin the plan at the chain's present shape; the tasks' references have begun."""
        self._plan.start(self._present_shape(chain))
        self.hold.start()
        self._last_base = self._base.reference.position

    def step(self, time_s: float) -> None:
        """Set the references of base and shape by the plan; all references are at this time already."""
        hand, base, shape = self._hand.reference, self._base.reference, self._shape.reference
        rotation = hand.rotation if self._attitude is None else None
        self._plan.step(time_s, hand.position, rotation, base.position)
        base.position = self._plan.base(hand.position, rotation)
        if self._attitude is not None:
            attitude = self._attitude.reference
            attitude.rotation, attitude.angular_velocity = self._plan.heading()
        base.velocity, base.acceleration = (base.position - self._last_base) / self._dt, np.zeros(3)
        self._last_base = base.position
        shape.value, shape.rate, shape.acceleration = self._plan.bend_vectors()

    def needs_hold(self, chain: ChainModel) -> bool:
        """Whether the plan is held as one state (shape_hold.py) instead of task by task.

        Tasks that are met one by one, exactly, leave a freedom uncontrolled. It diverges where a module that the hand
        depends on has lost a thruster (the base's own are not needed), and where two modules in a line, or nearly,
        cannot turn their joint by thrusts against each other: a hand whose attitude is free passes such shapes.
        """
        lost = self._thrusters.lost & (np.array(chain.thruster_modules) > 0)
        return self._attitude is not None or bool(lost.any())

    def hold_level(self, chain: ChainModel, position: Floats) -> Level:
        """The plan as one level: the thrusts that hold it, each as near as limits allow; `position`: the base's."""
        hand = self._hand.reference
        rotation = hand.rotation if self._attitude is None else self._attitude.reference.rotation
        base, base_rotation, slides = self._plan.frames(hand.position, rotation)
        hand_error = hand.position - self._hand.frame_position(chain, position)
        bends = self._plan.bends()
        thrust = self.hold.thrust(chain, position, hand_error, base, base_rotation, slides, bends)
        rows, drift = thrust_rows(chain)
        return rows, thrust + drift, HOLD_DAMPING

    def _present_shape(self, chain: ChainModel) -> Floats:
        """As the plan counts it: the bends, and the hand's heading if that is free."""
        bends = chain.q[chain.bends]
        if self._attitude is None:
            return bends
        rotation, _ = self._hand.frame(chain)
        return np.append(bends, euler_angles(chain.rotation @ rotation)[2])
