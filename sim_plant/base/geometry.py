"""Plane geometry in closed form for kernels: convex quads, circles, beams; metres, world frame.

A quad is a (4, 2) array of corners, counter-clockwise. A beam is a point and a unit direction.
"""

from __future__ import annotations

import math

import numpy as np

from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.types import Floats


@compiled
def set_box(quad: Floats, x: float, y: float, ux: float, uy: float, length: float, width: float) -> None:
    """Fill `quad` with the box that starts at the middle of one end, (x, y), and runs along unit (ux, uy)."""
    h = 0.5 * width
    nx, ny = -uy * h, ux * h  # to the left
    ex, ey = x + ux * length, y + uy * length
    quad[0, 0], quad[0, 1] = x - nx, y - ny
    quad[1, 0], quad[1, 1] = ex - nx, ey - ny
    quad[2, 0], quad[2, 1] = ex + nx, ey + ny
    quad[3, 0], quad[3, 1] = x + nx, y + ny


@inner
def point_segment_m(px: float, py: float, ax: float, ay: float, bx: float, by: float) -> float:
    """Distance (m) of a point from a segment."""
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    t = 0.0
    if square > 0.0:
        t = min(max(((px - ax) * dx + (py - ay) * dy) / square, 0.0), 1.0)
    return math.hypot(px - ax - t * dx, py - ay - t * dy)


@inner
def contains(quad: Floats, px: float, py: float) -> bool:
    """True if a quad contains a point."""
    for k in range(4):
        ax, ay = quad[k, 0], quad[k, 1]
        bx, by = quad[(k + 1) % 4, 0], quad[(k + 1) % 4, 1]
        if (bx - ax) * (py - ay) - (by - ay) * (px - ax) < 0.0:
            return False
    return True


@compiled
def circle_overlap(quad: Floats, cx: float, cy: float, radius: float) -> tuple[float, float, float]:
    """(depth, nx, ny): overlap (m) of a circle and a quad, and the unit direction that moves the quad free.

    depth <= 0 means no overlap; -depth is then the distance.
    """
    nearest, qx, qy = np.inf, 0.0, 0.0
    for k in range(4):
        ax, ay = quad[k, 0], quad[k, 1]
        dx, dy = quad[(k + 1) % 4, 0] - ax, quad[(k + 1) % 4, 1] - ay
        t = min(max(((cx - ax) * dx + (cy - ay) * dy) / (dx * dx + dy * dy), 0.0), 1.0)
        sx, sy = ax + t * dx, ay + t * dy
        distance = math.hypot(cx - sx, cy - sy)
        if distance < nearest:
            nearest, qx, qy = distance, sx, sy
    if contains(quad, cx, cy):  # the shortest way out is through the nearest edge
        if nearest < 1e-12:
            return radius, 1.0, 0.0
        return radius + nearest, (cx - qx) / nearest, (cy - qy) / nearest
    if nearest < 1e-12:  # the centre is on the edge: any direction frees the quad
        return radius, 1.0, 0.0
    return radius - nearest, (qx - cx) / nearest, (qy - cy) / nearest


@compiled
def quad_overlap(a: Floats, b: Floats) -> tuple[float, float, float]:
    """(depth, nx, ny): least overlap (m) of two quads (separating axes); the unit normal moves `a` free of `b`.

    depth <= 0 means no overlap; it is not the distance then (see quad_distance_m).
    """
    least, nx, ny = np.inf, 0.0, 0.0
    for side in range(2):
        for k in range(4):
            if side == 0:
                ex, ey = a[(k + 1) % 4, 0] - a[k, 0], a[(k + 1) % 4, 1] - a[k, 1]
            else:
                ex, ey = b[(k + 1) % 4, 0] - b[k, 0], b[(k + 1) % 4, 1] - b[k, 1]
            size = math.hypot(ex, ey)
            if size == 0.0:
                continue
            ux, uy = ey / size, -ex / size
            a_low, b_high = np.inf, -np.inf
            for i in range(4):
                a_low = min(a_low, a[i, 0] * ux + a[i, 1] * uy)
                b_high = max(b_high, b[i, 0] * ux + b[i, 1] * uy)
            depth = b_high - a_low  # a move of `a` by this along +u separates them
            if depth <= 0.0:
                return depth, ux, uy
            if depth < least:
                least, nx, ny = depth, ux, uy
            a_high, b_low = -np.inf, np.inf
            for i in range(4):
                a_high = max(a_high, a[i, 0] * ux + a[i, 1] * uy)
                b_low = min(b_low, b[i, 0] * ux + b[i, 1] * uy)
            depth = a_high - b_low
            if depth <= 0.0:
                return depth, -ux, -uy
            if depth < least:
                least, nx, ny = depth, -ux, -uy
    return least, nx, ny


@compiled
def quad_distance_m(a: Floats, b: Floats) -> float:
    """Distance (m) between two quads, 0 if they overlap."""
    if quad_overlap(a, b)[0] > 0.0:
        return 0.0
    nearest = np.inf
    for i in range(4):
        for k in range(4):
            n = (k + 1) % 4
            nearest = min(nearest, point_segment_m(a[i, 0], a[i, 1], b[k, 0], b[k, 1], b[n, 0], b[n, 1]))
            nearest = min(nearest, point_segment_m(b[i, 0], b[i, 1], a[k, 0], a[k, 1], a[n, 0], a[n, 1]))
    return nearest


@compiled
def beam_to_walls_m(px: float, py: float, ux: float, uy: float, length: float, width: float) -> float:
    """Range (m) to the walls of a pool from inside it; 0 from outside."""
    if px < 0.0 or py < 0.0 or px > length or py > width:
        return 0.0
    reach = np.inf
    if ux > 0.0:
        reach = min(reach, (length - px) / ux)
    elif ux < 0.0:
        reach = min(reach, -px / ux)
    if uy > 0.0:
        reach = min(reach, (width - py) / uy)
    elif uy < 0.0:
        reach = min(reach, -py / uy)
    return reach


@compiled
def beam_to_circle_m(
    px: float, py: float, ux: float, uy: float, cx: float, cy: float, radius: float
) -> float:
    """Range (m) to a circle; infinite if the beam misses it, 0 from inside."""
    dx, dy = cx - px, cy - py
    gap = dx * dx + dy * dy - radius * radius
    if gap <= 0.0:
        return 0.0
    along = dx * ux + dy * uy
    root = along * along - gap
    if along <= 0.0 or root < 0.0:
        return np.inf
    return gap / (along + math.sqrt(root))  # along - sqrt(root) would lose digits far away


@compiled
def beam_to_quad_m(px: float, py: float, ux: float, uy: float, quad: Floats) -> float:
    """Range (m) to a convex quad, by clipping the beam at its four half-planes; infinite if it misses."""
    enters, leaves = 0.0, np.inf
    for k in range(4):
        ex = quad[(k + 1) % 4, 0] - quad[k, 0]
        ey = quad[(k + 1) % 4, 1] - quad[k, 1]
        inside = ex * (py - quad[k, 1]) - ey * (px - quad[k, 0])
        growth = ex * uy - ey * ux  # of `inside` along the beam
        if growth > 0.0:
            enters = max(enters, -inside / growth)
        elif growth < 0.0:
            leaves = min(leaves, -inside / growth)
        elif inside < 0.0:
            return np.inf
    if enters > leaves:
        return np.inf
    return enters
