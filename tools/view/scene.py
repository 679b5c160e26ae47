"""The scene of a run: its world, its vehicles and their overlays, and the camera that follows a vehicle."""

from __future__ import annotations

import itertools
import math
import time
from typing import TYPE_CHECKING

import numpy as np

from caudal.tools.log.poses import Pose
from caudal.tools.log.recorded_run import Run, Snapshot
from caudal.tools.view.force_arrows import ForceArrows, WaterArrows
from caudal.tools.view.hulls import immersed_volumes
from caudal.tools.view.mesh import UP
from caudal.tools.view.overlays import SetPointMarker, SonarBeams, TargetMarker, Trail, set_point_m
from caudal.tools.view.vehicle import VehicleMeshes
from caudal.tools.view.water_forces import WaterForces
from caudal.tools.view.world import WorldScene

if TYPE_CHECKING:
    from viser import ClientHandle, HemisphereLightHandle, SceneApi, ViserServer

FOV_RAD = 0.72  # vertical field of view of a camera
HALF_HEIGHT = math.tan(FOV_RAD / 2)  # half the height of an image, seen from 1 m away
NEW_S = 3.0  # time in which a browser counts as new
SKY, SEA, GROUND = (214, 234, 242), (112, 178, 205), (170, 160, 145)


class VehicleView:
    """A vehicle in the scene with its overlays."""

    def __init__(self, scene: SceneApi, run: Run, name: str, water: WaterForces) -> None:
        plant = run.vehicle.plant
        self.name = name
        self._run = run
        self.meshes = VehicleMeshes(scene, name, plant, run.vehicle.appearance)
        self.trail = Trail(scene, name)
        self.sonar = SonarBeams(scene, run, name)
        self.arrows = ForceArrows(scene, run, name, self.meshes)
        self.water_arrows = WaterArrows(
            scene, water, name, self.meshes, plant.tree.body if plant.tree else []
        )
        self.set_point = SetPointMarker(scene, run, name, self.meshes.length_m)
        self.label = scene.add_label(
            f"/{name}/label", name, position=(0.0, 0.0, 0.14 * self.meshes.length_m + 0.03), font_screen_scale=0.8,
            anchor="bottom-center",
        )  # fmt: skip
        self.at_m = np.zeros(3)
        self.centre_m = np.zeros(3)
        self.immersed: float | None = None  # share of its volume

    def show(self, snapshot: Snapshot) -> None:
        """Moves the vehicle and its overlays to a snapshot."""
        pose = self._run.pose(snapshot, self.name, self.meshes.skeleton)
        if pose is None:
            return
        self.meshes.show(pose)
        self.at_m, self.centre_m = pose.at_m, self.meshes.centre(pose)
        self.immersed = self._immersed(pose)
        self.trail.show(self._run.source, self.name, snapshot.time_s)
        self.sonar.show(snapshot)
        self.arrows.show(snapshot, pose)
        self.water_arrows.show(snapshot, pose)
        self.set_point.show(snapshot)

    def _immersed(self, pose: Pose) -> float | None:
        plant = self._run.vehicle.plant
        if plant.tree is None or plant.model != "tree":
            return None
        volumes = [
            (whole, below) for _, _, whole, below in immersed_volumes(plant.tree, self.meshes.skeleton, pose)
        ]
        return sum(below for _, below in volumes) / sum(whole for whole, _ in volumes) if volumes else None


class Scene:
    """All that a view shows in three dimensions, and the cameras of the browsers."""

    def __init__(self, server: ViserServer, run: Run) -> None:
        self.server = server
        self.run = run
        scene = server.scene
        self._daylight = _daylight(scene)
        self.world = WorldScene(scene, run)
        self.water = WaterForces(run)
        self.vehicles = {name: VehicleView(scene, run, name, self.water) for name in run.names}
        self.target = TargetMarker(scene, run)
        self._initial_m: np.ndarray | None = None  # from the point in view to the camera, for a new browser
        self._arrived_s: dict[int, float] = {}
        self.followed: str | None = None
        self._offset_m = np.zeros(3)
        self.shown = 0

    def light(self, full: bool) -> None:
        """Switches shadows and reflections; without a graphics card a browser needs seconds for its first image."""
        scene = self.server.scene
        self._daylight.visible = not full
        scene.configure_environment_map("city" if full else None, environment_intensity=0.8)
        scene.configure_default_lights(cast_shadow=full)

    def show(self, snapshot: Snapshot) -> None:
        """Shows a snapshot in all browsers at once."""
        with self.server.atomic():
            for vehicle in self.vehicles.values():
                vehicle.show(snapshot)
            self.target.show(snapshot)
            lead = self.vehicles[self.followed or self.run.names[0]]
            self.world.show(snapshot.time_s, lead.at_m, set_point_m(self.run, snapshot, lead.name))
            self._follow()
        self.shown += 1

    def follow(
        self, name: str | None, aim_m: np.ndarray | None = None, from_m: np.ndarray | None = None
    ) -> None:
        """Lets the cameras follow a vehicle and keep `aim_m`, or else its centre, in the centre of the image.

        `from_m` is the position of the camera of a browser that opens the page.
        """
        self.followed = name
        if aim_m is not None and from_m is not None:
            self._initial_m = from_m - aim_m
        self._offset_m = (
            np.zeros(3) if aim_m is None or name is None else aim_m - self.vehicles[name].centre_m
        )

    def _follow(self) -> None:
        """Points every camera at the vehicle, from the side and distance that its user has chosen.

        The camera that a browser reports is some updates old. Its position and aim are of the same instant, so their
        difference is valid; adding a step to either would lose the steps that are still on their way.
        """
        if self.followed is None:
            return
        for client in self.server.get_clients().values():
            self._aim(client)

    def _aim(self, client: ClientHandle) -> None:
        """Points a camera at the followed vehicle; a new browser still reports the camera of an empty page."""
        assert self.followed is not None
        at = self.vehicles[self.followed].centre_m + self._offset_m
        camera = client.camera
        away = camera.position - camera.look_at
        now_s = time.monotonic()
        if (
            now_s - self._arrived_s.setdefault(client.client_id, now_s) < NEW_S
            and self._initial_m is not None
        ):
            away = self._initial_m
        if max(np.abs(at - camera.look_at).max(), np.abs(at + away - camera.position).max()) > 0.002:
            camera.position = at + away
            camera.look_at = at

    def welcome(self, client: ClientHandle) -> None:
        """Points the camera of a new browser at once, as nothing may move for a while."""
        if self.followed is not None:
            self._aim(client)

    def frame(self, snapshot: Snapshot, aspect: float, filled: float) -> tuple[np.ndarray, np.ndarray]:
        """Returns (camera position, aim) that shows the whole first vehicle from ahead, its right and above.

        `aspect` is width by height of the image, `filled` the share of it that the vehicle takes.
        """
        first = self.run.names[0]
        meshes = self.vehicles[first].meshes
        skeleton = meshes.skeleton
        pose = self.run.pose(snapshot, first, skeleton) or Pose(np.zeros(3), np.eye(3), *skeleton.pose({}))
        nose = pose.rotation[:, 0]
        heading = math.atan2(nose[1], nose[0])
        ahead = np.array([math.cos(heading), math.sin(heading), 0.0])
        right = np.array([ahead[1], -ahead[0], 0.0])
        return fitted(meshes.points(pose), 0.7 * ahead + 0.9 * right + 0.5 * UP, aspect, filled * HALF_HEIGHT)

    def frame_all(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns (camera position, aim) that shows the whole pool."""
        low, high = np.zeros(3), np.array([*self.world.sides_m, 0.0])
        low[2] = -self.world.depth_m
        corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
        return fitted(corners, np.array([0.2, -0.78, 0.66]), 4 / 3, 0.9 * HALF_HEIGHT)


def fitted(
    points: np.ndarray, away: np.ndarray, aspect: float, half_height: float
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (camera position, aim) so that points (point, 3) just fit into an image, seen from direction `away`.

    `half_height` is half the height of the image, seen from 1 m away.
    """
    back = away / np.linalg.norm(away)
    right = np.cross(UP, back)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(back, right), back])
    at = (points.min(axis=0) + points.max(axis=0)) / 2
    far = 0.0
    for _ in range(4):  # near points look larger, so the centre of the image is not that of the box
        across, up, near = axes @ (points - at).T
        reach = near + np.maximum(np.abs(across) / (half_height * aspect), np.abs(up) / half_height)
        far = float(reach.max())
        sides = [(s.min() + s.max()) / 2 for s in (across / (far - near), up / (far - near))]
        at = at + far * (sides[0] * axes[0] + sides[1] * axes[1])
    return at + far * back, at


def _daylight(scene: SceneApi) -> HemisphereLightHandle:
    """Adds sky, sea and a light from above that any browser draws at once."""
    scene.set_up_direction("+z")
    scene.world_axes.visible = False
    rows = np.linspace(0, 1, 256)[:, None, None]
    gradient = np.array(SKY) * (1 - rows) + np.array(SEA) * rows
    scene.set_background_image(np.repeat(gradient, 16, axis=1).astype(np.uint8), format="png")
    scene.configure_default_lights(cast_shadow=False)
    scene.configure_environment_map(None)  # a page has one by default
    return scene.add_light_hemisphere("/daylight", sky_color=SKY, ground_color=GROUND, intensity=2.0)
