"""A foil lifts, stalls and lags by its formulas, and takes energy out of still water at any motion."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import add_water, model_of, random_state, random_tables

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.sim_plant import load
from caudal.sim_plant.tree.arrays import rotation_matrix
from caudal.sim_plant.tree.equilibrium import find_equilibrium, rotated

DENSITY = 1000.0
FOIL = {"area_m2": 0.03, "chord_m": 0.2, "cn": 1.3, "ct": 0.2, "stall_deg": 25.0}
SKEWED = {"at_m": [0.1, -0.05, 0.02], "chord": [2.0, 0.5, -0.3], "normal": [0.1, 0.4, 1.0]}
SPEED = st.floats(-5, 5)


def plate(foil: dict | None, mass_kg: float = 2.0, gravity: bool = False, **more):
    body = {"name": "plate", "mass_kg": mass_kg, "foil": [foil] if foil else []}
    body["inertia_kg_m2"] = [0.02 * mass_kg, 0.02 * mass_kg, 0.03 * mass_kg, 0.0, 0.0, 0.0]
    return model_of({"body": [body | more]}, gravity=gravity)


@cache
def bare():
    return plate(None)


def push(model, v: np.ndarray, w: np.ndarray | float = 0.0) -> np.ndarray:
    """Force and torque of the water on a lone body that moves by v, w."""
    x = model.state()
    x[7:10], x[10:13] = v, w
    return bare().bias(x) - model.bias(x)


def by_hand(foil: dict, v: np.ndarray) -> np.ndarray:
    """(normal, tangential) force at a velocity (along chord, along normal), piece by piece in degrees."""
    a = np.degrees(np.arctan2(v[1], v[0]))
    behind = abs(a) > 90
    incidence = 180 - abs(a) if behind else abs(a)
    rise = 1.0 if incidence >= foil["stall_deg"] else np.sin(np.radians(90 * incidence / foil["stall_deg"]))
    cn = np.sign(a) * foil["cn"] * rise
    ct = foil["ct"] * rise
    if incidence > 90 - foil["stall_deg"]:
        ct *= np.sin(np.radians(90 * (90 - incidence) / foil["stall_deg"]))
    return -0.5 * DENSITY * foil["area_m2"] * (v @ v) * np.array([cn, -ct if behind else ct])


def test_foil_force_matches_the_formula_at_its_centre_of_pressure():
    model, rng = plate(FOIL | SKEWED), np.random.default_rng(0)
    chord = np.array(SKEWED["chord"]) / np.linalg.norm(SKEWED["chord"])
    normal = np.array(SKEWED["normal"]) - chord * (chord @ SKEWED["normal"])
    normal /= np.linalg.norm(normal)
    for _ in range(200):
        v, w = rng.standard_normal(3), 3 * rng.standard_normal(3)
        there = v + np.cross(w, SKEWED["at_m"])
        normal_n, chord_n = by_hand(FOIL, np.array([there @ chord, there @ normal]))
        force = normal_n * normal + chord_n * chord
        expected = np.concatenate([force, np.cross(SKEWED["at_m"], force)])
        assert np.abs(push(model, v, w) - expected).max() < 1e-10


def test_lift_rises_with_its_slope_and_stays_constant_after_stall():
    model, pressure = plate(FOIL), 0.5 * DENSITY * FOIL["area_m2"]

    def cn(deg: float) -> float:
        return -push(model, [np.cos(np.radians(deg)), 0.0, np.sin(np.radians(deg))])[2] / pressure

    assert cn(0.01) / np.radians(0.01) == pytest.approx(FOIL["cn"] * 90 / FOIL["stall_deg"], rel=1e-6)
    assert cn(25.0) == cn(60.0) == cn(90.0) == cn(155.0) == pytest.approx(FOIL["cn"])
    assert cn(-10.0) == pytest.approx(-cn(10.0)) and cn(170.0) == pytest.approx(cn(10.0))
    assert cn(0.0) == 0.0 and abs(cn(180.0)) < 1e-12


@pytest.mark.parametrize("suction", [0.0, 1.0])
def test_foil_force_does_not_jump_at_any_angle_of_attack(suction):
    model = plate(FOIL | {"suction": suction})
    angles = np.linspace(-np.pi, np.pi, 5_001)
    forces = np.array([push(model, [np.cos(a), 0.0, np.sin(a)]) for a in angles])
    most = 0.5 * DENSITY * FOIL["area_m2"] * 20  # N a radian: five times the slope of lift
    assert np.abs(np.diff(forces, axis=0)).max() < most * (angles[1] - angles[0])
    assert np.abs(forces[0] - forces[-1]).max() < 1e-9


@settings(max_examples=300, deadline=None)
@given(v=st.tuples(SPEED, SPEED, SPEED), w=st.tuples(SPEED, SPEED, SPEED), suction=st.floats(0, 1))
@pytest.mark.parametrize("shape", [{}, {"stall_deg": 40.0, "ct": 3.0}, {"stall_deg": 5.0, "cn": 0.1}])
def test_foil_never_adds_energy_in_still_water_even_with_suction(shape, v, w, suction):
    model = plate(FOIL | SKEWED | shape | {"suction": suction})
    motion = np.concatenate([v, w])
    power = motion @ push(model, v, w)
    assert power <= 1e-12 * (1 + np.abs(motion).max() ** 3)


def test_lift_is_orthogonal_to_the_flow_until_stall_with_full_suction():
    model = plate(FOIL | {"suction": 1.0, "ct": 0.0})
    for deg in (2.0, 10.0, 24.9):
        v = np.array([np.cos(np.radians(deg)), 0.0, np.sin(np.radians(deg))])
        force = push(model, v)[:3]
        assert force @ v == pytest.approx(0.0, abs=1e-12) and force[0] > 0 > force[2]
    backward = push(model, [-1.0, 0.0, 0.1])[:3]
    assert backward[0] == 0.0 and backward[2] < 0  # no round nose meets that flow


def test_plate_glides_at_the_speed_that_balances_its_weight():
    slim = FOIL | {"ct": 0.02}
    drag_n, weight_n, speeds, glides = 1.0, 0.4 * 9.81, [], []
    drag = {"quadratic": [drag_n, 0.0, 0.0, 0.0, 0.0, 0.0]}
    model = plate(slim, 0.4, gravity=True, drag=drag)
    for pitch_deg in (10.0, 15.0, 20.0):
        pitch = np.radians(pitch_deg)
        x = rotated(model.state(), 0.0, pitch)
        x[7] = 0.5  # from rest it would fall flat, stalled
        x = model.rollout(x, 10_000, 0.004, every=10_000)[-1]
        pressure = 0.5 * DENSITY * slim["area_m2"]
        low, high = 1e-6, np.radians(20.0)
        for _ in range(60):  # bisection: the angle at which the force stands straight up
            a = 0.5 * (low + high)
            normal, chord = -by_hand(slim, np.array([np.cos(a), np.sin(a)]))
            slope = (chord + drag_n * np.cos(a) ** 2) / normal
            low, high = (a, high) if slope > np.tan(pitch) else (low, a)
        speed = np.sqrt(
            weight_n * np.cos(pitch) / (pressure * slim["cn"] * np.sin(np.pi / 2 * a / np.radians(25)))
        )
        # The nose is down by the pitch and the plate sinks through its own plane too.
        assert x[7] == pytest.approx(speed * np.cos(a), rel=1e-6)
        assert x[9] == pytest.approx(-speed * np.sin(a), rel=1e-6)
        vertical = (rotation_matrix(x[3:7]) @ x[7:10])[2]
        speeds.append(speed)
        glides.append(np.arcsin(-vertical / speed))
    assert glides[0] < glides[1] < glides[2] and speeds[0] < speeds[1] < speeds[2]


def test_lift_follows_wagners_function_after_a_step_in_angle_of_attack():
    heavy = plate(FOIL | {"lag": True}, 1e5)
    quick = plate(FOIL, 1e5)
    x = heavy.state()
    x[7:10] = [2.0, 0.0, 0.02]
    states = heavy.rollout(x, 400, 0.005)
    travelled = 2.0 * 0.005 * np.arange(401) / 0.1  # half chords
    lift = np.array([heavy.bias(state)[2] / quick.bias(state[:13])[2] for state in states])
    wagner = 1 - 0.165 * np.exp(-0.0455 * travelled) - 0.335 * np.exp(-0.3 * travelled)
    assert lift[0] == pytest.approx(0.5, abs=1e-3)
    assert np.abs(lift - wagner).max() < 1e-3


@pytest.mark.parametrize(
    "k, theodorsen", [(0.1, 0.8319 - 0.1723j), (0.5, 0.5979 - 0.1507j), (1.0, 0.5394 - 0.1003j)]
)
def test_beating_foil_lags_by_theodorsens_function(k, theodorsen):
    # On a carrier so heavy that it keeps its speed; the table is NACA report 496, appendix.
    carrier = {"name": "carrier", "mass_kg": 1e6, "inertia_kg_m2": [1e6, 1e6, 1e6, 0, 0, 0]}
    beat = {"name": "beat", "kind": "prismatic", "axis": [0, 0, 1], "mode": "driven"}
    moving = {"name": "foil", "mass_kg": 1e-6, "inertia_kg_m2": [1e-6, 1e-6, 1e-6, 0, 0, 0]}
    moving |= {"parent": "carrier", "joint": beat}
    lagging = model_of({"body": [carrier, moving | {"foil": [FOIL | {"lag": True}]}]}, gravity=False)
    quick = model_of({"body": [carrier, moving | {"foil": [FOIL]}]}, gravity=False)
    w = k * 2.0 / 0.1  # rad/s at 2 m/s and half a chord of 0.1 m
    steps = 64 * 30
    dt = 2 * np.pi / w / 64
    t = 0.5 * dt * np.arange(2 * steps + 1)
    driven_motion = (
        1e-4 * np.stack([np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)], axis=1)[:, :, None]
    )
    x = lagging.state()
    x[7] = 2.0
    states = lagging.rollout(x, steps, dt, driven=driven_motion)[-64:]
    turning = np.exp(-1j * w * dt * np.arange(steps - 63, steps + 1))
    lagged = sum(lagging.bias(state)[6] * c for state, c in zip(states, turning, strict=True))
    at_once = sum(quick.bias(state[: quick.size])[6] * c for state, c in zip(states, turning, strict=True))
    # Jones' two terms miss the exact function by up to 0.02.
    assert abs(lagged / at_once - theodorsen) < 0.02


def test_lag_is_at_the_end_of_a_state_and_moves_nothing_else():
    tables = add_water(random_tables(4, 5), 4)
    plain = model_of(tables)
    tables["body"][3]["foil"] = [FOIL | {"lag": True}, FOIL]
    tables["body"][1]["foil"] = [FOIL | {"lag": True}]
    model = model_of(tables)
    assert model.size == plain.size + 4 and model.lags == slice(plain.size, plain.size + 4)
    assert model.q == plain.q and model.qd == plain.qd and (model.state()[model.lags] == 0).all()
    x = random_state(model, np.random.default_rng(4), 0.5)
    assert np.abs(model.mass_matrix(x) - plain.mass_matrix(x[: plain.size])).max() == 0
    assert np.abs(model.bias(x) - plain.bias(x[: plain.size])).max() > 1e-3
    dry = model_of(tables, fluid=False)
    assert dry.size == model.size
    assert (dry.rollout(x, 5, 0.001)[-1][dry.lags] == x[model.lags]).all()
    for method in ("rk4", "semi-implicit"):
        ends = [model.rollout(x, n, 0.05 / n, method=method)[-1] for n in (50, 400, 800)]
        assert np.abs(ends[1] - ends[2]).max() < 0.6 * np.abs(ends[0] - ends[2]).max()
        assert np.abs(ends[2][model.lags] - x[model.lags]).max() > 1e-3
    x[-1] = np.nan
    with pytest.raises(ValueError, match=r"the lag of a foil, is nan; give a finite number[.]$"):
        model.bias(x)


def test_vehicle_with_lag_floats_at_rest():
    ball = {"kind": "ellipsoid", "semi_axes_m": [0.1, 0.1, 0.1]}
    model = plate(FOIL | {"lag": True}, gravity=True, hull=ball)
    x = model.state()
    x[7:] = 0.1
    rest = find_equilibrium(model, x)
    assert not rest[7:].any() and np.abs(model.bias(rest)).max() < 1e-9


def test_foil_force_scales_with_the_immersed_share_of_its_hull():
    ball = {"kind": "ellipsoid", "semi_axes_m": [0.1, 0.1, 0.1]}
    model, without = (plate(foil, gravity=True, hull=ball) for foil in (FOIL, None))
    x = model.state()
    x[7:10] = [1.0, 0.0, 0.2]
    whole = plate(None, gravity=True).bias(x)[0] - plate(FOIL, gravity=True).bias(x)[0]
    for z, share in ((-1.0, 1.0), (0.0, 0.5), (0.05, 0.15625), (0.2, 0.0)):
        x[2] = z
        assert without.bias(x)[0] - model.bias(x)[0] == pytest.approx(share * whole, abs=1e-9)


FILE = """
[[plant.tree.body]]
name = "plate"
mass_kg = 1.0
inertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]
[[plant.tree.body.foil]]
chord = [1, 0, 0]
normal = [0, 0, 1]
area_m2 = 0.1
"""
BROKEN = [
    ("area_m2 = 0.1", "area_m2 = 0.0", "area_m2"),
    ("area_m2 = 0.1\n", "", "has no area_m2"),
    ("chord = [1, 0, 0]", "chord = [0, 0, 0]", "the chord has no length"),
    ("normal = [0, 0, 1]", "normal = [-2, 0, 0]", "it has no length or is parallel to the chord"),
    ("area_m2 = 0.1", "area_m2 = 0.1\nlag = true", "the lag needs the chord's length; give chord_m too"),
    ("area_m2 = 0.1", "area_m2 = 0.1\nsuction = 1.1", "suction"),
    ("area_m2 = 0.1", "area_m2 = 0.1\nstall_deg = 50.0", "stall_deg"),
]


@pytest.mark.parametrize("old, new, words", BROKEN)
def test_wrong_foil_is_refused_with_one_sentence(old, new, words):
    assert load(VehicleFile.parse(FILE, "glider.toml")).size == 13 and old in FILE
    with pytest.raises(VehicleFileError, match=f"^glider.toml: plant.tree.*{re.escape(words)}.*[.]$"):
        load(VehicleFile.parse(FILE.replace(old, new), "glider.toml"))
