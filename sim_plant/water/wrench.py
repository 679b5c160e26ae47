"""A force on a body of a tree, and the velocity of one of its points through the water; all in the common frame."""

from __future__ import annotations

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import add, cross, store, subtract, vector
from caudal.sim_plant.base.types import Record, Vec3


@inner
def apply_force(body: Record, force: Vec3, torque: Vec3) -> None:
    """Apply a force (N) and a torque about the common origin (N m): subtract them from the body's bias force."""
    store(body.force, 0, subtract(vector(body.force, 0), force))
    store(body.force, 3, subtract(vector(body.force, 3), torque))


@inner
def velocity_through_water(body: Record, at: Vec3) -> Vec3:
    """Velocity (m/s) of the body's point `at` relative to the water around the body."""
    v = add(vector(body.velocity, 0), cross(vector(body.velocity, 3), at))
    return subtract(v, vector(body.water_velocity, 0))
