"""Random numbers for sensors, drawn ahead of the kernels: one numpy stream per sensor.

The block size does not change them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.types import Records

BLOCK = 2048  # draws stored for each sensor


class Streams:
    """One row of normal and one of uniform numbers per sensor, refilled before they run out.

    The seed of a stream is (seed, vehicle index, the channel's name as a number). So adding or removing a sensor does
    not change the readings of the others.
    """

    def __init__(self) -> None:
        self.normals = np.zeros((0, BLOCK))
        self.uniforms = np.zeros((0, BLOCK))
        self.biases: list[float] = []  # one normal number per sensor, for a constant bias
        self._sources: list[tuple[np.random.Generator, np.random.Generator]] = []
        self._shortest_us = math.inf  # period of the fastest sensor
        self._draws_left = BLOCK  # every sensor has at least as many

    def extended(self, keys: Sequence[tuple[int, int, int]], shortest_us: float) -> Streams:
        """These streams and one more for each key; the fastest new sensor samples every shortest_us microseconds."""
        more = Streams()
        more._draws_left = self._draws_left
        more._shortest_us = min(self._shortest_us, shortest_us)
        sources = [(np.random.default_rng([*key, 0]), np.random.default_rng([*key, 1])) for key in keys]
        more._sources = self._sources + sources
        more.biases = self.biases + [
            float(np.random.default_rng([*key, 2]).standard_normal()) for key in keys
        ]
        normals = [normal.standard_normal(BLOCK) for normal, _ in sources]
        uniforms = [uniform.random(BLOCK) for _, uniform in sources]
        more.normals = np.concatenate([self.normals, np.reshape(normals, (len(keys), BLOCK))])
        more.uniforms = np.concatenate([self.uniforms, np.reshape(uniforms, (len(keys), BLOCK))])
        return more

    def refill(self, sensors: Records, duration_us: int) -> None:
        """Provide enough draws for the next duration_us; moves each sensor's `draw` back with them."""
        need = math.ceil(duration_us / self._shortest_us) + 1
        if self._draws_left < need:
            for k, (normal, uniform) in enumerate(self._sources):
                used = int(sensors[k]["draw"])
                keep = BLOCK - used
                for row, fresh in (
                    (self.normals[k], normal.standard_normal(used)),
                    (self.uniforms[k], uniform.random(used)),
                ):
                    row[:keep] = row[used:].copy()
                    row[keep:] = fresh
                sensors[k]["draw"] = 0
            self._draws_left = BLOCK
        self._draws_left -= need
