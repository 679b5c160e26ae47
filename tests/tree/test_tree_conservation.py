"""The plant conserves energy and momentum, and its error falls with the order of its method."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from trees import add_water, model_of, random_state, random_tables
from undulation import FILE

from caudal import sim_plant
from caudal.sim_plant.tree.equilibrium import find_equilibrium, rotated

HINGES = ["revolute", "spherical", "fixed"]


def swimming(seed: int, count: int, **options):
    """A tree that floats half-way, with added mass, springs and no drag; and a gentle start."""
    tables = add_water(random_tables(seed, count), seed, drag=False)
    model = model_of(tables, **options)
    x, noise = model.state(), random_state(model, np.random.default_rng(seed), 0.3)
    x[7:13], x[-(model.freedoms - 6) :] = noise[7:13], noise[-(model.freedoms - 6) :]
    return model, x


def springy():
    """The surface swimmer with every joint on a spring and added mass on every hull."""
    tables = msgspec.to_builtins(sim_plant.load(FILE).spec) | {"water": "full"}
    for body in tables["body"]:
        body |= {"drag": None, "slender": [], "added_inertia": None}
        if body["joint"]:
            body["joint"]["mode"] = "free"
            body["joint"]["stiffness"] = 0.01 if body["joint"]["axis"][0] else 0.5
        if body["hull"]:
            front, rear, radius = body["hull"]["from_m"][0], body["hull"]["to_m"][0], body["hull"]["radius_m"]
            length = front - rear
            side = 500 * np.pi * radius**2 * length  # half a cylinder of water
            turn = side * length**2 / 12
            body["added_inertia"] = {"at_m": [(front + rear) / 2, 0.0, 0.0]}
            body["added_inertia"]["diagonal"] = [0.1 * side, side, side, 0.0, turn, turn]
    return model_of(tables)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_energy_is_conserved_with_added_mass_and_springs(seed):
    model, x = swimming(seed, 6, gravity=False)
    energies = [model.energies(state) for state in model.rollout(x, 10_000, 0.001, every=100)]
    total = np.array([sum(kinds.values()) for kinds in energies])
    assert np.abs(total - total[0]).max() < 1e-8 * np.ptp([kinds["kinetic"] for kinds in energies])


def test_energy_is_conserved_afloat_with_added_mass_springs_and_partly_wet_hulls():
    model = springy()
    rest = find_equilibrium(model, model.state())
    x, rng = rotated(rest, np.radians(5.0)), np.random.default_rng(0)
    x[-(model.freedoms - 6) :] = 0.2 * rng.standard_normal(model.freedoms - 6)
    energies = [model.energies(state) for state in model.rollout(x, 10_000, 0.001, every=100)]
    total = np.array([sum(kinds.values()) for kinds in energies])
    excess = total[0] - model.energy(rest)
    for kind in ("kinetic", "buoyancy", "springs"):
        assert np.ptp([kinds[kind] for kinds in energies]) > 0.1 * excess  # each took part
    assert np.abs(total - total[0]).max() < 1e-8 * excess


def test_momentum_is_conserved_without_gravity_and_water():
    model, x = swimming(4, 8, gravity=False, fluid=False)
    before = model.momentum(x)
    centre = model.centre_of_mass(x)
    for state, seconds in zip(model.rollout(x, 5000, 0.001, every=1000)[1:], range(1, 6), strict=True):
        assert np.abs(model.momentum(state) - before).max() < 1e-10 * np.abs(before).max()
        gone = before[:3] / sum(body.mass_kg for body in model.spec.body) * seconds
        assert np.abs(model.centre_of_mass(state) - centre - gone).max() < 1e-10


def test_momentum_with_added_mass_is_conserved_without_gravity():
    model, x = swimming(5, 8, gravity=False)
    before = model.momentum(x)
    for state in model.rollout(x, 5000, 0.001, every=500):
        assert np.abs(model.momentum(state) - before).max() < 1e-9 * np.abs(before).max()


def test_rk4_error_falls_by_sixteen_when_the_step_is_halved():
    model, x = swimming(6, 5, gravity=False)
    ends = [model.rollout(x, round(1.0 / dt), dt, every=round(1.0 / dt))[-1] for dt in (0.008, 0.004, 0.0005)]
    ratio = np.abs(ends[0] - ends[2]).max() / np.abs(ends[1] - ends[2]).max()
    assert 12 < ratio < 20


def test_semi_implicit_error_halves_when_the_step_is_halved():
    model, x = swimming(6, 5)
    exact = model.rollout(x, 1000, 0.001)[-1]
    ends = [model.rollout(x, round(1.0 / dt), dt, method="semi-implicit")[-1] for dt in (0.0004, 0.0002)]
    ratio = np.abs(ends[0] - exact).max() / np.abs(ends[1] - exact).max()
    assert 1.7 < ratio < 2.3


def test_energy_never_grows_in_still_water_with_drag():
    model = model_of(add_water(random_tables(8, 8, HINGES), 8))
    x = random_state(model, np.random.default_rng(8), 0.3)
    energy = np.array([model.energy(state) for state in model.rollout(x, 10_000, 0.001, every=20)])
    assert (np.diff(energy) < 1e-9 * np.ptp(energy)).all()
    assert energy[-1] < energy[0]


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_rollout_repeats_bit_for_bit_from_the_same_start(method):
    model, x = swimming(9, 6)
    first = model.rollout(x, 500, 0.001, method=method)
    again = swimming(9, 6)[0].rollout(x, 500, 0.001, method=method)
    by_hand = x
    for _ in range(500):
        by_hand = model.step(by_hand, None, 0.001, method)
    assert (first == again).all() and (first[-1] == by_hand).all()
