"""The scene of a run: its world, its vehicles, all that is drawn on them; `show` puts a moment on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_plant.tree_spec import Tube
from tools.view_marks import Pushes, Sonar, Targeted, Trail, Wanted
from tools.view_panels import immersions
from tools.view_pose import attitude
from tools.view_run import Moment, Run
from tools.view_vehicle import Figure
from tools.view_world import Surroundings

SKY, SEA = (214, 234, 242), (112, 178, 205)


class Cast:
    """One vehicle with all that is drawn on it."""

    def __init__(self, scene: Any, run: Run, name: str) -> None:
        self.name = name
        self.figure = Figure(scene, name, run.vehicle.plant, run.vehicle.look)
        self.trail = Trail(scene, name)
        self.sonar = Sonar(scene, run, name)
        self.pushes = Pushes(scene, run, name, self.figure)
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
        _light(scene)
        self.world = Surroundings(scene, run)
        self.casts = {name: Cast(scene, run, name) for name in run.names}
        self.target = Targeted(scene, run)
        self.followed: str | None = None
        self.shown = 0

    def show(self, moment: Moment) -> None:
        """All of a moment at once, to whoever looks."""
        run = self.run
        with self.server.atomic():
            for name, cast in self.casts.items():
                base = run.base(moment, name)
                if base is None:
                    continue
                x_m, y_m, depth_m, heading, roll, pitch = base
                turn = attitude(roll, pitch, heading)
                joints = {joint: run.joint(moment, name, joint) for joint in cast.figure.skeleton.joints}
                turns, places = cast.figure.pose((x_m, y_m, -depth_m), turn, joints)
                cast.at_m = np.array([x_m, y_m, -depth_m])
                cast.middle_m = cast.at_m + turn @ cast.figure.middle(turns, places)
                cast.immersed = immersions(run, cast.figure, turns, places, turn, -depth_m)
                cast.trail.show(run.source, name, moment.time_s)
                cast.sonar.show(moment)
                cast.pushes.show(moment, turns, places, turn, -depth_m)
                cast.wanted.show(moment)
            self.target.show(moment)
            lead = self.casts[self.followed or run.names[0]]
            self.world.show(moment.time_s, lead.at_m)
            self._follow()
        self.shown += 1

    def follow(self, name: str | None) -> None:
        """Let the cameras go along with a vehicle."""
        self.followed = name

    def _follow(self) -> None:
        """Every camera looks at the vehicle, from as far and from the side that its owner has chosen.

        What a browser reports of its camera is some moments old. Place and aim in it are of one moment, so the way from
        one to the other is good; to add a step to either would lose the steps that were under way.
        """
        if self.followed is None:
            return
        at = self.casts[self.followed].middle_m
        for client in self.server.get_clients().values():
            camera = client.camera
            position, look_at = camera.position, camera.look_at
            if np.abs(at - look_at).max() > 0.002:
                camera.position = at + position - look_at
                camera.look_at = at

    def frame(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        """Where to look from, and at what: a lone vehicle from near by, several with their pool."""
        places = []
        for name in self.run.names:
            base = self.run.base(moment, name)
            if base:
                places.append((base[0], base[1], -base[2]))
        length = next(iter(self.casts.values())).figure.length_m
        if len(places) > 1 and self.world.pool:
            at = self.world.middle_m
            return at + self.world.size_m * np.array([0.2, -0.78, 0.66]), at
        first = self.run.names[0]
        base = self.run.base(moment, first) or (0.0,) * 6
        skeleton = self.casts[first].figure.skeleton
        joints = {joint: self.run.joint(moment, first, joint) for joint in skeleton.joints}
        turn = attitude(base[4], base[5], base[3])
        ends = _hull_ends(self.run, skeleton.place, *skeleton.pose(joints))
        at = np.array([base[0], base[1], -base[2]]) + turn @ (ends.min(axis=0) + ends.max(axis=0)) / 2
        ahead = np.array([np.cos(base[3]), np.sin(base[3]), 0.0])
        right = np.array([ahead[1], -ahead[0], 0.0])
        return at + length * (0.7 * ahead + 0.9 * right + np.array([0.0, 0.0, 0.5])), at


def _hull_ends(run: Run, place: dict[str, int], turns: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(point, 3) in the base's frame: front and rear of every hull."""
    ends = [*places]
    for body in run.vehicle.plant.tree.body if run.vehicle.plant.tree else []:
        k = place[body.name]
        if isinstance(body.hull, Tube):
            ends += [places[k] + turns[k] @ np.array(end) for end in (body.hull.from_m, body.hull.to_m)]
        elif body.hull is not None:
            half = np.array([body.hull.semi_axes_m[0], 0.0, 0.0])
            ends += [places[k] + turns[k] @ (np.array(body.hull.at_m) + sign * half) for sign in (-1, 1)]
    return np.array(ends)


def _light(scene: Any) -> None:
    scene.set_up_direction("+z")
    scene.world_axes.visible = False
    scene.configure_environment_map("city", environment_intensity=0.8)
    rows = np.linspace(0, 1, 256)[:, None, None]
    gradient = np.array(SKY) * (1 - rows) + np.array(SEA) * rows
    scene.set_background_image(np.repeat(gradient, 16, axis=1).astype(np.uint8), format="png")
