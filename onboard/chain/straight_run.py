"""Running straight: a course, a depth and a speed, held by one feedback of the chain's whole state. Needs numpy.

A task like the others: it demands accelerations, J dv/dt = a, namely those under the thrusts that its feedback
(gain_schedule.py) asks for. J separates the thrusters, so that what a solver cannot give of one leaves the others
unchanged.
"""

import math

import numpy as np

from caudal.onboard.chain.arrays import Floats, solved
from caudal.onboard.chain.chamber import bend_vector
from caudal.onboard.chain.gain_schedule import GainSchedule
from caudal.onboard.chain.model import ChainModel
from caudal.onboard.chain.references import RowReference
from caudal.onboard.chain.rotations import euler_angles
from caudal.onboard.chain.tasks import Task
from caudal.onboard.chain.thrusters import Thrusters
from caudal.onboard.core.angles import wrap
from caudal.onboard.tables.chain import RunTaskTable


def thrust_rows(chain: ChainModel) -> tuple[Floats, Floats]:
    """(rows that see the thrusts one by one, their values without any thrust)."""
    moved = solved(chain.free_mass, np.column_stack([chain.free_b, -chain.free_load]))
    alone = np.linalg.pinv(moved[:, :-1])
    rows = np.zeros((len(alone), chain.freedoms))
    rows[:, chain.free] = alone
    return rows, alone @ moved[:, -1]


class StraightRunTask(Task[RowReference]):
    """Motion along the line ahead of where it started, at its depth; the reference is the speed, below 0 astern."""

    def __init__(
        self,
        table: RunTaskTable,
        reference: RowReference,
        dt: float,
        gains: GainSchedule,
        thrusters: Thrusters,
    ) -> None:
        super().__init__(table, reference, dt)
        self._schedule, self._thrusters = gains, thrusters
        self._from, self._course = np.zeros(3), 0.0
        self.rest: list[float] = []  # bend vectors at which the springs are to rest

    def start(self, chain: ChainModel, position: Floats) -> None:
        """Begin the line at the base's present position and heading."""
        super().start(chain, position)
        self._from, self._course = np.array(position), float(euler_angles(chain.rotation)[2])

    def measured(self, chain: ChainModel, position: Floats) -> Floats:
        """The speed ahead, m/s."""
        return chain.velocity[:1].copy()

    def rows(self, chain: ChainModel, position: Floats) -> tuple[Floats, Floats]:
        """(J, a): the accelerations under the feedback's thrusts."""
        schedule, force = self._schedule, self._thrusters.force
        speed, desired = float(chain.velocity[0]), float(self.reference.value[0])
        acceleration = float(self.reference.rate[0])
        _, trim_thrust, rests = schedule.trim(desired, acceleration)
        self.rest = [
            part for k in range(0, len(rests), 2) for part in bend_vector(*rests[k : k + 2].tolist())[:2]
        ]
        error = self._state(chain, position) - schedule.trim(speed, acceleration)[0]
        error[len(chain.free)] = speed - desired
        gap = np.concatenate([error[1:], force - trim_thrust])
        thrust = trim_thrust - schedule.at(speed, schedule.feedback) @ gap
        rows, drift = thrust_rows(chain)
        return rows, thrust + drift

    def _state(self, chain: ChainModel, position: Floats) -> Floats:
        """As gain_schedule.py has it, with the distances to the side and up from the line."""
        ahead = np.array([math.cos(self._course), math.sin(self._course)])
        moved = position - self._from
        side = float(ahead[0] * moved[1] - ahead[1] * moved[0])
        roll, pitch, heading = euler_angles(chain.rotation)
        turned = wrap(heading - self._course)
        self.error = np.array([side, moved[2]])
        near = np.clip(self.error, -self._leash, self._leash)
        pose = [0.0, near[0], near[1], roll, pitch, turned]
        return np.concatenate([pose, chain.q[chain.bends], chain.velocity, chain.qd[chain.bends]])
