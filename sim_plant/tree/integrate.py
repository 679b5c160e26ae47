"""Steps of a tree in time: Runge-Kutta of fourth order, and semi-implicit Euler."""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (
    quaternion_matrix,
    quaternion_rate,
    quaternion_turn,
    quaternion_unit,
    turned,
)
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tree.arrays import SPHERICAL
from caudal.sim_plant.tree.recursion import forward, freedoms, sweep

FASTEST = 1e6  # m/s or rad/s; beyond it a state has diverged


@inner
def take_told(tree: Tree, told: Floats, row: int, x: Floats) -> None:
    """Put driven joints where row `row` of `told` has them; told is (time, 3, joint) or has no rows."""
    if len(told) == 0:
        return
    for j in range(len(tree.told_q)):
        x[tree.told_q[j]] = told[row, 0, j]
        x[tree.told_v[j]] = told[row, 1, j]
        tree.told[6 + tree.told_v[j] - tree.water[0].velocities_at] = told[row, 2, j]


@inner
def rates(tree: Tree, x: Floats, tau: Floats, out: Floats) -> None:
    """Rate of a state (out); accelerations of driven joints stand in tree.told."""
    sweep(tree, x)
    forward(tree, tau, tree.told)
    for r in range(3):
        out[r] = tree.water[0].base_velocity[r]
    quaternion_rate(x, 3, (x[10], x[11], x[12]), out)
    for r in range(6):
        out[7 + r] = tree.told[r]
    velocities = tree.water[0].velocities_at
    for i in range(1, len(tree.bodies)):
        kind, q, v = tree.bodies[i].kind, tree.bodies[i].q_at, tree.bodies[i].qd_at
        if kind == SPHERICAL:
            quaternion_rate(x, q, (x[v], x[v + 1], x[v + 2]), out)
        elif freedoms(kind) == 1:
            out[q] = x[v]
    for k in range(6, len(tree.told)):
        out[velocities + k - 6] = tree.told[k]
    for i in range(len(tree.foils)):
        foil = tree.foils[i]
        if foil.lags:
            out[foil.lag_at], out[foil.lag_at + 1] = foil.lag_rate[0], foil.lag_rate[1]


@inner
def units(tree: Tree, x: Floats) -> None:
    """Bring every quaternion of a state back to length 1."""
    quaternion_unit(x, 3)
    for i in range(1, len(tree.bodies)):
        if tree.bodies[i].kind == SPHERICAL:
            quaternion_unit(x, tree.bodies[i].q_at)


@inner
def step(tree: Tree, x: Floats, tau: Floats, told: Floats, row: int, dt_s: float, fourth: bool) -> None:
    """One step of x in place; told's rows row, row + 1, row + 2 are now, half a step on, a step on.

    The water's time is now on entry, and a step on on return.
    """
    k, stage, total, water = tree.rate, tree.stage, tree.sum, tree.water[0]
    now_s = water.time_s
    for j in range(len(x)):
        stage[j], total[j] = x[j], 0.0
    # One loop for both methods: the recursions inside are compiled once instead of five times.
    for s in range(4 if fourth else 1):
        take_told(tree, told, row + (s + 1) // 2, stage)
        water.time_s = now_s + 0.5 * dt_s * ((s + 1) // 2)
        rates(tree, stage, tau, k)
        weight = 2.0 if s == 1 or s == 2 else 1.0
        ahead_s = dt_s if s == 2 else 0.5 * dt_s
        for j in range(len(x)):
            total[j] += weight * k[j]
            stage[j] = x[j] + ahead_s * k[j]
    if fourth:
        for j in range(len(x)):
            x[j] += dt_s / 6.0 * total[j]
    else:
        semi_implicit(tree, x, k, dt_s)
    water.time_s = now_s + dt_s
    take_told(tree, told, row + 2, x)
    units(tree, x)


@inner
def semi_implicit(tree: Tree, x: Floats, rate: Floats, dt_s: float) -> None:
    """New velocities from old positions, new positions from new velocities."""
    velocities = tree.water[0].velocities_at
    for j in range(7, 13):
        x[j] += dt_s * rate[j]
    for j in range(velocities, len(x)):
        x[j] += dt_s * rate[j]
    quaternion_turn(x, 3, (x[10], x[11], x[12]), dt_s)  # first: the new velocity stands in the new axes
    moved = turned(quaternion_matrix(x[3], x[4], x[5], x[6]), (x[7], x[8], x[9]))
    for r in range(3):
        x[r] += dt_s * moved[r]
    for i in range(1, len(tree.bodies)):
        kind, q, v = tree.bodies[i].kind, tree.bodies[i].q_at, tree.bodies[i].qd_at
        if kind == SPHERICAL:
            quaternion_turn(x, q, (x[v], x[v + 1], x[v + 2]), dt_s)
        elif freedoms(kind) == 1:
            x[q] += dt_s * x[v]


@inner
def sound(x: Floats) -> bool:
    """Whether every number of a state is finite and no velocity is absurd."""
    for j in range(len(x)):  # noqa: SIM110 (kernels know no generators)
        if not abs(x[j]) < FASTEST:
            return False
    return True


@compiled
def roll_out(
    tree: Tree,
    x: Floats,
    tau: Floats,
    told: Floats,
    dt_s: float,
    steps: int,
    every: int,
    fourth: bool,
    out: Floats,
    time_s: float,
) -> int:
    """Step x in place, a copy of every `every`-th state to `out`. Returns the steps that were sound.

    tau has one row for all steps, or one each. told has no rows (driven joints keep their velocity), or
    two each step and one more. The waves have gone time_s at the first.
    """
    for j in range(len(tree.told)):
        tree.told[j] = 0.0
    for n in range(steps):
        force = tau[n if len(tau) > 1 else 0]
        for j in range(len(x)):
            tree.keep[j] = x[j]
        tree.water[0].time_s = time_s + n * dt_s  # by count: a sum would drift
        step(tree, x, force, told, 2 * n, dt_s, fourth)
        if not sound(x):
            for j in range(len(x)):
                x[j] = tree.keep[j]
            return n
        if (n + 1) % every == 0:
            for j in range(len(x)):
                out[(n + 1) // every - 1, j] = x[j]
    return steps
