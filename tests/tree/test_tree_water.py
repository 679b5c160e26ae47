"""Water lifts bodies, drags them and moves with them, each by its formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import model_of, random_inertia, random_state

from caudal.sim_plant.tree.arrays import rotation_matrix
from caudal.sim_plant.tree.equilibrium import find_equilibrium, rotated

TUBE = {"kind": "tube", "from_m": [0.1, 0.02, 0.0], "to_m": [-0.12, 0.0, 0.01], "radius_m": 0.05}
LOBED = TUBE | {"lobes": 3, "lobe_share": 0.06, "gauss": 4, "apex": [0.0, 0.3, 1.0]}
ROUND = {"kind": "ellipsoid", "at_m": [0.02, 0.0, 0.01], "semi_axes_m": [0.12, 0.05, 0.03]}
HULLS = [TUBE, LOBED, ROUND]


def body(**more) -> dict:
    own = {"name": "hull", "mass_kg": 1.2, "com_m": [0.01, 0.0, -0.02]}
    return own | {"inertia_kg_m2": [0.002, 0.006, 0.006, 0.0, 0.0, 0.0]} | more


def one(hull: dict | None = None, **more):
    tables = {"body": [body(**({"hull": hull} if hull else {}))]}
    tables["body"][0] |= {k: v for k, v in more.items() if k in ("drag", "added_inertia")}
    return model_of(tables | {k: v for k, v in more.items() if k == "current_m_s"})


def below(points: np.ndarray, heights: np.ndarray) -> tuple[float, np.ndarray]:
    """Area and centroid of a polygon's part with height < 0: every edge cut by hand, the slow way."""
    kept = []
    for k in range(len(points)):
        p, q, hp, hq = points[k - 1], points[k], heights[k - 1], heights[k]
        if (hp < 0) != (hq < 0):
            kept.append(p + hp / (hp - hq) * (q - p))
        if hq < 0:
            kept.append(q)
    if len(kept) < 3:
        return 0.0, np.zeros(2)
    a, b = np.array(kept), np.roll(kept, -1, axis=0)
    twice = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return twice.sum() / 2, ((a + b) * twice[:, None]).sum(axis=0) / (3 * twice.sum())


@settings(max_examples=60, deadline=None)
@given(z=st.floats(-0.09, 0.09), roll=st.floats(-4, 4), pitch=st.floats(-1.5, 1.5))
def test_tube_lift_is_that_of_the_immersed_polygons(z, roll, pitch):
    model = one(LOBED)
    x = rotated(rotated(model.state(), roll), 0.0, pitch)
    x[2] = z
    hull = model.spec.body[0].hull
    start, end = np.array(hull.from_m), np.array(hull.to_m)
    along = (end - start) / np.linalg.norm(end - start)
    apex = np.array(hull.apex) - along * np.dot(hull.apex, along)
    apex /= np.linalg.norm(apex)
    across, up = np.cross(apex, along), rotation_matrix(x[3:7])[2]
    gauss, weights = np.polynomial.legendre.leggauss(hull.gauss)
    force, torque = np.zeros(3), np.zeros(3)
    for s, w in zip(gauss, weights, strict=True):
        centre = start + (1 + s) / 2 * (end - start)
        points = hull.corners_m()
        heights = z + up @ centre + points @ np.array([up @ across, up @ apex])
        area, middle = below(points, heights)
        lift = 1000 * 9.81 * area * w / 2 * np.linalg.norm(end - start) * up
        force += lift
        torque += np.cross(centre + middle[0] * across + middle[1] * apex, lift)
    weight = -1.2 * 9.81 * up
    expected = -np.concatenate([force + weight, torque + np.cross([0.01, 0.0, -0.02], weight)])
    assert np.abs(model.bias(x) - expected).max() < 1e-10


@pytest.mark.parametrize("hull", HULLS)
def test_lift_is_the_slope_of_the_potential_energy(hull):
    model, rng, nudge = one(hull), np.random.default_rng(0), 1e-6
    for _ in range(50):
        x = random_state(model, rng, 0.0)
        x[2] = rng.uniform(-0.08, 0.08)
        base, force = rotation_matrix(x[3:7]), model.bias(x)
        for axis in range(3):
            to = nudge * base[:, axis]
            here, there = x.copy(), x.copy()
            here[:3] -= to
            there[:3] += to
            assert (model.energy(there) - model.energy(here)) / (2 * nudge) == pytest.approx(
                force[axis], abs=2e-6
            )
            slope = (model.energy(rotated(x, *to)) - model.energy(rotated(x, *-to))) / (2 * nudge)
            assert slope == pytest.approx(force[3 + axis], abs=2e-6)


@pytest.mark.parametrize("hull", HULLS)
def test_lift_does_not_jump_at_the_surface(hull):
    model = one(hull)
    x = rotated(model.state(), 0.4, 0.3)
    heights = np.linspace(-0.3, 0.3, 20_001)
    lift = np.empty((len(heights), 6))
    for k, z in enumerate(heights):
        x[2] = z
        lift[k] = model.bias(x)
    widest_n_m = 1000 * 9.81 * 0.25 * 0.12  # of the water plane, generously
    assert np.abs(np.diff(lift, axis=0)).max() < widest_n_m * (heights[1] - heights[0])


def test_hulls_displace_their_volume_deep_down_and_nothing_above_the_water():
    polygon = 0.5 * 48 * np.sin(2 * np.pi / 48) * 0.05**2 * np.linalg.norm([0.22, 0.02, 0.01])
    for hull, volume in ((TUBE, polygon), (ROUND, 4 / 3 * np.pi * 0.12 * 0.05 * 0.03)):
        model = one(hull)
        x = rotated(model.state(), 1.0)
        for z, displaced in ((-5.0, volume), (5.0, 0.0)):
            x[2] = z
            upward = rotation_matrix(x[3:7]) @ model.bias(x)[:3]
            assert np.abs(upward - [0, 0, 9.81 * (1.2 - 1000 * displaced)]).max() < 1e-9


def test_body_floats_where_it_displaces_its_weight():
    model = one(ROUND | {"semi_axes_m": [0.2, 0.1, 0.08]})
    x = find_equilibrium(model, rotated(model.state(), 0.2, 0.1))
    assert np.abs(model.bias(x)).max() < 1e-9
    assert model.energies(x)["buoyancy"] > 0


def test_body_with_added_mass_moves_by_kirchhoffs_equations():
    rng = np.random.default_rng(3)
    root = rng.standard_normal((6, 6))
    added = root.T @ root
    inertia = random_inertia(rng, 1.5)
    tables = {"body": [body(mass_kg=1.5, com_m=[0.0] * 3, inertia_kg_m2=inertia)]}
    tables["body"][0]["added_inertia"] = {"full": added[np.triu_indices(6)].tolist()}
    model = model_of(tables, gravity=False)
    whole = added.copy()
    whole[:3, :3] += 1.5 * np.eye(3)
    whole[3:, 3:] += model.spec.body[0].inertia()
    for _ in range(20):
        x, tau = random_state(model, rng), rng.standard_normal(6)
        v, w = x[7:10], x[10:13]
        p, h = np.split(whole @ x[7:13], 2)
        turning = np.concatenate([np.cross(w, p), np.cross(w, h) + np.cross(v, p)])
        assert np.allclose(model.forward_dynamics(x, tau), np.linalg.solve(whole, tau - turning), atol=1e-11)


WET = {
    "drag": {"at_m": [0.02, 0.0, 0.01], "linear": [0.5] * 6, "quadratic": [0.1, 2.0, 3.0, 0.1, 0.2, 0.3]},
    "added_inertia": {"at_m": [-0.03, 0.01, 0.0], "diagonal": [0.1, 0.8, 1.1, 0.001, 0.003, 0.002]},
}


def test_body_feels_no_current_when_it_drifts_with_it():
    model = one(current_m_s=[0.4, -0.3, 0.2], **WET)
    x = rotated(model.state(), 0.5, 0.2, 1.0)
    x[7:10] = rotation_matrix(x[3:7]).T @ [0.4, -0.3, 0.2]
    weight = np.concatenate([np.zeros(3), np.zeros(3)])
    weight[:3] = rotation_matrix(x[3:7]).T @ [0, 0, 1.2 * 9.81]
    weight[3:] = np.cross([0.01, 0.0, -0.02], weight[:3])
    assert np.abs(model.bias(x) - weight).max() < 1e-12


def test_run_in_a_current_is_the_run_in_still_water_plus_drift():
    current = np.array([0.4, -0.3, 0.0])
    moving, still = one(TUBE, current_m_s=current.tolist(), **WET), one(TUBE, **WET)
    x = rotated(moving.state(), 0.5, 0.2, 1.0)
    x[7:13] = [0.3, 0.1, -0.2, 1.0, -0.5, 0.8]
    y = x.copy()
    y[7:10] -= rotation_matrix(y[3:7]).T @ current
    x, y = moving.rollout(x, 2000, 0.001)[-1], still.rollout(y, 2000, 0.001)[-1]
    assert np.abs(x[:3] - 2.0 * current - y[:3]).max() < 1e-9
    assert np.abs(x[3:7] - y[3:7]).max() < 1e-9
    assert moving.energy(x) == pytest.approx(still.energy(y), abs=1e-9)


@pytest.mark.parametrize("axis", range(6))
def test_drag_grows_with_speed_and_its_square_up_to_the_terminal_speed(axis):
    tables = {"body": [body(com_m=[0.0] * 3, drag=WET["drag"] | {"at_m": [0.0] * 3})]}
    model = model_of(tables, gravity=False)
    tau, x = np.zeros(6), model.state()
    tau[axis] = 1.0
    x = model.rollout(x, 15_000, 0.002, tau, every=15_000)[-1]
    linear, quadratic = WET["drag"]["linear"][axis], WET["drag"]["quadratic"][axis]
    assert linear * x[7 + axis] + quadratic * x[7 + axis] ** 2 == pytest.approx(1.0, abs=1e-6)


def test_gravity_and_fluid_can_each_be_left_out():
    tables = {"body": [body(hull=TUBE) | WET]}
    x = model_of(tables).state()
    x[7:13] = 0.3
    dry, light = model_of(tables, fluid=False), model_of(tables, gravity=False)
    nothing = model_of(tables, gravity=False, fluid=False)
    assert dry.energies(x)["buoyancy"] == 0 and light.energies(x)["weight"] == 0
    assert np.abs(light.mass_matrix(x) - dry.mass_matrix(x)).max() > 0.1
    assert nothing.energy(nothing.rollout(x, 1000, 0.001)[-1]) == pytest.approx(nothing.energy(x), rel=1e-10)
