"""The scene of a run: its world, its vehicles, all that is drawn on them; `show` puts a moment on it."""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np

from caudal.tools.log.poses import attitude
from caudal.tools.log.recorded_run import BASE, Run, Snapshot
from caudal.tools.view.force_arrows import Forces
from caudal.tools.view.mesh import UP
from caudal.tools.view.overlays import Pushes, Sonar, Targeted, Trail, Wanted
from caudal.tools.view.status_panels import immersions
from caudal.tools.view.vehicle import Figure
from caudal.tools.view.water_forces import Water
from caudal.tools.view.world import Surroundings

FOV_RAD = 0.72  # of a camera, from its lowest to its highest
SEEN = math.tan(FOV_RAD / 2)
NEW_S = 3.0  # a browser that has just come
SKY, SEA, GROUND = (214, 234, 242), (112, 178, 205), (170, 160, 145)


class Cast:
    """One vehicle with all that is drawn on it."""

    def __init__(self, scene: Any, run: Run, name: str, water: Water) -> None:
        self.name = name
        self.figure = Figure(scene, name, run.vehicle.plant, run.vehicle.look)
        self.trail = Trail(scene, name)
        self.sonar = Sonar(scene, run, name)
        self.pushes = Pushes(scene, run, name, self.figure)
        tree = run.vehicle.plant.tree
        self.forces = Forces(scene, water, name, self.figure, tree.body if tree else [])
        self.wanted = Wanted(scene, run, name, self.figure.length_m)
        self.label = scene.add_label(
            f"/{name}/label", name, position=(0.0, 0.0, 0.14 * self.figure.length_m + 0.03), font_screen_scale=0.8,
            anchor="bottom-center",
        )  # fmt: skip
        self.at_m = np.zeros(3)
        self.middle_m = np.zeros(3)
        self.immersed: dict[str, float] = {}


class Stage:
    def __init__(self, server: Any, run: Run) -> None:
        self.server = server
        self.run = run
        scene = server.scene
        self._daylight = _daylight(scene)
        self.world = Surroundings(scene, run)
        self.water = Water(run)
        self.casts = {name: Cast(scene, run, name, self.water) for name in run.names}
        self.target = Targeted(scene, run)
        self._way_m: np.ndarray | None = (
            None  # from what is looked at to the camera, of a page that is opened
        )
        self._met_s: dict[int, float] = {}
        self.followed: str | None = None
        self._aside_m = np.zeros(3)
        self.shown = 0

    def light(self, full: bool) -> None:
        """With shadows and reflections, over whose first picture a browser without a graphics card takes seconds."""
        scene = self.server.scene
        self._daylight.visible = not full
        scene.configure_environment_map("city" if full else None, environment_intensity=0.8)
        scene.configure_default_lights(cast_shadow=full)

    def show(self, snapshot: Snapshot) -> None:
        """All of a moment at once, to whoever looks."""
        run = self.run
        with self.server.atomic():
            for name, cast in self.casts.items():
                base = run.base(snapshot, name)
                if base is None:
                    continue
                x_m, y_m, depth_m, heading, roll, pitch = base
                turn = attitude(roll, pitch, heading)
                joints = {joint: run.joint(snapshot, name, joint) for joint in cast.figure.skeleton.joints}
                turns, places = cast.figure.pose((x_m, y_m, -depth_m), turn, joints)
                cast.at_m = np.array([x_m, y_m, -depth_m])
                cast.middle_m = cast.at_m + turn @ cast.figure.middle(turns, places)
                cast.immersed = immersions(run, cast.figure, turns, places, turn, -depth_m)
                cast.trail.show(run.source, name, snapshot.time_s)
                cast.sonar.show(snapshot)
                cast.pushes.show(snapshot, turns, places, turn, -depth_m)
                cast.forces.show(snapshot, turns, places, turn)
                cast.wanted.show(snapshot)
            self.target.show(snapshot)
            lead = self.casts[self.followed or run.names[0]]
            self.world.show(snapshot.time_s, lead.at_m, self._wanted(snapshot, lead.name))
            self._follow()
        self.shown += 1

    def _wanted(self, snapshot: Snapshot, name: str) -> np.ndarray | None:
        at = [self.run.value(snapshot, f"/{name}/state", f"want_{field}") for field in BASE[:3]]
        return None if None in at else np.array(at) * [1.0, 1.0, -1.0]

    def follow(
        self, name: str | None, aim_m: np.ndarray | None = None, from_m: np.ndarray | None = None
    ) -> None:
        """Let the cameras go along with a vehicle; what they look at now, or else its middle, stays in the middle.
        `from_m`: where a browser that opens the page looks from."""
        self.followed = name
        if aim_m is not None and from_m is not None:
            self._way_m = from_m - aim_m
        self._aside_m = np.zeros(3) if aim_m is None or name is None else aim_m - self.casts[name].middle_m

    def _follow(self) -> None:
        """Every camera looks at the vehicle, from as far and from the side that its owner has chosen.

        What a browser reports of its camera is some moments old. Place and aim in it are of one moment, so the way from
        one to the other is good; to add a step to either would lose the steps that were under way.
        """
        if self.followed is None:
            return
        at = self.casts[self.followed].middle_m + self._aside_m
        for client in self.server.get_clients().values():
            self._aim(client, at)

    def _aim(self, client: Any, at: np.ndarray) -> None:
        """A browser that has just come still reports the camera of an empty page: that is nobody's choice."""
        camera = client.camera
        way = camera.position - camera.look_at
        now_s = time.monotonic()
        if now_s - self._met_s.setdefault(client.client_id, now_s) < NEW_S and self._way_m is not None:
            way = self._way_m
        if max(np.abs(at - camera.look_at).max(), np.abs(at + way - camera.position).max()) > 0.002:
            camera.position = at + way
            camera.look_at = at

    def meet(self, client: Any) -> None:
        """A browser has come: at once, as nothing may move for a while."""
        if self.followed is not None:
            self._aim(client, self.casts[self.followed].middle_m + self._aside_m)

    def frame(self, snapshot: Snapshot, aspect: float, filled: float) -> tuple[np.ndarray, np.ndarray]:
        """Where to look from, and at what: the first vehicle, from ahead, its right and above.

        All of it is seen, in the middle, and takes that share of a picture so many times as wide as high.
        """
        first = self.run.names[0]
        figure = self.casts[first].figure
        x_m, y_m, depth_m, heading, roll, pitch = self.run.base(snapshot, first) or (0.0,) * 6
        joints = {joint: self.run.joint(snapshot, first, joint) for joint in figure.skeleton.joints}
        drawn = figure.points(*figure.skeleton.pose(joints)) @ attitude(roll, pitch, heading).T
        ahead = np.array([math.cos(heading), math.sin(heading), 0.0])
        right = np.array([ahead[1], -ahead[0], 0.0])
        return fitted(
            drawn + [x_m, y_m, -depth_m], 0.7 * ahead + 0.9 * right + 0.5 * UP, aspect, filled * SEEN
        )

    def frame_all(self) -> tuple[np.ndarray, np.ndarray]:
        """The same of the whole pool, with whoever is in it."""
        low, high = np.zeros(3), np.array([*self.world.sides_m, 0.0])
        low[2] = -self.world.depth_m
        corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
        return fitted(corners, np.array([0.2, -0.78, 0.66]), 4 / 3, 0.9 * SEEN)


def fitted(points: np.ndarray, way: np.ndarray, aspect: float, seen: float) -> tuple[np.ndarray, np.ndarray]:
    """Where to look from, `way` from what is looked at, so that points (point, 3) just fit into a picture.

    `seen`: half the picture's height, as seen from 1 m away.
    """
    back = way / np.linalg.norm(way)
    right = np.cross(UP, back)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(back, right), back])
    at = (points.min(axis=0) + points.max(axis=0)) / 2
    far = 0.0
    for _ in range(4):  # what is nearer looks larger, so the middle of the picture is not that of the box
        across, up, near = axes @ (points - at).T
        far = float(max((near + np.abs(across) / (seen * aspect)).max(), (near + np.abs(up) / seen).max()))
        sides = [(s.min() + s.max()) / 2 for s in (across / (far - near), up / (far - near))]
        at = at + far * (sides[0] * axes[0] + sides[1] * axes[1])
    return at + far * back, at


def _daylight(scene: Any) -> Any:
    """Sky and sea, and light from above that any browser draws at once."""
    scene.set_up_direction("+z")
    scene.world_axes.visible = False
    rows = np.linspace(0, 1, 256)[:, None, None]
    gradient = np.array(SKY) * (1 - rows) + np.array(SEA) * rows
    scene.set_background_image(np.repeat(gradient, 16, axis=1).astype(np.uint8), format="png")
    scene.configure_default_lights(cast_shadow=False)
    scene.configure_environment_map(None)  # a page has one by itself
    return scene.add_light_hemisphere("/daylight", sky_color=SKY, ground_color=GROUND, intensity=2.0)
