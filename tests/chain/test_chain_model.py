"""The controller's model of a chain agrees with the plant's engine."""

from __future__ import annotations

import math

import arm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from caudal.onboard.chain.chamber import Chambers, bend_angles, bend_vector
from caudal.onboard.chain.model import ChainModel

BENDS = st.floats(-1.2, 1.2)


def test_mass_matrix_is_the_plants_with_added_mass():
    chain, rng = arm.chain(), np.random.default_rng(0)
    for _ in range(50):
        state = arm.State(rng)
        state.update(chain)
        plant = arm.model().mass_matrix(state.plant())
        assert np.abs(chain.mass - plant).max() < 1e-10 * np.abs(chain.mass).max()


def test_bias_at_rest_is_the_plants_weight_and_buoyancy():
    chain, rng = arm.chain(), np.random.default_rng(1)
    for _ in range(50):
        state = arm.State(rng, still=True)
        state.update(chain)
        plant = arm.model().bias(state.plant())
        assert np.abs(chain.bias - plant).max() < 1e-3  # as the file's volumes are rounded


def test_bias_in_motion_is_the_plants_except_for_the_points_of_drag():
    chain, rng = arm.chain(), np.random.default_rng(2)
    for _ in range(50):
        state = arm.State(rng)
        state.update(chain)
        own = chain.bias.copy()
        own[6:] += chain.damping * state.qd
        plant = arm.model().bias(state.plant())
        assert np.linalg.norm(own - plant) < 0.06 * np.linalg.norm(plant)


def test_bias_without_water_is_the_rate_of_momentum():
    """Coriolis terms alone: without weight, lift and drag, the bias is what differences of M v give."""
    bare = {
        "volume_m3": 1e-12,
        "cross_drag_n_s2_m3": 0.0,
        "axial_drag_n_s2_m2": 0.0,
        "roll_drag_n_m_s_rad": 0.0,
    }
    control = arm.control()
    weightless = replace(
        control,
        module=[replace(module, **bare) for module in control.module],
        soft=[replace(soft, half=replace(soft.half, **bare)) for soft in control.soft],
    )
    chain, rng = ChainModel(weightless), np.random.default_rng(3)
    chain._weight[:] = 0.0
    for _ in range(20):
        state = arm.State(rng)
        state.update(chain)
        bias, step = chain.bias.copy(), 1e-6

        def energy_and_momentum(q, chain=chain, state=state):
            chain.update(np.eye(3), state.velocity, q, state.qd, state.pressures)
            v = np.concatenate([state.velocity, state.qd])
            return 0.5 * v @ chain.mass @ v, chain.mass @ v

        # joints: d/dt (M v)_j - dT/dq_j at constant velocities
        rate = (
            energy_and_momentum(state.q + step * state.qd)[1]
            - energy_and_momentum(state.q - step * state.qd)[1]
        ) / (2 * step)
        for j in range(8):
            moved = np.zeros(8)
            moved[j] = step
            slope = (energy_and_momentum(state.q + moved)[0] - energy_and_momentum(state.q - moved)[0]) / (
                2 * step
            )
            assert bias[6 + j] == pytest.approx(rate[6 + j] - slope, abs=1e-5 * max(1.0, np.abs(bias).max()))


def test_thruster_column_is_the_speed_of_the_thruster_along_its_axis():
    chain, rng = arm.chain(), np.random.default_rng(4)
    for _ in range(20):
        state = arm.State(rng)
        state.update(chain)
        v = np.concatenate([state.velocity, state.qd])
        for k, thruster in enumerate(arm.control().thruster):
            module = chain.modules.index(thruster.module)
            rotation, at = chain.module_frame(module)
            at = at + rotation @ np.array(thruster.at_m)
            _, _, velocity = chain.point_rows(np.array([3 * module]), at[None])
            assert chain.b[:, k] @ v == pytest.approx(velocity[0] @ rotation @ np.array(thruster.axis))


def test_thrusters_of_a_straight_chain_span_all_six_directions_of_the_base():
    chain = arm.chain()
    chain.update(np.eye(3), np.zeros(6), np.array([0.15, 0, 0, 0.15] * 2), np.zeros(8), np.zeros(6))
    sizes = np.linalg.svd(chain.b[:6])[1]
    assert np.linalg.matrix_rank(chain.b[:6], tol=1e-6) == 6 and sizes[-1] > 0.05


@pytest.mark.parametrize("module", [0, 1, 2])
def test_rows_of_points_and_rotations_are_the_differences_of_their_positions(module):
    chain, rng, step = arm.chain(), np.random.default_rng(5 + module), 1e-6
    for _ in range(10):
        state = arm.State(rng)
        state.update(chain)
        body = 3 * module
        rotation, at = (part.copy() for part in chain.module_frame(module))
        along = 0.5
        point = at + along * rotation[:, 0]
        rows, drift, _ = chain.point_rows(np.array([body]), point[None])
        rotation_rows, rotation_drift, angular_velocity = chain.rotation_rows(body)
        v = np.concatenate([state.velocity, state.qd])
        ends = []
        for sign in (1, -1):  # the base is at rest for an instant: only joints move the point in base axes
            chain.update(
                state.rotation, state.velocity, state.q + sign * step * state.qd, state.qd, state.pressures
            )
            moved, origin = (part.copy() for part in chain.module_frame(module))
            end = origin + along * moved[:, 0]
            ends.append((end, moved, chain.point_rows(np.array([body]), end[None])))
        by_joints = (ends[0][0] - ends[1][0]) / (2 * step)
        assert np.abs(rows[0][:, 6:] @ state.qd - by_joints).max() < 1e-7
        spin = (ends[0][1] - ends[1][1]) / (2 * step) @ rotation.T
        assert np.abs(rotation_rows[:, 6:] @ state.qd - [spin[2, 1], spin[0, 2], spin[1, 0]]).max() < 1e-7
        assert np.abs(rotation_rows @ v - angular_velocity).max() < 1e-12
        # acceleration of the point with all velocities constant: base axes turn with the base
        rate = ((ends[0][2][0][0] - ends[1][2][0][0]) / (2 * step)) @ v
        w = state.velocity[3:]
        assert np.abs(drift[0] - rate - np.cross(w, rows[0] @ v)).max() < 1e-6
        assert rotation_drift.shape == (3,)


@given(st.floats(0.0, 1.5), st.floats(-math.pi, math.pi), st.floats(0.0, 150e3))
def test_joint_rests_at_the_bend_that_its_pressures_are_for(bend, direction, ease_pa):
    chambers = Chambers(arm.control().soft[0])
    port, up = bend * math.cos(direction), bend * math.sin(direction)
    pressures = chambers.pressures_for(port, up, ease_pa)
    assert min(pressures) == pytest.approx(ease_pa) and min(pressures) >= 0.0
    _, y, z, _ = chambers.rest(pressures)
    if bend < math.radians(75):  # beyond, the angles become linear
        assert bend_vector(y, z)[:2] == pytest.approx((port, up), abs=2e-4)


@given(BENDS, BENDS)
def test_slopes_of_a_bend_vector_are_its_differences(y, z):
    step = 1e-6
    _, _, slopes = bend_vector(y, z)
    for k, (dy, dz) in enumerate(((step, 0.0), (0.0, step))):
        more, less = bend_vector(y + dy, z + dz), bend_vector(y - dy, z - dz)
        for i in range(2):
            assert slopes[2 * i + k] == pytest.approx((more[i] - less[i]) / (2 * step), abs=1e-5)


@given(st.floats(0.0, math.radians(80)), st.floats(-math.pi, math.pi))
def test_angles_of_a_bend_have_that_bend_vector(bend, direction):
    y, z = bend_angles(bend, math.cos(direction), math.sin(direction))
    found = bend_vector(y, z)[:2]
    assert found == pytest.approx((bend * math.cos(direction), bend * math.sin(direction)), abs=1e-6)
