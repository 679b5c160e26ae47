"""Waves lift, tilt and carry bodies at the surface and below; without waves nothing changes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from trees import add_water, model_of, random_state, random_tables

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.sim_plant import load
from caudal.sim_plant.tree.arrays import rotation_matrix
from caudal.sim_plant.tree.equilibrium import find_equilibrium, rotated

GRAVITY = 9.81
RADIUS = 0.1
BALL_KG = 1000 * 4 / 3 * np.pi * RADIUS**3  # of water
BALL = {"kind": "ellipsoid", "semi_axes_m": [RADIUS] * 3}


def ball(waves: list[dict], mass_kg: float = BALL_KG, current=(0.0, 0.0, 0.0), **more):
    turn = 0.4 * mass_kg * RADIUS**2
    body = {"name": "ball", "mass_kg": mass_kg, "inertia_kg_m2": [turn] * 3 + [0.0] * 3, "hull": BALL}
    return model_of({"body": [body | more], "wave": waves, "current_m_s": [float(c) for c in current]})


def flow(wave: dict, at: np.ndarray, t: float) -> tuple[float, np.ndarray]:
    """(surface above, velocity of the water at a point) of one linear wave, from its potential."""
    w = 2 * np.pi / wave["period_s"]
    k = w * w / GRAVITY
    heading = np.radians(wave.get("heading_deg", 0.0))
    way = np.array([np.cos(heading), np.sin(heading), 0.0])
    angle = k * (way @ at) - w * t + np.radians(wave.get("phase_deg", 0.0))
    speed = wave["amplitude_m"] * w * np.exp(k * at[2])
    return wave["amplitude_m"] * np.cos(angle), speed * (np.cos(angle) * way + [0, 0, np.sin(angle)])


def accelerated(waves: list[dict], at: np.ndarray, t: float, h: float = 1e-4) -> np.ndarray:
    """Of a particle of water: by differences in time and along its way."""

    def u(at, t):
        return sum(flow(wave, at, t)[1] for wave in waves)

    here = u(at, t)
    return (u(at + h * here, t + h) - u(at - h * here, t - h)) / (2 * h)


CROSSING = [
    {"amplitude_m": 0.1, "period_s": 2.0, "heading_deg": 30.0, "phase_deg": 50.0},
    {"amplitude_m": 0.05, "period_s": 1.4, "heading_deg": -100.0},
]


def test_hull_deep_under_waves_feels_the_force_on_the_displaced_water():
    model, still, rng = ball(CROSSING), ball([]), np.random.default_rng(0)
    for _ in range(20):
        x = rotated(model.state(), *rng.uniform(-2, 2, 3))
        x[:3] = [*rng.uniform(-3, 3, 2), rng.uniform(-2.0, -0.8)]
        model.time_s = float(rng.uniform(0, 10))
        force = rotation_matrix(x[3:7]) @ (still.bias(x) - model.bias(x))[:3]
        expected = BALL_KG * accelerated(CROSSING, x[:3], model.time_s)
        assert np.abs(force - expected).max() < 1e-6 * BALL_KG


def test_drag_foils_and_links_see_the_water_velocity_of_the_waves():
    parts = {
        "drag": {"linear": [3.0] * 3 + [0.0] * 3, "quadratic": [2.0] * 3 + [0.0] * 3},
        "foil": [{"area_m2": 0.02}],
        "slender": [{"from_m": [0.2, 0, 0], "to_m": [-0.2, 0, 0], "diameter_m": 0.05}],
        "edge": [{"span_m": 0.05}],
    }
    model, waves_only, rng = ball(CROSSING, **parts), ball(CROSSING), np.random.default_rng(1)
    still, nothing = ball([], **parts), ball([])
    for _ in range(20):
        x = rotated(model.state(), *rng.uniform(-2, 2, 3))
        x[:3] = [*rng.uniform(-3, 3, 2), -0.9]
        x[7:10] = rng.standard_normal(3)
        model.time_s = waves_only.time_s = float(rng.uniform(0, 10))
        forces = waves_only.bias(x) - model.bias(x)
        u = sum(flow(wave, x[:3], model.time_s)[1] for wave in CROSSING)
        x[7:10] -= rotation_matrix(x[3:7]).T @ u
        assert np.abs(forces - (nothing.bias(x) - still.bias(x))).max() < 1e-10


def test_ball_of_water_density_follows_the_orbital_circle():
    # The water it carries goes with it, so that this fails if waves leave added inertia out.
    wave = {"amplitude_m": 0.02, "period_s": 2.0}
    model = ball([wave], added_inertia={"diagonal": [0.5 * BALL_KG] * 3 + [0.0] * 3})
    k, depth = np.pi**2 / GRAVITY, 1.0
    x = model.state()
    x[2] = -depth
    x[7:10] = flow(wave, x[:3], 0.0)[1]
    states = model.rollout(x, 1000, 0.002)
    at = x[:3].copy()
    for n in range(1000):  # the particle's way, by the midpoint rule
        half = at + 0.001 * flow(wave, at, 0.002 * n)[1]
        at = at + 0.002 * flow(wave, half, 0.002 * n + 0.001)[1]
    assert np.abs(states[-1, :3] - at).max() < 1e-6
    radius = 0.02 * np.exp(-k * depth)
    circle = states[:, :3] - (states[:, :3].max(axis=0) + states[:, :3].min(axis=0)) / 2
    assert np.abs(np.hypot(circle[:, 0], circle[:, 2]) / radius - 1).max() < 0.03  # Stokes' drift is the rest
    assert np.abs(circle[:, 1]).max() < 1e-9


def test_floating_ball_follows_the_surface_of_a_long_wave():
    wave = {"amplitude_m": 0.2, "period_s": 6.0, "heading_deg": 90.0}
    drag = {"linear": [5.0, 5.0, 40.0, 0.1, 0.1, 0.1]}
    model = ball([wave], 0.5 * BALL_KG, drag=drag, com_m=[0.0, 0.0, -0.02])
    x = model.state()
    x[2], x[7:10] = 0.2, flow(wave, np.zeros(3), 0.0)[1]
    states = model.rollout(x, 6000, 0.004, every=20)[75:]
    above = [state[2] - flow(wave, state[:3], 0.08 * (75 + n))[0] for n, state in enumerate(states)]
    assert np.abs(above).max() < 0.02 * 0.2
    assert np.ptp(states[:, 2]) == pytest.approx(0.4, rel=0.02)
    assert 0.3 < np.ptp(states[:75, 1]) < 0.5 and np.ptp(states[:, 0]) < 1e-6  # to and fro, along the wave


def test_raft_tilts_with_the_slope():
    wave = {"amplitude_m": 0.3, "period_s": 6.0}
    disc = {"kind": "ellipsoid", "semi_axes_m": [0.4, 0.4, 0.05]}
    model = ball([wave], 8.0, hull=disc, drag={"linear": [5.0, 5.0, 200.0, 2.0, 2.0, 2.0]})
    steepest = np.pi**2 / 9 / GRAVITY * 0.3  # k A
    states = model.rollout(find_equilibrium(ball([], 8.0, hull=disc), model.state()), 6000, 0.004, every=10)[
        150:
    ]
    tilt = np.arcsin([rotation_matrix(state[3:7])[2, 0] for state in states])
    assert np.abs(tilt).max() == pytest.approx(steepest, rel=0.05)


def test_waves_drift_with_the_current():
    current = np.array([0.3, -0.2, 0.0])
    parts = {
        "drag": {"linear": [2.0] * 3 + [0.1] * 3},
        "added_inertia": {"diagonal": [1.0, 2.0, 3.0, 0.01, 0.02, 0.03]},
    }
    moving, still = ball(CROSSING, 3.0, current, **parts), ball(CROSSING, 3.0, **parts)
    x = rotated(moving.state(), 0.3, 0.2, 1.0)
    x[7:13] = [0.3, 0.1, -0.2, 1.0, -0.5, 0.8]
    y = x.copy()
    y[7:10] -= rotation_matrix(y[3:7]).T @ current
    x, y = moving.rollout(x, 1000, 0.002)[-1], still.rollout(y, 1000, 0.002)[-1]
    assert np.abs(x[:3] - 2.0 * current - y[:3]).max() < 1e-9
    assert np.abs(x[3:7] - y[3:7]).max() < 1e-9


def test_added_mass_turns_a_long_body_in_waves_as_in_motion_through_still_water():
    # A wave so long that it is a uniform stream; the turning moment is that of the velocity through the water.
    added = {"diagonal": [1.0, 8.0, 3.0, 0.1, 0.2, 0.3]}
    model, still = (
        ball([{"amplitude_m": 20.0, "period_s": 900.0}], added_inertia=added),
        ball([], added_inertia=added),
    )
    x = model.state()
    x[2], x[7:13] = -1.0, [0.2, 0.4, -0.1, 0.3, 0.2, -0.5]
    u = flow({"amplitude_m": 20.0, "period_s": 900.0}, x[:3], 0.0)[1]
    y = x.copy()
    y[7:10] -= u
    turning = model.bias(x)[3:] - still.bias(y)[3:]
    assert u[0] > 0.1 and np.abs(turning).max() < 1e-4 < np.abs(still.bias(x)[3:] - still.bias(y)[3:]).max()


def test_rk4_error_falls_by_sixteen_in_waves_when_the_step_is_halved():
    parts = {
        "drag": {"linear": [2.0] * 3 + [0.1] * 3},
        "added_inertia": {"diagonal": [1.0, 2.0, 3.0, 0.01, 0.02, 0.03]},
    }
    model = ball(CROSSING, **parts)
    x = model.state()
    x[2], x[7:13] = -1.0, 0.2
    ends = [model.rollout(x, n, 2.0 / n, every=n)[-1] for n in (25, 50, 800)]
    assert 12 < np.abs(ends[0] - ends[2]).max() / np.abs(ends[1] - ends[2]).max() < 20


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_rollout_can_continue_at_a_given_wave_time(method):
    model = ball(CROSSING, 3.0)
    model.time_s = 7.0
    whole = model.rollout(model.state(), 400, 0.005, method=method, time_s=2.0)
    first = model.rollout(model.state(), 200, 0.005, method=method, time_s=2.0)[-1]
    second = model.rollout(first, 200, 0.005, method=method, time_s=3.0)[-1]
    assert np.abs(second - whole[-1]).max() < 1e-9
    assert np.abs(model.step(first, None, 0.005, method, time_s=3.0) - whole[201]).max() < 1e-9
    assert np.abs(model.rollout(first, 200, 0.005, method=method)[-1] - whole[-1]).max() > 1e-3
    assert model.time_s == 7.0  # a run leaves the time of questions alone
    with pytest.raises(ValueError, match=r"time_s is nan; give a finite number of seconds[.]$"):
        model.step(first, None, 0.005, time_s=float("nan"))


def test_waves_without_height_change_nothing():
    tables = add_water(random_tables(3, 6), 3)
    for body in tables["body"]:
        body["slender"] = [{"from_m": [0.1, 0, 0], "to_m": [-0.1, 0, 0], "diameter_m": 0.05}]
    calm, flat = model_of(tables), model_of(tables | {"wave": [{"amplitude_m": 0.0, "period_s": 2.0}]})
    x = random_state(calm, np.random.default_rng(3), 0.5)
    assert np.abs(calm.rollout(x, 500, 0.001)[-1] - flat.rollout(x, 500, 0.001)[-1]).max() < 1e-9
    assert calm.energy(x) == pytest.approx(flat.energy(x), rel=1e-12)


def test_wind_sea_has_its_height_and_peak_and_repeats_with_its_seed():
    sea = {
        "kind": "jonswap",
        "significant_m": 0.5,
        "peak_s": 3.0,
        "components": 60,
        "seed": 4,
        "heading_deg": 45.0,
    }
    body = {"name": "buoy", "mass_kg": 1.0, "inertia_kg_m2": [0.1, 0.1, 0.1, 0, 0, 0], "hull": BALL}

    def drawn(**more):
        return model_of({"body": [body], "spectrum": sea | more}).flat.waves

    waves = drawn()
    assert 4 * np.sqrt(0.5 * (waves["amplitude_m"] ** 2).sum()) == pytest.approx(0.5)
    highest = waves[waves["amplitude_m"].argmax()]
    assert 2 * np.pi / highest["rad_s"] == pytest.approx(3.0, rel=0.05)
    assert np.allclose(waves["rad_s"] ** 2, GRAVITY * waves["rad_m"]) and np.allclose(
        waves["direction"], 0.5**0.5
    )
    assert (drawn() == waves).all() and (drawn(seed=5) != waves).any()
    # The share of energy below and above the peak is that of the density, integrated finely.
    f = np.linspace(0.6, 3.0, 100_001)
    density = (
        f**-5 * np.exp(-1.25 / f**4) * 3.3 ** np.exp(-((f - 1) ** 2) / 2 / np.where(f < 1, 0.07, 0.09) ** 2)
    )
    many = drawn(components=400)
    low = many["rad_s"] < 2 * np.pi / 3.0
    share = (many["amplitude_m"][low] ** 2).sum() / (many["amplitude_m"] ** 2).sum()
    assert share == pytest.approx(density[f < 1].sum() / density.sum(), abs=0.01)


def test_tree_does_not_diverge_in_a_wind_sea():
    tables = add_water(random_tables(8, 6, ["revolute", "fixed"]), 8)
    tables["spectrum"] = {"kind": "jonswap", "significant_m": 0.2, "peak_s": 2.0}
    model = model_of(tables)
    x = model.rollout(model.state(), 5000, 0.002, every=5000)[-1]
    assert np.abs(x[7:]).max() < 20
    dry = model_of(tables, fluid=False)
    assert np.isfinite(dry.energy(dry.rollout(dry.state(), 10, 0.001)[-1]))


FILE = """
[plant.tree]
wave = [{ amplitude_m = 0.1, period_s = 2.0 }]
[plant.tree.spectrum]
kind = "jonswap"
significant_m = 0.2
peak_s = 3.0
[[plant.tree.body]]
name = "buoy"
mass_kg = 1.0
inertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]
"""
BROKEN = [
    ("period_s = 2.0", "period_s = 0.0", "period_s"),
    ("amplitude_m = 0.1", "amplitude_m = -0.1", "amplitude_m"),
    ("significant_m = 0.2\n", "", "significant_m"),
    ('"jonswap"', '"bretschneider"', "bretschneider"),
    ("[plant.tree]\n", "[plant.tree]\ngravity_m_s2 = 0.0\n", "without gravity there is no surface for waves"),
]


@pytest.mark.parametrize("old, new, words", BROKEN)
def test_wrong_waves_are_refused_with_one_sentence(old, new, words):
    assert len(load(VehicleFile.parse(FILE, "buoy.toml")).flat.waves) == 31 and old in FILE
    with pytest.raises(VehicleFileError, match=f"^buoy.toml: plant.tree.*{re.escape(words)}.*[.]$"):
        load(VehicleFile.parse(FILE.replace(old, new), "buoy.toml"))
