"""Soft joints: three models against elementary matrices, matrix exponentials, differences and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from caudal.onboard.chain.soft_joint import (
    ConstantCurvature,
    Piecewise,
    Rigid,
    Series,
    Universal,
    universal_like,
)

LENGTH_M = 0.3
MODELS = {
    "universal": Universal(LENGTH_M),
    "constant curvature": ConstantCurvature(LENGTH_M),
    "piecewise": Piecewise(LENGTH_M, 3),
    "chain": Series([Rigid(0.8), Universal(LENGTH_M), Rigid(0.8), Piecewise(LENGTH_M, 2), Rigid(0.8)]),
}
lengths = st.floats(0.02, 0.5)
angles = st.floats(-1.54, 1.54)  # up to 88 degrees
arcs = st.tuples(lengths, angles, angles)
seeds = st.integers(0, 10_000)
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def moved(x_m: float) -> np.ndarray:
    out = np.eye(4)
    out[0, 3] = x_m
    return out


def turned(axis: int, angle: float) -> np.ndarray:
    """About y (1) or z (2)."""
    out = np.eye(4)
    i, j = (2, 0) if axis == 1 else (0, 1)
    out[i, i] = out[j, j] = np.cos(angle)
    out[i, j], out[j, i] = -np.sin(angle), np.sin(angle)
    return out


def anywhere(model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A shape within what a joint reaches, and a motion; every third seed starts straight."""
    rng = np.random.default_rng(seed)
    spread = np.array([1.5 if "rad" in name else 0.05 for name in model.coordinates])
    q = model.start() + (seed % 3 > 0) * spread * rng.uniform(-1, 1, len(spread))
    return q, rng.normal(size=len(spread))


def rolled_deg(bend_deg: float, towards_deg: float) -> float:
    """How far an arc's tip is rolled against that of the universal joint like it."""
    bend, towards = np.radians(bend_deg), np.radians(towards_deg)
    q = (LENGTH_M, bend * np.cos(towards), bend * np.sin(towards))
    arc = ConstantCurvature(LENGTH_M).transform(q)
    kink = Universal(LENGTH_M).transform(universal_like(q))
    apart = kink[:3, :3].T @ arc[:3, :3]
    return abs(float(np.degrees(np.arctan2(apart[2, 1], apart[1, 1]))))


@given(lengths, angles, angles, lengths)
def test_universal_joint_is_the_product_of_its_elementary_motions(d1, th1, th2, d2):
    product = moved(d1) @ turned(1, th1) @ turned(2, th2) @ moved(d2)
    assert np.abs(Universal(LENGTH_M).transform((d1, th1, th2, d2)) - product).max() < 1e-12


@given(arcs)
def test_arc_is_the_exponential_of_its_twist(q):
    l_m, b_y, b_z = q
    twist = np.zeros((4, 4))
    twist[:3, :3] = [[0, -b_z, b_y], [b_z, 0, 0], [-b_y, 0, 0]]
    twist[0, 3] = l_m
    assert np.abs(ConstantCurvature(LENGTH_M).transform(q) - expm(twist)).max() < 1e-12


@pytest.mark.parametrize("bend", [0.0, 1e-300, 1e-12, 1e-8, 1e-4])
def test_arc_is_smooth_where_it_is_straight(bend):
    model, q = ConstantCurvature(LENGTH_M), (LENGTH_M, bend, -bend)
    kinked = Universal(LENGTH_M).jacobian((LENGTH_M / 2, bend, -bend, LENGTH_M / 2))
    straight = model.jacobian(q)
    assert np.allclose(
        model.transform(q)[:3, 3], (LENGTH_M, -LENGTH_M * bend / 2, -LENGTH_M * bend / 2), atol=1e-9
    )
    assert np.allclose(straight[:, 1:], kinked[:, 1:3], atol=2 * bend + 1e-12)
    assert np.allclose(straight[:, 0], kinked[:, 3], atol=2 * bend + 1e-12)


@each_model
@given(seed=seeds)
def test_jacobian_is_the_differences_of_the_transform(model, seed):
    q, _ = anywhere(model, seed)
    h = 1e-5
    found = model.jacobian(q)
    turn = model.transform(q)[:3, :3]
    for k, step in enumerate(h * np.eye(len(q))):
        change = (model.transform(q + step) - model.transform(q - step)) / (2 * h)
        spin = change[:3, :3] @ turn.T
        assert found[:3, k] == pytest.approx(change[:3, 3], abs=1e-7)
        assert found[3:, k] == pytest.approx([spin[2, 1], spin[0, 2], spin[1, 0]], abs=1e-7)


@each_model
@given(seed=seeds)
def test_jacobian_rate_is_the_differences_of_the_jacobian(model, seed):
    q, qd = anywhere(model, seed)
    h = 1e-5
    change = (model.jacobian(q + h * qd) - model.jacobian(q - h * qd)) / (2 * h)
    assert np.abs(model.jacobian_rate(q, qd) - change).max() < 1e-7


@each_model
@given(seed=seeds, share=st.floats(0.01, 0.99))
def test_section_moves_as_its_jacobian_gives_and_the_last_is_the_far_end(model, seed, share):
    q, qd = anywhere(model, seed)
    h = 1e-6
    change = (model.at(q + h * qd, share)[0] - model.at(q - h * qd, share)[0]) / (2 * h)
    transform, jacobian = model.at(q, share)
    w = jacobian[3:] @ qd
    spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    assert np.abs(jacobian[:3] @ qd - change[:3, 3]).max() < 1e-7
    assert np.abs(spin @ transform[:3, :3] - change[:3, :3]).max() < 1e-7
    assert np.abs(model.at(q, 1.0)[0] - model.transform(q)).max() < 1e-12
    assert np.abs(model.at(q, 1.0)[1] - model.jacobian(q)).max() < 1e-12
    assert np.abs(model.at(q, 0.0)[0] - np.eye(4)).max() < 1e-12


@each_model
def test_joint_starts_straight_at_its_own_length(model):
    reach_m = sum(part.length_m for part in model.parts) if isinstance(model, Series) else LENGTH_M
    assert np.abs(model.transform(model.start()) - moved(reach_m)).max() < 1e-15
    assert len(model.coordinates) == len(model.start()) == model.jacobian(model.start()).shape[1]


@given(arcs)
def test_arc_and_the_universal_joint_like_it_have_the_same_tip_and_direction(q):
    arc = ConstantCurvature(LENGTH_M).transform(q)
    kink = Universal(LENGTH_M).transform(universal_like(q))
    assert np.abs(arc[:, 3] - kink[:, 3]).max() < 1e-12
    assert np.abs(arc[:, 0] - kink[:, 0]).max() < 1e-12


def test_arc_and_universal_joint_differ_in_roll_away_from_the_principal_planes():
    towards_deg = np.arange(0.0, 90.01, 0.5)
    at_30 = [rolled_deg(30.0, deg) for deg in towards_deg]
    at_88 = [rolled_deg(88.0, deg) for deg in towards_deg]
    for rolled in (at_30, at_88):
        assert rolled[0] < 1e-9 and rolled[-1] < 1e-9
    assert max(at_30) == pytest.approx(4.1, abs=0.05)
    # 43 degrees half way between the planes, 47 a little beyond, and most close to the bend about z
    assert rolled_deg(88.0, 45.0) == pytest.approx(43.0, abs=0.1)
    assert rolled_deg(88.0, 49.35) == pytest.approx(47.0, abs=0.1)
    assert max(at_88) == pytest.approx(68.8, abs=0.1)


def test_universal_joint_stretches_by_77_mm_for_an_arc_of_88_degrees():
    d1, _, _, d2 = universal_like((LENGTH_M, 0.0, np.radians(88.0)))
    assert d1 + d2 - LENGTH_M == pytest.approx(0.0772, abs=1e-4)


@given(arcs, st.integers(1, 6))
def test_equal_pieces_are_one_arc(q, pieces):
    many, one = Piecewise(LENGTH_M, pieces), ConstantCurvature(LENGTH_M)
    shares = np.tile(np.array(q) / pieces, pieces)
    assert np.abs(many.transform(shares) - one.transform(q)).max() < 1e-12
    # moved together they also move as one
    together = np.tile(np.eye(3) / pieces, (pieces, 1))
    assert np.abs(many.jacobian(shares) @ together - one.jacobian(q)).max() < 1e-12
