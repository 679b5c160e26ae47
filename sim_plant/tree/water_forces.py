"""Forces of the moving water on each body of a tree: drag, lift of foils, forces on slender links and edges.

They come from the same kernels that `recursion.tree_bias` uses. Weight, buoyancy and the tether's pull are left out. So
is the inertia of the added mass, because it depends on accelerations, which a state does not contain.
"""

from __future__ import annotations

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.jit import compiled
from caudal.sim_plant.base.spatial import cross, matrix, rotate, scale, store, subtract, vector
from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tree.recursion import load_lags, place_bodies
from caudal.sim_plant.water.buoyancy import buoyancy_energy
from caudal.sim_plant.water.drag import apply_water_forces
from caudal.sim_plant.water.waves import set_still_water, set_wave_motion


@compiled
def water_forces(tree: Tree, x: Floats, out: Floats) -> None:
    """Write to `out` (body of the tree's arrays, 6) force (N) and moment about the body's origin (N m), world axes."""
    water, bodies = tree.water[0], tree.bodies
    place_bodies(tree, x)
    load_lags(tree, x)
    if len(tree.waves) > 0:
        set_wave_motion(water, bodies, tree.waves)
    else:
        set_still_water(water, bodies)
    buoyancy_energy(tree, False)  # sets the immersed shares
    for i in range(len(bodies)):
        for r in range(6):
            bodies[i].force[r] = 0.0
    tied, water.tethered = water.tethered, 0
    apply_water_forces(water, bodies, tree.foils, tree.links, tree.link_points, tree.edges)
    water.tethered = tied
    frame = matrix(water.turn)
    for i in range(len(bodies)):
        force = scale(-1.0, vector(bodies[i].force, 0))
        about_base = scale(-1.0, vector(bodies[i].force, 3))
        store(out[i], 0, rotate(frame, force))
        store(out[i], 3, rotate(frame, subtract(about_base, cross(vector(bodies[i].at, 0), force))))
