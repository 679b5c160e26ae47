"""Many rollouts of one model at the same time, on all cores: the kernels release the GIL while they step.

states = batch(model, starts, 10_000, 0.001)        # (start, step, state)
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from caudal.sim_plant.base.types import Floats

if TYPE_CHECKING:
    from caudal.sim_plant.tree.model import Method, Model


def batch(
    model: Model,
    starts: Sequence[Floats],
    steps: int,
    dt: float,
    tau: Floats | list[Floats] | None = None,
    driven: Floats | list[Floats] | None = None,
    method: Method = "rk4",
    every: int = 1,
    jobs: int | None = None,
) -> Floats:
    """Roll out a model from many starts: (start, steps / every + 1, state).

    tau and driven are those of Model.rollout, or a list with one per start. `jobs` threads share the work; all cores
    without it.
    """
    count = len(starts)
    for name, given in (("tau", tau), ("driven", driven)):
        if isinstance(given, list) and len(given) != count:
            raise ValueError(
                f"{model.label}: {len(given)} of {name} for {count} starts; give one per start, or one array."
            )
    jobs = min(jobs or os.cpu_count() or 1, max(count, 1))
    idle: SimpleQueue[Model] = SimpleQueue()  # a model has its own work space: one per thread
    for _ in range(jobs):
        idle.put(copy.deepcopy(model))

    def roll_out(k: int) -> Floats:
        own = idle.get()
        try:
            force = tau[k] if isinstance(tau, list) else tau
            motion = driven[k] if isinstance(driven, list) else driven
            return own.rollout(starts[k], steps, dt, force, motion, method, every)
        finally:
            idle.put(own)

    out = np.empty((count, steps // every + 1, model.size))
    with ThreadPoolExecutor(jobs) as pool:
        for k, states in enumerate(pool.map(roll_out, range(count))):
            out[k] = states
    return out
