"""What the controller of a chain believes of it is what the plant's engine says, where both know the same."""

from __future__ import annotations

import math

import arm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.onboard.chain.chamber import Chambers, bend_angles, bend_vector

BENDS = st.floats(-1.2, 1.2)


def test_its_mass_matrix_is_the_plants_with_all_the_water_that_is_carried():
    chain, rng = arm.chain(), np.random.default_rng(0)
    for _ in range(50):
        state = arm.State(rng)
        state.update(chain)
        assert (
            np.abs(chain.mass - arm.model().mass_matrix(state.plant())).max()
            < 1e-10 * np.abs(chain.mass).max()
        )


def test_its_bias_at_rest_is_the_plants_weight_and_buoyancy():
    chain, rng = arm.chain(), np.random.default_rng(1)
    for _ in range(50):
        state = arm.State(rng, still=True)
        state.update(chain)
        assert (
            np.abs(chain.bias - arm.model().bias(state.plant())).max() < 1e-3
        )  # as the file's volumes are rounded


def test_its_bias_in_motion_is_the_plants_but_for_where_along_a_module_the_drag_is_taken():
    chain, rng = arm.chain(), np.random.default_rng(2)
    for _ in range(50):
        state = arm.State(rng)
        state.update(chain)
        own = chain.bias.copy()
        own[6:] += chain.damping * state.qd
        plant = arm.model().bias(state.plant())
        assert np.linalg.norm(own - plant) < 0.06 * np.linalg.norm(plant)


def test_momentum_is_the_mass_matrix_times_velocity_and_its_rate_without_water_the_bias():
    """Coriolis terms alone: with weight, lift and drag gone, the bias is what differences of M v say."""
    settings = arm.vehicle()[0].settings["control"]
    bare = {
        "volume_m3": 1e-12,
        "cross_drag_n_s2_m3": 0.0,
        "axial_drag_n_s2_m2": 0.0,
        "roll_drag_n_m_s_rad": 0.0,
    }
    weightless = {
        **settings,
        "module": [{**m, **bare} for m in settings["module"]],
        "soft": [{**s, "half": {**s["half"], **bare}} for s in settings["soft"]],
    }
    chain, rng = type(arm.chain())(weightless), np.random.default_rng(3)
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


def test_thrusters_push_base_and_joints_as_their_places_on_moving_modules_say():
    """B' v is the speed of each thruster along its axis."""
    chain, rng = arm.chain(), np.random.default_rng(4)
    control = arm.vehicle()[0].settings["control"]
    for _ in range(20):
        state = arm.State(rng)
        state.update(chain)
        v = np.concatenate([state.velocity, state.qd])
        for k, thruster in enumerate(control["thruster"]):
            turn, at = chain.module_end(chain.modules.index(thruster["module"]))
            place = at + turn @ np.array(thruster["at_m"])
            _, _, speed = chain.point_rows(
                np.array([3 * chain.modules.index(thruster["module"])]), place[None]
            )
            assert chain.b[:, k] @ v == pytest.approx(
                speed[0] @ turn @ np.array(thruster["axis"], dtype=float)
            )


def test_straight_the_thrusters_reach_all_six_directions_of_the_base():
    chain = arm.chain()
    chain.update(np.eye(3), np.zeros(6), np.array([0.15, 0, 0, 0.15] * 2), np.zeros(8), np.zeros(6))
    sizes = np.linalg.svd(chain.b[:6])[1]
    assert np.linalg.matrix_rank(chain.b[:6], tol=1e-6) == 6 and sizes[-1] > 0.05


@pytest.mark.parametrize("module", [0, 1, 2])
def test_rows_of_points_and_turns_are_the_differences_of_their_places(module):
    chain, rng, step = arm.chain(), np.random.default_rng(5 + module), 1e-6
    for _ in range(10):
        state = arm.State(rng)
        state.update(chain)
        body = 3 * module
        turn, at = (part.copy() for part in chain.module_end(module))
        along = 0.5
        point = at + along * turn[:, 0]
        rows, drift, _ = chain.point_rows(np.array([body]), point[None])
        turn_rows, turn_drift, spin = chain.turn_rows(body)
        v = np.concatenate([state.velocity, state.qd])
        ends = []
        for sign in (1, -1):  # the base stands for an instant: only joints move it in base axes
            chain.update(
                state.turn, state.velocity, state.q + sign * step * state.qd, state.qd, state.pressures
            )
            turned, there = (part.copy() for part in chain.module_end(module))
            ends.append(
                (
                    there + along * turned[:, 0],
                    turned,
                    chain.point_rows(np.array([body]), (there + along * turned[:, 0])[None]),
                )
            )
        by_joints = (ends[0][0] - ends[1][0]) / (2 * step)
        assert np.abs(rows[0][:, 6:] @ state.qd - by_joints).max() < 1e-7
        turned = (ends[0][1] - ends[1][1]) / (2 * step) @ turn.T
        assert np.abs(turn_rows[:, 6:] @ state.qd - [turned[2, 1], turned[0, 2], turned[1, 0]]).max() < 1e-7
        assert np.abs(turn_rows @ v - spin).max() < 1e-12
        # acceleration of the point with all velocities constant: base axes turn with the base
        rate = ((ends[0][2][0][0] - ends[1][2][0][0]) / (2 * step)) @ v
        w = state.velocity[3:]
        assert np.abs(drift[0] - rate - np.cross(w, rows[0] @ v)).max() < 1e-6
        assert turn_drift.shape == (3,)


@given(st.floats(0.0, 1.5), st.floats(-math.pi, math.pi), st.floats(0.0, 150e3))
def test_pressures_for_a_bend_rest_the_joint_there(bend, way, ease_pa):
    chambers = Chambers(arm.vehicle()[0].settings["control"]["soft"][0])
    port, up = bend * math.cos(way), bend * math.sin(way)
    pressures = chambers.pressures_for(port, up, ease_pa)
    assert min(pressures) == pytest.approx(ease_pa) and min(pressures) >= 0.0
    _, y, z, _ = chambers.rest(pressures)
    if bend < math.radians(75):  # beyond, angles go over to straight lines
        assert bend_vector(y, z)[:2] == pytest.approx((port, up), abs=2e-4)


@given(BENDS, BENDS)
def test_a_bend_vectors_slopes_are_its_differences(y, z):
    step = 1e-6
    _, _, slopes = bend_vector(y, z)
    for k, (dy, dz) in enumerate(((step, 0.0), (0.0, step))):
        more, less = bend_vector(y + dy, z + dz), bend_vector(y - dy, z - dz)
        for i in range(2):
            assert slopes[2 * i + k] == pytest.approx((more[i] - less[i]) / (2 * step), abs=1e-5)


@given(st.floats(0.0, math.radians(80)), st.floats(-math.pi, math.pi))
def test_the_angles_of_a_bend_have_that_bend_vector(bend, way):
    y, z = bend_angles(bend, math.cos(way), math.sin(way))
    assert bend_vector(y, z)[:2] == pytest.approx((bend * math.cos(way), bend * math.sin(way)), abs=1e-6)
