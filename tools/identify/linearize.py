"""Linearizes a run: simulates every step of the model from the estimated state, and with perturbations."""

import numpy as np

from caudal.tools.identify.kalman import Linear
from caudal.tools.identify.motion import LEVEL_READINGS, PLACES, RATES, STEP_S
from caudal.tools.identify.rigid_body_model import ALL, LEVEL
from caudal.tools.identify.shooting import shoot
from caudal.tools.identify.trajectory import GYROS, Track

NUDGE = 1e-6  # perturbation of a state
PUSH_NUDGE = 1e-4  # of a disturbance, m/s2, rad/s2
CLOCKS = {"x": "position", "y": "position"}  # sensors with the same delay: one camera
LOOSE = 10.0  # error of a curve at its start, as a multiple of that in its middle
AT_ONCE = 8  # models simulated together; all of them would need too much memory


class LinearizedRun:
    """A run with its readings, linearized for any parameters."""

    def __init__(self, track: Track, level: bool) -> None:
        self.track, self.level = track, level
        self.freedoms = list(LEVEL if level else ALL)
        self.free = self.freedoms + [6 + k for k in self.freedoms]  # of a state
        noise = {name: curve.noise[0] for name, curve in track.curves.items()}
        noise |= {GYROS[a]: c.noise[1] for a, c in track.curves.items() if a in GYROS and len(c.noise) > 1}
        self.seen = [n for n in PLACES if n in track.motion.readings and (not level or n in LEVEL_READINGS)]
        self.seen = [n for n in self.seen if n in noise]
        self.gyros = [n for n in self.seen if n in RATES]
        self.aged = list(dict.fromkeys(CLOCKS.get(n, n) for n in self.seen))
        parts = [self._readings(name, noise[name]) for name in self.seen]
        merged = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.lexsort((merged[1], merged[0]))
        self._in_order = [column[order] for column in merged]
        self.path = np.zeros((len(track.motion.wrench), len(self.free)))  # estimated error of the track
        self.aside = np.zeros(len(self.gyros) + len(self.aged))  # biases, then delays in s
        off = [track.error(freedom, derivative) for derivative in (0, 1) for freedom in self.freedoms]
        self.spread = LOOSE * np.array(off)

    def _readings(self, name: str, noise: float) -> tuple[np.ndarray, ...]:
        """Readings of one sensor minus the track, averaged within each step."""
        motion = self.track.motion
        time_s, value = motion.readings[name]
        at = (time_s - motion.start_s) / STEP_S
        inside = (at >= 0) & (at < len(motion.wrench))
        at, off = at[inside], (value - self.track.at(name, time_s))[inside]
        node, which, count = np.unique(np.floor(at).astype(np.int64), return_inverse=True, return_counts=True)
        share, off = (np.bincount(which, part) / count for part in (at - np.floor(at), off))
        state, bias, age = (
            np.full(len(node), index)
            for index in (
                self.free.index(PLACES[name]),
                self.gyros.index(name) if name in RATES else -1,
                self.aged.index(CLOCKS.get(name, name)),
            )
        )
        return node, share, state, bias, age, off, noise**2 / count

    def linear(self, models: np.ndarray, nudge: np.ndarray) -> Linear:
        """The linearization. models[0] is the present one; in models[1 + k] parameter k is larger by nudge[k]."""
        states = self.track.states[:-1].copy()
        states[:, self.free] += self.path
        free, steps = self.free, len(self.track.motion.wrench)
        jobs = [(model, size, -1, -1) for model, size in zip(models[1:], nudge, strict=True)]
        jobs += [(models[0], NUDGE, state, -1) for state in free]
        jobs += [(models[0], PUSH_NUDGE, -1, freedom) for freedom in self.freedoms]
        base = self._step(models[:1], states[None])[0]
        slopes = np.empty((steps, len(free), len(jobs)))
        for first in range(0, len(jobs), AT_ONCE):
            batch = jobs[first : first + AT_ONCE]
            starts = np.repeat(states[None], len(batch), axis=0)
            push = np.zeros((len(batch), 6))
            for k, (_, size, state, freedom) in enumerate(batch):
                if state >= 0:
                    starts[k, :, state] += size
                if freedom >= 0:
                    push[k, freedom] = size
            found = self._step(np.array([job[0] for job in batch]), starts, push)
            for k, job in enumerate(batch):
                slopes[:, :, first + k] = (found[k] - base) / job[1]
        parameters = len(nudge)
        pushed = parameters + len(free)
        carry = slopes[:, :, parameters:pushed]
        miss = base - np.einsum("sij,sj->si", carry, self.path) - self.track.states[1:, free]
        node, share, shown, bias, age, off, variance = self._in_order
        # the rate of each reading, from the step before it, as later steps depend on its own noise
        slope = (states[:, free] - base)[np.maximum(node - 1, 0), shown] / STEP_S
        return Linear(
            np.ascontiguousarray(carry), np.concatenate([miss[:, :, None], slopes[:, :, :parameters]], axis=2),
            np.ascontiguousarray(slopes[:, :, pushed:]), node, share, shown, bias, age, slope, off, variance,
            len(self.gyros), len(self.aged),
        )  # fmt: skip

    def _step(self, models: np.ndarray, starts: np.ndarray, push: np.ndarray | None = None) -> np.ndarray:
        """The states one step later: (model, step, free state)."""
        first = np.arange(starts.shape[1])
        held = self.track.held if self.level else None
        states, _ = shoot(models, starts, first, 1, self.track.motion.wrench, held, push)
        return states[:, :, 1, self.free]
