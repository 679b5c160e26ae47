"""The first start on two cores: a second process compiles contacts and sensors while this one compiles the tree.

    with early.two_at_once():
        model = Model(spec)

numba holds one lock while it compiles, so a thread would not do; what one process compiles comes to the other through
the cache on disk (base/jit.py). Kernels are compiled for types alone, and those are the same for all worlds and trees.
A second process that fails or lags costs time and nothing else: what is not kept is compiled where it is called.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numba
import numpy as np
from numba import float64, int64

from caudal.sim_plant.base.jit import PACKAGE, nothing_kept
from caudal.sim_plant.parts.sensors import sample_due
from caudal.sim_plant.scene.contact import settle
from caudal.sim_plant.tables.tree import Body, TreeSpec
from caudal.sim_plant.tree import integrate, recursion
from caudal.sim_plant.tree.arrays import pack_tree
from caudal.sim_plant.world import forest, step_kernel

typeof: Callable[[object], Any] = numba.typeof
literal: Callable[[object], Any] = numba.types.literal
VECTOR = float64[::1]
MOVES = float64[:, :, ::1]  # of one vehicle (forest.Forest)
PATIENCE_S = 60.0  # with the second process, which should end before the first


@contextmanager
def two_at_once() -> Iterator[None]:
    """Round whatever first compiles a tree's own kernels; the kernels of a world of trees are ready after it."""
    other = _start() if nothing_kept() and _cores() > 1 else None
    if other is None:
        yield
        return
    try:
        yield
        first()
        with suppress(subprocess.TimeoutExpired):
            other.wait(PATIENCE_S)
    finally:
        if other.poll() is None:
            other.kill()
            other.wait()


def first() -> None:
    """What is left to this process after a model's own kernels."""
    flat, one, trees = _argument_types()
    # As advance_trees calls it; before that, so that the second has more time for what else that needs.
    integrate.step.compile((one, VECTOR, VECTOR, MOVES, literal(0), float64, literal(True)))
    forest.advance_trees.compile((flat, trees, int64, int64))


def second() -> None:
    """What the second process compiles, in the order in which the first asks for it."""
    flat, one, trees = _argument_types()
    step_kernel.put.compile((flat, int64, float64, float64, float64))
    sample_due.compile((flat, int64))
    # By now the first has what this shares with a tree's sweep.
    recursion.forward.compile((one, VECTOR, VECTOR))
    settle.compile((flat,))
    forest.actuate.compile((flat, one, int64, VECTOR, MOVES, float64))
    forest.observe_tree.compile((flat, trees, int64, VECTOR))
    recursion.inverse_forces.compile((one, VECTOR, VECTOR))


def _argument_types() -> tuple[Any, Any, Any]:
    """Of a Flat, a Tree and a Forest."""
    from caudal.sim_plant.tables.read import WorldSpec
    from caudal.sim_plant.world.world import World  # which imports this file

    one = pack_tree(TreeSpec(body=[Body(name="base", mass_kg=1.0)]), True, True)[0]
    trees = forest.forest_of([(one, np.zeros(len(one.rate)))])
    return typeof(World(WorldSpec())._flat), typeof(one), typeof(trees)


def _start() -> subprocess.Popen[bytes] | None:
    folders = [str(PACKAGE.parents[1]), os.environ.get("PYTHONPATH", "")]
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "caudal.sim_plant.world.warm_up"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    second()
