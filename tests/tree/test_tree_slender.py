"""Slender links are resisted, and edges shed water, as Taylor and Lighthill describe."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys
from trees import add_water, model_of, random_state, random_tables

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.sim_plant import load
from caudal.sim_plant.tree.arrays import rotation_matrix
from caudal.sim_plant.tree.equilibrium import rotated

LINK = {"from_m": [0.15, 0.02, 0.0], "to_m": [-0.25, 0.0, 0.05], "diameter_m": 0.06, "cn": 1.1, "ct": 0.02}
EDGE = {"at_m": [-0.2, 0.01, 0.0], "out": [-1.0, 0.0, 0.0], "across": [0.0, 0.0, 1.0], "span_m": 0.1}
SPEED = st.floats(-3, 3)


def rod(gravity: bool = False, **more):
    body = {"name": "rod", "mass_kg": 1.0, "inertia_kg_m2": [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]}
    return model_of({"body": [body | more]}, gravity=gravity)


@cache
def bare(gravity: bool):
    return rod(gravity)


def push(model, x: np.ndarray, gravity: bool = False) -> np.ndarray:
    """Force and torque of the water on a lone body in this state, body axes."""
    return bare(gravity).bias(x) - model.bias(x)


def moving(model, v, w=0.0) -> np.ndarray:
    x = model.state()
    x[7:10], x[10:13] = v, w
    return x


def resisted(v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Force and torque on LINK, slice by thin slice."""
    start, end = np.array(LINK["from_m"]), np.array(LINK["to_m"])
    length = np.linalg.norm(end - start)
    along = (end - start) / length
    places = start + (np.arange(4000)[:, None] + 0.5) / 4000 * (end - start)
    there = v + np.cross(w, places)
    v_t = (there @ along)[:, None] * along
    v_n = there - v_t
    normal = 0.06 * 1.1 * np.linalg.norm(v_n, axis=1, keepdims=True) * v_n
    tangent = np.pi * 0.06 * 0.02 * np.linalg.norm(v_t, axis=1, keepdims=True) * v_t
    force = -500 * (normal + tangent) * length / 4000
    return np.concatenate([force.sum(axis=0), np.cross(places, force).sum(axis=0)])


def test_link_resistance_acts_along_and_across_at_every_point():
    rng, errors = np.random.default_rng(1), {}
    motions = [(rng.standard_normal(3), 5 * rng.standard_normal(3)) for _ in range(20)]
    for points in (1, 4, 16):
        model = rod(slender=[LINK | {"points": points}])
        v = motions[0][0]
        assert push(model, moving(model, v)) == pytest.approx(resisted(v, np.zeros(3)), rel=1e-9)
        found = [(push(model, moving(model, v, w)), resisted(v, w)) for v, w in motions]
        errors[points] = max(np.abs(ours - slices).max() / np.abs(slices).max() for ours, slices in found)
    # Where a turning link stands still amid its length |v| v has a kink, which Gauss points meet slowly.
    assert errors[16] < errors[4] / 10 < errors[1] / 100 and errors[16] < 1e-3


def test_link_and_edge_scale_with_the_immersed_share_of_a_circle():
    level = {"from_m": [0.1, 0.0, 0.0], "to_m": [-0.1, 0.0, 0.0], "diameter_m": 0.06}
    for parts in ({"slender": [level]}, {"edge": [EDGE | {"at_m": [0.0, 0.0, 0.0], "span_m": 0.06}]}):
        model = rod(gravity=True, **parts)
        x = moving(model, [1.0, 0.3, 0.0])
        x[2] = -1.0
        whole, wet = push(model, x, True)[1], []
        heights = np.linspace(-0.031, 0.031, 63)
        for x[2] in heights:
            wet.append(push(model, x, True)[1] / whole)
        y = (np.arange(100_000) + 0.5) / 100_000 * 0.06 - 0.03  # strips of the circle, by hand
        widths = 2 * np.sqrt(0.03**2 - y**2) * 0.06 / 100_000
        by_hand = [widths[y + z < 0].sum() / (np.pi * 0.03**2) for z in heights]
        assert np.abs(np.array(wet) - by_hand).max() < 1e-4
        assert wet[0] == 1.0 and wet[-1] == 0.0 and (np.diff(wet) <= 0).all()


@settings(max_examples=200, deadline=None)
@given(
    v=st.tuples(SPEED, SPEED, SPEED),
    w=st.tuples(SPEED, SPEED, SPEED),
    z=st.floats(-0.1, 0.1),
    roll=st.floats(-4, 4),
)
def test_links_and_edges_take_energy_out_of_still_water_at_any_motion(v, w, z, roll):
    for parts in ({"slender": [LINK]}, {"edge": [EDGE, EDGE | {"across": [0.0, 1.0, 0.2]}]}):
        model = rod(gravity=True, **parts)
        x = rotated(moving(model, v, w), roll, 0.3)
        x[2] = z
        assert x[7:13] @ push(model, x, True) <= 1e-11 * (1 + np.abs(x[7:13]).max() ** 3)


def test_edge_power_is_the_energy_of_the_shed_water():
    model = rod(edge=[EDGE])
    carried = 1000 * np.pi * 0.1**2 / 4
    for u, w in ((1.0, 0.2), (0.5, -0.3), (2.0, 1.0)):
        force = push(model, moving(model, [u, w, 0.0]))
        assert force[:3] @ [u, w, 0.0] == pytest.approx(-0.5 * carried * w * w * u)
        assert force[0] == pytest.approx(0.5 * carried * w * w) and force[0] > 0  # it pulls forward
        assert force[5] == pytest.approx(-0.2 * force[1] - 0.01 * force[0])
        assert not push(model, moving(model, [-u, w, 0.0])).any()  # nothing leaves there


def test_edge_force_does_not_jump_where_water_begins_to_be_shed():
    model = rod(edge=[EDGE])
    angles = np.linspace(0.45 * np.pi, 0.55 * np.pi, 2001)
    forces = np.array([push(model, moving(model, [np.cos(a), np.sin(a), 0.1])) for a in angles])
    most = 1000 * np.pi * 0.1**2 / 4 * 15  # N a radian
    assert np.abs(np.diff(forces, axis=0)).max() < most * (angles[1] - angles[0])


def test_crossed_edges_make_a_round_end():
    round_end = [EDGE | {"at_m": [-0.2, 0.0, 0.0], "across": across} for across in ([0, 0, 1], [0, 1, 0])]
    model = rod(edge=round_end)
    first = push(model, moving(model, [1.0, 0.3, 0.0]))
    for angle in (0.4, 1.9, 3.3):
        c, s = np.cos(angle), np.sin(angle)
        force = push(model, moving(model, [1.0, 0.3 * c, 0.3 * s]))
        assert force[0] == pytest.approx(first[0])
        assert force[1:3] == pytest.approx([first[1] * c, first[1] * s])


LENGTH, SPAN, CARRIED = 0.3, 0.1, 1000 * np.pi * 0.1**2 / 4


def chain(edge: bool = True, slender: bool = False):
    """Three links in a row, each with its added mass; joints driven about z; x forward, heads at origins."""
    bodies = []
    for i in range(3):
        side, turn = CARRIED * LENGTH, CARRIED * LENGTH**3 / 12
        body = {"name": f"link_{i}", "mass_kg": 2.0, "com_m": [-LENGTH / 2, 0.0, 0.0]}
        body["inertia_kg_m2"] = [0.01, 0.03, 0.03, 0.0, 0.0, 0.0]
        body["added_inertia"] = {
            "at_m": [-LENGTH / 2, 0.0, 0.0],
            "diagonal": [0.0, side, 0.0, 0.0, 0.0, turn],
        }
        if i:
            body["parent"] = f"link_{i - 1}"
            body["joint"] = {"name": f"bend_{i}", "mode": "driven", "at_m": [-LENGTH, 0.0, 0.0]}
        if slender:
            body["slender"] = [{"from_m": [0.0] * 3, "to_m": [-LENGTH, 0.0, 0.0], "diameter_m": SPAN}]
        bodies.append(body)
    if edge:
        bodies[2]["edge"] = [{"at_m": [-LENGTH, 0.0, 0.0], "span_m": SPAN}]
    return {"body": bodies}


def motion(t: float) -> np.ndarray:
    """x, y, heading, two joint angles of a chain that swims, in no particular way."""
    return np.array(
        [0.8 * t + 0.02 * np.sin(3 * t), 0.05 * np.sin(4 * t), 0.2 * np.sin(4 * t + 1)]
        + [0.3 * np.sin(5 * t - 1), 0.4 * np.sin(5 * t - 2)]
    )


def rate(function, t: float, h: float = 1e-4):
    """By a five-point difference."""
    near, far = function(t + h) - function(t - h), function(t + 2 * h) - function(t - 2 * h)
    return (8 * near - far) / (12 * h)


def places(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Of 3 x 200 slices: position, unit tangent towards the head; the tail's end last."""
    x, y, *angles = motion(t)
    at, heads, ways = np.array([x, y]), [], []
    for heading in np.cumsum(angles):
        way = np.array([np.cos(heading), np.sin(heading)])
        heads.append(at - LENGTH * (np.arange(200)[:, None] + 0.5) / 200 * way)
        ways.append(np.tile(way, (200, 1)))
        at = at - LENGTH * way
    return np.concatenate([*heads, at[None]]), np.concatenate([*ways, ways[-1][:1]])


def water_momentum(t: float) -> np.ndarray:
    """Momentum of the added mass of the chain: along x, along y, about the world's origin."""
    (at, way), velocity = places(t), rate(lambda s: places(s)[0], t)
    normal = np.column_stack([-way[:, 1], way[:, 0]])
    momentum = (CARRIED * LENGTH / 200 * np.sum(velocity * normal, axis=1)[:, None] * normal)[:-1]
    turning = at[:-1, 0] * momentum[:, 1] - at[:-1, 1] * momentum[:, 0]
    return np.array([*momentum.sum(axis=0), turning.sum()])


@pytest.mark.parametrize("t", [0.1, 0.4, 0.9, 1.5])
def test_chain_with_an_edge_at_its_tail_feels_lighthills_reactive_force(t):
    (at, way), velocity = places(t), rate(lambda s: places(s)[0], t)[-1]
    tangent, normal, end = way[-1], np.array([-way[-1, 1], way[-1, 0]]), at[-1]
    u, w = velocity @ tangent, velocity @ normal
    assert u > abs(w) / 2 and abs(w) > 0.02
    shed = CARRIED * (0.5 * w * w * tangent - w * u * normal)
    reaction = np.array([*shed, end[0] * shed[1] - end[1] * shed[0]]) - rate(water_momentum, t)
    wet, dry = model_of(chain(), gravity=False), model_of(chain(), gravity=False, fluid=False)
    now, speed, change = motion(t), rate(motion, t), rate(lambda s: rate(motion, s), t)
    x = rotated(wet.state(), 0.0, 0.0, now[2])
    base = rotation_matrix(x[3:7])
    x[:2], x[12] = now[:2], speed[2]
    x[7:10] = base.T @ [*speed[:2], 0.0]
    acceleration = np.zeros(wet.freedoms)
    acceleration[:3] = base.T @ [*change[:2], 0.0] - np.cross(x[10:13], x[7:10])
    acceleration[5] = change[2]
    for k, name in enumerate(wet.joints):
        x[wet.q[name]], x[wet.qd[name]], acceleration[wet.v[name]] = now[3 + k], speed[3 + k], change[3 + k]
    asked = dry.inverse_dynamics(x, acceleration) - wet.inverse_dynamics(x, acceleration)
    force = base @ asked[:3]
    torque = asked[5] + now[0] * force[1] - now[1] * force[0]
    assert np.abs([force[0], force[1], torque] - reaction).max() < 1e-4 * np.abs(reaction).max()


def swum(tables: dict, lag_rad: float) -> float:
    """Metres forward in 4 s of a wave that runs down the chain (lag above 0) or up; it grows for a second."""
    model = model_of(tables, gravity=False)
    t = 0.001 * np.arange(4001)
    g = np.minimum(t, 1.0)
    grown = np.array(
        [g**3 * (10 - 15 * g + 6 * g**2), 30 * g**2 * (1 - g) ** 2, 60 * g * (1 - g) * (1 - 2 * g)]
    )
    driven_motion = np.zeros((4001, 3, 2))
    for k in range(2):
        phase = 6 * t - lag_rad * k
        wave = 0.5 * np.array([np.sin(phase), 6 * np.cos(phase), -36 * np.sin(phase)])
        driven_motion[:, 0, k], driven_motion[:, 1, k] = (
            grown[0] * wave[0],
            grown[0] * wave[1] + grown[1] * wave[0],
        )
        driven_motion[:, 2, k] = grown[0] * wave[2] + 2 * grown[1] * wave[1] + grown[2] * wave[0]
    ends = model.rollout(model.state(), 2000, 0.002, driven=driven_motion, every=2000)
    return float(model.centre_of_mass(ends[1])[0] - model.centre_of_mass(ends[0])[0])


def test_chain_swims_forward_with_a_wave_to_the_tail_and_backward_with_the_reverse():
    by_resistance = chain(edge=False, slender=True)
    assert swum(chain(slender=True), 1.5) > 0.3 > swum(by_resistance, 1.5) > 0.1
    assert swum(chain(slender=True), -1.5) < -0.1 and swum(by_resistance, -1.5) < -0.1
    assert abs(swum(by_resistance, 0.0)) < 1e-3  # a bend that comes and goes


def everything(seed: int, count: int) -> dict:
    """A random tree across the surface with all that water does on every body, without lag."""
    tables, rng = (
        add_water(random_tables(seed, count, ["revolute", "spherical", "fixed"]), seed),
        np.random.default_rng(seed),
    )
    for body in tables["body"]:
        foil = {"at_m": rng.uniform(-0.1, 0.1, 3).tolist(), "area_m2": 0.01, "suction": float(rng.random())}
        foil |= {"chord": rng.standard_normal(3).tolist(), "normal": rng.standard_normal(3).tolist()}
        body["foil"], body["slender"] = [foil], [LINK | {"diameter_m": 0.03}]
        body["edge"] = [EDGE | {"out": rng.standard_normal(3).tolist()}]
    return tables


@pytest.mark.parametrize("seed", [8, 9])
def test_energy_never_grows_with_all_forces_of_still_water(seed):
    model = model_of(everything(seed, 7))
    x = random_state(model, np.random.default_rng(seed), 0.3)
    energy = np.array([model.energy(state) for state in model.rollout(x, 8000, 0.0005, every=20)])
    assert (np.diff(energy) < 1e-9 * np.ptp(energy)).all()
    assert energy[-1] < energy[0]


def test_error_falls_with_the_step_with_everything_on():
    model = model_of(everything(11, 5))
    x = random_state(model, np.random.default_rng(11), 0.2)
    ends = [model.rollout(x, n, 0.4 / n, every=n)[-1] for n in (200, 400, 6400)]
    ratio = np.abs(ends[0] - ends[2]).max() / np.abs(ends[1] - ends[2]).max()
    assert ratio > 3 and np.abs(ends[1] - ends[2]).max() < 1e-4


def test_rollout_allocates_nothing_with_everything_on_and_waves():
    tables = everything(8, 4) | {"wave": [{"amplitude_m": 0.1, "period_s": 2.0}]}
    tables["body"][0]["foil"][0] |= {"lag": True, "chord_m": 0.1}
    model = model_of(tables)
    model.rollout(model.state(), 1, 0.001)
    _nrt_python.memsys_enable_stats()
    counts = []
    for steps in (10, 1000):
        before = rtsys.get_allocation_stats().alloc
        model.rollout(model.state(), steps, 0.001, every=steps)
        counts.append(rtsys.get_allocation_stats().alloc - before)
    assert counts[0] == counts[1]


FILE = """
[[plant.tree.body]]
name = "rod"
mass_kg = 1.0
inertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]
slender = [{ from_m = [0.1, 0, 0], to_m = [-0.1, 0, 0], diameter_m = 0.05 }]
edge = [{ at_m = [-0.1, 0, 0], out = [-1, 0, 0], across = [0, 0, 1], span_m = 0.05 }]
"""
BROKEN = [
    ("to_m = [-0.1, 0, 0]", "to_m = [0.1, 0, 0]", "the link has no length"),
    ("diameter_m = 0.05", "diameter_m = 0.0", "diameter_m"),
    (
        "out = [-1, 0, 0]",
        "out = [0, 0, 0]",
        "it has no length; point it in the direction in which the water is shed",
    ),
    ("across = [0, 0, 1]", "across = [3, 0, 0]", "it has no length or is parallel to `out`"),
    ("span_m = 0.05", "span_m = -0.05", "span_m"),
]


@pytest.mark.parametrize("old, new, words", BROKEN)
def test_wrong_slender_body_is_refused_with_one_sentence(old, new, words):
    assert load(VehicleFile.parse(FILE, "swimmer.toml")).size == 13 and old in FILE
    with pytest.raises(VehicleFileError, match=f"^swimmer.toml: plant.tree.*{re.escape(words)}.*[.]$"):
        load(VehicleFile.parse(FILE.replace(old, new), "swimmer.toml"))
