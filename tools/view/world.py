"""What stands round the vehicles: water and its surface, pool, cylinders, spheres, and the way that is planned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from caudal.tools.log.recorded_run import Run
from caudal.tools.view.mesh import circle, grid_faces, rounded, tube
from caudal.tools.view.vehicle import rgb

WATER, DEEP, FLOOR, WALL = "#2f9fc4", "#0b3a53", "#e9e3d5", "#9fc7d6"
STONE, PLAN = "#c76b4a", "#f2a900"
OPEN_M = 16.0  # of open water that is drawn
PLAN_S = 30.0  # of a trajectory in time, what is drawn of it
LATEST_S = 120.0  # how much later than it says a vehicle may be on it
CELLS = 64  # of the surface, where there are waves


class Surroundings:
    def __init__(self, scene: Any, run: Run) -> None:
        self._scene = scene
        self._run = run
        world = run.world
        self.pool = world.length_m is not None and world.width_m is not None
        self.depth_m = world.depth_m or (
            1.0 if self.pool else max(3.0, 1.6 * run.vehicle.plant.depth_m + 1.0)
        )
        self._size = np.array([world.length_m, world.width_m]) if self.pool else np.array([OPEN_M, OPEN_M])
        self._waves = _waves(run)
        self._middle = np.zeros(2)
        self.surface = self._draw_surface()
        if self.pool:
            self._draw_pool()
        else:
            self._draw_open()
        self._draw_obstacles()
        self.plan = self._draw_plan()

    @property
    def sides_m(self) -> tuple[float, float]:
        return float(self._size[0]), float(self._size[1])

    def show(self, time_s: float, near_m: np.ndarray, wanted_m: np.ndarray | None = None) -> None:
        """Waves as they are then; open water goes along with what is looked at, in whole squares of its grid."""
        if not self.pool:
            middle = np.round(near_m[:2])
            if np.abs(middle - self._middle).max() > 2:
                self._middle = middle
                self.surface.position = (*middle, 0.0)
                self._floor.position = (*middle, -self.depth_m)
        if self.plan is not None:
            self.plan.show(time_s, wanted_m)
        if self._waves:
            self.surface.vertices = self._swell(time_s).astype(np.float32)

    def _draw_surface(self) -> Any:
        if not self._waves:  # unlit: a lit plane would blind whoever looks down on it
            length, width = self._size if self.pool else 4 * self._size
            middle = self._size / 2 if self.pool else np.zeros(2)
            return self._scene.add_grid(
                "/water/surface", width=length, height=width, position=(*middle, 0.0), cell_thickness=0.0,
                section_thickness=0.0, plane_color=rgb(WATER), plane_opacity=0.22, shadow_opacity=0.0,
            )  # fmt: skip
        return self._scene.add_mesh_simple(
            "/water/surface", self._swell(0.0), grid_faces(CELLS, CELLS, closed=False), color=rgb(WATER), opacity=0.4,
            side="double", cast_shadow=False, receive_shadow=False, material="toon5",
        )  # fmt: skip

    def _swell(self, time_s: float) -> np.ndarray:
        n = CELLS
        low = np.zeros(2) if self.pool else -self._size / 2
        x, y = np.meshgrid(
            np.linspace(low[0], low[0] + self._size[0], n),
            np.linspace(low[1], low[1] + self._size[1], n),
            indexing="ij",
        )
        z = np.zeros_like(x)
        shift = np.zeros(2) if self.pool else self._middle
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
        for k, pillar in enumerate(world.cylinders):
            low, high = (pillar.x_m, pillar.y_m, -self.depth_m), (pillar.x_m, pillar.y_m, top_m)
            vertices, faces = tube(low, high, circle(pillar.radius_m, 48), bevel_m=0.04 * pillar.radius_m)
            self._scene.add_mesh_simple(f"/obstacles/cylinder_{k}", vertices, faces, color=rgb(STONE))
        for k, ball in enumerate(world.spheres):
            at = (ball.x_m, ball.y_m, -ball.depth_m)
            vertices, faces = rounded(at, (ball.radius_m,) * 3, rings=28)
            self._scene.add_mesh_simple(f"/obstacles/sphere_{k}", vertices, faces, color=rgb(STONE))

    def _draw_plan(self) -> Way | None:
        path, times_s = planned(self._run)
        return None if len(path) < 2 else Way(self._scene, path, times_s)


class Way:
    """The way a scenario has laid out: all of it, or of one in time what comes next."""

    def __init__(self, scene: Any, path: np.ndarray, times_s: np.ndarray | None) -> None:
        self._path = path
        self._times_s = times_s
        self._from_s = -1.0
        self.ahead = path if times_s is None else path[times_s <= PLAN_S]
        self._handle = scene.add_line_segments(
            "/plan/way", *_segments(self.ahead), thickness=2.5, thickness_units="screen"
        )

    @property
    def visible(self) -> bool:
        return self._handle.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._handle.visible = visible

    def show(self, time_s: float, wanted_m: np.ndarray | None) -> None:
        """From what is wanted on. A vehicle goes to the start first, so it may be later there than the way says."""
        if self._times_s is None or wanted_m is None:
            return
        near = np.linalg.norm(self._path - wanted_m, axis=1)
        near[(self._times_s > time_s) | (self._times_s < time_s - LATEST_S)] = np.inf
        now_s = float(self._times_s[near.argmin()])
        if abs(now_s - self._from_s) < 0.5:
            return
        self._from_s = now_s
        ahead = self._path[(self._times_s >= now_s) & (self._times_s <= now_s + PLAN_S)]
        if len(ahead) >= 2:
            self.ahead = ahead
            self._handle.points, self._handle.colors = _segments(ahead)


def _segments(path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(segment, end, 3), and their colours."""
    segments = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
    return segments, np.full(segments.shape, rgb(PLAN), dtype=np.uint8)


def planned(run: Run) -> tuple[np.ndarray, np.ndarray | None]:
    """(point, 3) of the scenario's own path, trajectory or rows of its first aim; a trajectory's times, too."""
    scenario = run.scenario
    depth_m = scenario.get("depth_m") or run.vehicle.plant.depth_m
    if scenario.get("path_m"):
        path = np.array([*scenario["path_m"], scenario["path_m"][0]], dtype=float)
        return np.column_stack([path, np.full(len(path), -depth_m)]), None
    if scenario.get("trajectory"):
        return _bezier(scenario["trajectory"]["points"], scenario["trajectory"]["segment_s"])
    for aim in scenario.get("aims") or []:
        rows = [row["to"][:3] for row in aim.get("rows") or [] if len(row.get("to") or []) >= 3]
        if rows:
            return np.array([[x, y, -z] for x, y, z in rows], dtype=float), None
    return np.zeros((0, 3)), None


def _bezier(segments: Any, lasts_s: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Four points a second of curves one after the other, and their times."""
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


def _waves(run: Run) -> list:
    tree = run.vehicle.plant.tree if run.vehicle.plant.model == "tree" else None
    if tree is None:
        return []
    if tree.spectrum is None:
        return [*tree.wave]
    from caudal.sim_plant.water.waves import spectrum_waves  # brings numba with it

    return [*tree.wave, *spectrum_waves(tree.spectrum)]
