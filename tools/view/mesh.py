"""Triangle meshes: (vertices (v, 3) in metres, faces (f, 3)), counter-clockwise seen from outside.

Vertices at sharp edges exist twice, as the browser uses one normal per vertex.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]
Vector = Sequence[float] | np.ndarray
AROUND = 32
UP = np.array([0.0, 0.0, 1.0])


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Joins meshes into one."""
    vertices, faces, count = [], [], 0
    for own, triangles in meshes:
        vertices.append(own)
        faces.append(triangles + count)
        count += len(own)
    return np.concatenate(vertices), np.concatenate(faces)


def transformed(mesh: Mesh, rotation: np.ndarray, at_m: Vector) -> Mesh:
    """Rotates a mesh, then moves it."""
    return mesh[0] @ rotation.T + at_m, mesh[1]


def mirrored(mesh: Mesh) -> Mesh:
    """Mirrors a mesh in the plane y = 0."""
    return mesh[0] * [1.0, -1.0, 1.0], mesh[1][:, ::-1]


def grid_faces(rows: int, columns: int, closed: bool = True) -> np.ndarray:
    """Returns two triangles per square between rows of vertices; `closed` joins the last column to the first."""
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns - (not closed)), indexing="ij")
    a, b = i * columns + j, i * columns + (j + 1) % columns
    c, d = a + columns, b + columns
    return np.concatenate([np.stack([a, b, d], -1).reshape(-1, 3), np.stack([a, d, c], -1).reshape(-1, 3)])


def frame_along(along: np.ndarray, towards: np.ndarray = UP) -> np.ndarray:
    """Returns the rotation whose x is along a direction and whose z is as close as possible to `towards`."""
    x = along / np.linalg.norm(along)
    z = towards - x * (towards @ x)
    if np.linalg.norm(z) < 1e-6:
        z = np.eye(3)[np.abs(x).argmin()]
        z = z - x * (z @ x)
    z = z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def superellipsoid(at_m: Vector, half_m: Vector, roundness: float = 1.0, rings: int = 20) -> Mesh:
    """Makes an ellipsoid (roundness 1), or a shape between it and its box (roundness towards 0)."""

    def power(a: np.ndarray) -> np.ndarray:
        powered: np.ndarray = np.sign(a) * np.abs(a) ** roundness
        return powered

    up = np.linspace(-np.pi / 2, np.pi / 2, rings)[:, None]
    round_ = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)[None, :]
    unit = np.stack(
        [
            power(np.cos(up)) * power(np.cos(round_)),
            power(np.cos(up)) * power(np.sin(round_)),
            power(np.sin(up)) * np.ones_like(round_),
        ],
        -1,
    ).reshape(-1, 3)
    return unit * np.asarray(half_m) + np.asarray(at_m), grid_faces(rings, AROUND)


def tube(from_m: Vector, to_m: Vector, corners_m: np.ndarray, taper: float = 1.0,
         apex: Vector = (0.0, 0.0, 1.0), bevel_m: float = 0.0) -> Mesh:  # fmt: skip
    """Makes a closed tube with a section (corner, 2: to port, up); its far end is `taper` times as wide."""
    start, along = np.asarray(from_m, dtype=float), np.subtract(to_m, from_m).astype(float)
    length = float(np.linalg.norm(along))
    rotation = frame_along(along, np.asarray(apex, dtype=float))
    bevel = min(bevel_m, length / 3)
    reach = float(np.abs(corners_m).max())
    rows = [(0.0, 1 - bevel / reach), (bevel, 1.0), (length - bevel, 1.0), (length, 1 - bevel / reach)]
    rings = []
    for at, wide in rows if bevel else [(0.0, 1.0), (length, 1.0)]:
        scale = wide * (1 + (taper - 1) * at / length)
        rings.append(np.column_stack([np.full(len(corners_m), at), corners_m * scale]))
    n = len(corners_m)
    side = np.concatenate(rings), grid_faces(len(rings), n)
    near = np.vstack([rings[0], [[rings[0][0, 0], 0, 0]]]), _fan(n)[:, ::-1]
    far = np.vstack([rings[-1], [[length, 0, 0]]]), _fan(n)
    return transformed(joined([side, near, far]), rotation, start)


def _fan(n: int) -> np.ndarray:
    """Returns triangles from the last vertex to the ring before it."""
    k = np.arange(n)
    return np.stack([k, (k + 1) % n, np.full(n, n)], -1)


def circle(radius_m: float, corners: int = AROUND) -> np.ndarray:
    """Makes a round section for `tube`, counter-clockwise seen from its far end."""
    angle = 2 * np.pi * np.arange(corners) / corners
    return radius_m * np.column_stack([np.cos(angle), np.sin(angle)])


def duct(at_m: Vector, axis: Vector, radius_m: float, length_m: float) -> Mesh:
    """Makes a nozzle around a propeller: a ring with a rounded lip."""
    lip = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    wall = 0.16 * radius_m
    profile = np.column_stack([0.5 * length_m * np.cos(lip), radius_m + wall * np.sin(lip)])
    angle = 2 * np.pi * np.arange(AROUND) / AROUND
    rings = np.stack([
        np.broadcast_to(profile[:, 0], (AROUND, len(lip))),
        np.cos(angle)[:, None] * profile[:, 1],
        np.sin(angle)[:, None] * profile[:, 1],
    ], -1)  # fmt: skip
    closed = np.concatenate([rings, rings[:1]]).reshape(-1, 3)
    faces = grid_faces(AROUND + 1, len(lip))
    return transformed((closed, faces), frame_along(np.asarray(axis, dtype=float)), at_m)


def propeller(at_m: Vector, axis: Vector, radius_m: float) -> Mesh:
    """Makes a hub and three blades."""
    parts = [superellipsoid((0, 0, 0), (0.35 * radius_m, 0.22 * radius_m, 0.22 * radius_m), rings=10)]
    for k in range(3):
        a = 2 * np.pi * k / 3
        rotation = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
        half_m = (0.05 * radius_m, 0.26 * radius_m, 0.42 * radius_m)
        blade = superellipsoid((0, 0, 0.5 * radius_m), half_m, rings=10)
        twist = np.array([[np.cos(0.6), -np.sin(0.6), 0], [np.sin(0.6), np.cos(0.6), 0], [0, 0, 1]])
        parts.append(transformed(blade, rotation @ twist, np.zeros(3)))
    return transformed(joined(parts), frame_along(np.asarray(axis, dtype=float)), at_m)


def plate(outline_m: np.ndarray, thick_m: float) -> Mesh:
    """Makes a fin from an outline (corner, 3) in a plane, smoothed, thick at the centre and thin at the edge."""
    edge = _smooth(np.asarray(outline_m, dtype=float))
    centre = edge.mean(axis=0)
    spokes = edge - centre
    normal = np.cross(np.roll(spokes, 1, axis=0), spokes).sum(axis=0)
    normal = normal / np.linalg.norm(normal)
    n, sheets = len(edge), []
    for side in (1.0, -1.0):
        rings = [
            centre + spokes * share + side * normal * 0.5 * thick_m * (1 - share**2)
            for share in (1.0, 0.92, 0.75, 0.5, 0.2)
        ]
        vertices = np.vstack([*rings, centre + side * normal * 0.5 * thick_m])
        last = (len(rings) - 1) * n
        k = np.arange(n)
        cap = np.stack([last + k, last + (k + 1) % n, np.full(n, len(rings) * n)], -1)
        faces = np.concatenate([grid_faces(len(rings), n), cap])
        sheets.append((vertices, faces if side > 0 else faces[:, ::-1]))
    return joined(sheets)


def _smooth(corners: np.ndarray, between: int = 6) -> np.ndarray:
    """Returns a closed curve through corners (Catmull-Rom, uniform)."""
    n, t = len(corners), np.linspace(0, 1, between, endpoint=False)[:, None]
    parts = []
    for k in range(n):
        a, b, c, d = (corners[(k + j) % n] for j in (-1, 0, 1, 2))
        parts.append(
            0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
        )
    return np.concatenate(parts)
