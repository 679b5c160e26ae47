"""A vehicle with thrusters in a tank, simulated apart from everything that identification uses.

Fossen's matrices (cross-product form of C), explicit Runge-Kutta at 25 ms, a wrench that steers it along slow sines one
freedom after another and then all at once, and readings with noise and drop-outs.
"""

import math

import numpy as np

from caudal.tools.identify.motion import Motion, Readings, mean_by_step

STEP_S = 0.025  # of the simulation and of the controller: its wrench holds for so long


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


class Truth:
    """The vehicle of the tests; every number may be changed."""

    def __init__(self):
        self.inertia = np.diag([28.0, 40.0, 48.0, 0.9, 1.2, 1.6])
        for i, j, value in ((1, 3, 1.5), (2, 6, 0.9), (1, 5, 0.6), (2, 4, -0.5), (3, 5, 0.4), (4, 6, 0.05)):
            self.inertia[i - 1, j - 1] = self.inertia[j - 1, i - 1] = value
        self.drag = np.diag([20.0, 32.0, 40.0, 2.0, 2.5, 2.0])
        for i, j, value in ((1, 2, 0.8), (2, 1, -0.5), (1, 3, 1.2), (2, 6, 0.6), (6, 2, 0.7), (3, 1, 0.9)):
            self.drag[i - 1, j - 1] = value
        self.quadratic = np.zeros(6)
        self.net_weight_n, self.righting_n_m, self.lead_n_m = -2.0, 4.0, 0.0
        self.tether_n_m_per_rad = 0.0
        self.current_m_s = np.zeros(3)

    def rate(self, state, wrench):
        roll, pitch, heading = state[3:6]
        cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
        ch, sh = math.cos(heading), math.sin(heading)
        ahead = np.array([ch * cp, sh * cp, -sp])
        port = np.array([ch * sp * sr - sh * cr, sh * sp * sr + ch * cr, cp * sr])
        up = np.array([ch * sp * cr + sh * sr, sh * sp * cr - ch * sr, cp * cr])
        v, spin = state[6:9], state[9:]
        momentum = self.inertia @ state[6:]
        sky = np.array([ahead[2], port[2], up[2]])
        force = wrench - self.drag @ state[6:] - self.quadratic * np.abs(state[6:]) * state[6:]
        force[:3] -= cross(spin, momentum[:3]) + self.net_weight_n * sky
        force[3:] -= cross(spin, momentum[3:]) + cross(v, momentum[:3])
        force[3:] += cross((self.lead_n_m, 0.0, self.righting_n_m), sky)  # buoyancy above and ahead
        force[5] -= self.tether_n_m_per_rad * heading
        turn = (spin[1] * sr + spin[2] * cr) / cp
        out = np.empty(12)
        out[:3] = ahead * v[0] + port * v[1] + up * v[2] + self.current_m_s
        out[3], out[4], out[5] = spin[0] + turn * sp, spin[1] * cr - spin[2] * sr, turn
        out[6:] = self._inverse @ force
        return out

    def ready(self):
        self._inverse = np.linalg.inv(self.inertia)
        return self


def sines(rng, size, shortest_s=6.0, longest_s=20.0, count=4):
    """A sum of sines, and its rate, that stays within `size` and starts at 0."""
    period_s = rng.uniform(shortest_s, longest_s, count)
    share = rng.dirichlet(np.ones(count)) * size

    def at(t_s):
        w = 2 * np.pi / period_s
        return np.sum(share * np.sin(w * t_s)), np.sum(share * w * np.cos(w * t_s))

    return at


RATE_HZ = {"x": 20, "y": 20, "z": 20} | dict.fromkeys(("roll", "pitch", "heading"), 40)
RATE_HZ |= dict.fromkeys(("roll_rate", "pitch_rate", "turn_rate"), 40)
NOISE = {"x": 3e-3, "y": 3e-3, "z": 3e-3} | dict.fromkeys(("roll", "pitch", "heading"), 5e-3)
NOISE |= dict.fromkeys(("roll_rate", "pitch_rate", "turn_rate"), 4e-3)
PLACE = {name: k for k, name in enumerate(("x", "y", "z", "roll", "pitch", "heading"))}
PLACE |= {"roll_rate": 9, "pitch_rate": 10, "turn_rate": 11}
LOST = 0.05  # of the camera's readings


class Sensors:
    """All of a run's noise at once: (tick, sensor), NaN where there is no reading."""

    def __init__(self, seed, ticks, size=1.0, bias_rad_s=0.0):
        rng = np.random.default_rng(1000 + seed)
        self.noise = np.full((ticks, len(PLACE)), np.nan)
        for k, name in enumerate(PLACE):
            every = round(1 / RATE_HZ[name] / STEP_S)
            count = len(self.noise[::every])
            self.noise[::every, k] = size * NOISE[name] * rng.standard_normal(count)
            if name in ("x", "y"):
                self.noise[::every, k][rng.random(count) < LOST] = np.nan
            if name.endswith("rate"):
                self.noise[:, k] += bias_rad_s
        self.places = list(PLACE.values())

    def read(self, states):
        """Readings of states (tick, 12), NaN where there is none."""
        return states[..., self.places] + self.noise[: len(states)]


class Observer:
    """What a controller makes of its readings: an alpha-beta filter for each of the pose, gyros as they come."""

    def __init__(self, state):
        self.pose, self.rate = state[:6].copy(), np.zeros(6)

    def step(self, reading):
        self.pose = self.pose + STEP_S * self.rate
        off = np.where(np.isnan(reading[:6]), 0.0, reading[:6] - self.pose)
        self.pose = self.pose + 0.25 * off
        self.rate = self.rate + np.array([1.2, 1.2, 1.2, 0.0, 0.0, 0.0]) * off
        self.rate[3:] += 0.3 * np.nan_to_num(reading[6:] - self.rate[3:])
        ch, sh = math.cos(self.pose[5]), math.sin(self.pose[5])
        u, v = ch * self.rate[0] + sh * self.rate[1], ch * self.rate[1] - sh * self.rate[0]
        return np.concatenate([self.pose, [u, v], self.rate[2:]])


def swim(truth, seconds=280.0, seed=0, tilt=0.0, disturb=None, lively=1.0, sensors=None):
    """States (tick, 12) and the wrench of every tick (tick, 6), steered along slow sines.

    The controller sees the truth, or what `sensors` show. `disturb(t_s)` adds an unrecorded wrench; `tilt`
    (rad) swings roll and pitch too.
    """
    rng = np.random.default_rng(seed)
    order = (0, 1, 2, 5)
    wants = [[sines(rng, size) for size in (0.6, 0.5, 0.25, 0.7)] for _ in range(5)]
    tilts = [sines(rng, tilt, 3.0, 9.0) for _ in range(2)]
    kp = np.array([40.0, 60.0, 60.0, 12.0, 15.0, 5.0])
    kd = np.array([40.0, 60.0, 60.0, 3.0, 4.0, 4.0])
    state = np.zeros(12)
    state[2] = -0.9
    states, wrenches = [state], []
    rate = truth.ready().rate
    observer = Observer(state)
    for tick in range(round(seconds / STEP_S)):
        t_s = tick * STEP_S
        segment = min(int(5 * t_s / seconds), 4)
        begin = segment * seconds / 5
        fade = min(1.0, (t_s - begin) / 3, (begin + seconds / 5 - t_s) / 3)
        want, speed = np.zeros(6), np.zeros(6)
        want[2] = -0.9
        for k, freedom in enumerate(order):
            if segment in (k, 4):
                value, slope = wants[segment][k](t_s - begin)
                want[freedom] += lively * fade * value
                speed[freedom] = lively * fade * slope
        for k in range(2):
            want[3 + k], speed[3 + k] = tilts[k](t_s)
        seen = state if sensors is None else observer.step(state[sensors.places] + sensors.noise[tick])
        error = want - seen[:6]
        ch, sh = math.cos(seen[5]), math.sin(seen[5])
        for pair in (error, speed):
            pair[0], pair[1] = ch * pair[0] + sh * pair[1], ch * pair[1] - sh * pair[0]
        wrench = kp * error + kd * (speed - seen[6:]) + np.diag(truth.drag) * speed
        wrench[3:5] += truth.righting_n_m * want[3:5]
        full = wrench if disturb is None else wrench + disturb(t_s)
        k1 = rate(state, full)
        k2 = rate(state + 0.5 * STEP_S * k1, full)
        k3 = rate(state + 0.5 * STEP_S * k2, full)
        k4 = rate(state + STEP_S * k3, full)
        state = state + STEP_S / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(state)
        wrenches.append(wrench)
    return np.array(states[:-1]), np.array(wrenches)


def motion(states, wrenches, sensors, without=()):
    """What was recorded."""
    seen = sensors.read(states)
    readings = {}
    for k, name in enumerate(PLACE):
        there = ~np.isnan(seen[:, k])
        if name not in without:
            readings[name] = Readings(STEP_S * np.flatnonzero(there), seen[there, k])
    edges_s = STEP_S * np.arange(len(wrenches) + 1)
    steps = int(edges_s[-1] / 0.05 + 1e-9)
    return Motion("tank", 0.0, mean_by_step(edges_s, wrenches, 0.0, steps), readings)
