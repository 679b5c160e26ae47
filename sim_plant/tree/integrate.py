"""Time steps of a tree: Runge-Kutta of fourth order, and semi-implicit Euler."""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (
    copy,
    normalize_quaternion,
    quaternion_matrix,
    quaternion_rate,
    rotate,
    rotate_quaternion,
)
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tree.arrays import SPHERICAL
from caudal.sim_plant.tree.recursion import forward_dynamics, freedoms, update_tree

FASTEST = 1e6  # m, m/s, rad/s: a state with a larger number has diverged


@inner
def set_driven(tree: Tree, driven: Floats, row: int, x: Floats) -> None:
    """Set the driven joints to row `row` of `driven`, which is (time, 3, joint) or has no rows."""
    if len(driven) == 0:
        return
    for j in range(len(tree.driven_q)):
        x[tree.driven_q[j]] = driven[row, 0, j]
        x[tree.driven_v[j]] = driven[row, 1, j]
        tree.acceleration[6 + tree.driven_v[j] - tree.water[0].velocities_at] = driven[row, 2, j]


@inner
def state_rate(tree: Tree, x: Floats, tau: Floats, out: Floats) -> None:
    """Rate of a state, to `out`; tree.acceleration holds the accelerations of the driven joints."""
    update_tree(tree, x)
    forward_dynamics(tree, tau, tree.acceleration)
    for r in range(3):
        out[r] = tree.water[0].base_velocity[r]
    quaternion_rate(x, 3, (x[10], x[11], x[12]), out)
    for r in range(6):
        out[7 + r] = tree.acceleration[r]
    velocities = tree.water[0].velocities_at
    for i in range(1, len(tree.bodies)):
        kind, q, v = tree.bodies[i].kind, tree.bodies[i].q_at, tree.bodies[i].qd_at
        if kind == SPHERICAL:
            quaternion_rate(x, q, (x[v], x[v + 1], x[v + 2]), out)
        elif freedoms(kind) == 1:
            out[q] = x[v]
    for k in range(6, len(tree.acceleration)):
        out[velocities + k - 6] = tree.acceleration[k]
    for i in range(len(tree.foils)):
        foil = tree.foils[i]
        if foil.lags:
            out[foil.lag_at], out[foil.lag_at + 1] = foil.lag_rate[0], foil.lag_rate[1]


@inner
def normalize_quaternions(tree: Tree, x: Floats) -> None:
    """Scale every quaternion of a state to length 1."""
    normalize_quaternion(x, 3)
    for i in range(1, len(tree.bodies)):
        if tree.bodies[i].kind == SPHERICAL:
            normalize_quaternion(x, tree.bodies[i].q_at)


@inner
def step(tree: Tree, x: Floats, tau: Floats, driven: Floats, row: int, dt_s: float, fourth: bool) -> None:
    """Advance x by one step, in place; rows row, row + 1 and row + 2 of `driven` are now, half a step and a step later.

    The water's time also advances by a step.
    """
    k, stage, total, water = tree.rate, tree.stage, tree.rk4_sum, tree.water[0]
    now_s = water.time_s
    for j in range(len(x)):
        stage[j], total[j] = x[j], 0.0
    # One loop for both methods, so that the recursions inside are compiled once instead of five times.
    for s in range(4 if fourth else 1):
        set_driven(tree, driven, row + (s + 1) // 2, stage)
        water.time_s = now_s + 0.5 * dt_s * ((s + 1) // 2)
        state_rate(tree, stage, tau, k)
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
    set_driven(tree, driven, row + 2, x)
    normalize_quaternions(tree, x)


@inner
def semi_implicit(tree: Tree, x: Floats, rate: Floats, dt_s: float) -> None:
    """Semi-implicit Euler step: new velocities from old positions, new positions from new velocities."""
    velocities = tree.water[0].velocities_at
    for j in range(7, 13):
        x[j] += dt_s * rate[j]
    for j in range(velocities, len(x)):
        x[j] += dt_s * rate[j]
    rotate_quaternion(x, 3, (x[10], x[11], x[12]), dt_s)  # first: the new velocity is along the new axes
    moved = rotate(quaternion_matrix(x[3], x[4], x[5], x[6]), (x[7], x[8], x[9]))
    for r in range(3):
        x[r] += dt_s * moved[r]
    for i in range(1, len(tree.bodies)):
        kind, q, v = tree.bodies[i].kind, tree.bodies[i].q_at, tree.bodies[i].qd_at
        if kind == SPHERICAL:
            rotate_quaternion(x, q, (x[v], x[v + 1], x[v + 2]), dt_s)
        elif freedoms(kind) == 1:
            x[q] += dt_s * x[v]


@inner
def is_finite_and_bounded(x: Floats) -> bool:
    """True if every number of a state is finite and below FASTEST."""
    for j in range(len(x)):  # noqa: SIM110 (numba has no generators here)
        if not abs(x[j]) < FASTEST:
            return False
    return True


@compiled
def roll_out(
    tree: Tree,
    x: Floats,
    tau: Floats,
    driven: Floats,
    dt_s: float,
    steps: int,
    every: int,
    fourth: bool,
    out: Floats,
    time_s: float,
) -> int:
    """Advance x in place by `steps` steps; copies every `every`-th state to `out`. Returns the steps before divergence.

    tau has one row for all steps, or one per step. driven has no rows (driven joints keep their velocity), or two per
    step and one more. time_s is how long the waves have run at the start.
    """
    for j in range(len(tree.acceleration)):
        tree.acceleration[j] = 0.0
    for n in range(steps):
        force = tau[n if len(tau) > 1 else 0]
        copy(x, tree.saved)
        tree.water[0].time_s = time_s + n * dt_s  # not summed, because a sum would drift
        step(tree, x, force, driven, 2 * n, dt_s, fourth)
        if not is_finite_and_bounded(x):
            copy(tree.saved, x)
            return n
        if (n + 1) % every == 0:
            copy(x, out[(n + 1) // every - 1])
    return steps
