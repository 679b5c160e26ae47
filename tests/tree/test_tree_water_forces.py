"""The force of the water on each body: it is what the recursions use, and what formulas give."""

import numpy as np
import pytest
from msgspec.structs import replace

from caudal.sim_plant.tables.tree import Body, Drag, TreeSpec
from caudal.sim_plant.tables.water import Slender
from caudal.sim_plant.tree.arrays import rotation_matrix
from caudal.sim_plant.tree.model import Model
from caudal.tools.config.vehicle import open_vehicle

DENSITY = 1000.0
INERTIA = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)


def moved(model: Model, speed_m_s: tuple[float, float, float], deep_m: float = 5.0) -> np.ndarray:
    x = model.state()
    x[2], x[7:10] = -deep_m, speed_m_s
    return x


def test_water_force_of_a_moving_body_is_its_drag_at_its_centre():
    drag = Drag(at_m=(0.1, 0.0, 0.0), linear=(1.0, 2.0, 3.0, 0, 0, 0), quadratic=(4.0, 5.0, 6.0, 0, 0, 0))
    model = Model(TreeSpec(body=[Body(name="hull", mass_kg=1.0, inertia_kg_m2=INERTIA, drag=drag)]))
    (forces,) = model.water_forces(moved(model, (0.5, -0.3, 0.2)))
    force_n = [-(1.0 + 4.0 * 0.5) * 0.5, (2.0 + 5.0 * 0.3) * 0.3, -(3.0 + 6.0 * 0.2) * 0.2]
    assert forces[:3] == pytest.approx(force_n, rel=1e-12)
    assert forces[3:] == pytest.approx(np.cross([0.1, 0.0, 0.0], force_n), rel=1e-12)


def test_water_force_of_a_slender_link_is_taylors_resistance():
    link = Slender(from_m=(-0.5, 0.0, 0.0), to_m=(0.5, 0.0, 0.0), diameter_m=0.1, cn=1.2, ct=0.02)
    model = Model(
        TreeSpec(
            body=[Body(name="link", mass_kg=1.0, inertia_kg_m2=INERTIA, slender=[link])],
            density_kg_m3=DENSITY,
        )
    )
    across, along = (
        model.water_forces(moved(model, speed))[0] for speed in ((0.0, 0.4, 0.0), (0.4, 0.0, 0.0))
    )
    assert across == pytest.approx([0, -0.5 * DENSITY * 0.1 * 1.0 * 1.2 * 0.4**2, 0, 0, 0, 0], abs=1e-12)
    assert along == pytest.approx(
        [-0.5 * DENSITY * np.pi * 0.1 * 1.0 * 0.02 * 0.4**2, 0, 0, 0, 0, 0], abs=1e-12
    )


def test_water_force_is_zero_when_drifting_with_the_current():
    for name in ("fish", "snake", "ray", "rov", "hybrid"):
        tree = open_vehicle(name).plant.tree
        assert tree is not None
        model = Model(replace(tree, current_m_s=(0.3, -0.1, 0.0)))
        assert np.abs(model.water_forces(moved(model, (0.3, -0.1, 0.0)))).max() < 1e-15
        assert np.abs(model.water_forces(moved(model, (0.0, 0.0, 0.0)))).max() > 1e-3


@pytest.mark.parametrize("name", ("fish", "snake", "ray", "rov", "hybrid"))
def test_water_forces_equal_the_change_of_bias_force_in_the_recursions(name):
    """Against the same tree without these forces: every other force of `update_tree` is the same."""
    tree = open_vehicle(name).plant.tree
    assert tree is not None
    still = [replace(b, drag=None, foil=[], edge=[], slender=[]) for b in tree.body]
    model, bare = Model(tree), Model(replace(tree, body=still))
    rng = np.random.default_rng(2)
    for _ in range(5):
        x = model.state()
        x[2] = rng.uniform(-0.5, 0.0)
        x[3:7] += 0.3 * rng.standard_normal(4)
        x[7:] = 0.5 * rng.standard_normal(len(x) - 7)
        forces = model.water_forces(x)
        model._update(x)
        bare._update(x)
        base = rotation_matrix(x[3:7])
        for k, body in enumerate(model.bodies):
            i = model.place(body)
            taken = bare.flat.bodies["force"][i] - model.flat.bodies["force"][i]
            moment = base.T @ forces[k, 3:] + np.cross(model.flat.bodies["at"][i], base.T @ forces[k, :3])
            assert taken[:3] == pytest.approx(base.T @ forces[k, :3], abs=1e-9)
            assert taken[3:] == pytest.approx(moment, abs=1e-9)


def test_water_forces_leave_the_tether_out():
    model = Model(TreeSpec(body=[Body(name="hull", mass_kg=1.0, inertia_kg_m2=INERTIA)]))
    model.flat.water["tethered"], model.flat.water["tether_stiffness"] = 1, 100.0
    x = moved(model, (0.0, 0.0, 0.0))
    assert np.abs(model.forward_dynamics(x)[:3]).max() > 100, "it does pull"
    assert np.abs(model.water_forces(x)).max() == 0.0
    assert model.flat.water["tethered"][0] == 1, "and goes on pulling"
