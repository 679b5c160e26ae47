"""Arrows of what the water does to each body of a vehicle, reckoned from the moment a person asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from caudal.sim_plant.tables.tree import Body, Ellipsoid
from caudal.tools.log.recorded_run import Snapshot
from caudal.tools.view.vehicle import Figure, hull_volume, rgb
from caudal.tools.view.water_forces import Water

WATER = "#5a189a"
LONG = 0.4  # of the vehicle's length: an arrow of the scale's force
LEAST = 0.02  # of the scale's force: less is not drawn
WATER_HINT = (
    "violet, of each body: drag, foils' lift and slender bodies' forces, by the plant's laws from recorded poses and "
    "velocities; without the inertia of the water that it carries"
)
HEAD = 5.0  # of an arrow: its length by its shaft's radius


class Forces:
    """One arrow a body, from where it leaves the hull: the force as it is, its moment not."""

    def __init__(self, scene: Any, water: Water, name: str, figure: Figure, bodies: list[Body]) -> None:
        self._scene = scene
        self._water = water
        self._name = name
        self._figure = figure
        self._bodies = {body.name: body for body in bodies}
        self._handle: Any = None
        self._visible = False
        self.long_m = LONG * figure.length_m

    @property
    def visible(self) -> bool:
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        if visible:
            self._water.load()
        self._visible = visible

    @property
    def hint(self) -> str:
        """What the arrows are, and how long they are by now."""
        scale_n = self._water.scale_n
        return f"{WATER_HINT}; {self.long_m:.2f} m is {scale_n:g} N" if scale_n else WATER_HINT

    def show(self, snapshot: Snapshot, turns: np.ndarray, places: np.ndarray, turn: np.ndarray) -> None:
        """`turn` is the base's; turns and places of bodies are in its frame, and so are the arrows."""
        forces_n = self._water.forces_n(snapshot.time_s, self._name) if self._visible else None
        full_n = 0.0 if forces_n is None else self._water.full_n(forces_n)
        arrows = []
        if forces_n is not None and full_n:
            for name, force_n in zip(self._water.bodies, forces_n @ turn, strict=True):
                size_n = float(np.linalg.norm(force_n))
                if size_n < LEAST * full_n:
                    continue
                k, way = self._figure.skeleton.index[name], force_n / size_n
                middle_m, out_m = _outside(self._bodies[name], turns[k].T @ way)
                start = places[k] + turns[k] @ middle_m + out_m * way
                arrows.append((start, start + self.long_m * size_n / full_n * way))
        if not arrows:
            if self._handle:
                self._handle.visible = False
            return
        points = np.array(arrows, dtype=np.float32)
        if self._handle is not None and len(self._handle.points) == len(points):
            self._handle.points, self._handle.visible = points, True
            return
        thick_m = 0.006 * self._figure.length_m
        self._handle = self._scene.add_arrows(
            f"/{self._name}/water_forces", points, rgb(WATER),
            shaft_radius=thick_m, head_radius=2.4 * thick_m, head_length=HEAD * thick_m,
        )  # fmt: skip


def _outside(body: Body, way: np.ndarray) -> tuple[np.ndarray, float]:
    """Where the body's middle is, and how far from it a line that way leaves its hull; body axes.

    A tube is taken as the ellipsoid of its size.
    """
    hull = body.hull
    if hull is None:
        return np.array(body.com_m), 0.0
    middle_m, _ = hull_volume(hull)
    if isinstance(hull, Ellipsoid):
        return middle_m, float(1.0 / np.linalg.norm(way / np.array(hull.semi_axes_m)))
    axis = np.subtract(hull.to_m, hull.from_m)
    half_m = 0.5 * float(np.linalg.norm(axis))
    along = float(way @ axis) / (2 * half_m)
    across = np.sqrt(max(1.0 - along**2, 0.0))
    return middle_m, float(1.0 / np.hypot(along / half_m, across / hull.radius_m))
