"""A chain that runs straight, ahead or astern: linear about each speed, steered and seen by gains. Needs numpy.

Water turns every module of a chain that moves along its axis across the flow (Munk's moment): at 3 m/s errors grow by
e in a fifth of a second, a joint's spring is a hundredth of that moment, and there are fewer thrusters across than ways
to fall. Aims that each mind their own rows cannot hold that; one feedback over all of the state can. So the model is
made linear about running straight at a grid of speeds, with the thrusters' lag, and each has three answers:

    trim     how it lies, and what it is told, when nothing changes. x thrusters beside the axis turn their modules,
             which no share of theirs can balance: it takes the joints' springs, told to rest bent, and milliradians
             across the flow
    steer    told = trim - K (state - trim), the least of squares over all time (riccati.py)
    see      how readings correct what the model foretold, all of them all of it: a filter that takes one axis and one
             joint each for itself is itself unstable above 1.5 m/s

    state    place (3), roll, pitch, heading, bends; then speeds of the base (6), in its axes, and of the bends
"""

import math

import numpy as np

from caudal.onboard.chain.lead import euler_turn
from caudal.onboard.chain.model import JOINT
from caudal.onboard.chain.riccati import correction, feedback, transition

DIFFERENCE = 1e-5
TRIM_PASSES = 3
TRIM_LEAN, TRIM_PUSH_N, TRIM_REST = 0.01, 1.0, 0.1  # rad, N, rad: what is as dear as what
TRIM_MORE_M_S2 = 0.05
FULLY_SPARED_M_S = 0.5
AT_REST = 1e-9  # variance of what no gust moves


class Flow:
    """How a chain's state goes on, its slides held where they rest under these pressures."""

    def __init__(self, chain, pressures):
        self._chain, self._pressures = chain, pressures
        self.slides, self.stiffness = np.zeros(chain.joints), np.zeros(len(chain.bends))
        for k, chambers in enumerate(chain.chambers):
            d, _, _, stiffness = chambers.rest(pressures[3 * k : 3 * k + 3].tolist())
            self.slides[JOINT * k] = self.slides[JOINT * k + 3] = d
            self.stiffness[2 * k : 2 * k + 2] = stiffness

    def at(self, state, thrust, rests=0.0):
        """How fast the state changes; rests: the bends at which springs would rest, th1 and th2 of each joint."""
        chain, half = self._chain, len(state) // 2
        turn, velocity = euler_turn(*state[3:6]), state[half : half + 6]
        q, qd = self.slides.copy(), np.zeros(chain.joints)
        q[chain.bends], qd[chain.bends] = state[6:half], state[half + 6 :]
        chain.update(turn, velocity, q, qd, self._pressures)
        pushes = chain.free_b @ thrust - chain.free_load
        pushes[6:] += self.stiffness * rests
        push = np.linalg.solve(chain.free_mass, pushes)
        rates = euler_rates(state[3:6], velocity[3:])
        return np.concatenate([turn @ velocity[:3], rates, qd[chain.bends], push])


def difference(flow, state, thrust, rests):
    """(A, B) of a flow about a state."""
    size = len(state)
    a, b = np.zeros((size, size)), np.zeros((size, len(thrust)))
    for k, step in enumerate(DIFFERENCE * np.eye(size)):
        more, less = (flow(state + sign * step, thrust, rests) for sign in (1, -1))
        a[:, k] = (more - less) / (2 * DIFFERENCE)
    still = flow(state, thrust, rests)
    for k, step in enumerate(np.eye(len(thrust))):
        b[:, k] = flow(state, thrust + step, rests) - still
    return a, b


class Straight:
    """The chain about straight running; `settings` are those of a run's aim, `noise` of its sensors."""

    def __init__(self, chain, thrusters, settings, noise, ease_pa, dt):
        self._chain, self._thrusters, self._dt = chain, thrusters, dt
        self._half = 6 + len(chain.bends)
        self.flow = Flow(chain, np.full(3 * len(chain.chambers), ease_pa))
        self.ahead = np.abs(chain.thruster_axes[:, 0]) > 0.5
        self._settings, self._noise = settings, noise
        speeds = [0.0] + [row["to"][0] for row in settings["rows"]]
        low, high = min(speeds) - 0.2, max(speeds) + 0.2
        self.speeds = np.linspace(low, high, 2 + math.ceil((high - low) / settings["grid_m_s"]))
        designs = [self._design(speed) for speed in self.speeds]
        self._trim, self._trim_more, self.steer, self.see, self.spread = (
            np.array(part) for part in zip(*designs, strict=True)
        )

    def trim(self, speed, push_m_s2):
        """(state, thrust, bends at rest) of a chain that runs at a speed and gains some."""
        return self._parts(self.at(speed, self._trim) + push_m_s2 * self.at(speed, self._trim_more))

    def _parts(self, trim):
        return np.split(trim, [2 * self._half, 2 * self._half + len(self.ahead)])

    def at(self, speed, table):
        """A table at a speed."""
        where = np.interp(speed, self.speeds, np.arange(len(self.speeds)))
        k = min(int(where), len(self.speeds) - 2)
        return table[k] + (where - k) * (table[k + 1] - table[k])

    def linear(self, state, thrust, rests):
        """(A, B) about a state."""
        return difference(self.flow.at, state, thrust, rests)

    def _design(self, speed):
        trim = self.trimmed(speed, 0.0)
        more = (self.trimmed(speed, TRIM_MORE_M_S2) - trim) / TRIM_MORE_M_S2
        a, b = self.linear(*self._parts(trim))
        see = self.seeing(a, b)
        return trim, more, self.steering(a, b, speed), see, self.spreading(see)

    def trimmed(self, speed, push_m_s2):
        """State, thrust and bends at rest in one: the least of all three with which all goes on as it is, but the speed
        grows by push_m_s2."""
        half, ahead = self._half, self.ahead
        state, thrust, rests = np.zeros(2 * half), np.zeros(len(ahead)), np.zeros(half - 6)
        state[half] = speed
        lack = push_m_s2 - self.flow.at(state, thrust)[half]
        thrust[ahead] = lack * self._chain.free_mass[0, 0] / ahead.sum()
        leans = np.r_[3:half, half + 1 : half + 3]  # what may differ: how it lies, and its speeds across
        from_, scale = (
            np.concatenate([state[leans], thrust, rests]),
            np.concatenate(
                [
                    np.full(len(leans), TRIM_LEAN),
                    np.full(len(thrust), TRIM_PUSH_N),
                    np.full(len(rests), TRIM_REST),
                ]
            ),
        )
        asked = np.r_[1 : 2 * half]  # all but the way ahead
        there = np.zeros(len(scale))
        for _ in range(TRIM_PASSES):
            a, b = self.linear(state, thrust, rests)
            sprung = np.zeros((2 * half, len(rests)))
            sprung[half:] = np.linalg.solve(self._chain.free_mass, np.eye(half)[:, 6:] * self.flow.stiffness)
            rows = np.hstack([a[:, leans], b, sprung])[asked] * scale
            rest = self.flow.at(state, thrust, rests)[asked] - rows @ there
            rest[half - 1] -= push_m_s2
            there = -np.linalg.pinv(rows, rcond=1e-9) @ rest
            state[leans], thrust, rests = np.split(
                from_ + scale * there, [len(leans), len(leans) + len(thrust)]
            )
        return np.concatenate([state, thrust, rests])

    def steering(self, a, b, speed):
        """K over the state but the way gone, then over the thrusters' forces."""
        lags, size, wide = self._thrusters.lags_s, len(a) - 1, b.shape[1]
        both = np.zeros((size + wide, size + wide))
        both[:size, :size], both[:size, size:] = a[1:, 1:], b[1:]
        both[size:, size:] = -np.diag(1 / lags)
        f, g = transition(both, np.vstack([np.zeros((size, wide)), np.diag(1 / lags)]), self._dt)
        worth = np.concatenate([self._worth()[1:], np.zeros(wide)])
        return feedback(f, g, np.diag(worth), np.diag(1 / self._pushes_n(speed) ** 2))

    def _worth(self):
        half, settings = self._half, self._settings
        worth = np.zeros(2 * half)
        worth[1:3] = 1 / settings["off_m"] ** 2
        worth[3:half] = 1 / settings["lean_rad"] ** 2
        worth[half] = 1 / settings["speed_m_s"] ** 2
        return worth

    def _pushes_n(self, speed):
        """What is as bad as the ways off. The module that comes last would do most of the steering: it is spared."""
        settings, module = self._settings, np.array(self._chain.thruster_modules)
        last = module == (0 if speed > 0 else len(self._chain.modules) - 1)
        spared = 1 - (1 - settings["last_share"]) * min(abs(speed) / FULLY_SPARED_M_S, 1.0)
        across = settings["across_n"] * np.where(last, spared, 1.0)
        return np.where(self.ahead, settings["ahead_n"], across)

    def seeing(self, a, b):
        """L of readings: place, attitude, bends, gyros. Gusts come through the thrusters, as pushes that they were not
        told: a filter that reckons with these leaves the feedback its margins (loop transfer recovery)."""
        half, settings, dt = self._half, self._settings, self._dt
        gusts = np.full(2 * half, AT_REST)
        gusts[half : half + 3] = (settings["gust_m_s2"] * dt) ** 2
        gusts[half + 3 :] = (settings["gust_rad_s2"] * dt) ** 2
        pushed = settings["gust_n"] * dt * b
        f, _ = transition(a, np.zeros((len(a), 1)), dt)
        return correction(f, self.reading(), np.diag(gusts) + pushed @ pushed.T, self._noises())

    def spreading(self, see):
        """Variances of what readings are off by: S of L = P C' S^-1 and S = C P C' + R."""
        left = np.eye(see.shape[1]) - self.reading() @ see
        return np.diag(np.linalg.solve(left, self._noises()))

    def _noises(self):
        """R, the variances of readings."""
        noise = self._noise
        readings = [noise["position_m"], noise["position_m"], noise["depth_m"]]
        readings += (
            [noise["angle_rad"]] * 3 + [noise["joint_rad"]] * (self._half - 6) + [noise["rate_rad_s"]] * 3
        )
        return np.diag(readings) ** 2

    def reading(self):
        """C: what is read of a state."""
        half = self._half
        return np.eye(2 * half)[np.r_[0:half, half + 3 : half + 6]]


def euler_rates(angles, spin):
    """How fast roll, pitch and heading change under an angular velocity in the base's axes."""
    roll, pitch, _ = angles
    about = spin[1] * math.sin(roll) + spin[2] * math.cos(roll)
    upright = max(math.cos(pitch), 0.05)
    return (
        spin[0] + about * math.sin(pitch) / upright,
        spin[1] * math.cos(roll) - spin[2] * math.sin(roll),
        about / upright,
    )
