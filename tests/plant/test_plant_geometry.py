"""Closed forms compared with brute force: dense points on outlines, dense steps along beams."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from caudal.sim_plant.base import geometry

near = st.floats(-1.0, 1.0)
angles = st.floats(-math.pi, math.pi)
sizes = st.floats(0.05, 0.5)


@st.composite
def boxes(draw):
    quad = np.zeros((4, 2))
    turn = draw(angles)
    geometry.set_box(quad, draw(near), draw(near), math.cos(turn), math.sin(turn), draw(sizes), draw(sizes))
    return quad


def outline(quad: np.ndarray, each: int = 200) -> np.ndarray:
    t = np.linspace(0, 1, each, endpoint=False)[:, None]
    return np.concatenate([(1 - t) * quad[k] + t * quad[(k + 1) % 4] for k in range(4)])


def inside(quad: np.ndarray, points: np.ndarray) -> np.ndarray:
    edges = np.roll(quad, -1, axis=0) - quad
    rel = points[:, None, :] - quad[None]
    return (edges[:, 0] * rel[..., 1] - edges[:, 1] * rel[..., 0] >= 0).all(axis=1)


def filled(quad: np.ndarray, each: int = 40) -> np.ndarray:
    u, v = np.meshgrid(np.linspace(0, 1, each), np.linspace(0, 1, each))
    return quad[0] + u.reshape(-1, 1) * (quad[1] - quad[0]) + v.reshape(-1, 1) * (quad[3] - quad[0])


@settings(max_examples=100, deadline=None)
@given(a=boxes(), b=boxes())
def test_boxes_overlap_when_a_point_is_in_both_else_have_their_nearest_distance(a, b):
    depth = geometry.quad_overlap(a, b)[0]
    shared = inside(b, filled(a)).any() or inside(a, filled(b)).any()
    if shared:
        assert depth > -1e-12
    pa, pb = outline(a), outline(b)
    brute = np.sqrt(((pa[:, None] - pb[None]) ** 2).sum(-1)).min()
    if depth <= 0:
        distance = geometry.quad_distance_m(a, b)
        spacing = 0.5 / 200
        assert brute - 2 * spacing <= distance <= brute + 1e-12
    else:
        assert geometry.quad_distance_m(a, b) == 0.0


@settings(max_examples=100, deadline=None)
@given(a=boxes(), b=boxes())
def test_overlap_depth_is_the_shortest_push_that_frees_two_boxes(a, b):
    depth, nx, ny = geometry.quad_overlap(a, b)
    assume(depth > 1e-6)
    assert math.hypot(nx, ny) == pytest.approx(1.0)
    assert geometry.quad_overlap(a + (depth + 1e-9) * np.array([nx, ny]), b)[0] <= 0.0
    for turn in np.linspace(0, 2 * math.pi, 60):
        way = 0.98 * depth * np.array([math.cos(turn), math.sin(turn)])
        assert geometry.quad_overlap(a + way, b)[0] > 0.0


@settings(max_examples=100, deadline=None)
@given(quad=boxes(), x=near, y=near, radius=st.floats(0.02, 0.4))
def test_circle_and_box_have_their_nearest_distance_and_are_freed_by_the_depth(quad, x, y, radius):
    depth, nx, ny = geometry.circle_overlap(quad, x, y, radius)
    to_outline = np.hypot(*(outline(quad, 500) - (x, y)).T).min()
    centre_in = bool(inside(quad, np.array([[x, y]]))[0])
    assume(to_outline > 1e-3)
    expected = radius + to_outline if centre_in else radius - to_outline
    assert depth == pytest.approx(expected, abs=2e-3)
    if depth > 1e-6:
        moved = quad + (depth + 1e-9) * np.array([nx, ny])
        assert geometry.circle_overlap(moved, x, y, radius)[0] <= 1e-9


@settings(max_examples=100, deadline=None)
@given(quad=boxes(), x=near, y=near, turn=angles, radius=st.floats(0.05, 0.4), cx=near, cy=near)
def test_beam_ends_at_the_first_object_along_it(quad, x, y, turn, radius, cx, cy):
    ux, uy = math.cos(turn), math.sin(turn)
    stride = 1e-3
    walk = np.array([x, y]) + np.arange(0, 4, stride)[:, None] * np.array([ux, uy])
    hits = (
        (geometry.beam_to_quad_m(x, y, ux, uy, quad), inside(quad, walk)),
        (geometry.beam_to_circle_m(x, y, ux, uy, cx, cy, radius), np.hypot(*(walk - (cx, cy)).T) <= radius),
    )
    for range_m, met in hits:
        if met.any():
            assert range_m == pytest.approx(np.argmax(met) * stride, abs=1.01 * stride)
        elif math.isfinite(range_m):  # a grazing hit shorter than a stride, or one beyond the walk
            end = np.array([x + range_m * ux, y + range_m * uy])
            on_quad = np.hypot(*(outline(quad, 2000) - end).T).min() < 1e-3
            assert on_quad or abs(math.hypot(*(end - (cx, cy))) - radius) < 1e-6


@settings(max_examples=50, deadline=None)
@given(x=st.floats(0.0, 4.0), y=st.floats(0.0, 3.0), turn=angles)
def test_beam_ends_on_the_wall_in_a_pool(x, y, turn):
    ux, uy = math.cos(turn), math.sin(turn)
    range_m = geometry.beam_to_walls_m(x, y, ux, uy, 4.0, 3.0)
    ex, ey = x + range_m * ux, y + range_m * uy
    assert -1e-9 <= ex <= 4 + 1e-9 and -1e-9 <= ey <= 3 + 1e-9
    assert min(abs(ex), abs(4 - ex), abs(ey), abs(3 - ey)) < 1e-9
