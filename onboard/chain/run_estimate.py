"""How a chain that runs straight lies and moves: all readings correct all of the state, by gains for its speed. Needs
numpy.

The state (straight.py) is carried on by the chain's model under the thrusters' mean push of the last tick, then
corrected by what was read; what was not read corrects nothing. Slides keep their own filters.
"""

import math

import numpy as np

from caudal.onboard.chain.estimate import MOST_M_S2, MOST_RAD_S2, ChainEstimator, bounded
from caudal.onboard.chain.lead import euler_turn
from caudal.onboard.chain.straight import euler_rates


class RunEstimator(ChainEstimator):
    def __init__(self, settings, control, board, rate_hz, thrusters, chain, straight):
        super().__init__(settings, control, board, rate_hz, thrusters)
        self._chain, self._straight = chain, straight
        self._half = 6 + len(chain.bends)
        self._state = np.zeros(2 * self._half)
        self._begun = False
        self._nis: list = [None] * 4

    def _turn_on(self):
        """Angles are carried on with all the rest."""

    def _carry_on(self):
        for k, joint in enumerate(self._joints):
            if joint.known and not self._bends[k]:
                joint.predict(-20.0 * joint.speed_m_s)
        if not self._begun:
            return
        chain, state, dt, half = self._chain, self._state, self._dt, self._half
        pushes = chain.free_b @ self._thrusters.mean - chain.free_load
        push = np.linalg.solve(chain.free_mass, pushes)
        push[:3], push[3:] = bounded(push[:3], MOST_M_S2), bounded(push[3:], MOST_RAD_S2)
        moves = state[half:] + 0.5 * dt * push
        state[:3] += dt * (euler_turn(*state[3:6]) @ moves[:3])
        state[3:6] += dt * np.array(euler_rates(state[3:6], moves[3:6]))
        state[6:half] += dt * moves[6:]
        state[half:] += dt * push

    def _correct(self):
        known = True
        for k, (joint, sensor) in enumerate(zip(self._joints, self._coordinates, strict=True)):
            if not self._bends[k] and self._fresh(sensor):
                self._take(joint, self._board.reading(sensor))
            known = known and self._board.age[sensor] < self._lost
        read = self._read()
        if not self._begun:
            if any(value is None for value in read):
                return False
            self._state[: self._half] = read[: self._half]
            self._begun = True
        self._mend(read)
        return known and all(self._board.age[i] < self._lost for i in (*self._places, *self._tilts))

    def _read(self):
        """Place, attitude, bends, gyros, as far as they were read in this tick."""
        bends = [sensor for k, sensor in enumerate(self._coordinates) if self._bends[k]]
        read = [
            self._board.reading(i) if self._fresh(i) else None
            for i in (*self._places, *self._tilts, *bends, *self._gyros)
        ]
        read[2] = None if read[2] is None else -read[2]
        return read

    def _mend(self, read):
        state, half = self._state, self._half
        expected = np.concatenate([state[:half], state[half + 3 : half + 6]])
        off = np.array([0.0 if r is None else r - e for r, e in zip(read, expected, strict=True)])
        off[3:6] = (off[3:6] + math.pi) % (2 * math.pi) - math.pi
        # gains are those of a chain that heads along x
        ahead = euler_turn(0.0, 0.0, state[5])
        off[:3] = ahead.T @ off[:3]
        speed = float(state[half])
        nis = off * off / self._straight.at(speed, self._straight.spread)
        self._nis = [None if read[k] is None else float(nis[k]) for k in (0, 1, 2, 5)]
        clear = self._straight.at(speed, self._straight.see) @ off
        clear[:3] = ahead @ clear[:3]
        state += clear
        state[3:6] = (state[3:6] + math.pi) % (2 * math.pi) - math.pi

    def _gather(self):
        state, half, bends = self._state, self._half, self._chain.bends
        self.turn = euler_turn(*state[3:6])
        self.place[:], self.velocity[:] = state[:3], state[half : half + 6]
        self.q[:] = [joint.place_m for joint in self._joints]
        self.qd[:] = [joint.speed_m_s for joint in self._joints]
        self.q[bends], self.qd[bends] = state[6:half], state[half + 6 :]

    def _innovations(self):
        """Ahead for x, across for y."""
        return self._nis

    def _attitude(self):
        return self._state[3:6].tolist()
