"""Arrows of forces on a vehicle: thrust, weight and buoyancy, and the forces of the water."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from caudal.sim_plant.tables.tree import Body, Ellipsoid
from caudal.tools.log.poses import Pose
from caudal.tools.log.recorded_run import Run, Snapshot
from caudal.tools.view.arrows import HEAD, Arrows
from caudal.tools.view.hulls import hull_volume, immersed_volumes
from caudal.tools.view.vehicle import DUCT_LENGTH, VehicleMeshes, rgb
from caudal.tools.view.water_forces import WaterForces

if TYPE_CHECKING:
    from viser import SceneApi

AHEAD, ASTERN, BUOYANCY, WEIGHT, WATER = "#3ddc84", "#ff7b54", "#4cc9f0", "#b8c0ff", "#5a189a"
LONG = 0.4  # length of the longest arrow, by the length of the vehicle
LEAST = 0.02  # share of the longest arrow's force, below which a force of the water is not drawn
LEAST_THRUST = 0.01  # the same for thrust
WATER_HINT = (
    "violet, per body: drag, lift of foils and forces on slender bodies, computed by the plant's models from recorded "
    "poses and velocities; without added inertia"
)


class ForceArrows:
    """Arrows of the thrust of each thruster and, on request, of weight and buoyancy of each body."""

    def __init__(self, scene: SceneApi, run: Run, name: str, meshes: VehicleMeshes) -> None:
        self._run = run
        self._topic = f"/{name}/truth"
        self._meshes = meshes
        self._arrows = Arrows(scene, f"/{name}/pushes", 0.008 * meshes.length_m)
        self.thrust = bool(meshes.thrusters)
        self.weight = False
        self._full_n = _largest_thrust_n(run)

    def show(self, snapshot: Snapshot, pose: Pose) -> None:
        """Shows the forces of a snapshot."""
        arrows, colours = [], []
        if self.thrust:
            for thruster, (body, at_m, axis, radius_m) in self._meshes.thrusters.items():
                thrust_n = self._run.value(snapshot, self._topic, f"{thruster}_n")
                if thrust_n is None or abs(thrust_n) < LEAST_THRUST * self._full_n:
                    continue
                start = pose.in_base(body, at_m)
                # the head of the arrow is outside the duct
                least_m = 0.5 * DUCT_LENGTH * radius_m + 1.5 * HEAD * self._arrows.shaft_m
                length_m = math.copysign(least_m, thrust_n)
                length_m += LONG * self._meshes.length_m * _emphasised(thrust_n / self._full_n)
                arrows.append((start, start + pose.rotations[body] @ axis * length_m))
                colours.append(rgb(AHEAD if thrust_n > 0 else ASTERN))
        if self.weight:
            for start, vector_m, colour in self._weight_and_buoyancy(pose):
                arrows.append((start, start + vector_m))
                colours.append(rgb(colour))
        self._arrows.show(arrows, colours)

    def _weight_and_buoyancy(self, pose: Pose) -> Iterator[tuple[np.ndarray, np.ndarray, str]]:
        """Yields (start, vector, colour) in the base's frame: weight at centres of mass, buoyancy at hull centres."""
        tree, skeleton = self._run.vehicle.plant.tree, self._meshes.skeleton
        if tree is None:
            return
        down = pose.rotation.T @ np.array([0.0, 0.0, -1.0])
        scale = 0.35 * self._meshes.length_m / max(body.mass_kg for body in tree.body)
        for body in tree.body:
            if body.mass_kg:
                at_m = pose.in_base(skeleton.index[body.name], body.com_m)
                yield at_m, down * body.mass_kg * scale, WEIGHT
        for _, at_m, _, immersed_m3 in immersed_volumes(tree, skeleton, pose):
            if immersed_m3:
                yield at_m, -down * tree.density_kg_m3 * immersed_m3 * scale, BUOYANCY


def _emphasised(share: float) -> float:
    """Enlarges small shares so that they stay visible."""
    return math.copysign(min(1.0, abs(share)) ** 0.7, share)


def _largest_thrust_n(run: Run) -> float:
    """Returns the largest thrust that a controller may command."""
    return max((a.max_n for a in run.vehicle.settings.actuators if a.map == "thruster"), default=1.0)


class WaterArrows:
    """Arrows of the force of the water on each body, from where it leaves the hull; moments are not shown."""

    def __init__(
        self, scene: SceneApi, water: WaterForces, name: str, meshes: VehicleMeshes, bodies: list[Body]
    ) -> None:
        self._water = water
        self._name = name
        self._meshes = meshes
        self._bodies = {body.name: body for body in bodies}
        self._arrows = Arrows(scene, f"/{name}/water_forces", 0.006 * meshes.length_m)
        self._visible = False
        self.long_m = LONG * meshes.length_m

    @property
    def visible(self) -> bool:
        """Whether the arrows are shown; the first time loads the models of the plant."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        if visible:
            self._water.load()
        self._visible = visible

    @property
    def hint(self) -> str:
        """What the arrows mean, and their current scale."""
        scale_n = self._water.scale_n
        return f"{WATER_HINT}; {self.long_m:.2f} m is {scale_n:g} N" if scale_n else WATER_HINT

    def show(self, snapshot: Snapshot, pose: Pose) -> None:
        """Shows the forces of a snapshot."""
        forces_n = self._water.forces_n(snapshot.time_s, self._name) if self._visible else None
        full_n = 0.0 if forces_n is None else self._water.full_n(forces_n)
        arrows = []
        if forces_n is not None and full_n:
            for name, force_n in zip(self._water.bodies, forces_n @ pose.rotation, strict=True):
                size_n = float(np.linalg.norm(force_n))
                if size_n < LEAST * full_n:
                    continue
                k, along = self._meshes.skeleton.index[name], force_n / size_n
                centre_m, out_m = _exit_point(self._bodies[name], pose.rotations[k].T @ along)
                start = pose.in_base(k, centre_m) + out_m * along
                arrows.append((start, start + self.long_m * size_n / full_n * along))
        self._arrows.show(arrows, [rgb(WATER)] * len(arrows))


def _exit_point(body: Body, along: np.ndarray) -> tuple[np.ndarray, float]:
    """Returns the centre of a body, and the distance from it at which a line in a direction leaves the hull.

    All in body axes; a tube is taken as the ellipsoid of its size.
    """
    hull = body.hull
    if hull is None:
        return np.array(body.com_m), 0.0
    centre_m, _ = hull_volume(hull)
    if isinstance(hull, Ellipsoid):
        return centre_m, float(1.0 / np.linalg.norm(along / np.array(hull.semi_axes_m)))
    axis = np.subtract(hull.to_m, hull.from_m)
    half_m = 0.5 * float(np.linalg.norm(axis))
    share = float(along @ axis) / (2 * half_m)
    across = np.sqrt(max(1.0 - share**2, 0.0))
    return centre_m, float(1.0 / np.hypot(share / half_m, across / hull.radius_m))
