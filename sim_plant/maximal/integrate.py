"""Steps of bodies on their own, kept together by impulses on joints, closures and ropes.

A step is Verlet's: half a step of velocity from the forces now, a step of places along that velocity's screw,
half a step of velocity from the forces there. Impulses now make the gaps vanish that the places ahead would
have, impulses then take the velocity that joints do not let be (Bender and Schmitt 2006; the two together are
RATTLE, of second order). Each goes round the links, one at a time, there and back (Gauss-Seidel), from the
forces of the last step; as often as asked, and on where gaps are left that would spoil the step's order.
Forces at the end are taken with the velocity run on from the middle, whose error is of second order too.
"""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (  # fmt: skip
    add,
    cross,
    inertia_times,
    matrix,
    minus,
    put,
    quaternion_turn,
    scale,
    turned,
    vector,
)
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.maximal.arrays import Chains
from caudal.sim_plant.maximal.bodies import look_ahead, move, note_velocities, prepare
from caudal.sim_plant.maximal.cables import pull, pull_position, pull_velocity
from caudal.sim_plant.maximal.joints import meet_position, meet_velocity, note_load, strike, strike_again
from caudal.sim_plant.tree.arrays import SPHERICAL
from caudal.sim_plant.tree.integrate import FASTEST
from caudal.sim_plant.tree.recursion import freedoms

# Gaps (m or rad) that the last time round may have met, else it goes round again: as small as a step's own error,
# of third order, and never more than ...
CLOSE_S3, CLOSE = 100.0, 2e-7
STILL = 0.1  # the share of them that velocities may open in a step
# Times as many iterations at most, as where no force is known yet to begin with, or a tendon catches.
MORE = 40


@inner
def accelerate(chains: Chains, x: Floats, dt_s: float) -> None:
    """Half a step of velocity from the bodies' own forces, and from what links and ropes did last."""
    for i in range(len(chains.frees)):
        free = chains.frees[i]
        force = chains.tree.bodies[free.body].force
        v, w = inertia_times(free.yields, vector(force, 0), vector(force, 3))
        put(free.v, 0, minus(vector(free.v, 0), scale(0.5 * dt_s, v)))
        put(free.v, 3, minus(vector(free.v, 3), scale(0.5 * dt_s, w)))
    for i in range(len(chains.links)):
        strike_again(chains, chains.links[i], x, dt_s)
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.impulse = 0.0
        pull(chains, rope, 0.5 * dt_s * x[rope.load_at])


@inner
def sweep_positions(chains: Chains, x: Floats, dt_s: float, back: bool) -> float:
    """Once round all links and ropes; the largest velocity (m/s, rad/s) that a gap a step ahead asked for."""
    frees, links, worst = chains.frees, chains.links, 0.0
    for i in range(len(links)):
        link = links[len(links) - 1 - i if back else i]
        worst = max(worst, meet_position(chains, link, x, dt_s))
        look_ahead(frees[link.a], dt_s)
        look_ahead(frees[link.b], dt_s)
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        worst = max(worst, pull_position(chains, rope, dt_s))
        for e in range(rope.first_end, rope.first_end + rope.count_ends):
            look_ahead(frees[chains.ends[e].free], dt_s)
    return worst


@inner
def sweep_velocities(chains: Chains, back: bool) -> float:
    """Once round all links and ropes; the largest velocity that one asked for."""
    links, worst = chains.links, 0.0
    for i in range(len(links)):
        worst = max(worst, meet_velocity(chains, links[len(links) - 1 - i if back else i]))
    for i in range(len(chains.ropes)):
        worst = max(worst, pull_velocity(chains, chains.ropes[i]))
    return worst


@inner
def run_on(chains: Chains, before: float, first: bool) -> float:
    """Run on along the impulses of the last sweeps; returns their square.

    Conjugate gradients with the sweep as the slope (Silcowitz, Niebe and Erleben 2010): where sweeps alone creep,
    as along a chain of like bodies, these take strides. `before` is what this gave last.
    """
    square = 0.0
    for i in range(len(chains.links)):
        link = chains.links[i]
        for k in range(link.count_rows):
            square += (link.impulse[k] - link.last[k]) ** 2
    for i in range(len(chains.ropes)):
        square += (chains.ropes[i].impulse - chains.ropes[i].last) ** 2
    share = 0.0 if first or before == 0.0 else square / before
    if share > 1.0:
        share = 0.0  # no longer the way down: begin anew
    for i in range(len(chains.links)):
        link = chains.links[i]
        for k in range(link.count_rows):
            ran = 0.0 if first else share * link.run[k]
            link.run[k] = ran + link.impulse[k] - link.last[k]
            strike(chains, link, k, ran)
            link.last[k] = link.impulse[k]
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        ran = 0.0 if first else share * rope.run
        rope.run = ran + rope.impulse - rope.last
        pull(chains, rope, ran)
        rope.last = rope.impulse
    return square


@inner
def note_start(chains: Chains) -> None:
    for i in range(len(chains.links)):
        for k in range(6):
            chains.links[i].last[k] = chains.links[i].impulse[k]
    for i in range(len(chains.ropes)):
        chains.ropes[i].last = chains.ropes[i].impulse


@inner
def close_gaps(chains: Chains, x: Floats, dt_s: float, iterations: int, close: float) -> None:
    """Impulses now for the gaps a step ahead, until they are `close`; x has the joints there."""
    n, worst, square = 0, 0.0, 0.0
    note_start(chains)
    while n < iterations or (worst * dt_s > close and n < MORE * iterations):
        if n > 0:
            square = run_on(chains, square, n == 1)
        for i in range(len(chains.frees)):
            look_ahead(chains.frees[i], dt_s)
        worst = sweep_positions(chains, x, dt_s, n % 2 == 0)
        n += 1


@inner
def meet_velocities(chains: Chains, iterations: int, still: float) -> None:
    """Impulses now for the velocities now, until what they miss is `still` (m/s or rad/s)."""
    n, worst, square = 0, 0.0, 0.0
    note_start(chains)
    while n < iterations or (worst > still and n < MORE * iterations):
        if n > 0:
            square = run_on(chains, square, n == 1)
        worst = sweep_velocities(chains, n % 2 == 0)
        n += 1


@inner
def note_loads(chains: Chains, x: Floats, dt_s: float) -> None:
    for i in range(len(chains.links)):
        note_load(chains, chains.links[i], x, dt_s)
    for i in range(len(chains.ropes)):
        x[chains.ropes[i].load_at] = 2.0 / dt_s * chains.ropes[i].impulse


@inner
def lead(chains: Chains, x: Floats, told: Floats, row: int, dt_s: float) -> None:
    """Joints a step ahead: driven ones as told, or on at their rate; the others by a first guess."""
    tree = chains.tree
    for i in range(len(chains.joints)):
        joint = chains.joints[i]
        if joint.qd_at >= 0 and joint.kind == SPHERICAL:
            quaternion_turn(x, joint.q_at, vector(x, joint.qd_at), dt_s)
        elif joint.qd_at >= 0 and freedoms(joint.kind) == 1:
            x[joint.q_at] += dt_s * x[joint.qd_at]
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.rate_m_s = 0.0
        if len(told) > 0 and rope.told >= 0:
            rope.length_m, rope.rate_m_s = told[row, 0, rope.told], told[row, 1, rope.told]
            x[rope.load_at + 1] = rope.length_m
    if len(told) > 0:
        for j in range(len(tree.told_q)):
            x[tree.told_q[j]] = told[row, 0, j]
            x[tree.told_v[j]] = told[row, 1, j]


@inner
def let_lag(tree: Tree, x: Floats, dt_s: float, late: bool) -> None:
    """The foils' lag: a whole step at the rate now; `late`, the half of it that the rate then puts right (Heun)."""
    for i in range(len(tree.foils)):
        foil = tree.foils[i]
        for k in range(2 if foil.lags else 0):
            at = foil.lag_at + k
            if late:
                x[at] += 0.5 * dt_s * (foil.lag_rate[k] - tree.rate[at])
            else:
                tree.rate[at] = foil.lag_rate[k]
                x[at] += dt_s * foil.lag_rate[k]


@inner
def step(
    chains: Chains, x: Floats, tau: Floats, told: Floats, row: int, dt_s: float, iterations: int
) -> None:
    """One step of x in place; told's row + 2 is a step on. The water's time goes on by a step too."""
    prepare(chains, x, tau)
    let_lag(chains.tree, x, dt_s, False)
    accelerate(chains, x, dt_s)
    lead(chains, x, told, row + 2, dt_s)
    close = min(CLOSE_S3 * dt_s**3, CLOSE)
    close_gaps(chains, x, dt_s, iterations, close)
    note_loads(chains, x, dt_s)
    move(chains, x, dt_s, dt_s)
    chains.tree.water[0].time_s += dt_s
    prepare(chains, x, tau)
    let_lag(chains.tree, x, dt_s, True)
    for i in range(len(chains.frees)):
        free = chains.frees[i]
        turn = matrix(free.turn)
        w = turned(turn, vector(free.half, 3))
        put(free.v, 0, add(turned(turn, vector(free.half, 0)), cross(vector(free.place, 0), w)))
        put(free.v, 3, w)
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.taut = not rope.pulls_only or rope.impulse > 0.0 or rope.over_m >= 0.0
    accelerate(chains, x, dt_s)
    meet_velocities(chains, iterations, STILL * close / dt_s)
    note_loads(chains, x, dt_s)
    note_velocities(chains, x)


@compiled
def roll_out(
    chains: Chains,
    x: Floats,
    tau: Floats,
    told: Floats,
    dt_s: float,
    steps: int,
    every: int,
    iterations: int,
    out: Floats,
    time_s: float,
) -> int:
    """Step x in place, a copy of every `every`-th state to `out`. Returns the steps that were sound.

    tau, told and time_s as for tree_step.roll_out; of told, rows of whole steps are used.
    """
    for n in range(steps):
        force = tau[n if len(tau) > 1 else 0]
        for j in range(len(x)):
            chains.keep[j] = x[j]
        chains.tree.water[0].time_s = time_s + n * dt_s  # by count: a sum would drift
        step(chains, x, force, told, 2 * n, dt_s, iterations)
        for j in range(chains.loads_at[0]):
            if not abs(x[j]) < FASTEST:
                for k in range(len(x)):
                    x[k] = chains.keep[k]
                return n
        if (n + 1) % every == 0:
            for j in range(len(x)):
                out[(n + 1) // every - 1, j] = x[j]
    return steps


@compiled
def shut(chains: Chains, x: Floats, tau: Floats, times: int) -> None:
    """Move the bodies of x together, then change their velocities, until links and ropes hold."""
    for _ in range(times):
        prepare(chains, x, tau)
        for i in range(len(chains.frees)):
            chains.frees[i].v[:] = 0.0
        for i in range(len(chains.ropes)):
            chains.ropes[i].impulse = 0.0
        close_gaps(chains, x, 1.0, 5, CLOSE)
        for i in range(len(chains.frees)):
            free = chains.frees[i]
            # Run on from the middle, velocities come out as they were.
            for r in range(6):
                free.before[r] = 2.0 * free.v[r] - free.before[r]
        move(chains, x, 1.0, 0.0)
    prepare(chains, x, tau)
    for i in range(len(chains.ropes)):
        rope = chains.ropes[i]
        rope.impulse, rope.rate_m_s, rope.taut = 0.0, 0.0, not rope.pulls_only or rope.over_m > -1e-9
    meet_velocities(chains, 5, 1e-12)
    note_velocities(chains, x)
