"""Overlays on and around a vehicle: trail, sonar beams, set-point, target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from caudal.hal.tables.channels import Linear, Place
from caudal.tools.log.recorded_run import BASE, Run, Snapshot, Source
from caudal.tools.view.vehicle import rgb

if TYPE_CHECKING:
    from viser import IcosphereHandle, LineSegmentsHandle, MeshHandle, SceneApi

NEAR, FAR, TRAIL, SET_POINT, TARGET = "#d81e1e", "#0a9d6a", "#1466c2", "#ffb703", "#ff3d81"
STEPS = 6  # segments of a sonar's arc
FAINT = 0.16
TRAIL_S = 20.0


class Trail:
    """The path of a vehicle over the last seconds; older parts are fainter."""

    def __init__(self, scene: SceneApi, name: str) -> None:
        self._scene = scene
        self._name = f"/trails/{name}"
        self._handle: LineSegmentsHandle | None = None
        self.visible = True

    def show(self, source: Source, vehicle: str, time_s: float) -> None:
        """Shows the trail up to an instant."""
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


class SonarBeams:
    """Wedges of range sensors up to their echoes: red is near, green is far, faint is no echo."""

    def __init__(self, scene: SceneApi, run: Run, name: str) -> None:
        self._run = run
        self._topic = f"/{name}/counts"
        self._beams = [
            (sensor.name, sensor.place, sensor.si_per_count, sensor.zero_count)
            for sensor in run.vehicle.settings.sensors
            if isinstance(sensor, Linear) and sensor.place
        ]
        self._range_m = {beam[0]: beam[1].range_m for beam in self._beams}
        self._scene, self._name = scene, name
        self._handles: list[MeshHandle] = []
        self._rims: list[LineSegmentsHandle] = []
        self._visible = False

    def _draw(self) -> None:
        """Adds the shapes only when they are first shown, as they slow down the opening of the page."""
        for sensor, place, *_ in self._beams:
            vertices = _wedge(place, place.range_m)
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
        """Returns whether the vehicle has range sensors."""
        return bool(self._beams)

    @property
    def visible(self) -> bool:
        """Whether the beams are shown."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = visible
        if visible and not self._handles:
            self._draw()
        for handle in (*self._handles, *self._rims):
            handle.visible = visible

    def show(self, snapshot: Snapshot) -> None:
        """Shows the readings of a snapshot; a beam keeps its last reading, as sensors are slower than the loop."""
        if not self._visible:
            return
        for (sensor, place, si_per_count, zero), handle, rim in zip(
            self._beams, self._handles, self._rims, strict=True
        ):
            counts = self._run.value(snapshot, self._topic, sensor)
            if counts is None:
                continue
            range_m = min((counts - zero) * si_per_count, place.range_m)
            if abs(range_m - self._range_m[sensor]) < 0.004:
                continue
            self._range_m[sensor] = range_m
            share = range_m / place.range_m
            wedge = _wedge(place, range_m)
            near, far = np.array(rgb(NEAR)), np.array(rgb(FAR))
            red, green, blue = (int(c) for c in near + (far - near) * min(1.0, 1.4 * share))
            handle.vertices, handle.color = wedge, (red, green, blue)
            handle.opacity = FAINT if share >= 0.999 else 0.4 + 0.3 * (1 - share)
            rim.points, rim.colors = _rim(wedge, (red, green, blue))


def _wedge(place: Place, range_m: float) -> np.ndarray:
    centre, half = math.radians(place.bearing_deg), math.radians(place.half_angle_deg)
    angles = np.linspace(centre - half, centre + half, STEPS + 1)
    x = place.x_m + range_m * np.cos(angles)
    y = place.y_m + range_m * np.sin(angles)
    rim = np.column_stack([x, y, np.zeros_like(x)])
    return np.vstack([[place.x_m, place.y_m, 0.0], rim]).astype(np.float32)


def _rim(wedge: np.ndarray, colour: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the segments (segment, 2, 3) around a wedge, and their colours."""
    segments = np.stack([wedge, np.roll(wedge, -1, axis=0)], axis=1)
    return segments, np.full(segments.shape, colour, dtype=np.uint8)


def set_point_m(run: Run, snapshot: Snapshot, name: str) -> np.ndarray | None:
    """Returns the position set-point of a vehicle in world axes; None without one."""
    x_m, y_m, depth_m = (run.value(snapshot, f"/{name}/state", f"setpoint_{field}") for field in BASE[:3])
    return None if x_m is None or y_m is None or depth_m is None else np.array([x_m, y_m, -depth_m])


class SetPointMarker:
    """A ball at the position set-point of a vehicle."""

    def __init__(self, scene: SceneApi, run: Run, name: str, length_m: float) -> None:
        self._run = run
        self._vehicle = name
        self._ball: IcosphereHandle = scene.add_icosphere(
            f"/wants/{name}",
            radius=0.06 * length_m,
            color=rgb(SET_POINT),
            opacity=0.85,
            visible=False,
            cast_shadow=False,
        )
        self.visible = True

    def show(self, snapshot: Snapshot) -> None:
        """Moves the ball to the set-point of a snapshot; hides it without one."""
        at_m = set_point_m(self._run, snapshot, self._vehicle) if self.visible else None
        self._ball.visible = at_m is not None
        if at_m is not None:
            self._ball.position = at_m


class TargetMarker:
    """A ball at the moving target of a pursuit."""

    def __init__(self, scene: SceneApi, run: Run) -> None:
        self._run = run
        self._depth_m = run.vehicle.plant.depth_m
        self._handle: IcosphereHandle | None = None
        if run.has("/target/truth", "x_m"):
            self._handle = scene.add_icosphere("/target", radius=0.05, color=rgb(TARGET), cast_shadow=True)

    def show(self, snapshot: Snapshot) -> None:
        """Moves the ball to the target of a snapshot."""
        if self._handle is None:
            return
        x_m, y_m = (self._run.value(snapshot, "/target/truth", field) for field in ("x_m", "y_m"))
        if x_m is not None and y_m is not None:
            self._handle.position = (x_m, y_m, -self._depth_m)
