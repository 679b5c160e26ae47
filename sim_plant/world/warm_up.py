"""The first start on two cores: a second process compiles contacts and sensors while this one compiles the tree.

    with warm_up.two_processes():
        model = Model(spec)

numba holds one lock while it compiles, so a thread would not help. The other process gets the compiled kernels through
the cache on disk (base/jit.py). Kernels are compiled for types alone, which are the same for all worlds and trees. If
the second process fails or is late, only time is lost: a kernel that is not in the cache is compiled at its first call.
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

from caudal.sim_plant.base.jit import PACKAGE, cache_is_empty
from caudal.sim_plant.parts.sensors import sample_due
from caudal.sim_plant.scene.contact import resolve_contacts
from caudal.sim_plant.tables.tree import Body, TreeSpec
from caudal.sim_plant.tree import integrate, recursion
from caudal.sim_plant.tree.arrays import pack_tree
from caudal.sim_plant.world import forest, step_kernel

typeof: Callable[[object], Any] = numba.typeof
literal: Callable[[object], Any] = numba.types.literal
VECTOR = float64[::1]
MOVES = float64[:, :, ::1]  # of one vehicle (forest.Forest)
TIMEOUT_S = 60.0  # for the second process, which should end before the first


@contextmanager
def two_processes() -> Iterator[None]:
    """Context for the first compilation of a tree's kernels; afterwards all kernels of a world of trees are ready."""
    other = _start() if cache_is_empty() and _cores() > 1 else None
    if other is None:
        yield
        return
    try:
        yield
        compile_first()
        with suppress(subprocess.TimeoutExpired):
            other.wait(TIMEOUT_S)
    finally:
        if other.poll() is None:
            other.kill()
            other.wait()


def compile_first() -> None:
    """Compile what remains for this process after a model's own kernels."""
    flat, one, trees = _argument_types()
    # As advance_trees calls it, and first, so that the second process has more time for the rest.
    integrate.step.compile((one, VECTOR, VECTOR, MOVES, literal(0), float64, literal(True)))
    forest.advance_trees.compile((flat, trees, int64, int64))


def compile_second() -> None:
    """Compile the kernels of the second process, in the order in which the first one needs them."""
    flat, one, trees = _argument_types()
    step_kernel.place_at.compile((flat, int64, float64, float64, float64))
    sample_due.compile((flat, int64))
    # By now the first process has compiled what this shares with update_tree.
    recursion.forward_dynamics.compile((one, VECTOR, VECTOR))
    resolve_contacts.compile((flat,))
    forest.step_tree_actuators.compile((flat, one, int64, VECTOR, MOVES, float64))
    forest.observe_tree.compile((flat, trees, int64, VECTOR))
    recursion.inverse_dynamics.compile((one, VECTOR, VECTOR))


def _argument_types() -> tuple[Any, Any, Any]:
    """numba types of a Flat, a Tree and a Forest."""
    from caudal.sim_plant.tables.read import WorldSpec
    from caudal.sim_plant.world.world import World  # it imports this file

    one = pack_tree(TreeSpec(body=[Body(name="base", mass_kg=1.0)]), True, True)[0]
    trees = forest.join_trees([(one, np.zeros(len(one.rate)))])
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
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    compile_second()
