"""Feedback and filter gains of a chain that runs straight, scheduled by speed. Needs numpy.

Water turns every module that moves along its axis across the flow (Munk's moment). At 3 m/s errors grow by e in a fifth
of a second, a joint's spring is a hundredth of that moment, and there are fewer thrusters across than unstable modes.
Tasks that each see only their own rows cannot hold that; one feedback of the whole state can. So the model is
linearised about straight motion at a grid of speeds, with the thrusters' lag. Each speed has three results:

    trim        state and thrusts of steady motion. x thrusters next to the axis turn their modules, and no thrusts can
                balance that: it takes the joints' springs, with their rest bent, and milliradians across the flow
    feedback    thrust = trim - K (state - trim), the linear quadratic regulator (riccati.py)
    correction  how all readings correct the whole predicted state: separate filters for each axis and each joint are
                unstable above 1.5 m/s

    state       position (3), roll, pitch, heading, bends; then speeds of the base (6), in its axes, and of the bends
"""

import math
from collections.abc import Callable

import numpy as np

from caudal.onboard.chain.arrays import Floats, solved
from caudal.onboard.chain.model import JOINT, ChainModel
from caudal.onboard.chain.riccati import correction, feedback, transition
from caudal.onboard.chain.rotations import euler_rates, euler_rotation
from caudal.onboard.chain.thrusters import Thrusters
from caudal.onboard.tables.chain import RunTaskTable
from caudal.onboard.tables.thrusters import FilterTable

DIFFERENCE = 1e-5
TRIM_PASSES = 3
TRIM_ANGLE, TRIM_THRUST_N, TRIM_REST = 0.01, 1.0, 0.1  # rad, N, rad that cost the same in a trim
TRIM_MORE_M_S2 = 0.05
FULLY_SPARED_M_S = 0.5
AT_REST = 1e-9  # variance of a state that no disturbance moves


class Dynamics:
    """Rates of a chain's state, its slides held where they rest under these pressures."""

    def __init__(self, chain: ChainModel, pressures: Floats) -> None:
        self._chain, self._pressures = chain, pressures
        self.slides, self.stiffness = np.zeros(chain.joints), np.zeros(len(chain.bends))
        for k, chambers in enumerate(chain.chambers):
            d, _, _, stiffness = chambers.rest(pressures[3 * k : 3 * k + 3].tolist())
            self.slides[JOINT * k] = self.slides[JOINT * k + 3] = d
            self.stiffness[2 * k : 2 * k + 2] = stiffness

    def rates(self, state: Floats, thrust: Floats, rests: Floats | float = 0.0) -> Floats:
        """The state's rates; rests: the bends at which springs would rest, th1 and th2 of each joint."""
        chain, half = self._chain, len(state) // 2
        rotation, velocity = euler_rotation(*state[3:6]), state[half : half + 6]
        q, qd = self.slides.copy(), np.zeros(chain.joints)
        q[chain.bends], qd[chain.bends] = state[6:half], state[half + 6 :]
        chain.update(rotation, velocity, q, qd, self._pressures)
        forces = chain.free_b @ thrust - chain.free_load
        forces[6:] += self.stiffness * rests
        acceleration = solved(chain.free_mass, forces)
        angle_rates = euler_rates(state[3:6], velocity[3:])
        return np.concatenate([rotation @ velocity[:3], angle_rates, qd[chain.bends], acceleration])


def linearised(
    rates: Callable[[Floats, Floats, Floats], Floats], state: Floats, thrust: Floats, rests: Floats
) -> tuple[Floats, Floats]:
    """(A, B) of dynamics about a state."""
    size = len(state)
    a, b = np.zeros((size, size)), np.zeros((size, len(thrust)))
    for k, step in enumerate(DIFFERENCE * np.eye(size)):
        more, less = (rates(state + sign * step, thrust, rests) for sign in (1, -1))
        a[:, k] = (more - less) / (2 * DIFFERENCE)
    still = rates(state, thrust, rests)
    for k, step in enumerate(np.eye(len(thrust))):
        b[:, k] = rates(state, thrust + step, rests) - still
    return a, b


class GainSchedule:
    """Trims and gains over a grid of speeds.

    `aim` is the scenario's table, `noise` that of the base's sensors, `joint_rad` the noise of a bend's sensor.
    """

    def __init__(
        self,
        chain: ChainModel,
        thrusters: Thrusters,
        aim: RunTaskTable,
        noise: FilterTable,
        joint_rad: float,
        ease_pa: float,
        dt: float,
    ) -> None:
        self._chain, self._thrusters, self._dt = chain, thrusters, dt
        self._half = 6 + len(chain.bends)
        self.dynamics = Dynamics(chain, np.full(3 * len(chain.chambers), ease_pa))
        self.ahead = np.abs(chain.thruster_axes[:, 0]) > 0.5
        self._aim, self._noise, self._joint_rad = aim, noise, joint_rad
        speeds = [0.0] + [row.to[0] for row in aim.rows]
        low, high = min(speeds) - 0.2, max(speeds) + 0.2
        self.speeds: Floats = np.linspace(low, high, 2 + math.ceil((high - low) / aim.grid_m_s))
        designs = [self._design(speed) for speed in self.speeds]
        self._trim, self._trim_more, self.feedback, self.correction, self.variance = (
            np.array(part) for part in zip(*designs, strict=True)
        )

    def trim(self, speed: float, acceleration_m_s2: float) -> tuple[Floats, Floats, Floats]:
        """(state, thrust, bends at rest) of a chain that runs at a speed and accelerates."""
        return self._parts(self.at(speed, self._trim) + acceleration_m_s2 * self.at(speed, self._trim_more))

    def _parts(self, trim: Floats) -> tuple[Floats, Floats, Floats]:
        state, thrust, rests = np.split(trim, [2 * self._half, 2 * self._half + len(self.ahead)])
        return state, thrust, rests

    def at(self, speed: float, table: Floats) -> Floats:
        """A table at a speed, interpolated."""
        where = float(np.interp(speed, self.speeds, np.arange(len(self.speeds))))
        k = min(int(where), len(self.speeds) - 2)
        below: Floats = table[k]
        above: Floats = table[k + 1]
        return below + (where - k) * (above - below)

    def linear(self, state: Floats, thrust: Floats, rests: Floats) -> tuple[Floats, Floats]:
        """(A, B) about a state."""
        return linearised(self.dynamics.rates, state, thrust, rests)

    def _design(self, speed: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        trim = self.trimmed(speed, 0.0)
        more = (self.trimmed(speed, TRIM_MORE_M_S2) - trim) / TRIM_MORE_M_S2
        a, b = self.linear(*self._parts(trim))
        gain = self._correction(a, b)
        return trim, more, self._feedback(a, b, speed), gain, self._variance(gain)

    def trimmed(self, speed: float, acceleration_m_s2: float) -> Floats:
        """State, thrust and bends at rest in one vector: the smallest of all three for steady motion at this speed, or
        for a speed that grows by acceleration_m_s2."""
        half, ahead = self._half, self.ahead
        state, thrust, rests = np.zeros(2 * half), np.zeros(len(ahead)), np.zeros(half - 6)
        state[half] = speed
        lack = acceleration_m_s2 - self.dynamics.rates(state, thrust)[half]
        thrust[ahead] = lack * self._chain.free_mass[0, 0] / ahead.sum()
        varied = np.r_[3:half, half + 1 : half + 3]  # of the state: attitude, bends and speeds across
        from_, scale = (
            np.concatenate([state[varied], thrust, rests]),
            np.concatenate(
                [
                    np.full(len(varied), TRIM_ANGLE),
                    np.full(len(thrust), TRIM_THRUST_N),
                    np.full(len(rests), TRIM_REST),
                ]
            ),
        )
        balanced = np.r_[1 : 2 * half]  # all but the distance ahead
        solution = np.zeros(len(scale))
        for _ in range(TRIM_PASSES):
            a, b = self.linear(state, thrust, rests)
            sprung = np.zeros((2 * half, len(rests)))
            sprung[half:] = solved(self._chain.free_mass, np.eye(half)[:, 6:] * self.dynamics.stiffness)
            rows = np.hstack([a[:, varied], b, sprung])[balanced] * scale
            rest = self.dynamics.rates(state, thrust, rests)[balanced] - rows @ solution
            rest[half - 1] -= acceleration_m_s2
            solution = -np.linalg.pinv(rows, rcond=1e-9) @ rest
            state[varied], thrust, rests = np.split(
                from_ + scale * solution, [len(varied), len(varied) + len(thrust)]
            )
        return np.concatenate([state, thrust, rests])

    def _feedback(self, a: Floats, b: Floats, speed: float) -> Floats:
        """K over the state except the distance ahead, then over the thrusters' forces."""
        lags, size, wide = self._thrusters.lags_s, len(a) - 1, b.shape[1]
        both = np.zeros((size + wide, size + wide))
        both[:size, :size], both[:size, size:] = a[1:, 1:], b[1:]
        both[size:, size:] = -np.diag(1 / lags)
        f, g = transition(both, np.vstack([np.zeros((size, wide)), np.diag(1 / lags)]), self._dt)
        cost = np.concatenate([self._state_cost()[1:], np.zeros(wide)])
        return feedback(f, g, np.diag(cost), np.diag(1 / self._thrusts_n(speed) ** 2))

    def _state_cost(self) -> Floats:
        half, aim = self._half, self._aim
        cost = np.zeros(2 * half)
        cost[1:3] = 1 / aim.cross_track_m**2
        cost[3:half] = 1 / aim.attitude_rad**2
        cost[half] = 1 / aim.speed_m_s**2
        return cost

    def _thrusts_n(self, speed: float) -> Floats:
        """Thrusts that cost as much as the errors. The last module would do most of the steering: it is spared."""
        aim, module = self._aim, np.array(self._chain.thruster_modules)
        last = module == (0 if speed > 0 else len(self._chain.modules) - 1)
        spared = 1 - (1 - aim.last_share) * min(abs(speed) / FULLY_SPARED_M_S, 1.0)
        across = aim.cross_thrust_n * np.where(last, spared, 1.0)
        return np.where(self.ahead, aim.forward_thrust_n, across)

    def _correction(self, a: Floats, b: Floats) -> Floats:
        """L of readings: position, attitude, bends, gyros. Disturbances enter through the thrusters as forces beyond
        their commands: a filter that expects these leaves the feedback its margins (loop transfer recovery)."""
        half, aim, dt = self._half, self._aim, self._dt
        gusts = np.full(2 * half, AT_REST)
        gusts[half : half + 3] = (aim.acceleration_noise_m_s2 * dt) ** 2
        gusts[half + 3 :] = (aim.acceleration_noise_rad_s2 * dt) ** 2
        forces = aim.thrust_noise_n * dt * b
        f, _ = transition(a, np.zeros((len(a), 1)), dt)
        return correction(f, self.reading(), np.diag(gusts) + forces @ forces.T, self._noises())

    def _variance(self, gain: Floats) -> Floats:
        """Variances of innovations: S of L = P C' S^-1 and S = C P C' + R."""
        left = np.eye(gain.shape[1]) - self.reading() @ gain
        return np.diag(solved(left, self._noises()))

    def _noises(self) -> Floats:
        """R, the variances of readings."""
        noise = self._noise
        readings = [noise.position_m, noise.position_m, noise.depth_m]
        readings += [noise.angle_rad] * 3 + [self._joint_rad] * (self._half - 6) + [noise.rate_rad_s] * 3
        return np.diag(readings) ** 2

    def reading(self) -> Floats:
        """C: the readings of a state."""
        half = self._half
        return np.eye(2 * half)[np.r_[0:half, half + 3 : half + 6]]
