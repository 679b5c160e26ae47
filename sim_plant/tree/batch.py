"""Many rollouts of one model at once, on all cores: the kernels let go of Python's lock while they step.

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
    """(start, steps / every + 1, state). tau and driven as for Model.rollout, or a list with one each start."""
    count = len(starts)
    for name, given in (("tau", tau), ("driven", driven)):
        if isinstance(given, list) and len(given) != count:
            raise ValueError(
                f"{model.label}: {len(given)} of {name} for {count} starts; give one each, or one array."
            )
    jobs = min(jobs or os.cpu_count() or 1, max(count, 1))
    idle: SimpleQueue[Model] = SimpleQueue()  # a model works in arrays of its own: one each thread
    for _ in range(jobs):
        idle.put(copy.deepcopy(model))

    def one(k: int) -> Floats:
        mine = idle.get()
        try:
            force = tau[k] if isinstance(tau, list) else tau
            told = driven[k] if isinstance(driven, list) else driven
            return mine.rollout(starts[k], steps, dt, force, told, method, every)
        finally:
            idle.put(mine)

    out = np.empty((count, steps // every + 1, model.size))
    with ThreadPoolExecutor(jobs) as pool:
        for k, states in enumerate(pool.map(one, range(count))):
            out[k] = states
    return out
