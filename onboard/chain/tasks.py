"""Tasks of a chain, each with a priority: a scenario's `tasks`. Needs numpy.

    rows(chain, position) -> (J, a):   J dv/dt = a   is what the task demands of the chain's accelerations

    a = a_ref + kp e + ki integral of e + kd (v_ref - v) - (acceleration at dv/dt = 0)

All three poles of the error are at -pole_per_s: kp = 3 p^2, ki = p^3, kd = 3 p. The reference (references.py) says
where the task should be. Vectors are in base axes; `position` is the base's, in world axes. A task that limits or
tasks of higher priority keep from being met does not integrate its error: it would wind up (`integrate`).
"""

import math
from typing import Generic, Protocol, TypeVar

import numpy as np

from caudal.onboard.chain.arrays import Floats, Indexes
from caudal.onboard.chain.model import ChainModel
from caudal.onboard.chain.references import PositionReference, RowReference
from caudal.onboard.chain.rotations import cross, euler_angles, flip_z, rotation_vector
from caudal.onboard.tables.chain import SpeedTaskTable, TaskTable


class Reference(Protocol):
    """What every task's reference can do (references.py)."""

    def start(self, value: Floats) -> None:
        """Begin at time 0 with these numbers."""

    def step(self, time_s: float) -> None:
        """Go to a time since the start."""


class RotatingReference(Reference, Protocol):
    """A reference with an attitude."""

    rotation: Floats
    angular_velocity: Floats


R = TypeVar("R", bound=Reference)


class Task(Generic[R]):
    """A task whose error is integrated in steps of dt."""

    def __init__(self, table: TaskTable, reference: R, dt: float) -> None:
        self.name = table.name
        self.damping = table.damping
        self.reference = reference
        pole = table.pole_per_s
        self._gains = 3 * pole * pole, pole * pole * pole, 3 * pole
        self._integral_limit = table.integral_limit
        self._leash = table.error_limit
        self._dt = dt
        self.integral: Floats | float = 0.0
        self.error: Floats = np.zeros(0)
        self.missed = 0.0  # by the solver's answer, in the last tick

    def start(self, chain: ChainModel, position: Floats) -> None:
        """Begin the reference at the chain's present state; `chain` is up to date."""
        self.reference.start(self.measured(chain, position))

    def measured(self, chain: ChainModel, position: Floats) -> Floats:
        """The present values of the reference's numbers."""
        raise NotImplementedError

    def rows(self, chain: ChainModel, position: Floats) -> tuple[Floats, Floats]:
        """(J, a): the accelerations that the task demands."""
        raise NotImplementedError

    def integrate(self, met: bool) -> None:
        """Add the errors of this tick to the integral, if the solver met what the task demanded."""
        if met:
            self.integral = np.clip(
                self.integral + self._gains[1] * self._dt * self.error,
                -self._integral_limit,
                self._integral_limit,
            )

    def reset_integral(self) -> None:
        """Set the integral to 0."""
        self.integral = 0.0

    def _demand(self, error: Floats, rate_error: Floats) -> Floats:
        """Accelerations that bring the error to 0. A far error demands no more than one of size `error_limit`: the task
        comes back at a steady speed, pole times error_limit, without a jump."""
        self.error = error
        size = math.sqrt(float(error @ error))
        near = error if size <= self._leash else error * (self._leash / size)
        return self._gains[0] * near + self._gains[2] * rate_error + self.integral


class FrameTask(Task[R]):
    """A task of one frame: `module` is its module's number, at_m its position in that module's frame."""

    def __init__(self, table: TaskTable, reference: R, dt: float, module: int, at_m: list[float]) -> None:
        super().__init__(table, reference, dt)
        self._module = module
        self._body: Indexes = np.array([3 * module])
        self._at_m: Floats = np.array(at_m, dtype=float)

    def frame(self, chain: ChainModel) -> tuple[Floats, Floats]:
        """(rotation, position) of the frame in base axes."""
        rotation, at = chain.module_frame(self._module)
        return rotation, at + rotation @ self._at_m

    def frame_position(self, chain: ChainModel, position: Floats) -> Floats:
        """The frame's position in world axes."""
        return position + chain.rotation @ self.frame(chain)[1]


class PositionTask(FrameTask[PositionReference]):
    """Position of a frame."""

    def measured(self, chain: ChainModel, position: Floats) -> Floats:
        """The present values of the reference's numbers."""
        return flip_z(self.frame_position(chain, position))

    def rows(self, chain: ChainModel, position: Floats) -> tuple[Floats, Floats]:
        """(J, a): the accelerations that the task demands."""
        _, at = self.frame(chain)
        rows, drift, velocity = chain.point_rows(self._body, at[None])
        reference, back = self.reference, chain.rotation.T
        error = back @ (reference.position - position) - at
        demand = self._demand(error, back @ reference.velocity - velocity[0])
        return rows[0], demand + back @ reference.acceleration - drift[0]


class AttitudeTask(FrameTask[RotatingReference]):
    """Attitude of a frame."""

    def measured(self, chain: ChainModel, position: Floats) -> Floats:
        """The present values of the reference's numbers."""
        return euler_angles(chain.rotation @ self.frame(chain)[0])

    def rows(self, chain: ChainModel, position: Floats) -> tuple[Floats, Floats]:
        """(J, a): the accelerations that the task demands."""
        rotation, _ = self.frame(chain)
        rows, drift, angular_velocity = chain.rotation_rows(self._body[0])
        back = chain.rotation.T
        error = rotation_vector(back @ self.reference.rotation @ rotation.T)
        demand = self._demand(error, back @ self.reference.angular_velocity - angular_velocity)
        return rows, demand - drift


class LookTask(FrameTask[PositionReference]):
    """Points the frame's x axis at the reference's position; its roll about that axis is free."""

    def measured(self, chain: ChainModel, position: Floats) -> Floats:
        """The present values of the reference's numbers."""
        rotation, _ = self.frame(chain)
        return flip_z(self.frame_position(chain, position) + chain.rotation @ rotation[:, 0])

    def rows(self, chain: ChainModel, position: Floats) -> tuple[Floats, Floats]:
        """(J, a): the accelerations that the task demands."""
        rotation, at = self.frame(chain)
        rows, drift, angular_velocity = chain.rotation_rows(self._body[0])
        direction = chain.rotation.T @ (self.reference.position - position) - at
        direction = direction / max(float(np.linalg.norm(direction)), 1e-6)
        across = rotation[:, 1:].T
        demand = self._demand(across @ cross(rotation[:, 0], direction), -(across @ angular_velocity))
        return across @ rows, demand - across @ drift


class PoseTask(FrameTask[PositionReference]):
    """Position and attitude of one frame, at one priority."""

    def __init__(
        self, table: TaskTable, reference: PositionReference, dt: float, module: int, at_m: list[float]
    ) -> None:
        super().__init__(table, reference, dt, module, at_m)
        self._position = PositionTask(table, reference, dt, module, at_m)
        self._attitude = AttitudeTask(table, reference, dt, module, at_m)

    def measured(self, chain: ChainModel, position: Floats) -> Floats:
        """The present values of the reference's numbers."""
        return np.concatenate(
            [self._position.measured(chain, position), self._attitude.measured(chain, position)]
        )

    def rows(self, chain: ChainModel, position: Floats) -> tuple[Floats, Floats]:
        """(J, a): the accelerations that the task demands."""
        upper, demand = self._position.rows(chain, position)
        lower, attitude_demand = self._attitude.rows(chain, position)
        self.error = np.concatenate([self._position.error, self._attitude.error])
        return np.concatenate([upper, lower]), np.concatenate([demand, attitude_demand])

    def integrate(self, met: bool) -> None:
        """Add the errors of this tick to both integrals, if the task was met."""
        self._position.integrate(met)
        self._attitude.integrate(met)

    def reset_integral(self) -> None:
        """Set both integrals to 0."""
        self._position.reset_integral()
        self._attitude.reset_integral()


class ShapeTask(Task[RowReference]):
    """The bend vector of every soft joint: to port and up."""

    def measured(self, chain: ChainModel, position: Floats) -> Floats:
        """The present values of the reference's numbers."""
        return chain.bend.copy()

    def rows(self, chain: ChainModel, position: Floats) -> tuple[Floats, Floats]:
        """(J, a): the accelerations that the task demands."""
        reference = self.reference
        demand = self._demand(reference.value - chain.bend, reference.rate - chain.bend_rate)
        return chain.bend_rows, demand + reference.acceleration


class SpeedTask(FrameTask[RowReference]):
    """Speed of a frame through the water along one of its axes: the speed's error is the rate of an error."""

    def __init__(
        self, table: SpeedTaskTable, reference: RowReference, dt: float, module: int, at_m: list[float]
    ) -> None:
        super().__init__(table, reference, dt, module, at_m)
        self._axis = AXES[table.direction]

    def measured(self, chain: ChainModel, position: Floats) -> Floats:
        """The present values of the reference's numbers."""
        return self.axis_rows(chain)[2]

    def axis_rows(self, chain: ChainModel) -> tuple[Floats, Floats, Floats]:
        """(row, acceleration at dv/dt = 0, speed) along the axis, which turns with the frame."""
        rotation, at = self.frame(chain)
        rows, drift, velocity = chain.point_rows(self._body, at[None])
        axis, (_, _, angular_velocity) = rotation[:, self._axis], chain.rotation_rows(self._body[0])
        turning = float(cross(angular_velocity, axis) @ velocity[0])
        return axis[None] @ rows[0], np.array([axis @ drift[0] + turning]), np.array([axis @ velocity[0]])

    def rows(self, chain: ChainModel, position: Floats) -> tuple[Floats, Floats]:
        """(J, a): the accelerations that the task demands."""
        row, drift, speed = self.axis_rows(chain)
        demand = self._demand(np.zeros(1), self.reference.value - speed)
        return row, demand + self.reference.rate - drift


AXES = {"ahead": 0, "port": 1, "up": 2}
