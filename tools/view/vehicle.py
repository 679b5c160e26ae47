"""A vehicle in the scene: its hulls in their true shapes, skins, soft joints, thrusters, and parts of [appearance]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from caudal.sim_plant.tables.devices import Thruster
from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tables.tree import Ellipsoid, Tube
from caudal.tools.config.appearance_tables import Appearance, Ball, Box, Fin, Rod
from caudal.tools.log.poses import Pose, Skeleton, quaternion
from caudal.tools.view.foil_mesh import fins, replaces_hull
from caudal.tools.view.hulls import hull_mesh, hull_volume, lobed
from caudal.tools.view.mesh import (
    Mesh,
    circle,
    duct,
    joined,
    mirrored,
    plate,
    propeller,
    superellipsoid,
    tube,
)
from caudal.tools.view.skin import Bellows, Skin, make_bellows, tail_skin

if TYPE_CHECKING:
    from viser import MeshSkinnedHandle, SceneApi

RUBBER, DUCT, BLADES = "#2b3440", "#20262d", "#c8d2da"
DUCT_LENGTH = 0.9  # of a duct, by its radius


def rgb(colour: str) -> tuple[int, int, int]:
    """Converts #rrggbb into numbers from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def darker(colour: str) -> str:
    """Returns a darker shade of a colour."""
    return "#" + "".join(f"{round(0.45 * part):02x}" for part in rgb(colour))


class VehicleMeshes:
    """The meshes of a vehicle, under one frame."""

    def __init__(self, scene: SceneApi, name: str, plant: PlantSpec, appearance: Appearance) -> None:
        self.skeleton = Skeleton(plant)
        self.frame = scene.add_frame(f"/{name}", show_axes=False)
        self._scene = scene
        self._bodies = [
            scene.add_frame(f"/{name}/{node.name}", show_axes=False) for node in self.skeleton.nodes
        ]
        self._skins: list[tuple[Skin, MeshSkinnedHandle]] = []
        self._bellows: list[tuple[Bellows, MeshSkinnedHandle]] = []
        self._drawn: list[tuple[int, np.ndarray]] = []  # vertices in the frame of a body
        self._name = name
        self.thrusters = _thrusters(plant, self.skeleton)
        self._draw_hulls(plant, appearance)
        self._draw_skin(plant, appearance)
        self._draw_soft(plant)
        self._draw_parts(appearance)
        self._volumes = _volumes(plant, self.skeleton)
        self.length_m = _length_m(plant, self.skeleton)

    def show(self, pose: Pose) -> None:
        """Moves the meshes to a pose."""
        self.frame.position, self.frame.wxyz = pose.at_m, quaternion(pose.rotation)
        for k in range(1, len(pose.rotations)):
            self._bodies[k].wxyz, self._bodies[k].position = quaternion(pose.rotations[k]), pose.positions[k]
        for skin, handle in self._skins:
            _move_bones(handle, pose.rotations[skin.bodies], pose.positions[skin.bodies])
        for soft, handle in self._bellows:
            _move_bones(handle, *soft.bones(pose.rotations, pose.positions))

    def centre(self, pose: Pose) -> np.ndarray:
        """Returns the centre of volume in world axes, which sways less than any body."""
        if self._volumes:
            at = np.array([pose.in_base(body, centre) for body, centre, _ in self._volumes])
            mean = np.average(at, axis=0, weights=[volume_m3 for _, _, volume_m3 in self._volumes])
        else:
            mean = pose.positions.mean(axis=0)
        centre: np.ndarray = pose.at_m + pose.rotation @ mean
        return centre

    def points(self, pose: Pose) -> np.ndarray:
        """Returns points all over the meshes in world axes (point, 3)."""
        drawn = [at @ pose.rotations[body].T + pose.positions[body] for body, at in self._drawn]
        points: np.ndarray = np.concatenate(drawn) @ pose.rotation.T + pose.at_m
        return points

    def _add(self, body: int, what: str, mesh: Mesh, colour: str) -> None:
        self._drawn.append((body, mesh[0]))
        self._scene.add_mesh_simple(
            f"/{self._name}/{self.skeleton.nodes[body].name}/{what}",
            mesh[0], mesh[1], color=rgb(colour),
        )  # fmt: skip

    def _draw_hulls(self, plant: PlantSpec, appearance: Appearance) -> None:
        covered_bodies = {*appearance.skin, *appearance.bare}
        if plant.tree is None:
            for k, mesh in enumerate(link_meshes(plant)):
                if self.skeleton.nodes[k].name not in covered_bodies:
                    self._add(
                        k,
                        "hull",
                        mesh,
                        appearance.colours.get(self.skeleton.nodes[k].name, appearance.colour),
                    )
            return
        soft = {
            body.name
            for body in plant.tree.body
            if body.joint and any(body.joint.name in s.joints[:3] for s in plant.soft.values())
        }
        widths = {piece.body: piece.radius_m for piece in plant.skin}
        for body in plant.tree.body:
            if body.name in covered_bodies or body.name in soft:
                continue
            index, colour = (
                self.skeleton.index[body.name],
                appearance.colours.get(body.name, appearance.colour),
            )
            for k, fin in enumerate(fins(body)):
                self._add(index, f"fin_{k}", fin, colour)
            if body.hull is None or replaces_hull(body):
                continue
            mesh = hull_mesh(body.hull, widths.get(body.name))
            if isinstance(body.hull, Tube) and body.hull.lobe_share:
                lobes, valleys = lobed(body.hull, mesh)
                self._add(index, "valleys", valleys, darker(colour))
                mesh = lobes
            self._add(index, "hull", mesh, colour)

    def _draw_skin(self, plant: PlantSpec, appearance: Appearance) -> None:
        if not (appearance.skin and plant.tree):
            return
        bodies = {body.name: body for body in plant.tree.body}
        back, belly = tail_skin(self.skeleton, [bodies[name] for name in appearance.skin])
        for name in appearance.skin:
            hull = bodies[name].hull
            assert hull is not None, "checked by the reader of [appearance]"
            self._drawn.append((self.skeleton.index[name], hull_mesh(hull)[0]))
        _, positions = self.skeleton.pose({})
        for what, skin, colour in (
            ("back", back, appearance.colour),
            ("belly", belly, appearance.belly or appearance.colour),
        ):
            handle = self._add_skin(what, skin.mesh, skin.weights, positions[skin.bodies], colour)
            self._skins.append((skin, handle))

    def _draw_soft(self, plant: PlantSpec) -> None:
        radius_m = max((piece.radius_m for piece in plant.skin), default=0.1)
        for name, soft in plant.soft.items():
            made = make_bellows(self.skeleton, plant, soft, radius_m)
            handle = self._add_skin(f"soft_{name}", made.mesh, made.weights, made.rest, RUBBER)
            self._bellows.append((made, handle))

    def _add_skin(
        self, what: str, mesh: Mesh, weights: np.ndarray, bones: np.ndarray, colour: str
    ) -> MeshSkinnedHandle:
        return self._scene.add_mesh_skinned(
            f"/{self._name}/{what}", mesh[0], mesh[1],
            bone_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (len(bones), 1)), bone_positions=bones, skin_weights=weights,
            color=rgb(colour),
        )  # fmt: skip

    def _draw_parts(self, appearance: Appearance) -> None:
        for k, part in enumerate(appearance.part):
            mesh = part_mesh(part)
            body = self.skeleton.index[part.body] if part.body else 0
            self._add(body, f"part_{k}", mesh, part.colour)
        for name, (body, at_m, axis, radius_m) in self.thrusters.items():
            self._add(body, f"{name}_duct", duct(at_m, axis, radius_m, DUCT_LENGTH * radius_m), DUCT)
            self._add(body, f"{name}_blades", propeller(at_m, axis, 0.8 * radius_m), BLADES)


def part_mesh(part: Ball | Rod | Box | Fin) -> Mesh:
    """Makes a part of [appearance]."""
    if isinstance(part, Ball):
        mesh = superellipsoid(part.at_m, part.semi_axes_m)
    elif isinstance(part, Box):
        mesh = superellipsoid(part.at_m, np.array(part.sides_m) / 2, roundness=part.soft)
    elif isinstance(part, Rod):
        taper = (part.end_m or part.radius_m) / part.radius_m
        mesh = tube(part.from_m, part.to_m, circle(part.radius_m), taper, bevel_m=0.15 * part.radius_m)
    else:
        mesh = plate(np.array(part.corners_m), part.thick_m)
    return joined([mesh, mirrored(mesh)]) if part.both_sides else mesh


def _volumes(plant: PlantSpec, skeleton: Skeleton) -> list[tuple[int, np.ndarray, float]]:
    """Returns for each hull the index of its body, the centre in the body's frame, and the volume in m3."""
    bodies = plant.tree.body if plant.tree else []
    return [(skeleton.index[b.name], *hull_volume(b.hull)) for b in bodies if b.hull is not None]


def link_meshes(plant: PlantSpec) -> list[Mesh]:
    """Makes head, tapering links and tail fin of the Strouhal model from its lengths and widths."""
    hull, links = plant.hull, plant.strouhal.link if plant.strouhal else []
    width_m = hull.head_width_m if hull else 0.08
    tail_m = hull.tail_width_m if hull else 0.06
    head_m = hull.head_length_m if hull else 0.2
    meshes = [superellipsoid((0.42 * head_m, 0, 0), (0.58 * head_m, width_m / 2, 0.55 * width_m))]
    ends_m = 0.5 * tail_m * np.linspace(1.0, 0.3, len(links) + 1)
    for link, wide_m, narrow_m in zip(links, ends_m, ends_m[1:], strict=False):
        section = circle(1.0) * [0.8 * wide_m, wide_m]
        taper = tube((0, 0, 0), (-link.length_m, 0, 0), section, taper=narrow_m / wide_m)
        meshes.append(joined([superellipsoid((0, 0, 0), (0.8 * wide_m, 0.8 * wide_m, wide_m)), taper]))
    if links:
        long_m, tall_m = links[-1].length_m, 1.1 * width_m
        corners = [(0.3, 0.1), (0.9, 0.28), (1.35, 0.5), (1.2, 0.0), (1.35, -0.5), (0.9, -0.28), (0.3, -0.1)]
        outline = np.array([(-long_m * x, 0.0, tall_m * z) for x, z in corners])
        meshes[-1] = joined([meshes[-1], plate(outline, 0.4 * ends_m[-1])])
    return meshes


def _thrusters(plant: PlantSpec, skeleton: Skeleton) -> dict[str, tuple[int, np.ndarray, np.ndarray, float]]:
    """Returns by name the index of the body, position and axis in its frame, and the radius to draw."""
    found = {}
    size_m = _length_m(plant, skeleton)
    for name, actuator in plant.actuator.items():
        if isinstance(actuator, Thruster):
            axis = np.array(actuator.axis, dtype=float)
            body = skeleton.index.get(actuator.body or "", 0)
            radius_m = min(max(0.05 * size_m, 0.02), 0.05)
            found[name] = body, np.array(actuator.at_m, dtype=float), axis / np.linalg.norm(axis), radius_m
    return found


def _length_m(plant: PlantSpec, skeleton: Skeleton) -> float:
    """Returns the approximate length of the vehicle."""
    if plant.tree is None:
        return (plant.hull.head_length_m if plant.hull else 0.2) + sum(
            link.length_m for link in (plant.strouhal.link if plant.strouhal else [])
        )
    _, positions = skeleton.pose({})
    ends = []
    for body in plant.tree.body:
        at = positions[skeleton.index[body.name]]
        if isinstance(body.hull, Ellipsoid):
            for sign in (-1, 1):
                ends.append(at + np.array(body.hull.at_m) + sign * np.array(body.hull.semi_axes_m))
        elif isinstance(body.hull, Tube):
            ends += [at + np.array(body.hull.from_m), at + np.array(body.hull.to_m)]
    return float(np.ptp(np.array(ends), axis=0).max()) if ends else 0.5


def _move_bones(handle: MeshSkinnedHandle, rotations: np.ndarray, positions: np.ndarray) -> None:
    for bone, rotation, position in zip(handle.bones, rotations, positions, strict=True):
        bone.wxyz, bone.position = quaternion(rotation), position
