"""Time steps of bodies with coordinates of their own, kept together by impulses of joints, closures and ropes.

A step is Verlet's: half a step of velocity from the present forces, a step of pose along that velocity's screw, half a
step of velocity from the forces there. Impulses at the start close the gaps that the next poses would have. Impulses
at the end remove the velocity that the joints do not allow (Bender and Schmitt 2006; the two together are RATTLE, of
second order). Each is found by going through the links one at a time, forwards and backwards (Gauss-Seidel), starting
from the forces of the last step: `iterations` times, and longer while gaps remain that would spoil the step's order.
Forces at the end are taken at the velocity extrapolated from the middle, whose error is also of second order.
"""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (
    add,
    copy,
    cross,
    inertia_times,
    matrix,
    rotate,
    rotate_quaternion,
    scale,
    store,
    subtract,
    vector,
)
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.maximal.arrays import Chains
from caudal.sim_plant.maximal.bodies import move_bodies, predict_pose, prepare, write_velocities
from caudal.sim_plant.maximal.cables import apply_tension, solve_rope_position, solve_rope_velocity
from caudal.sim_plant.maximal.joints import (
    apply_impulse,
    solve_position,
    solve_velocity,
    warm_start,
    write_load,
)
from caudal.sim_plant.tree.arrays import SPHERICAL
from caudal.sim_plant.tree.integrate import is_finite_and_bounded
from caudal.sim_plant.tree.recursion import freedoms

# Iterations go on while the last one corrected a larger gap (m or rad): as small as the step's own error, which is of
# third order, and at most TOLERANCE.
TOLERANCE_PER_S3, TOLERANCE = 100.0, 2e-7
VELOCITY_SHARE = 0.1  # of that tolerance: what velocities may open in a step
# At most so many times the given iterations: needed where no force is known yet, or a tendon becomes taut.
MAX_ITERATION_FACTOR = 40


@inner
def half_step_velocity(chains: Chains, x: Floats, dt_s: float) -> None:
    """Half a step of velocity from the bodies' own forces, and from the last forces of links and ropes."""
    for i in range(len(chains.free_bodies)):
        free_body = chains.free_bodies[i]
        force = chains.tree.bodies[free_body.body].force
        v, w = inertia_times(free_body.inverse_inertia, vector(force, 0), vector(force, 3))
        store(free_body.v, 0, subtract(vector(free_body.v, 0), scale(0.5 * dt_s, v)))
        store(free_body.v, 3, subtract(vector(free_body.v, 3), scale(0.5 * dt_s, w)))
    for i in range(len(chains.links)):
        warm_start(chains, chains.links[i], x, dt_s)
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.impulse = 0.0
        apply_tension(chains, rope, 0.5 * dt_s * x[rope.load_at])


@inner
def sweep_positions(chains: Chains, x: Floats, dt_s: float, back: bool) -> float:
    """Solve positions of all links and ropes once; returns the largest velocity change (m/s, rad/s) for a gap ahead."""
    free_bodies, links, worst = chains.free_bodies, chains.links, 0.0
    for i in range(len(links)):
        link = links[len(links) - 1 - i if back else i]
        worst = max(worst, solve_position(chains, link, x, dt_s))
        predict_pose(free_bodies[link.a], dt_s)
        predict_pose(free_bodies[link.b], dt_s)
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        worst = max(worst, solve_rope_position(chains, rope, dt_s))
        for e in range(rope.first_end, rope.first_end + rope.count_ends):
            predict_pose(free_bodies[chains.ends[e].free_body], dt_s)
    return worst


@inner
def sweep_velocities(chains: Chains, back: bool) -> float:
    """Solve velocities of all links and ropes once; returns the largest velocity error."""
    links, worst = chains.links, 0.0
    for i in range(len(links)):
        worst = max(worst, solve_velocity(chains, links[len(links) - 1 - i if back else i]))
    for i in range(len(chains.ropes)):
        worst = max(worst, solve_rope_velocity(chains, chains.ropes[i]))
    return worst


@inner
def conjugate_step(chains: Chains, last_square: float, first: bool) -> float:
    """Extrapolate along the impulses of the last sweeps; returns the square of these impulses.

    Conjugate gradients with the sweep as the gradient (Silcowitz, Niebe and Erleben 2010): they converge faster where
    sweeps alone are slow, as along a chain of equal bodies. `last_square` is the value that this returned last.
    """
    square = 0.0
    for i in range(len(chains.links)):
        link = chains.links[i]
        for k in range(link.count_rows):
            square += (link.impulse[k] - link.last_impulse[k]) ** 2
    for i in range(len(chains.ropes)):
        square += (chains.ropes[i].impulse - chains.ropes[i].last_impulse) ** 2
    share = 0.0 if first or last_square == 0.0 else square / last_square
    if share > 1.0:
        share = 0.0  # no longer a descent: restart
    for i in range(len(chains.links)):
        link = chains.links[i]
        for k in range(link.count_rows):
            extra = 0.0 if first else share * link.direction[k]
            link.direction[k] = extra + link.impulse[k] - link.last_impulse[k]
            apply_impulse(chains, link, k, extra)
            link.last_impulse[k] = link.impulse[k]
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        extra = 0.0 if first else share * rope.direction
        rope.direction = extra + rope.impulse - rope.last_impulse
        apply_tension(chains, rope, extra)
        rope.last_impulse = rope.impulse
    return square


@inner
def remember_impulses(chains: Chains) -> None:
    """Store all impulses as the last ones."""
    for i in range(len(chains.links)):
        for k in range(6):
            chains.links[i].last_impulse[k] = chains.links[i].impulse[k]
    for i in range(len(chains.ropes)):
        chains.ropes[i].last_impulse = chains.ropes[i].impulse


@inner
def close_gaps(chains: Chains, x: Floats, dt_s: float, iterations: int, tolerance: float) -> None:
    """Apply impulses now until the gaps a step later are within tolerance (m, rad); x gets the joints there."""
    n, worst, square = 0, 0.0, 0.0
    remember_impulses(chains)
    while n < iterations or (worst * dt_s > tolerance and n < MAX_ITERATION_FACTOR * iterations):
        if n > 0:
            square = conjugate_step(chains, square, n == 1)
        for i in range(len(chains.free_bodies)):
            predict_pose(chains.free_bodies[i], dt_s)
        worst = sweep_positions(chains, x, dt_s, n % 2 == 0)
        n += 1


@inner
def match_velocities(chains: Chains, iterations: int, tolerance: float) -> None:
    """Apply impulses now until the velocity errors are within tolerance (m/s, rad/s)."""
    n, worst, square = 0, 0.0, 0.0
    remember_impulses(chains)
    while n < iterations or (worst > tolerance and n < MAX_ITERATION_FACTOR * iterations):
        if n > 0:
            square = conjugate_step(chains, square, n == 1)
        worst = sweep_velocities(chains, n % 2 == 0)
        n += 1


@inner
def write_loads(chains: Chains, x: Floats, dt_s: float) -> None:
    """Write the forces of all links and ropes over half a step to x."""
    for i in range(len(chains.links)):
        write_load(chains, chains.links[i], x, dt_s)
    for i in range(len(chains.ropes)):
        x[chains.ropes[i].load_at] = 2.0 / dt_s * chains.ropes[i].impulse


@inner
def predict_joints(chains: Chains, x: Floats, driven: Floats, row: int, dt_s: float) -> None:
    """Joint positions a step later: of driven ones as given, or at constant rate; of the others as a first guess."""
    tree = chains.tree
    for i in range(len(chains.joints)):
        joint = chains.joints[i]
        if joint.qd_at >= 0 and joint.kind == SPHERICAL:
            rotate_quaternion(x, joint.q_at, vector(x, joint.qd_at), dt_s)
        elif joint.qd_at >= 0 and freedoms(joint.kind) == 1:
            x[joint.q_at] += dt_s * x[joint.qd_at]
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.rate_m_s = 0.0
        if len(driven) > 0 and rope.driven_index >= 0:
            rope.length_m, rope.rate_m_s = (
                driven[row, 0, rope.driven_index],
                driven[row, 1, rope.driven_index],
            )
            x[rope.load_at + 1] = rope.length_m
    if len(driven) > 0:
        for j in range(len(tree.driven_q)):
            x[tree.driven_q[j]] = driven[row, 0, j]
            x[tree.driven_v[j]] = driven[row, 1, j]


@inner
def step_lags(tree: Tree, x: Floats, dt_s: float, correct: bool) -> None:
    """Step the foils' lag states at the present rate; with `correct`, half of it becomes the rate at the end (Heun)."""
    for i in range(len(tree.foils)):
        foil = tree.foils[i]
        for k in range(2 if foil.lags else 0):
            at = foil.lag_at + k
            if correct:
                x[at] += 0.5 * dt_s * (foil.lag_rate[k] - tree.rate[at])
            else:
                tree.rate[at] = foil.lag_rate[k]
                x[at] += dt_s * foil.lag_rate[k]


@inner
def step(
    chains: Chains, x: Floats, tau: Floats, driven: Floats, row: int, dt_s: float, iterations: int
) -> None:
    """Advance x by one step, in place; row + 2 of `driven` is a step later. The water's time also advances."""
    prepare(chains, x, tau)
    step_lags(chains.tree, x, dt_s, False)
    half_step_velocity(chains, x, dt_s)
    predict_joints(chains, x, driven, row + 2, dt_s)
    tolerance = min(TOLERANCE_PER_S3 * dt_s**3, TOLERANCE)
    close_gaps(chains, x, dt_s, iterations, tolerance)
    write_loads(chains, x, dt_s)
    move_bodies(chains, x, dt_s, dt_s)
    chains.tree.water[0].time_s += dt_s
    prepare(chains, x, tau)
    step_lags(chains.tree, x, dt_s, True)
    for i in range(len(chains.free_bodies)):
        free_body = chains.free_bodies[i]
        turn = matrix(free_body.turn)
        w = rotate(turn, vector(free_body.middle_v, 3))
        store(
            free_body.v,
            0,
            add(rotate(turn, vector(free_body.middle_v, 0)), cross(vector(free_body.place, 0), w)),
        )
        store(free_body.v, 3, w)
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.taut = not rope.pulls_only or rope.impulse > 0.0 or rope.excess_m >= 0.0
    half_step_velocity(chains, x, dt_s)
    match_velocities(chains, iterations, VELOCITY_SHARE * tolerance / dt_s)
    write_loads(chains, x, dt_s)
    write_velocities(chains, x)


@compiled
def roll_out(
    chains: Chains,
    x: Floats,
    tau: Floats,
    driven: Floats,
    dt_s: float,
    steps: int,
    every: int,
    iterations: int,
    out: Floats,
    time_s: float,
) -> int:
    """Advance x in place by `steps` steps; copies every `every`-th state to `out`. Returns the steps before divergence.

    tau, driven and time_s as in tree.integrate.roll_out; of `driven`, only rows of whole steps are used.
    """
    for n in range(steps):
        force = tau[n if len(tau) > 1 else 0]
        copy(x, chains.saved)
        chains.tree.water[0].time_s = time_s + n * dt_s  # not summed, because a sum would drift
        step(chains, x, force, driven, 2 * n, dt_s, iterations)
        if not is_finite_and_bounded(x[: chains.loads_at[0]]):
            copy(chains.saved, x)
            return n
        if (n + 1) % every == 0:
            copy(x, out[(n + 1) // every - 1])
    return steps


@compiled
def close_closures(chains: Chains, x: Floats, tau: Floats, times: int) -> None:
    """Move the bodies of x together, then change their velocities, until links and ropes hold."""
    for _ in range(times):
        prepare(chains, x, tau)
        for i in range(len(chains.free_bodies)):
            chains.free_bodies[i].v[:] = 0.0
        for i in range(len(chains.ropes)):
            chains.ropes[i].impulse = 0.0
        close_gaps(chains, x, 1.0, 5, TOLERANCE)
        for i in range(len(chains.free_bodies)):
            free_body = chains.free_bodies[i]
            # So that the extrapolation from the middle of the step gives the velocities as they were.
            for r in range(6):
                free_body.start_v[r] = 2.0 * free_body.v[r] - free_body.start_v[r]
        move_bodies(chains, x, 1.0, 0.0)
    prepare(chains, x, tau)
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.impulse, rope.rate_m_s, rope.taut = 0.0, 0.0, not rope.pulls_only or rope.excess_m > -1e-9
    match_velocities(chains, 5, 1e-12)
    write_velocities(chains, x)
