"""Contacts of hulls: their position, the distances between them, and the effect of a touch.

After each step, overlapping hulls are pushed apart along the axis of least overlap. Walls and cylinders do not move;
two vehicles share the displacement. The speed component into the contact is lost. If pushing does not free a vehicle
(it is wedged in), it returns to its pose before the step, with its servos stalled and no speed. That pose was free, so
no hull overlaps anything after any step. A floor lifts a vehicle in the same way, by its depth alone.

A contact is counted at its onset and lasts until the two are more than a millimetre apart.
"""

from __future__ import annotations

import math

import numpy as np

from caudal.sim_plant.base.arrays import Flat
from caudal.sim_plant.base.geometry import circle_overlap, quad_distance_m, quad_overlap, set_box
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.types import Record

APART_M = 1e-3
SLACK_M = 1e-7  # pushes go this much too far, so that rounding leaves no overlap
PUSH_ROUNDS = 8
WALLS = 4


@inner
def place_hull(flat: Flat, i: int) -> None:
    """Place body i's two boxes by its pose and joints. The tail's box runs straight to the tip (Liu and Hu fig. 8)."""
    body = flat.bodies[i]
    c, s = math.cos(body.heading_rad), math.sin(body.heading_rad)
    set_box(flat.hulls[i, 0], body.x_m, body.y_m, c, s, body.head_m, body.head_width_m)
    bend, aft, left = 0.0, body.stern_m, 0.0
    for k in range(body.first_joint, body.first_joint + body.joints):
        joint = flat.joints[k]
        if not joint.bends:
            continue
        bend += joint.angle_rad
        aft += joint.length_m * math.cos(bend)
        left += joint.length_m * math.sin(bend)
    length = math.hypot(aft, left)
    if length > 0.0:
        aft, left = aft / length, left / length
    else:
        aft, left = 1.0, 0.0
    ux, uy = -aft * c - left * s, -aft * s + left * c
    set_box(flat.hulls[i, 1], body.x_m, body.y_m, ux, uy, max(length, 1e-6), body.tail_width_m)


@inner
def in_reach(a: Record, b: Record, gap_m: float) -> bool:
    """Broad phase: True if two bodies can be within gap_m of each other."""
    dx, dy, far = a.x_m - b.x_m, a.y_m - b.y_m, a.reach_m + b.reach_m + gap_m
    near: bool = dx * dx + dy * dy < far * far
    return near


@inner
def wall_gap_m(flat: Flat, i: int, wall: int) -> float:
    """Distance (m) of body i's hull from one wall, negative beyond it."""
    world = flat.world[0]
    gap = np.inf
    for part in range(2):
        for corner in range(4):
            x, y = flat.hulls[i, part, corner, 0], flat.hulls[i, part, corner, 1]
            if wall == 0:
                gap = min(gap, x)
            elif wall == 1:
                gap = min(gap, world.length_m - x)
            elif wall == 2:
                gap = min(gap, y)
            else:
                gap = min(gap, world.width_m - y)
    return gap


@inner
def near_wall(flat: Flat, i: int) -> bool:
    """Broad phase: True if body i can reach a wall."""
    world, body = flat.world[0], flat.bodies[i]
    x, y, reach = body.x_m, body.y_m, body.reach_m
    near: bool = x < reach or y < reach or world.length_m - x < reach or world.width_m - y < reach
    return near


@inner
def cylinder_overlap(flat: Flat, i: int, c: int) -> tuple[float, float, float]:
    """(depth, nx, ny) of the deeper box of body i in a cylinder; -depth is the distance if they are apart."""
    x, y, radius = flat.cylinders[c, 0], flat.cylinders[c, 1], flat.cylinders[c, 2]
    head = circle_overlap(flat.hulls[i, 0], x, y, radius)
    tail = circle_overlap(flat.hulls[i, 1], x, y, radius)
    return head if head[0] >= tail[0] else tail


@inner
def body_overlap(flat: Flat, i: int, j: int) -> tuple[float, float, float]:
    """(depth, nx, ny) of the pair of boxes of two bodies that overlap most."""
    deepest, nx, ny = -1.0, 0.0, 0.0
    for a in range(2):
        for b in range(2):
            depth, ux, uy = quad_overlap(flat.hulls[i, a], flat.hulls[j, b])
            if depth > deepest:
                deepest, nx, ny = depth, ux, uy
    return deepest, nx, ny


@inner
def body_gap_m(flat: Flat, i: int, j: int) -> float:
    """Distance (m) between the hulls of two bodies, 0 if they overlap."""
    gap = np.inf
    for a in range(2):
        for b in range(2):
            gap = min(gap, quad_distance_m(flat.hulls[i, a], flat.hulls[j, b]))
    return gap


@inner
def push_out(flat: Flat, i: int, depth: float, nx: float, ny: float) -> None:
    """Move body i by depth along (nx, ny) and remove its speed against that direction."""
    body = flat.bodies[i]
    body.x_m += (depth + SLACK_M) * nx
    body.y_m += (depth + SLACK_M) * ny
    against = math.cos(body.heading_rad) * nx + math.sin(body.heading_rad) * ny
    if body.speed_m_s * against < 0.0:
        body.speed_m_s *= max(1.0 - against * against, 0.0)
    place_hull(flat, i)


@inner
def count_contact(flat: Flat, i: int, place: int) -> bool:
    """Count body i's contact at its onset; returns True at the onset."""
    if flat.touching[i, place]:
        return False
    flat.touching[i, place] = 1
    flat.world[0].active_contacts += 1
    flat.world[0].collisions += 1
    flat.bodies[i].collisions += 1
    return True


@inner
def undo_step(flat: Flat, i: int) -> None:
    """Return body i to its pose before the step, stalled."""
    body = flat.bodies[i]
    body.x_m, body.y_m, body.heading_rad = body.old_x_m, body.old_y_m, body.old_heading_rad
    body.speed_m_s, body.yaw_rate_rad_s, body.blocked = 0.0, 0.0, 1
    for k in range(body.first_joint, body.first_joint + body.joints):
        flat.joints[k].angle_rad = flat.joints[k].old_rad
    place_hull(flat, i)


@inner
def resolve_once(flat: Flat, give_up: bool) -> bool:
    """Resolve every overlap once: push the bodies apart or, with give_up, send them back; True if there was one."""
    found = False
    cylinders = len(flat.cylinders)
    for i in range(len(flat.bodies)):
        body = flat.bodies[i]
        if not body.has_hull:
            continue
        if flat.world[0].pool and near_wall(flat, i):
            for wall in range(WALLS):
                gap = wall_gap_m(flat, i, wall)
                if gap < 0.0:
                    found = True
                    count_contact(flat, i, wall)
                    if give_up:
                        undo_step(flat, i)
                    else:
                        sign = 1.0 if wall % 2 == 0 else -1.0
                        push_out(flat, i, -gap, sign if wall < 2 else 0.0, sign if wall >= 2 else 0.0)
        for c in range(cylinders):
            dx, dy = flat.cylinders[c, 0] - body.x_m, flat.cylinders[c, 1] - body.y_m
            if math.hypot(dx, dy) > body.reach_m + flat.cylinders[c, 2]:
                continue
            depth, nx, ny = cylinder_overlap(flat, i, c)
            if depth > 0.0:
                found = True
                count_contact(flat, i, WALLS + c)
                if give_up:
                    undo_step(flat, i)
                else:
                    push_out(flat, i, depth, nx, ny)
        for j in range(i + 1, len(flat.bodies)):
            if not (flat.bodies[j].has_hull and in_reach(body, flat.bodies[j], 0.0)):
                continue
            depth, nx, ny = body_overlap(flat, i, j)
            if depth > 0.0:
                found = True
                if count_contact(flat, i, WALLS + cylinders + j):
                    flat.bodies[j].collisions += 1
                if give_up:
                    undo_step(flat, i)
                    undo_step(flat, j)
                else:
                    push_out(flat, i, 0.5 * depth, nx, ny)
                    push_out(flat, j, 0.5 * depth, -nx, -ny)
    return found


@inner
def end_contacts(flat: Flat) -> None:
    """End the contacts that have come apart by more than APART_M."""
    cylinders = len(flat.cylinders)
    for i in range(len(flat.bodies)):
        for place in range(flat.touching.shape[1]):
            if not flat.touching[i, place]:
                continue
            if place < WALLS:
                gap = wall_gap_m(flat, i, place)
            elif place < WALLS + cylinders:
                gap = -cylinder_overlap(flat, i, place - WALLS)[0]
            else:
                gap = body_gap_m(flat, i, place - WALLS - cylinders)
            if gap > APART_M:
                flat.touching[i, place] = 0
                flat.world[0].active_contacts -= 1


@inner
def rest_on_floor(flat: Flat, i: int) -> None:
    """Lift body i to the floor if it is below; counts the onset as a wall's."""
    body, world = flat.bodies[i], flat.world[0]
    gap = world.depth_m - body.keel_m - body.depth_m
    if gap < 0.0:
        body.depth_m += gap
        if not body.grounded:
            body.grounded = 1
            body.collisions += 1
            world.collisions += 1
    elif gap > APART_M:
        body.grounded = 0


@inner
def resolve_contacts(flat: Flat) -> None:
    """Resolve all overlaps: afterwards no hull overlaps anything, if none did before the step."""
    for i in range(len(flat.bodies)):
        flat.bodies[i].blocked = 0
    rounds = 0
    # Each round that gives up sends at least one more body back; with all bodies back, nothing overlaps.
    while rounds <= PUSH_ROUNDS + len(flat.bodies) and resolve_once(flat, rounds >= PUSH_ROUNDS):
        rounds += 1
    if flat.world[0].active_contacts:
        end_contacts(flat)
    if flat.world[0].floor:
        for i in range(len(flat.bodies)):
            if flat.bodies[i].has_hull and not flat.bodies[i].blocked:
                rest_on_floor(flat, i)


@compiled
def clearance_m(flat: Flat, i: int) -> float:
    """Distance (m) of body i's hull from the nearest wall, cylinder or other hull; infinite in open water."""
    gap = np.inf
    if not flat.bodies[i].has_hull:
        return gap
    if flat.world[0].pool:
        for wall in range(WALLS):
            gap = min(gap, wall_gap_m(flat, i, wall))
    for c in range(len(flat.cylinders)):
        gap = min(gap, -cylinder_overlap(flat, i, c)[0])
    for j in range(len(flat.bodies)):
        if j != i and flat.bodies[j].has_hull and in_reach(flat.bodies[i], flat.bodies[j], gap):
            gap = min(gap, body_gap_m(flat, i, j))
    return max(gap, 0.0)
