"""Holds the planned state by one feedback of the chain's whole state. Needs numpy.

Nine thrusters, or eight, and ten freedoms: a task that is met exactly, acceleration by acceleration, does not control
what its rows do not see. With a thruster of head or mid lost that diverges. It also does where two modules come into
one line and their thrusts ahead, against each other, turn their joint the other way from there on. A feedback of the
whole state does not demand the impossible. It is designed again for the planned shape every RENEW_S, with a high cost
of the hand's errors and a low cost of all others.

Where a lost thruster leaves a joint uncontrolled, only the joint's chambers can turn it: by a newton metre or so, after
a moment. So the bends at which joints would rest are inputs next to the thrusts, at a high cost. What both must give
for the plan's own motion (weight, drag, mass) is fed forward: otherwise the hand would first have to lag behind.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from caudal.onboard.chain.arrays import Floats, solved
from caudal.onboard.chain.chamber import bend_vector
from caudal.onboard.chain.gain_schedule import DIFFERENCE, Dynamics
from caudal.onboard.chain.model import JOINT, ChainModel
from caudal.onboard.chain.riccati import NoGainError, feedback, transition
from caudal.onboard.chain.rotations import euler_angles, euler_rotation, rotation_vector, wrapped
from caudal.onboard.chain.thrusters import Thrusters
from caudal.onboard.tables.chain import Chain

RENEW_S = 2.0
HAND_M, HAND_RAD = 0.05, 0.3  # errors that cost as much as THRUST_N
BEND_RAD, ROLL_RAD, SPEED = 0.3, 0.2, 0.3
THRUST_N, REST_RAD = 8.0, 1.0
REST_S = 1.0  # set-points of chambers are smoothed over this: they would mostly be the noise of speeds
MOST_RAD, REACH_RAD = 1.0, 1.55  # how far from its bend a joint may be set to rest, and in all
SMOOTH_S = 0.2  # of the plan's accelerations
LACK = 1e-3  # N, N m: loads that are not worth a thrust
INTEGRAL_PER_S, INTEGRAL_M = 0.2, 0.15
FAR = 1.0  # m, rad: larger errors count as this; less would open the feedback's own loop


class ShapeHold:
    """Thrusts and joint rests that hold a planned state.

    `hold` leaves `rest`, the bend vectors at which joints are to rest.
    """

    def __init__(self, control: Chain, thrusters: Thrusters, dt: float) -> None:
        self._chain, self._thrusters, self._dt = ChainModel(control), thrusters, dt
        self._dynamics = Dynamics(self._chain, np.zeros(3 * len(self._chain.chambers)))
        self._every, self._left = round(RENEW_S / dt), 0
        self._lost = thrusters.lost.copy()
        self._gain: Floats | None = None
        self._coming: Iterator[None] = iter(())
        self.rest: list[float] = []
        self.missed = 0.0  # by the solver's answer, in the last tick
        self.start()

    def start(self) -> None:
        """Forget the plan's motion, the integral and the joints' rests."""
        self._last: tuple[Floats, Floats, Floats, Floats] | None = None
        self._integral: Floats = np.zeros(3)
        self._rests: Floats = np.zeros(
            len(self._chain.bends)
        )  # th1 and th2 of rest, beyond the bends planned

    def thrust(
        self,
        chain: ChainModel,
        position: Floats,
        hand_error: Floats,
        base: Floats,
        rotation: Floats,
        slides: Sequence[float],
        bends: Floats,
    ) -> Floats:
        """Thrusts (N) that hold a plan with the base at this position and rotation and these slides and bends.

        `position` is the base's measured one; hand_error: the error of the hand that then remains, to be integrated.
        """
        self._hand_error = hand_error
        speed, acceleration = self._motion(base, rotation, bends)
        heading = euler_angles(rotation)[2]
        flat = euler_rotation(0.0, 0.0, heading)
        gain = self._renewed(flat.T @ rotation, slides, bends)
        thrust, rests = self._trim(rotation, slides, bends, speed, acceleration)
        pose_error = np.concatenate(
            [
                flat.T @ (position + _stretched(chain, slides) - base - self._integral),
                wrapped(euler_angles(chain.rotation) - euler_angles(rotation)),
                chain.q[chain.bends] - bends,
            ]
        )
        speed_error = np.concatenate([chain.velocity, chain.qd[chain.bends]]) - speed
        lag = np.concatenate([self._thrusters.force - thrust, self._rests - rests])
        more: Floats = gain @ np.concatenate([np.clip(pose_error, -FAR, FAR), speed_error, lag])
        self._set_rest(bends, rests - more[len(thrust) :])
        return thrust - more[: len(thrust)]

    def integrate(self, met: bool) -> None:
        """Add the hand's error of this tick to the integral, if limits did not cause it."""
        if met:
            more = INTEGRAL_PER_S * self._dt * self._hand_error
            self._integral = np.clip(self._integral + more, -INTEGRAL_M, INTEGRAL_M)

    def _motion(self, base: Floats, rotation: Floats, bends: Floats) -> tuple[Floats, Floats]:
        """(speeds, accelerations) of the plan, base axes and bends: from tick to tick, the latter smoothed."""
        if self._last is None:
            self._last = base, rotation, bends, np.zeros(6 + len(bends))
            self._acceleration = np.zeros(6 + len(bends))
        last_base, last_rotation, last_bends, last = self._last
        moved = (
            rotation.T @ (base - last_base),
            rotation_vector(last_rotation.T @ rotation),
            bends - last_bends,
        )
        speed = np.concatenate(moved) / self._dt
        change = (speed - last) / self._dt - self._acceleration
        self._acceleration = self._acceleration + self._dt / SMOOTH_S * change
        self._last = base, rotation, bends, speed
        return speed, self._acceleration

    def _trim(
        self, rotation: Floats, slides: Sequence[float], bends: Floats, speed: Floats, acceleration: Floats
    ) -> tuple[Floats, Floats]:
        """(thrusts, bends of the joints' rest beyond their bends) that the plan's motion takes; the least of them."""
        chain, dynamics = self._chain, self._dynamics
        dynamics.slides[0::JOINT] = dynamics.slides[3::JOINT] = slides
        q, qd = dynamics.slides.copy(), np.zeros(chain.joints)
        q[chain.bends], qd[chain.bends] = bends, speed[6:]
        chain.update(rotation, speed[:6], q, qd, np.zeros(3 * len(chain.chambers)))
        load = chain.free_mass @ acceleration + chain.free_load
        load[6:] -= dynamics.stiffness * bends
        springs = np.zeros((len(load), len(bends)))
        springs[6:] = np.diag(dynamics.stiffness)
        scale = np.concatenate([THRUST_N * ~self._lost, np.full(len(bends), REST_RAD)])
        inputs = np.hstack([chain.free_b, springs]) * scale
        square = inputs @ inputs.T
        square.flat[:: len(load) + 1] += LACK
        given = scale * (inputs.T @ solved(square, load))
        thrusters = self._thrusters
        return np.clip(given[: len(self._lost)], thrusters.low, thrusters.high), given[len(self._lost) :]

    def _set_rest(self, bends: Floats, rests: Floats) -> None:
        """Move the joints' rest gradually towards bends + rests, none further than chambers reach."""
        self._rests = self._rests + self._dt / REST_S * (np.clip(rests, -MOST_RAD, MOST_RAD) - self._rests)
        self.rest = []
        for k in range(0, len(rests), 2):
            port, up, _ = bend_vector(*(bends + self._rests)[k : k + 2].tolist())
            share = min(1.0, REACH_RAD / max(float(np.hypot(port, up)), 1e-9))
            self.rest += [share * port, share * up]

    def _renewed(self, level: Floats, slides: Sequence[float], bends: Floats) -> Floats:
        """The gain for the planned shape: designed at once if there is none or a thruster was lost, otherwise a part a
        tick."""
        lost = self._thrusters.lost
        gain = self._gain
        if gain is None or (self._lost != lost).any():
            self._lost, self._left = lost.copy(), 0
            for _ in self._design(level, slides, bends):
                pass
        if self._left == 0:
            self._left, self._coming = self._every, self._design(level, slides, bends)
        self._left -= 1
        next(self._coming, None)
        assert self._gain is not None, "a whole design leaves one"
        return self._gain

    def _design(self, level: Floats, slides: Sequence[float], bends: Floats) -> Iterator[None]:
        """Design the gain in as many parts as it yields: all at once would take longer than a tick."""
        chain, half = self._chain, 6 + len(bends)
        dynamics = Dynamics(chain, np.zeros(3 * len(chain.chambers)))
        dynamics.slides[0::JOINT] = dynamics.slides[3::JOINT] = slides
        alive = ~self._lost
        state, idle = np.zeros(2 * half), np.zeros(len(alive))
        state[3:6], state[6:half] = euler_angles(level), bends
        a = np.zeros((2 * half, 2 * half))
        for k in range(3, 2 * half):  # the position changes nothing
            step = DIFFERENCE * np.eye(2 * half)[k]
            more, less = dynamics.rates(state + step, idle, bends), dynamics.rates(state - step, idle, bends)
            a[:, k] = (more - less) / (2 * DIFFERENCE)
            yield
        dynamics.rates(state, idle, bends)
        b = np.zeros((2 * half, len(alive)))
        b[half:] = solved(chain.free_mass, chain.free_b)
        springs = np.zeros((2 * half, len(bends)))
        springs[half:] = solved(chain.free_mass, np.eye(half)[:, 6:] * dynamics.stiffness)
        b = np.hstack([b * alive, springs])
        lags = np.diag(1 / np.concatenate([self._thrusters.lags_s, np.full(len(bends), REST_S)]))
        size, wide = len(a), b.shape[1]
        both = np.block([[a, b], [np.zeros((wide, size)), -lags]])
        f, g = transition(both, np.vstack([np.zeros((size, wide)), lags]), self._dt)
        cost = np.zeros((size + wide, size + wide))
        cost[:half, :half] = self._hand_cost(chain)
        cost[half:size, half:size] = np.eye(half) / SPEED**2
        scale = np.concatenate([np.full(len(alive), THRUST_N), np.full(len(bends), REST_RAD)])
        try:
            gain = feedback(f, g, cost, np.diag(1 / scale**2))
        except (NoGainError, np.linalg.LinAlgError):
            gain = np.zeros((wide, size + wide))  # too few thrusters are left: feed-forward alone
        self._gain = gain * np.concatenate([alive, np.ones(len(bends), dtype=bool)])[:, None]

    def _hand_cost(self, chain: ChainModel) -> Floats:
        """Cost of position, attitude and bends: the hand's errors, and a little of all bends and of roll."""
        body = np.array([3 * (len(chain.modules) - 1)])
        rotation, at = chain.module_frame(len(chain.modules) - 1)
        at = at + rotation[:, 0] * chain.lengths_m[-1]
        moved, _, _ = chain.point_rows(body, at[None])
        turned, _, _ = chain.rotation_rows(body[0])
        rows = np.concatenate([moved[0] / HAND_M, turned / HAND_RAD])[:, chain.free]
        back = np.eye(len(chain.free))
        back[:3, :3] = chain.rotation.T  # positions are in world axes
        rows = rows @ back
        cost: Floats = rows.T @ rows
        cost[3, 3] += 1 / ROLL_RAD**2
        cost[6:, 6:] += np.eye(len(chain.free) - 6) / BEND_RAD**2
        return cost


def _stretched(chain: ChainModel, slides: Sequence[float]) -> Floats:
    """How much further, in world axes, the hand is from the base than with the planned slides."""
    ends = np.array([JOINT * k + i for k in range(len(slides)) for i in (0, JOINT - 1)])
    longer: Floats = chain.axes[ends, :3].T @ (chain.q[ends] - np.repeat(slides, 2))
    return chain.rotation @ longer
