"""The planned state, held by one feedback over all of it. Needs numpy.

Nine thrusters, or eight, and ten freedoms: an aim that is met to the letter, acceleration by acceleration, leaves what
it does not see to itself. With a thruster of head or mid gone that runs away; and so it does where two modules come to
lie in a line and their thrusts ahead, against each other, turn their joint the other way from there on. A feedback over
the whole state does not ask for what cannot be had. It is worked out anew, for the shape planned, every RENEW_S, with
errors of the hand dear and those of all else cheap.

Where a lost thruster leaves a joint to itself, the joint's chambers are all there is to turn it by: a newton metre or
so, after a moment. So the bends at which joints would rest are inputs beside the thrusts, dear ones. What both have to
give for the plan's own motion (weight, drag, mass) is given ahead, or the hand would have to be late to have it.
"""

import numpy as np

from caudal.onboard.chain.aims import rotation_vector
from caudal.onboard.chain.chamber import bend_vector
from caudal.onboard.chain.lead import euler_angles, euler_turn
from caudal.onboard.chain.model import JOINT, Chain
from caudal.onboard.chain.riccati import NoGain, feedback, transition
from caudal.onboard.chain.straight import DIFFERENCE, Flow

RENEW_S = 2.0
HAND_M, HAND_RAD = 0.05, 0.3  # what is as bad as PUSH_N
BEND_RAD, ROLL_RAD, SPEED = 0.3, 0.2, 0.3
PUSH_N, REST_RAD = 8.0, 1.0
REST_S = 1.0  # chambers are slow, and what is told them is made slower: it would be noise of speeds, mostly
MOST_RAD, REACH_RAD = 1.0, 1.55  # how far from its bend a joint is told to rest, and in all
SMOOTH_S = 0.2  # of the plan's accelerations
LACK = 1e-3  # N, N m: loads that are not worth a thrust
LEARN_PER_S, LEARN_M = 0.2, 0.15
FAR = 1.0  # m, rad: what is further off is not asked for more; less would cut the feedback's own loop


class Hold:
    def __init__(self, control, thrusters, dt):
        self._chain, self._thrusters, self._dt = Chain(control), thrusters, dt
        self._flow = Flow(self._chain, np.zeros(3 * len(self._chain.chambers)))
        self._every, self._left = round(RENEW_S / dt), 0
        self._lost, self._steer = thrusters.lost.copy(), None
        self.rest = []  # bend vectors at which joints are to rest
        self.start()

    def start(self):
        self._last, self._learned = None, np.zeros(3)
        self._rests = np.zeros(len(self._chain.bends))  # th1 and th2 of rest, beyond the bends planned

    def thrust(self, chain, place, hand_off, base, turn, slides, bends):
        """That holds a plan which has the base there, so turned, and slides and bends so; hand_off: how far the hand
        then still is off, which is summed up. Leaves `rest`."""
        self._off = hand_off
        speed, push = self._motion(base, turn, bends)
        heading = euler_angles(turn)[2]
        flat = euler_turn(0.0, 0.0, heading)
        self._renew(flat.T @ turn, slides, bends)
        thrust, rests = self._trim(turn, slides, bends, speed, push)
        lies = np.concatenate(
            [
                flat.T @ (place + _stretched(chain, slides) - base - self._learned),
                _turned(euler_angles(chain.turn) - euler_angles(turn)),
                chain.q[chain.bends] - bends,
            ]
        )
        goes = np.concatenate([chain.velocity, chain.qd[chain.bends]]) - speed
        late = np.concatenate([self._thrusters.force - thrust, self._rests - rests])
        more = self._steer @ np.concatenate([np.clip(lies, -FAR, FAR), goes, late])
        self._press(bends, rests - more[len(thrust) :])
        return thrust - more[: len(thrust)]

    def learn(self, met):
        """Let the hand's error of this tick count, if limits did not keep it from less."""
        if met:
            more = LEARN_PER_S * self._dt * self._off
            self._learned = np.clip(self._learned + more, -LEARN_M, LEARN_M)

    def _motion(self, base, turn, bends):
        """(speeds, accelerations) of the plan, base axes and bends: from tick to tick, the latter smoothed."""
        if self._last is None:
            self._last = base, turn, bends, np.zeros(6 + len(bends))
            self._push = np.zeros(6 + len(bends))
        last_base, last_turn, last_bends, last = self._last
        moved = turn.T @ (base - last_base), rotation_vector(last_turn.T @ turn), bends - last_bends
        speed = np.concatenate(moved) / self._dt
        self._push = self._push + self._dt / SMOOTH_S * ((speed - last) / self._dt - self._push)
        self._last = base, turn, bends, speed
        return speed, self._push

    def _trim(self, turn, slides, bends, speed, push):
        """(thrusts, bends of the joints' rest beyond their bends) that the plan's motion takes; the least of them."""
        chain, flow = self._chain, self._flow
        flow.slides[0::JOINT] = flow.slides[3::JOINT] = slides
        q, qd = flow.slides.copy(), np.zeros(chain.joints)
        q[chain.bends], qd[chain.bends] = bends, speed[6:]
        chain.update(turn, speed[:6], q, qd, np.zeros(3 * len(chain.chambers)))
        load = chain.free_mass @ push + chain.free_load
        load[6:] -= flow.stiffness * bends
        springs = np.zeros((len(load), len(bends)))
        springs[6:] = np.diag(flow.stiffness)
        worth = np.concatenate([PUSH_N * ~self._lost, np.full(len(bends), REST_RAD)])
        inputs = np.hstack([chain.free_b, springs]) * worth
        square = inputs @ inputs.T
        square.flat[:: len(load) + 1] += LACK
        told = worth * (inputs.T @ np.linalg.solve(square, load))
        thrusters = self._thrusters
        return np.clip(told[: len(self._lost)], thrusters.low, thrusters.high), told[len(self._lost) :]

    def _press(self, bends, rests):
        """Let joints rest further and further towards bends + rests, none further than chambers reach."""
        self._rests = self._rests + self._dt / REST_S * (np.clip(rests, -MOST_RAD, MOST_RAD) - self._rests)
        self.rest = []
        for k in range(0, len(rests), 2):
            port, up, _ = bend_vector(*(bends + self._rests)[k : k + 2].tolist())
            share = min(1.0, REACH_RAD / max(float(np.hypot(port, up)), 1e-9))
            self.rest += [share * port, share * up]

    def _renew(self, level, slides, bends):
        """The feedback for the shape planned: at once if there is none or a thruster was lost, else bit by bit."""
        lost = self._thrusters.lost
        if self._steer is None or (self._lost != lost).any():
            self._lost, self._left = lost.copy(), 0
            for _ in self._design(level, slides, bends):
                pass
        if self._left == 0:
            self._left, self._coming = self._every, self._design(level, slides, bends)
        self._left -= 1
        next(self._coming, None)

    def _design(self, level, slides, bends):
        """Leaves the feedback, in as many parts as it yields: all at once would be longer than a tick."""
        chain, half = self._chain, 6 + len(bends)
        flow = Flow(chain, np.zeros(3 * len(chain.chambers)))
        flow.slides[0::JOINT] = flow.slides[3::JOINT] = slides
        alive = ~self._lost
        state, idle = np.zeros(2 * half), np.zeros(len(alive))
        state[3:6], state[6:half] = euler_angles(level), bends
        a = np.zeros((2 * half, 2 * half))
        for k in range(3, 2 * half):  # the place changes nothing
            step = DIFFERENCE * np.eye(2 * half)[k]
            more, less = flow.at(state + step, idle, bends), flow.at(state - step, idle, bends)
            a[:, k] = (more - less) / (2 * DIFFERENCE)
            yield
        flow.at(state, idle, bends)
        b = np.zeros((2 * half, len(alive)))
        b[half:] = np.linalg.solve(chain.free_mass, chain.free_b)
        springs = np.zeros((2 * half, len(bends)))
        springs[half:] = np.linalg.solve(chain.free_mass, np.eye(half)[:, 6:] * flow.stiffness)
        b = np.hstack([b * alive, springs])
        lags = np.diag(1 / np.concatenate([self._thrusters.lags_s, np.full(len(bends), REST_S)]))
        size, wide = len(a), b.shape[1]
        both = np.block([[a, b], [np.zeros((wide, size)), -lags]])
        f, g = transition(both, np.vstack([np.zeros((size, wide)), lags]), self._dt)
        worth = np.zeros((size + wide, size + wide))
        worth[:half, :half] = self._hand_worth(chain)
        worth[half:size, half:size] = np.eye(half) / SPEED**2
        dear = np.concatenate([np.full(len(alive), PUSH_N), np.full(len(bends), REST_RAD)])
        try:
            steer = feedback(f, g, worth, np.diag(1 / dear**2))
        except (
            NoGain,
            np.linalg.LinAlgError,
        ):  # too few thrusters are left to steer it: what the plan takes is all
            steer = np.zeros((wide, size + wide))
        self._steer = steer * np.concatenate([alive, np.ones(len(bends), dtype=bool)])[:, None]

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


def _stretched(chain, slides):
    """How far, in the world, the hand is further from the base than with the slides planned."""
    ends = np.array([JOINT * k + i for k in range(len(slides)) for i in (0, JOINT - 1)])
    return chain.turn @ (chain.axes[ends, :3].T @ (chain.q[ends] - np.repeat(slides, 2)))


def _turned(angles):
    """By less than half a turn."""
    return (angles + np.pi) % (2 * np.pi) - np.pi
