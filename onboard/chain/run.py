"""Running straight: a course, a depth and a speed, held by one feedback over all of the chain's state. Needs numpy.

An aim like the others: what it asks are accelerations, J dv/dt = a, namely those under the thrusts that its feedback
(straight.py) wants. J is such that it sees each thruster's part by itself, so that what a solver cannot give of one
leaves the others as they are.
"""

import math

import numpy as np

from caudal.onboard.chain.aims import Aim
from caudal.onboard.chain.chamber import bend_vector
from caudal.onboard.chain.lead import euler_angles


def thrust_rows(chain):
    """(rows that see the thrusts one by one, what they see without any)."""
    moved = np.linalg.solve(chain.free_mass, np.column_stack([chain.free_b, -chain.free_load]))
    alone = np.linalg.pinv(moved[:, :-1])
    rows = np.zeros((len(alone), chain.freedoms))
    rows[:, chain.free] = alone
    return rows, alone @ moved[:, -1]


class RunAim(Aim):
    """Along the line ahead of where it started, at its depth; the lead's number is the speed, below 0 astern."""

    def __init__(self, settings, lead, dt, straight, thrusters):
        super().__init__(settings, lead, dt)
        self._straight, self._thrusters = straight, thrusters
        self._from, self._course = np.zeros(3), 0.0
        self.rest = []  # bend vectors at which the springs are to rest

    def start(self, chain, place):
        super().start(chain, place)
        self._from, self._course = np.array(place), float(euler_angles(chain.turn)[2])

    def seen(self, chain, place):
        return chain.velocity[:1].copy()

    def rows(self, chain, place):
        straight, force = self._straight, self._thrusters.force
        speed, wanted = float(chain.velocity[0]), float(self.lead.value[0])
        push = float(self.lead.rate[0])
        _, told, rests = straight.trim(wanted, push)
        self.rest = [
            part for k in range(0, len(rests), 2) for part in bend_vector(*rests[k : k + 2].tolist())[:2]
        ]
        off = self._state(chain, place) - straight.trim(speed, push)[0]
        off[len(chain.free)] = speed - wanted
        gap = np.concatenate([off[1:], force - told])
        thrust = told - straight.at(speed, straight.steer) @ gap
        rows, there = thrust_rows(chain)
        return rows, thrust + there

    def _state(self, chain, place):
        """As straight.py has it, with the way to the side and up from the line."""
        ahead = np.array([math.cos(self._course), math.sin(self._course)])
        gone = place - self._from
        side = float(ahead[0] * gone[1] - ahead[1] * gone[0])
        roll, pitch, heading = euler_angles(chain.turn)
        turned = (heading - self._course + math.pi) % (2 * math.pi) - math.pi
        self.error = np.array([side, gone[2]])
        near = np.clip(self.error, -self._leash, self._leash)
        lies = [0.0, near[0], near[1], roll, pitch, turned]
        return np.concatenate([lies, chain.q[chain.bends], chain.velocity, chain.qd[chain.bends]])
