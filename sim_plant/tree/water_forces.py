"""What the moving water does to each body of a tree: drag, foils' lift, the forces on slender links and edges.

They are the forces that `tree.weigh` takes off what a body asks for, by the same kernels, told one by one. Weight and
buoyancy are not among them, nor a tether's pull, nor the inertia of carried water, which the recursions have whole and
which hangs on accelerations that no state holds.
"""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled
from caudal.sim_plant.base.spatial import cross, matrix, minus, put, scale, turned, vector
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tree.recursion import place, take_lags
from caudal.sim_plant.water.buoyancy import buoyancy
from caudal.sim_plant.water.drag import resist
from caudal.sim_plant.water.waves import calm, ride


@compiled
def tell_water(tree: Tree, x: Floats, out: Floats) -> None:
    """Force (N) and moment about the body's origin (N m), world axes: out is (body of the flat tree, 6)."""
    water, bodies = tree.water[0], tree.bodies
    place(tree, x)
    take_lags(tree, x)
    if len(tree.waves) > 0:
        ride(water, bodies, tree.waves)
    else:
        calm(water, bodies)
    buoyancy(tree, False)  # for the shares under water
    for i in range(len(bodies)):
        for r in range(6):
            bodies[i].force[r] = 0.0
    tied, water.tethered = water.tethered, 0
    resist(water, bodies, tree.foils, tree.links, tree.link_points, tree.edges)
    water.tethered = tied
    frame = matrix(water.turn)
    for i in range(len(bodies)):
        force = scale(-1.0, vector(bodies[i].force, 0))
        about_base = scale(-1.0, vector(bodies[i].force, 3))
        put(out[i], 0, turned(frame, force))
        put(out[i], 3, turned(frame, minus(about_base, cross(vector(bodies[i].at, 0), force))))
