"""Chains of slides and hinges, of which soft joints are made, agree with Pinocchio."""

from __future__ import annotations

import numpy as np
from trees import Twin, apart, model_of, random_inertia, random_state

CLOSE = 1e-10
PARTS = [("prismatic", [1, 0, 0]), ("revolute", [0, 1, 0]), ("revolute", [0, 0, 1]), ("prismatic", [1, 0, 0])]


def chain(rng: np.random.Generator) -> dict:
    """Three modules; between two of them four joints at one place, of whose bodies only one has mass."""
    bodies = []
    for m in range(3):
        module = {"name": f"m{m}", "mass_kg": 12.0, "com_m": rng.uniform(-0.1, 0.3, 3).tolist()}
        module["inertia_kg_m2"] = random_inertia(rng, 12.0)
        if m == 0:
            bodies.append(module)
            continue
        for k, (kind, axis) in enumerate(PARTS):
            joint = {"name": f"q{m}_{k}", "kind": kind, "axis": axis}
            joint |= {"stiffness": float(rng.uniform(1, 5)), "rest": float(rng.uniform(-0.5, 0.5))}
            joint |= {"damping": float(rng.uniform(0, 1)), "at_m": [0.6, 0, 0] if k == 0 else [0, 0, 0]}
            part = {"name": f"part_{m}_{k}", "mass_kg": 0.0} if k < 3 else module
            if k == 0:
                part |= {"mass_kg": 1.0, "inertia_kg_m2": random_inertia(rng, 1.0)}
            parent = f"m{m - 1}" if k == 0 else f"part_{m}_{k - 1}"
            bodies.append({**part, "parent": parent, "joint": joint})
    return {"body": bodies}


def test_soft_joint_chain_agrees_with_pinocchio_in_mass_matrix_and_bias():
    rng = np.random.default_rng(0)
    model = model_of(chain(rng), fluid=False)
    twin = Twin(model)
    for _ in range(50):
        x = random_state(model, rng)
        springs = np.zeros(model.freedoms)
        for body in model.spec.body:
            if body.joint:
                q, qd = x[model.q[body.joint.name]], x[model.qd[body.joint.name]]
                pull = body.joint.stiffness * (q - body.joint.rest) + body.joint.damping * qd
                springs[model.v[body.joint.name]] = pull
        given = rng.standard_normal(model.freedoms)
        assert apart(model.mass_matrix(x), twin.mass_matrix(x)) < CLOSE
        assert apart(model.bias(x), twin.bias(x) + springs) < CLOSE
        assert apart(model.forward_dynamics(x, given), twin.forward_dynamics(x, given - springs)) < CLOSE
