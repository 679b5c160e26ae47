"""The rigid-body model, compared with that of the identification and with numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from caudal.onboard.control.matrix import inverse
from caudal.onboard.control.motion import RigidBodyModel
from caudal.onboard.tables.thrusters import ModelTable
from caudal.tools.identify import rigid_body_model


def vehicle(seed):
    """A model with like sides, and its numbers by name."""
    rng = np.random.default_rng(seed)
    values = {name: float(rng.normal()) for name in rigid_body_model.ALL_SETS["quadratic"]}
    for k in range(1, 7):
        values[f"m{k}{k}"] = 10.0 + float(rng.uniform(0, 5))
    m = rigid_body_model.matrices(values)
    table = ModelTable(
        inertia=m.inertia.tolist(),
        drag=m.drag.tolist(),
        quadratic=m.quadratic.tolist(),
        net_weight_n=m.net_weight_n,
        righting_n_m=m.righting_n_m,
        lead_n_m=m.lead_n_m,
    )
    return RigidBodyModel(table), values


@given(st.integers(0, 10_000))
def test_rigid_body_model_agrees_with_the_identified_model(seed):
    model, values = vehicle(seed)
    rng = np.random.default_rng(seed + 1)
    v, a, (roll, pitch) = rng.normal(size=6), rng.normal(size=6), rng.uniform(-1, 1, 2)
    names = tuple(values)
    y = rigid_body_model.regressor(
        rigid_body_model.coefficients(names), rigid_body_model.features(v[None], a[None], roll, pitch)
    )
    wrench = y @ np.array([values[name] for name in names])
    out = [0.0] * 6
    model.accelerations(wrench, list(v), roll, pitch, out)
    assert np.allclose(out, a, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10_000))
def test_coriolis_forces_do_no_work(seed):
    values = vehicle(seed)[1]
    m = rigid_body_model.matrices({name: values[name] for name in rigid_body_model.INERTIA})
    conservative = RigidBodyModel(ModelTable(inertia=m.inertia.tolist(), drag=[[0.0] * 6] * 6))
    v = np.random.default_rng(seed).normal(size=6)
    out = [0.0] * 6
    conservative.load(list(v), 0.3, -0.2, out)
    assert abs(v @ out) < 1e-12 * np.linalg.norm(m.inertia) * np.linalg.norm(v) ** 3


@given(st.integers(0, 10_000))
def test_inverse_times_matrix_is_the_identity(seed):
    a = np.random.default_rng(seed).normal(size=(6, 6)) + 3 * np.eye(6)
    assert np.allclose(inverse(a.tolist()) @ a, np.eye(6), atol=1e-8)
