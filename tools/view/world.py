"""The world around the vehicles: water and its surface, pool, obstacles, and the planned path."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from viser import MeshHandle

from caudal.onboard.tables.chain import PrioritisedTasks
from caudal.onboard.tables.scenario import Track
from caudal.onboard.tables.thrusters import Follow
from caudal.sim_plant.tables.water import Wave
from caudal.tools.log.recorded_run import Run
from caudal.tools.view.mesh import circle, grid_faces, superellipsoid, tube
from caudal.tools.view.vehicle import rgb

if TYPE_CHECKING:
    from viser import GridHandle, SceneApi

WATER, FLOOR, WALL = "#2f9fc4", "#e9e3d5", "#9fc7d6"
STONE, PLAN = "#c76b4a", "#f2a900"
OPEN_M = 16.0  # side of the square of open water that is drawn
PLAN_S = 30.0  # part of a time-based trajectory that is drawn
LATEST_S = 120.0  # largest delay of a vehicle on a time-based trajectory
CELLS = 64  # per side of a surface with waves


class WorldScene:
    """Water, pool, obstacles and planned path in the scene."""

    def __init__(self, scene: SceneApi, run: Run) -> None:
        self._scene = scene
        self._run = run
        world = run.world
        self.pool = world.length_m is not None and world.width_m is not None
        self.depth_m = world.depth_m or (
            1.0 if self.pool else max(3.0, 1.6 * run.vehicle.plant.depth_m + 1.0)
        )
        self._size = np.array([world.length_m, world.width_m]) if self.pool else np.array([OPEN_M, OPEN_M])
        self._waves = _waves(run)
        self._centre = np.zeros(2)
        self.surface = self._draw_surface()
        if self.pool:
            self._draw_pool()
        else:
            self._draw_open()
        self._draw_obstacles()
        self.plan = self._draw_plan()

    @property
    def sides_m(self) -> tuple[float, float]:
        """Length and width of the pool, or of the open water that is drawn."""
        return float(self._size[0]), float(self._size[1])

    def show(self, time_s: float, near_m: np.ndarray, set_point_m: np.ndarray | None = None) -> None:
        """Shows the waves of an instant; open water follows the vehicle in whole squares of its grid."""
        if not self.pool:
            centre = np.round(near_m[:2])
            if np.abs(centre - self._centre).max() > 2:
                self._centre = centre
                self.surface.position = (*centre, 0.0)
                self._floor.position = (*centre, -self.depth_m)
        if self.plan is not None:
            self.plan.show(time_s, set_point_m)
        if isinstance(self.surface, MeshHandle):
            self.surface.vertices = self._swell(time_s).astype(np.float32)

    def _draw_surface(self) -> GridHandle | MeshHandle:
        if not self._waves:  # a grid is not lit: a lit plane would dazzle from above
            length, width = self._size if self.pool else 4 * self._size
            centre = self._size / 2 if self.pool else np.zeros(2)
            return self._scene.add_grid(
                "/water/surface", width=length, height=width, position=(*centre, 0.0), cell_thickness=0.0,
                section_thickness=0.0, plane_color=rgb(WATER), plane_opacity=0.22, shadow_opacity=0.0,
            )  # fmt: skip
        return self._scene.add_mesh_simple(
            "/water/surface", self._swell(0.0), grid_faces(CELLS, CELLS, closed=False), color=rgb(WATER), opacity=0.4,
            side="double", cast_shadow=False, receive_shadow=False, material="toon5",
        )  # fmt: skip

    def _swell(self, time_s: float) -> np.ndarray:
        """Returns the vertices of the surface with its waves."""
        n = CELLS
        low = np.zeros(2) if self.pool else -self._size / 2
        x, y = np.meshgrid(
            np.linspace(low[0], low[0] + self._size[0], n),
            np.linspace(low[1], low[1] + self._size[1], n),
            indexing="ij",
        )
        z = np.zeros_like(x)
        shift = np.zeros(2) if self.pool else self._centre
        for wave in self._waves:
            k = (2 * math.pi / wave.period_s) ** 2 / 9.81
            a = math.radians(wave.heading_deg)
            along = (x + shift[0]) * math.cos(a) + (y + shift[1]) * math.sin(a)
            z += wave.amplitude_m * np.cos(
                k * along - 2 * math.pi / wave.period_s * time_s + math.radians(wave.phase_deg)
            )
        return np.stack([x, y, z], -1).reshape(-1, 3)

    def _draw_pool(self) -> None:
        (length, width), depth = self._size, self.depth_m
        thick, rim = 0.02 * float(self._size.max()), 0.06 * depth
        self._scene.add_grid(
            "/pool/floor", width=length, height=width, position=(length / 2, width / 2, -depth + 0.002),
            cell_size=0.1, cell_color=(190, 205, 208), section_size=1.0, section_color=(120, 150, 160),
            plane_color=rgb(FLOOR), plane_opacity=1.0, shadow_opacity=0.35,
        )  # fmt: skip
        for name, at, sides in (
            ("low_y", (length / 2, -thick / 2), (length + 2 * thick, thick)),
            ("high_y", (length / 2, width + thick / 2), (length + 2 * thick, thick)),
            ("low_x", (-thick / 2, width / 2), (thick, width)),
            ("high_x", (length + thick / 2, width / 2), (thick, width)),
        ):
            self._scene.add_box(
                f"/pool/{name}", color=rgb(WALL), opacity=0.28, dimensions=(*sides, depth + rim), cast_shadow=False,
                position=(*at, (rim - depth) / 2),
            )  # fmt: skip
            self._scene.add_box(
                f"/pool/{name}_rim", color=(236, 241, 243), dimensions=(*sides, 0.02 * depth + 0.005),
                position=(*at, rim), cast_shadow=False,
            )  # fmt: skip

    def _draw_open(self) -> None:
        self._floor = self._scene.add_grid(
            "/water/floor", width=4 * OPEN_M, height=4 * OPEN_M, position=(0.0, 0.0, -self.depth_m),
            cell_size=0.5, cell_color=(70, 125, 150), section_size=2.0, section_color=(120, 180, 205),
            plane_color=(18, 70, 96), plane_opacity=1.0, shadow_opacity=0.45, fade_distance=26.0,
        )  # fmt: skip

    def _draw_obstacles(self) -> None:
        world = self._run.world
        top_m = 0.12 * self.depth_m
        for k, cylinder in enumerate(world.cylinders):
            low, high = (cylinder.x_m, cylinder.y_m, -self.depth_m), (cylinder.x_m, cylinder.y_m, top_m)
            vertices, faces = tube(low, high, circle(cylinder.radius_m, 48), bevel_m=0.04 * cylinder.radius_m)
            self._scene.add_mesh_simple(f"/obstacles/cylinder_{k}", vertices, faces, color=rgb(STONE))
        for k, ball in enumerate(world.spheres):
            at = (ball.x_m, ball.y_m, -ball.depth_m)
            vertices, faces = superellipsoid(at, (ball.radius_m,) * 3, rings=28)
            self._scene.add_mesh_simple(f"/obstacles/sphere_{k}", vertices, faces, color=rgb(STONE))

    def _draw_plan(self) -> PlannedPath | None:
        path, times_s = planned(self._run)
        return None if len(path) < 2 else PlannedPath(self._scene, path, times_s)


class PlannedPath:
    """The planned path of a scenario; of a time-based trajectory only the next part."""

    def __init__(self, scene: SceneApi, path: np.ndarray, times_s: np.ndarray | None) -> None:
        self._path = path
        self._times_s = times_s
        self._from_s = -1.0
        self.ahead = path if times_s is None else path[times_s <= PLAN_S]
        self.handle = scene.add_line_segments(
            "/plan/way", *_segments(self.ahead), thickness=2.5, thickness_units="screen"
        )

    def show(self, time_s: float, set_point_m: np.ndarray | None) -> None:
        """Shows the part from the set-point on; a vehicle that first goes to the start is behind the trajectory."""
        if self._times_s is None or set_point_m is None:
            return
        near = np.linalg.norm(self._path - set_point_m, axis=1)
        near[(self._times_s > time_s) | (self._times_s < time_s - LATEST_S)] = np.inf
        now_s = float(self._times_s[near.argmin()])
        if abs(now_s - self._from_s) < 0.5:
            return
        self._from_s = now_s
        ahead = self._path[(self._times_s >= now_s) & (self._times_s <= now_s + PLAN_S)]
        if len(ahead) >= 2:
            self.ahead = ahead
            self.handle.points, self.handle.colors = _segments(ahead)


def _segments(path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns line segments (segment, end, 3) and their colours."""
    segments = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
    return segments, np.full(segments.shape, rgb(PLAN), dtype=np.uint8)


def planned(run: Run) -> tuple[np.ndarray, np.ndarray | None]:
    """Returns the points (point, 3) of a scenario's path, trajectory or first task, and its times (s), if any."""
    scenario = run.scenario
    depth_m = scenario.depth_m or run.vehicle.plant.depth_m
    if isinstance(scenario, Track):
        path = np.array([*scenario.path_m, scenario.path_m[0]], dtype=float)
        return np.column_stack([path, np.full(len(path), -depth_m)]), None
    if isinstance(scenario, Follow):
        return _bezier(scenario.trajectory.points, scenario.trajectory.segment_s)
    for task in scenario.tasks if isinstance(scenario, PrioritisedTasks) else ():
        rows = [row.to[:3] for row in task.rows if len(row.to) >= 3]
        if rows:
            return np.array([[x, y, -z] for x, y, z in rows], dtype=float), None
    return np.zeros((0, 3)), None


def _bezier(
    segments: Sequence[Sequence[Sequence[float]]], lasts_s: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns four points per second of consecutive Bezier curves, and their times (s)."""
    points, times_s, begins_s = [], [], 0.0
    for segment, long_s in zip(segments, lasts_s, strict=True):
        control = np.array(segment, dtype=float)[:, :3]
        t = np.linspace(0, 1, max(2, round(4 * long_s)))[:, None]
        at = np.repeat(control[None], len(t), axis=0)
        while at.shape[1] > 1:  # de Casteljau
            at = (1 - t[:, :, None]) * at[:, :-1] + t[:, :, None] * at[:, 1:]
        points.append(at[:, 0])
        times_s.append(begins_s + long_s * t[:, 0])
        begins_s += long_s
    return np.concatenate(points) * [1.0, 1.0, -1.0], np.concatenate(times_s)


def _waves(run: Run) -> list[Wave]:
    tree = run.vehicle.plant.tree if run.vehicle.plant.model == "tree" else None
    if tree is None:
        return []
    if tree.spectrum is None:
        return [*tree.wave]
    from caudal.sim_plant.water.waves import spectrum_waves  # loads numba

    return [*tree.wave, *spectrum_waves(tree.spectrum)]
