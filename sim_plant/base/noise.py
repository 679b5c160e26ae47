"""Noise drawn ahead of the kernel: one numpy stream each sensor, the same whatever the block size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.types import Records

BLOCK = 2048  # draws in hand for each sensor


class Streams:
    """A row of normals and a row of uniforms for each sensor, refilled before they run out.

    A stream is seeded with (seed, vehicle index, the channel's name as a number), so a sensor more or less
    does not change the readings of the others.
    """

    def __init__(self) -> None:
        self.normals = np.zeros((0, BLOCK))
        self.uniforms = np.zeros((0, BLOCK))
        self.biases: list[float] = []  # one normal number a sensor, for a constant bias
        self._sources: list[tuple[np.random.Generator, np.random.Generator]] = []
        self._shortest_us = math.inf  # period of the fastest sensor
        self._sure = BLOCK  # draws that every sensor has left at least

    def extended(self, keys: Sequence[tuple[int, int, int]], shortest_us: float) -> Streams:
        """These streams and one more for each key; the fastest new sensor samples every shortest_us."""
        more = Streams()
        more._sure = self._sure
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
        """Make sure of enough draws for the next duration_us; moves each sensor's `draw` back with them."""
        need = math.ceil(duration_us / self._shortest_us) + 1
        if self._sure < need:
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
            self._sure = BLOCK
        self._sure -= need
