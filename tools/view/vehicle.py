"""One vehicle in the scene: its hulls in their true shapes, skins, soft joints, thrusters, and what the look adds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from caudal.sim_plant.tables.devices import Thruster
from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tables.tree import Ellipsoid, Tube
from caudal.tools.config.appearance_tables import Ball, Box, Fin, Look, Rod
from caudal.tools.log.poses import Skeleton, quaternion
from caudal.tools.view.foil_mesh import covered, fins
from caudal.tools.view.mesh import (
    Mesh,
    blades,
    circle,
    duct,
    frame_along,
    mirrored,
    plate,
    rounded,
    together,
    tube,
)
from caudal.tools.view.skin import Bellows, Skin, bellows, flank

RUBBER, DUCT, BLADES = "#2b3440", "#20262d", "#c8d2da"
DUCT_LONG = 0.9  # of a duct: its length by its radius


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def shade(colour: str) -> str:
    """The same, darker."""
    return "#" + "".join(f"{round(0.45 * part):02x}" for part in rgb(colour))


class Figure:
    """A vehicle's meshes below one frame; `pose` moves them. `scene` is viser's."""

    def __init__(self, scene: Any, name: str, plant: PlantSpec, look: Look) -> None:
        self.skeleton = Skeleton(plant)
        self.frame = scene.add_frame(f"/{name}", show_axes=False)
        self._scene = scene
        self._bodies = [
            scene.add_frame(f"/{name}/{node.name}", show_axes=False) for node in self.skeleton.nodes
        ]
        self._skins: list[tuple[Skin, Any]] = []
        self._bellows: list[tuple[Bellows, Any]] = []
        self._drawn: list[tuple[int, np.ndarray]] = []  # vertices, in the frames of bodies
        self._name = name
        self.thrusters = _thrusters(plant, self.skeleton)
        self._draw_hulls(plant, look)
        self._draw_skin(plant, look)
        self._draw_soft(plant)
        self._draw_parts(look)
        self._volumes = _volumes(plant, self.skeleton)
        self.length_m = _reach(plant, self.skeleton)

    def pose(
        self, at_m: tuple[float, float, float], turn: np.ndarray, joints: Mapping[str, float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Put it there. Turns and places of its bodies in the base's frame, for whoever draws on them."""
        turns, places = self.skeleton.pose(joints)
        self.frame.position, self.frame.wxyz = at_m, quaternion(turn)
        for k in range(1, len(turns)):
            self._bodies[k].wxyz, self._bodies[k].position = quaternion(turns[k]), places[k]
        for skin, handle in self._skins:
            _move_bones(handle, turns[skin.bodies], places[skin.bodies])
        for soft, handle in self._bellows:
            _move_bones(handle, *soft.bones(turns, places))
        return turns, places

    def middle(self, turns: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Its centre of volume, in the base's frame: it sways less than any body of a swimmer."""
        if not self._volumes:
            return places.mean(axis=0)
        bodies, middles, shares = zip(*self._volumes, strict=True)
        own = list(bodies)
        at = places[own] + np.einsum("kij,kj->ki", turns[own], np.array(middles))
        return np.average(at, axis=0, weights=shares)

    def points(self, turns: np.ndarray, places: np.ndarray) -> np.ndarray:
        """(point, 3), in the base's frame: all over what is drawn of it."""
        return np.concatenate([at @ turns[body].T + places[body] for body, at in self._drawn])

    def _add(self, body: int, what: str, mesh: Mesh, colour: str, opacity: float | None = None) -> Any:
        self._drawn.append((body, mesh[0]))
        return self._scene.add_mesh_simple(
            f"/{self._name}/{self.skeleton.nodes[body].name}/{what}",
            mesh[0], mesh[1], color=rgb(colour), opacity=opacity, side="double" if opacity else "front",
        )  # fmt: skip

    def _draw_hulls(self, plant: PlantSpec, look: Look) -> None:
        worn = {*look.skin, *look.bare}
        if plant.tree is None:
            for k, mesh in enumerate(_boxes(plant)):
                if self.skeleton.nodes[k].name not in worn:
                    self._add(k, "hull", mesh, look.colours.get(self.skeleton.nodes[k].name, look.colour))
            return
        soft = {
            body.name
            for body in plant.tree.body
            if body.joint and any(body.joint.name in s.joints[:3] for s in plant.soft.values())
        }
        widths = {piece.body: piece.radius_m for piece in plant.skin}
        for body in plant.tree.body:
            if body.name in worn or body.name in soft:
                continue
            place, colour = self.skeleton.index[body.name], look.colours.get(body.name, look.colour)
            for k, fin in enumerate(fins(body)):
                self._add(place, f"fin_{k}", fin, colour)
            if body.hull is None or covered(body):
                continue
            mesh = hull_mesh(body.hull, widths.get(body.name))
            if isinstance(body.hull, Tube) and body.hull.lobe_share:
                lobes, valleys = lobed(body.hull, mesh)
                self._add(place, "valleys", valleys, shade(colour))
                mesh = lobes
            self._add(place, "hull", mesh, colour)

    def _draw_skin(self, plant: PlantSpec, look: Look) -> None:
        if not (look.skin and plant.tree):
            return
        bodies = {body.name: body for body in plant.tree.body}
        back, belly = flank(self.skeleton, [bodies[name] for name in look.skin])
        for name in look.skin:
            hull = bodies[name].hull
            assert hull is not None, "the look's reader has seen to it"
            self._drawn.append((self.skeleton.index[name], hull_mesh(hull)[0]))
        _, places = self.skeleton.pose({})
        for what, skin, colour in (("back", back, look.colour), ("belly", belly, look.belly or look.colour)):
            bones = np.tile([1.0, 0.0, 0.0, 0.0], (len(skin.bodies), 1)), places[skin.bodies]
            handle = self._add_skin(what, skin.mesh, skin.weights, bones, colour)
            self._skins.append((skin, handle))

    def _draw_soft(self, plant: PlantSpec) -> None:
        radius_m = max((piece.radius_m for piece in plant.skin), default=0.1)
        for name, soft in plant.soft.items():
            made = bellows(self.skeleton, plant, soft, radius_m)
            bones = np.tile([1.0, 0.0, 0.0, 0.0], (len(made.rest), 1)), made.rest
            handle = self._add_skin(f"soft_{name}", made.mesh, made.weights, bones, RUBBER)
            self._bellows.append((made, handle))

    def _add_skin(self, what: str, mesh: Mesh, weights: np.ndarray, bones: tuple, colour: str) -> Any:
        return self._scene.add_mesh_skinned(
            f"/{self._name}/{what}", mesh[0], mesh[1],
            bone_wxyzs=bones[0], bone_positions=bones[1], skin_weights=weights, color=rgb(colour),
        )  # fmt: skip

    def _draw_parts(self, look: Look) -> None:
        for k, part in enumerate(look.part):
            mesh = part_mesh(part)
            body = self.skeleton.index[part.body] if part.body else 0
            self._add(body, f"part_{k}", mesh, part.colour)
        for name, (body, at_m, axis, radius_m) in self.thrusters.items():
            self._add(body, f"{name}_duct", duct(at_m, axis, radius_m, DUCT_LONG * radius_m), DUCT)
            self._add(body, f"{name}_blades", blades(at_m, axis, 0.8 * radius_m), BLADES)


def hull_mesh(hull: Tube | Ellipsoid, radius_m: float | None = None) -> Mesh:
    """As the plant has it; of a hull that stands for its displacement alone, the skin says how wide it is."""
    if isinstance(hull, Ellipsoid):
        return rounded(hull.at_m, hull.semi_axes_m)
    if radius_m:
        low, high = np.array(hull.from_m, dtype=float), np.array(hull.to_m, dtype=float)
        low[1:], high[1:] = 0.0, 0.0
        return tube(low, high, circle(radius_m), bevel_m=0.15 * radius_m)
    return tube(hull.from_m, hull.to_m, hull.corners_m(), apex=hull.apex, bevel_m=0.12 * hull.radius_m)


def part_mesh(part: Ball | Rod | Box | Fin) -> Mesh:
    if isinstance(part, Ball):
        mesh = rounded(part.at_m, part.semi_axes_m)
    elif isinstance(part, Box):
        mesh = rounded(part.at_m, np.array(part.sides_m) / 2, square=part.soft)
    elif isinstance(part, Rod):
        taper = (part.end_m or part.radius_m) / part.radius_m
        mesh = tube(part.from_m, part.to_m, circle(part.radius_m), taper, bevel_m=0.15 * part.radius_m)
    else:
        mesh = plate(np.array(part.corners_m), part.thick_m)
    return together([mesh, mirrored(mesh)]) if part.both_sides else mesh


def hull_volume(hull: Tube | Ellipsoid) -> tuple[np.ndarray, float]:
    """Middle in its body's frame, and m3."""
    if isinstance(hull, Ellipsoid):
        return np.array(hull.at_m), 4 / 3 * math.pi * float(np.prod(hull.semi_axes_m))
    corners = hull.corners_m()
    after = np.roll(corners, -1, axis=0)
    area = 0.5 * float(np.abs(np.sum(corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0])))
    ends = np.array([hull.from_m, hull.to_m], dtype=float)
    return ends.mean(axis=0), area * float(np.linalg.norm(ends[1] - ends[0]))


def _volumes(plant: PlantSpec, skeleton: Skeleton) -> list[tuple[int, np.ndarray, float]]:
    """Of each hull: its body, its middle in that body's frame, m3."""
    bodies = plant.tree.body if plant.tree else []
    return [(skeleton.index[b.name], *hull_volume(b.hull)) for b in bodies if b.hull is not None]


def lobed(hull: Tube, mesh: Mesh) -> tuple[Mesh, Mesh]:
    """A lobed tube's faces on its lobes, and those between them: told apart from any side."""
    vertices, faces = mesh
    turn = frame_along(np.subtract(hull.to_m, hull.from_m).astype(float), np.array(hull.apex, dtype=float))
    off = (vertices[faces].mean(axis=1) - hull.from_m) @ turn
    crest = np.cos(hull.lobes * np.arctan2(off[:, 1], off[:, 2])) > -0.5
    return (vertices, faces[crest]), (vertices, faces[~crest])


def _boxes(plant: PlantSpec) -> list[Mesh]:
    """Head and tapering links of the quick law, which has widths and lengths alone, and a fin at its end."""
    hull, links = plant.hull, plant.strouhal.link if plant.strouhal else []
    width_m = hull.head_width_m if hull else 0.08
    tail_m = hull.tail_width_m if hull else 0.06
    head_m = hull.head_length_m if hull else 0.2
    meshes = [rounded((0.42 * head_m, 0, 0), (0.58 * head_m, width_m / 2, 0.55 * width_m))]
    ends_m = 0.5 * tail_m * np.linspace(1.0, 0.3, len(links) + 1)
    for link, wide_m, narrow_m in zip(links, ends_m, ends_m[1:], strict=False):
        section = circle(1.0) * [0.8 * wide_m, wide_m]
        taper = tube((0, 0, 0), (-link.length_m, 0, 0), section, taper=narrow_m / wide_m)
        meshes.append(together([rounded((0, 0, 0), (0.8 * wide_m, 0.8 * wide_m, wide_m)), taper]))
    if links:
        long_m, tall_m = links[-1].length_m, 1.1 * width_m
        corners = [(0.3, 0.1), (0.9, 0.28), (1.35, 0.5), (1.2, 0.0), (1.35, -0.5), (0.9, -0.28), (0.3, -0.1)]
        outline = np.array([(-long_m * x, 0.0, tall_m * z) for x, z in corners])
        meshes[-1] = together([meshes[-1], plate(outline, 0.4 * ends_m[-1])])
    return meshes


def _thrusters(plant: PlantSpec, skeleton: Skeleton) -> dict[str, tuple[int, np.ndarray, np.ndarray, float]]:
    """By name: body, place and axis in its frame, radius to draw."""
    found = {}
    size_m = _reach(plant, skeleton)
    for name, actuator in plant.actuator.items():
        if isinstance(actuator, Thruster):
            axis = np.array(actuator.axis, dtype=float)
            body = skeleton.index.get(actuator.body or "", 0)
            radius_m = min(max(0.05 * size_m, 0.02), 0.05)
            found[name] = body, np.array(actuator.at_m, dtype=float), axis / np.linalg.norm(axis), radius_m
    return found


def _reach(plant: PlantSpec, skeleton: Skeleton) -> float:
    """About as long as the vehicle is."""
    if plant.tree is None:
        return (plant.hull.head_length_m if plant.hull else 0.2) + sum(
            link.length_m for link in (plant.strouhal.link if plant.strouhal else [])
        )
    _, places = skeleton.pose({})
    ends = []
    for body in plant.tree.body:
        at = places[skeleton.index[body.name]]
        if isinstance(body.hull, Ellipsoid):
            for sign in (-1, 1):
                ends.append(at + np.array(body.hull.at_m) + sign * np.array(body.hull.semi_axes_m))
        elif isinstance(body.hull, Tube):
            ends += [at + np.array(body.hull.from_m), at + np.array(body.hull.to_m)]
    return float(np.ptp(np.array(ends), axis=0).max()) if ends else 0.5


def _move_bones(handle: Any, turns: np.ndarray, places: np.ndarray) -> None:
    for bone, turn, place in zip(handle.bones, turns, places, strict=True):
        bone.wxyz, bone.position = quaternion(turn), place
