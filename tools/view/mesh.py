"""Shapes as triangles: (vertices (v, 3) in metres, faces (f, 3)), outside counter-clockwise.

Corners that should look sharp have their vertices twice: a view makes one normal a vertex.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]
AROUND = 32
UP = np.array([0.0, 0.0, 1.0])


def together(meshes: Sequence[Mesh]) -> Mesh:
    vertices, faces, count = [], [], 0
    for own, triangles in meshes:
        vertices.append(own)
        faces.append(triangles + count)
        count += len(own)
    return np.concatenate(vertices), np.concatenate(faces)


def moved(mesh: Mesh, turn: np.ndarray, at_m: np.ndarray) -> Mesh:
    return mesh[0] @ turn.T + at_m, mesh[1]


def mirrored(mesh: Mesh) -> Mesh:
    """On the other side: y the other way round."""
    return mesh[0] * [1.0, -1.0, 1.0], mesh[1][:, ::-1]


def grid_faces(rows: int, columns: int, closed: bool = True) -> np.ndarray:
    """Two triangles a square between rows of vertices; `closed` joins the last column to the first."""
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns - (not closed)), indexing="ij")
    a, b = i * columns + j, i * columns + (j + 1) % columns
    c, d = a + columns, b + columns
    return np.concatenate([np.stack([a, b, d], -1).reshape(-1, 3), np.stack([a, d, c], -1).reshape(-1, 3)])


def frame_along(way: np.ndarray, towards: np.ndarray = UP) -> np.ndarray:
    """A turn whose x is along `way` and whose z leans to `towards`."""
    x = way / np.linalg.norm(way)
    z = towards - x * (towards @ x)
    if np.linalg.norm(z) < 1e-6:
        z = np.eye(3)[np.abs(x).argmin()]
        z = z - x * (z @ x)
    z = z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def rounded(at_m: Sequence[float], half_m: Sequence[float], square: float = 1.0, rings: int = 20) -> Mesh:
    """An ellipsoid (square 1), or what lies between it and its box (towards 0)."""

    def power(a: np.ndarray) -> np.ndarray:
        return np.sign(a) * np.abs(a) ** square

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


def tube(from_m: Sequence[float], to_m: Sequence[float], corners_m: np.ndarray, taper: float = 1.0,
         apex: Sequence[float] = (0.0, 0.0, 1.0), bevel_m: float = 0.0) -> Mesh:  # fmt: skip
    """A closed tube of a section (corner, 2: to port, up), whose far end is `taper` times as wide."""
    start, way = np.asarray(from_m, dtype=float), np.subtract(to_m, from_m).astype(float)
    length = float(np.linalg.norm(way))
    turn = frame_along(way, np.asarray(apex, dtype=float))
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
    return moved(together([side, near, far]), turn, start)


def _fan(n: int) -> np.ndarray:
    """Triangles from the last vertex to a ring before it."""
    k = np.arange(n)
    return np.stack([k, (k + 1) % n, np.full(n, n)], -1)


def circle(radius_m: float, corners: int = AROUND) -> np.ndarray:
    """A round section for `tube`, counter-clockwise seen from its far end."""
    angle = 2 * np.pi * np.arange(corners) / corners
    return radius_m * np.column_stack([np.cos(angle), np.sin(angle)])


def duct(at_m: Sequence[float], axis: Sequence[float], radius_m: float, length_m: float) -> Mesh:
    """A nozzle round a propeller: a ring with a rounded lip."""
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
    return moved((closed, faces), frame_along(np.asarray(axis, dtype=float)), np.asarray(at_m, dtype=float))


def blades(at_m: Sequence[float], axis: Sequence[float], radius_m: float) -> Mesh:
    """A propeller: hub and three blades."""
    parts = [rounded((0, 0, 0), (0.35 * radius_m, 0.22 * radius_m, 0.22 * radius_m), rings=10)]
    for k in range(3):
        a = 2 * np.pi * k / 3
        turn = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
        blade = rounded((0, 0, 0.5 * radius_m), (0.05 * radius_m, 0.26 * radius_m, 0.42 * radius_m), rings=10)
        twist = np.array([[np.cos(0.6), -np.sin(0.6), 0], [np.sin(0.6), np.cos(0.6), 0], [0, 0, 1]])
        parts.append(moved(blade, turn @ twist, np.zeros(3)))
    return moved(together(parts), frame_along(np.asarray(axis, dtype=float)), np.asarray(at_m, dtype=float))


def plate(outline_m: np.ndarray, thick_m: float) -> Mesh:
    """A fin: an outline (corner, 3) in a plane, thick in its middle and thin at its edge, smoothed between corners."""
    edge = _smooth(np.asarray(outline_m, dtype=float))
    middle = edge.mean(axis=0)
    normal = sum(np.cross(edge[k - 1] - middle, edge[k] - middle) for k in range(len(edge)))
    normal = normal / np.linalg.norm(normal)
    n, sheets = len(edge), []
    for side in (1.0, -1.0):
        rings = [
            middle + (edge - middle) * share + side * normal * 0.5 * thick_m * (1 - share**2)
            for share in (1.0, 0.92, 0.75, 0.5, 0.2)
        ]
        vertices = np.vstack([*rings, middle + side * normal * 0.5 * thick_m])
        last = (len(rings) - 1) * n
        k = np.arange(n)
        cap = np.stack([last + k, last + (k + 1) % n, np.full(n, len(rings) * n)], -1)
        faces = np.concatenate([grid_faces(len(rings), n), cap])
        sheets.append((vertices, faces if side > 0 else faces[:, ::-1]))
    return together(sheets)


def _smooth(corners: np.ndarray, between: int = 6) -> np.ndarray:
    """A closed curve through corners (Catmull and Rom, centripetal enough at these spacings)."""
    n, t = len(corners), np.linspace(0, 1, between, endpoint=False)[:, None]
    parts = []
    for k in range(n):
        a, b, c, d = (corners[(k + j) % n] for j in (-1, 0, 1, 2))
        parts.append(
            0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
        )
    return np.concatenate(parts)
