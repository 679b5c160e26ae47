"""With a thruster lost: the planned state, held by one feedback over all of it. Needs numpy.

Eight thrusters and ten freedoms: an aim that is met to the letter, acceleration by acceleration, leaves what it does
not see to itself, and with a thruster of head or mid gone that runs away. A feedback over the whole state does not ask
for what cannot be had. It is worked out anew, for the shape planned, every RENEW_S (which takes a tick or two), with
errors of the hand dear and those of all else cheap.
"""

import numpy as np

from onboard.chain.lead import euler_angles, euler_turn
from onboard.chain.model import JOINT, Chain
from onboard.chain.riccati import NoGain, feedback, transition
from onboard.chain.run import thrust_rows
from onboard.chain.straight import Flow, difference

RENEW_S = 2.0
HAND_M, HAND_RAD = 0.1, 0.3  # what is as bad as PUSH_N
BEND_RAD, ROLL_RAD, SPEED = 0.3, 0.2, 0.3
PUSH_N = 8.0
LEARN_PER_S, LEARN_M = 0.2, 0.15
FAR = 1.0  # m, rad: what is further off is not asked for more; less would cut the feedback's own loop


class Hold:
    def __init__(self, control, thrusters, dt):
        self._chain, self._thrusters, self._dt = Chain(control), thrusters, dt
        self._flow = Flow(self._chain, np.zeros(3 * len(self._chain.chambers)))
        self._renew, self._left = round(RENEW_S / dt), 0
        self._lost = thrusters.lost.copy()
        self.start()

    def start(self):
        self._last, self._learned = None, np.zeros(3)

    def rows(self, chain, place, hand_off, base, turn, slides, bends):
        """As an aim's, for a plan that has the base there, so turned, and slides and bends so; hand_off: how far the
        hand then still is off. That is summed up: slides are longer or shorter than planned."""
        self._learned = np.clip(self._learned + LEARN_PER_S * self._dt * hand_off, -LEARN_M, LEARN_M)
        base = base + self._learned
        heading = euler_angles(turn)[2]
        flat = euler_turn(0.0, 0.0, heading)
        level = flat.T @ turn
        if self._left == 0 or (self._lost != self._thrusters.lost).any():
            self._design(level, slides, bends)
        self._left -= 1
        wanted = np.concatenate([base, euler_angles(turn), bends])
        rate = np.zeros(len(wanted)) if self._last is None else wanted - self._last
        rate[3:6] = _turned(rate[3:6])
        rate, self._last = rate / self._dt, wanted
        off = np.zeros(2 * len(wanted))
        off[:3] = np.clip(flat.T @ (place - base), -FAR, FAR)
        off[3:6] = np.clip(_turned(euler_angles(chain.turn) - wanted[3:6]), -FAR, FAR)
        off[6:10] = np.clip(chain.q[chain.bends] - bends, -FAR, FAR)
        speed = np.concatenate([turn.T @ rate[:3], np.zeros(3), rate[6:10]])
        speed[5] = rate[5]
        off[10:] = np.concatenate([chain.velocity, chain.qd[chain.bends]]) - speed
        thrust = self._told - self._steer @ np.concatenate([off, self._thrusters.force - self._told])
        rows, there = thrust_rows(chain)
        return rows, thrust + there

    def _design(self, level, slides, bends):
        self._left, self._lost = self._renew, self._thrusters.lost.copy()
        chain, flow, half = self._chain, self._flow, 10
        flow.slides[0::JOINT] = flow.slides[3::JOINT] = slides
        state = np.zeros(2 * half)
        state[3:6], state[6:10] = euler_angles(level), bends
        alive = ~self._lost
        still = flow.at(state, np.zeros(len(alive)), bends)
        a, b = difference(flow.at, state, np.zeros(len(alive)), bends)
        b = b * alive
        load = np.linalg.lstsq(b[half:], -still[half:], rcond=1e-3)[0]
        self._told = np.clip(load, self._thrusters.low, self._thrusters.high) * alive
        lags, size, wide = np.diag(1 / self._thrusters.lags_s), len(a), b.shape[1]
        both = np.block([[a, b], [np.zeros((wide, size)), -lags]])
        f, g = transition(both, np.vstack([np.zeros((size, wide)), lags]), self._dt)
        flow.at(state, np.zeros(len(alive)), bends)
        worth = np.zeros((size + wide, size + wide))
        worth[:half, :half] = self._hand_worth(chain)
        worth[half:size, half:size] = np.eye(half) / SPEED**2
        try:
            steer = feedback(f, g, worth, np.eye(wide) / PUSH_N**2)
        except (NoGain, np.linalg.LinAlgError):  # too few thrusters are left to hold it: they rest
            steer, self._told = np.zeros((wide, size + wide)), np.zeros(wide)
        self._steer = steer * alive[:, None]

    def _hand_worth(self, chain):
        """Of place, attitude and bends: the hand's errors, and a little of all bends and of roll."""
        body = np.array([3 * (len(chain.modules) - 1)])
        turn, at = chain.module_end(len(chain.modules) - 1)
        at = at + turn[:, 0] * chain.lengths_m[-1]
        moved, _, _ = chain.point_rows(body, at[None])
        turned, _, _ = chain.turn_rows(body[0])
        rows = np.concatenate([moved[0] / HAND_M, turned / HAND_RAD])[:, chain.free]
        back = np.eye(len(chain.free))
        back[:3, :3] = chain.turn.T  # places stand in world axes
        rows = rows @ back
        worth = rows.T @ rows
        worth[3, 3] += 1 / ROLL_RAD**2
        worth[6:, 6:] += np.eye(len(chain.free) - 6) / BEND_RAD**2
        return worth


def _turned(angles):
    """By less than half a turn."""
    return (angles + np.pi) % (2 * np.pi) - np.pi
