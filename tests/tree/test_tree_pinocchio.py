"""Trees without water agree with Pinocchio; so does added mass that acts like a rigid body."""

from __future__ import annotations

import numpy as np
import pytest
from trees import Twin, add_water, apart, model_of, random_state, random_tables
from undulation import FILE

from caudal import sim_plant

CLOSE = 1e-10
TREES = [(0, 2), (1, 5), (2, 9), (3, 14), (4, 20)]


@pytest.mark.parametrize("seed, count", TREES)
def test_random_tree_agrees_with_pinocchio(seed, count):
    model = model_of(random_tables(seed, count))
    twin, rng = Twin(model), np.random.default_rng(seed)
    for _ in range(40):  # 200 states in all
        x = random_state(model, rng)
        given = rng.standard_normal(model.freedoms)
        assert apart(model.mass_matrix(x), twin.mass_matrix(x)) < CLOSE
        assert apart(model.bias(x), twin.bias(x)) < CLOSE
        assert apart(model.forward_dynamics(x, given), twin.forward_dynamics(x, given)) < CLOSE
        assert apart(model.inverse_dynamics(x, given), twin.inverse_dynamics(x, given)) < CLOSE


def test_isotropic_added_mass_equals_a_body_without_weight():
    tables = random_tables(7, 8)
    for i, body in enumerate(tables["body"]):
        diagonal = [0.5 + 0.1 * i] * 3 + [0.011, 0.012, 0.013]
        body["added_inertia"] = {"at_m": [0.05, -0.02, 0.01 * i], "diagonal": diagonal}
    model = model_of(tables, gravity=False)
    twin, rng = Twin(model, carried=True), np.random.default_rng(7)
    twin.pin.gravity.linear = np.zeros(3)
    for _ in range(40):
        x, given = random_state(model, rng), rng.standard_normal(model.freedoms)
        assert apart(model.mass_matrix(x), twin.mass_matrix(x)) < CLOSE
        assert apart(model.forward_dynamics(x, given), twin.forward_dynamics(x, given)) < CLOSE
        assert apart(model.inverse_dynamics(x, given), twin.inverse_dynamics(x, given)) < CLOSE


def test_bodies_may_come_before_their_parents_in_the_file():
    tables = random_tables(11, 9)
    shuffled = {**tables, "body": [tables["body"][i] for i in (0, 8, 3, 5, 1, 7, 2, 6, 4)]}
    model, twin_rng = model_of(shuffled), np.random.default_rng(11)
    twin = Twin(model)
    for _ in range(10):
        x, given = random_state(model, twin_rng), twin_rng.standard_normal(model.freedoms)
        assert apart(model.forward_dynamics(x, given), twin.forward_dynamics(x, given)) < CLOSE


def test_base_with_driven_joints_accelerates_as_in_pinocchio():
    model = sim_plant.load(FILE, fluid=False)
    twin, rng = Twin(model), np.random.default_rng(1)
    for _ in range(200):
        x, accelerations = random_state(model, rng), rng.standard_normal(len(model.driven))
        mass, bias = twin.mass_matrix(x), twin.bias(x)
        expected = np.linalg.solve(mass[:6, :6], -bias[:6] - mass[:6, 6:] @ accelerations)
        assert apart(model.forward_dynamics(x, None, accelerations)[:6], expected) < CLOSE


@pytest.mark.parametrize("seed", range(4))
def test_mass_matrix_bias_forward_and_inverse_dynamics_agree_with_everything_on(seed):
    tables = add_water(random_tables(seed, 9, modes=("free", "torque")), seed)
    tables["current_m_s"] = [0.3, -0.2, 0.1]
    model, rng = model_of(tables), np.random.default_rng(seed)
    for _ in range(50):
        x, tau = random_state(model, rng), rng.standard_normal(model.freedoms)
        mass, bias = model.mass_matrix(x), model.bias(x)
        acceleration = model.forward_dynamics(x, tau)
        assert np.abs(mass - mass.T).max() < 1e-14 * np.abs(mass).max() and np.linalg.eigvalsh(mass)[0] > 0
        assert np.abs(mass @ acceleration + bias - tau).max() < CLOSE * np.abs(bias).max()
        assert np.abs(model.inverse_dynamics(x, acceleration) - tau).max() < CLOSE * np.abs(bias).max()


@pytest.mark.parametrize("seed", range(1, 4))
def test_driven_joints_move_exactly_as_given_and_free_ones_by_the_same_dynamics(seed):
    tables = add_water(random_tables(seed, 12, modes=("free", "driven", "torque")), seed)
    model, rng = model_of(tables), np.random.default_rng(seed)
    assert model.driven
    given = [k for name in model.driven for k in range(model.v[name].start, model.v[name].stop)]
    free = [k for k in range(model.freedoms) if k not in given]
    for _ in range(20):
        x, tau = random_state(model, rng), rng.standard_normal(model.freedoms)
        accelerations = rng.standard_normal(len(given))
        acceleration = model.forward_dynamics(x, tau, accelerations)
        needed = model.inverse_dynamics(x, acceleration)
        assert (acceleration[given] == accelerations).all()
        assert np.abs(needed - tau)[free].max() < CLOSE * np.abs(needed).max()
