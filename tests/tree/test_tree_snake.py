"""The surface swimmer with rotating shells reaches its reference figures (Natrix eq. 17, 18)."""

from __future__ import annotations

import numpy as np
import pytest
from undulation import FILE, PLACES_M, at_start, frozen, roll_deg, undulation

from caudal import sim_plant
from caudal.sim_plant.tree.equilibrium import find_equilibrium, rotated


@pytest.fixture(scope="module")
def floating():
    return sim_plant.load(FILE)


def test_snake_has_the_specified_mass_and_joints(floating):
    assert sum(body.mass_kg for body in floating.spec.body) == pytest.approx(5.51)
    assert len([body for body in floating.spec.body if body.mass_kg]) == 14
    assert len(floating.joints) == len(floating.driven) == 14


def test_snake_conserves_energy_in_a_frozen_shape_to_fifth_order(floating):
    rest = find_equilibrium(floating, frozen(floating, 0.25))
    x = rotated(rest, np.radians(5.0))
    excess = floating.energy(x) - floating.energy(rest)
    ends = {ms: floating.rollout(x, 10_000 // ms, ms * 1e-3, every=10_000 // ms)[-1] for ms in (1, 2, 4)}
    error = {ms: abs(floating.energy(end) - floating.energy(x)) / excess for ms, end in ends.items()}
    assert error[1] <= 1e-8
    assert 24 <= error[4] / error[2] <= 40


def test_snake_centre_of_mass_stays_while_it_bends():
    model = sim_plant.load(FILE, gravity=False, fluid=False)
    # Eq. 17, first half; its acceleration jumps at the end, so the second half is a run of its own.
    t, end_s = 0.0005 * np.arange(20_001), 10.0
    bend = np.array([
        0.25 * t**4 - 0.5 * end_s * t**3 + 0.25 * end_s**2 * t**2,
        t**3 - 1.5 * end_s * t**2 + 0.5 * end_s**2 * t,
        3 * t**2 - 3 * end_s * t + 0.5 * end_s**2,
    ]) / 160  # fmt: skip
    bends = [1.0 if name in PLACES_M else 0.0 for name in model.driven]
    motion = bend.T[:, :, None] * np.array(bends)
    x = model.state()
    there = model.rollout(x, 10_000, 0.001, driven=motion, every=500)
    back = model.rollout(there[-1], 10_000, 0.001, driven=-motion, every=500)
    centres = np.array([model.centre_of_mass(state) for state in [*there, *back]])
    assert np.ptp(there[:, model.q["q3"].start]) > 0.9  # it did bend
    assert np.linalg.norm(centres - centres[0], axis=1).max() <= 1e-10


@pytest.mark.parametrize("amplitude_rad, hz", [(0.0, 1.015), (0.25, 1.398)])
def test_snake_rolls_at_the_known_frequency_in_a_frozen_shape(floating, amplitude_rad, hz):
    rest = find_equilibrium(floating, frozen(floating, amplitude_rad))
    roll = roll_deg(floating.rollout(rotated(rest, np.radians(1.0)), 20_000, 0.001)) - roll_deg(rest[None])[0]
    up = np.flatnonzero((roll[:-1] < 0) & (roll[1:] >= 0))
    crossings_s = 0.001 * (up - roll[up] / (roll[up + 1] - roll[up]))
    assert (len(up) - 1) / (crossings_s[-1] - crossings_s[0]) == pytest.approx(hz, abs=0.005)


@pytest.mark.parametrize("hz, deviation_deg", [(1.0, 7.3), (2.0, 7.9), (3.0, 3.5)])
def test_snake_rolls_by_the_known_amount_while_it_undulates(floating, hz, deviation_deg):
    motion = undulation(floating, 0.25, hz, 40_000, 0.001)
    # Rolled to the left by a degree: the reference looks from tail to head, with x backward.
    states = floating.rollout(at_start(floating, motion, -1.0), 40_000, 0.001, driven=motion, every=10)
    assert roll_deg(states).std() == pytest.approx(deviation_deg, abs=0.3)


@pytest.mark.parametrize("hz, capsizes", [(1.28, False), (1.36, True), (1.46, False)])
def test_snake_capsizes_only_in_a_band_of_frequencies(floating, hz, capsizes):
    motion = undulation(floating, 0.25, hz, 40_000, 0.001)
    states = floating.rollout(at_start(floating, motion, -1.0), 40_000, 0.001, driven=motion, every=10)
    assert (np.abs(roll_deg(states)).max() > 90) == capsizes


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_rollout_equals_single_steps_with_driven_joints(floating, method):
    motion = undulation(floating, 0.25, 1.0, 50, 0.001)
    start = at_start(floating, motion)
    by_hand, states = start, floating.rollout(start, 50, 0.001, driven=motion, method=method)
    for n in range(50):
        by_hand = floating.step(by_hand, None, 0.001, method, motion[2 * n : 2 * n + 3])
    assert (by_hand == states[-1]).all()
    assert (states[-1, 13:27] == motion[-1, 0]).all() and (states[-1, 27:] == motion[-1, 1]).all()
