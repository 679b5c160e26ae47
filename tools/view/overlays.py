"""What is drawn on and round a vehicle that is no part of it: trail, name, sonar, forces, what it wants, its target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from caudal.tools.log.recorded_run import Run, Snapshot, Source
from caudal.tools.view.vehicle import DUCT_LONG, Figure, hull_volume, rgb

NEAR, FAR, TRAIL, WANT, TARGET = "#d81e1e", "#0a9d6a", "#1466c2", "#ffb703", "#ff3d81"
AHEAD, ASTERN, LIFT, WEIGHT = "#3ddc84", "#ff7b54", "#4cc9f0", "#b8c0ff"
STEPS = 6  # of a sonar's arc
FAINT = 0.16
TRAIL_S = 20.0
HEAD = 5.0  # of an arrow: its length by its shaft's radius


class Trail:
    """Where it has been, over the last seconds; older parts are fainter."""

    def __init__(self, scene: Any, name: str) -> None:
        self._scene = scene
        self._name = f"/trails/{name}"
        self._handle: Any = None
        self.visible = True

    def show(self, source: Source, vehicle: str, time_s: float) -> None:
        path = source.trail(vehicle, time_s, TRAIL_S) if self.visible else np.zeros((0, 3))
        if len(path) < 2:
            if self._handle:
                self._handle.visible = False
            return
        segments = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
        fade = np.linspace(0.25, 1.0, len(segments))[:, None]
        base, deep = np.array(rgb(TRAIL)), np.array([150, 200, 225])
        tints = (deep + (base - deep) * fade).astype(np.uint8)
        colours = np.repeat(tints[:, None], 2, axis=1)
        if self._handle is None:
            self._handle = self._scene.add_line_segments(
                self._name, segments, colours, thickness=3.0, thickness_units="screen"
            )
        else:
            self._handle.points, self._handle.colors = segments, colours
            self._handle.visible = True


class Sonar:
    """Wedges of range sensors, as far as they hear: red near, green far, faint where there is no echo; rims are not."""

    def __init__(self, scene: Any, run: Run, name: str) -> None:
        self._run = run
        self._topic = f"/{name}/counts"
        self._beams = [
            (sensor["name"], sensor["place"], sensor["per_count"], sensor["zero_count"])
            for sensor in run.vehicle.settings["sensors"]
            if sensor.get("place")
        ]
        self._heard = {beam[0]: beam[1]["range_m"] for beam in self._beams}
        self._scene, self._name = scene, name
        self._handles: list[Any] = []
        self._rims: list[Any] = []
        self._visible = False

    def _draw(self) -> None:
        """Dozens of shapes, which a browser that opens the page is spared until somebody wants to see them."""
        for sensor, place, *_ in self._beams:
            vertices = _wedge(place, place["range_m"])
            faces = np.array([[0, k + 1, k + 2] for k in range(STEPS)])
            self._handles.append(
                self._scene.add_mesh_simple(
                    f"/{self._name}/sonar_{sensor}", vertices, faces, color=rgb(FAR), opacity=FAINT, side="double",
                    cast_shadow=False, receive_shadow=False,
                )
            )  # fmt: skip
            self._rims.append(
                self._scene.add_line_segments(
                    f"/{self._name}/sonar_{sensor}_rim", *_rim(vertices, rgb(FAR)), thickness=2.0,
                    thickness_units="screen",
                )
            )  # fmt: skip

    def __bool__(self) -> bool:
        return bool(self._beams)

    @property
    def visible(self) -> bool:
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = visible
        if visible and not self._handles:
            self._draw()
        for handle in (*self._handles, *self._rims):
            handle.visible = visible

    def show(self, snapshot: Snapshot) -> None:
        """A reading stays until the next: sensors speak less often than the loop ticks."""
        if not self._visible:
            return
        for (sensor, place, per_count, zero), handle, rim in zip(
            self._beams, self._handles, self._rims, strict=True
        ):
            counts = self._run.value(snapshot, self._topic, sensor)
            if counts is None:
                continue
            range_m = min((counts - zero) * per_count, place["range_m"])
            if abs(range_m - self._heard[sensor]) < 0.004:
                continue
            self._heard[sensor] = range_m
            share = range_m / place["range_m"]
            handle.vertices = _wedge(place, range_m)
            near, far = np.array(rgb(NEAR)), np.array(rgb(FAR))
            handle.color = tuple(int(c) for c in near + (far - near) * min(1.0, 1.4 * share))
            handle.opacity = FAINT if share >= 0.999 else 0.4 + 0.3 * (1 - share)
            rim.points, rim.colors = _rim(handle.vertices, handle.color)


def _wedge(place: dict[str, float], range_m: float) -> np.ndarray:
    middle, half = math.radians(place["bearing_deg"]), math.radians(place["half_angle_deg"])
    angles = np.linspace(middle - half, middle + half, STEPS + 1)
    x = place["x_m"] + range_m * np.cos(angles)
    y = place["y_m"] + range_m * np.sin(angles)
    rim = np.column_stack([x, y, np.zeros_like(x)])
    return np.vstack([[place["x_m"], place["y_m"], 0.0], rim]).astype(np.float32)


def _rim(wedge: np.ndarray, colour: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """(segment, 2, 3): once round it; and colours."""
    segments = np.stack([wedge, np.roll(wedge, -1, axis=0)], axis=1)
    return segments, np.full(segments.shape, colour, dtype=np.uint8)


class Pushes:
    """Arrows: what thrusters push with, and on demand weight and lift of each body."""

    def __init__(self, scene: Any, run: Run, name: str, figure: Figure) -> None:
        self._run = run
        self._topic = f"/{name}/truth"
        self._figure = figure
        self._name = name
        self._scene = scene
        self._handle: Any = None
        self.thrust = bool(figure.thrusters)
        self.others = False
        self._full_n = _full_push_n(run)
        self._thick_m = 0.008 * figure.length_m

    def show(
        self, snapshot: Snapshot, turns: np.ndarray, places: np.ndarray, turn: np.ndarray, height_m: float
    ) -> None:
        arrows, tints = [], []
        long_m = 0.4 * self._figure.length_m
        if self.thrust:
            for thruster, (body, at_m, axis, radius_m) in self._figure.thrusters.items():
                push_n = self._run.value(snapshot, self._topic, f"{thruster}_n")
                if push_n is None or abs(push_n) < 0.01 * self._full_n:
                    continue
                start = places[body] + turns[body] @ at_m
                least_m = (
                    0.5 * DUCT_LONG * radius_m + 1.5 * HEAD * self._thick_m
                )  # its head is outside its duct
                drawn_m = math.copysign(least_m, push_n) + long_m * _seen(push_n / self._full_n)
                arrows.append((start, start + turns[body] @ axis * drawn_m))
                tints.append(rgb(AHEAD if push_n > 0 else ASTERN))
        if self.others:
            for start, force_n, tint in self._standing(turns, places, turn, height_m):
                arrows.append((start, start + force_n))
                tints.append(rgb(tint))
        if not arrows:
            if self._handle:
                self._handle.visible = False
            return
        points = np.array(arrows, dtype=np.float32)
        colours = np.array(tints, dtype=np.uint8)
        if self._handle is not None and len(self._handle.points) == len(points):
            self._handle.points, self._handle.colors, self._handle.visible = points, colours, True
            return
        self._handle = self._scene.add_arrows(
            f"/{self._name}/pushes",
            points,
            colours,
            shaft_radius=self._thick_m,
            head_radius=2.4 * self._thick_m,
            head_length=HEAD * self._thick_m,
        )

    def _standing(self, turns: np.ndarray, places: np.ndarray, turn: np.ndarray, height_m: float) -> list:
        """Weight at each body's centre of mass and lift at its hull's middle, to one scale, in the base's frame."""
        plant = self._run.vehicle.plant
        if plant.tree is None:
            return []
        down = turn.T @ np.array([0.0, 0.0, -1.0])
        weights = [body.mass_kg for body in plant.tree.body]
        scale = 0.35 * self._figure.length_m / max(weights)
        found = []
        for body in plant.tree.body:
            k = self._figure.skeleton.index[body.name]
            if body.mass_kg:
                found.append(
                    (places[k] + turns[k] @ np.array(body.com_m), down * body.mass_kg * scale, WEIGHT)
                )
            if body.hull is not None:
                middle, volume_m3 = hull_volume(body.hull)
                at = places[k] + turns[k] @ middle
                share = immersed(body.hull, turn @ turns[k], height_m + (turn @ at)[2])
                lifted_kg = plant.tree.density_kg_m3 * volume_m3 * share
                if lifted_kg:
                    found.append((at, -down * lifted_kg * scale, LIFT))
        return found


def _seen(share: float) -> float:
    """Small pushes stay visible."""
    return math.copysign(min(1.0, abs(share)) ** 0.7, share)


def _full_push_n(run: Run) -> float:
    """The most that a controller may ask of a thruster."""
    return max((a["max_n"] for a in run.vehicle.settings["actuators"] if a["map"] == "thruster"), default=1.0)


def immersed(hull: Any, turn: np.ndarray, height_m: float) -> float:
    """Share of a hull below a level surface, its middle `height_m` above it.

    Of an ellipsoid exactly, by the cap that a plane cuts off; of a tube by that of the ellipsoid of its size.
    """
    if hasattr(hull, "semi_axes_m"):
        semi = np.array(hull.semi_axes_m)
    else:
        half_m = 0.5 * float(np.linalg.norm(np.subtract(hull.to_m, hull.from_m)))
        along = np.subtract(hull.to_m, hull.from_m) / (2 * half_m)
        semi = hull.radius_m * np.ones(3) + (half_m - hull.radius_m) * np.abs(along)
    reach = float(np.linalg.norm(semi * turn[2]))
    h = np.clip(-height_m / reach, -1, 1)
    return float((2 + 3 * h - h**3) / 4)


class Wanted:
    """Where guidance wants the vehicle, as a ball."""

    def __init__(self, scene: Any, run: Run, name: str, length_m: float) -> None:
        self._run = run
        self._topic = f"/{name}/state"
        self._ball = scene.add_icosphere(
            f"/wants/{name}",
            radius=0.06 * length_m,
            color=rgb(WANT),
            opacity=0.85,
            visible=False,
            cast_shadow=False,
        )
        self.visible = True

    def show(self, snapshot: Snapshot) -> None:
        at = [self._run.value(snapshot, self._topic, f"want_{field}") for field in ("x_m", "y_m", "depth_m")]
        there = self.visible and all(value is not None for value in at)
        self._ball.visible = there
        if there:
            x_m, y_m, depth_m = at
            self._ball.position = (x_m, y_m, -depth_m)  # type: ignore[operator]


class Targeted:
    """The moving target of a pursuit."""

    def __init__(self, scene: Any, run: Run) -> None:
        self._run = run
        self._depth_m = run.vehicle.plant.depth_m
        self._handle = None
        if run.has("/target/truth", "x_m"):
            self._handle = scene.add_icosphere("/target", radius=0.05, color=rgb(TARGET), cast_shadow=True)

    def show(self, snapshot: Snapshot) -> None:
        if self._handle is None:
            return
        x_m, y_m = (self._run.value(snapshot, "/target/truth", field) for field in ("x_m", "y_m"))
        if x_m is not None and y_m is not None:
            self._handle.position = (x_m, y_m, -self._depth_m)
