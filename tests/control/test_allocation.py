"""Control allocation: the wrench exactly, or as large as possible in its direction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import ONE, to_q14
from caudal.onboard.control.allocation import Allocation, thruster_matrix
from caudal.onboard.tables.thrusters import ThrusterPlace
from caudal.tools.config.vehicle import open_vehicle

VEHICLE = [
    ThrusterPlace(at_m=[0.22, 0.16, 0.0], axis=[1, -1, 0]),
    ThrusterPlace(at_m=[0.22, -0.16, 0.0], axis=[1, 1, 0]),
    ThrusterPlace(at_m=[-0.22, 0.16, 0.0], axis=[1, 1, 0]),
    ThrusterPlace(at_m=[-0.22, -0.16, 0.0], axis=[1, -1, 0]),
    ThrusterPlace(at_m=[-0.12, 0.14, 0.0], axis=[0, 0, 1]),
    ThrusterPlace(at_m=[-0.12, -0.14, 0.0], axis=[0, 0, 1]),
    ThrusterPlace(at_m=[0.24, 0.0, 0.0], axis=[0, 0, 1]),
]
# Eight: two null directions.
EIGHT = [*VEHICLE, ThrusterPlace(at_m=[-0.3, 0.0, 0.1], axis=[0, 1, 0.2])]
LOW, HIGH = -30.0, 38.0

component = st.floats(-200, 200, allow_nan=False).map(lambda value: round(value, 3))
wrenches = st.tuples(component, component, component, *[component.map(lambda v: 0.1 * v)] * 3)


def allocation(thrusters):
    return Allocation(thrusters, [LOW] * len(thrusters), [HIGH] * len(thrusters))


def largest_share(thrusters, wrench):
    """The largest possible share of a wrench within the limits, by linear programming."""
    b, n = np.array(thruster_matrix(thrusters)), len(thrusters)
    found = linprog(
        [0.0] * n + [-1.0],
        A_eq=np.column_stack([b, -np.array(wrench)]),
        b_eq=np.zeros(6),
        bounds=[(LOW, HIGH)] * n + [(0, 1)],
    )
    return found.x[-1]


def test_thruster_matrix_has_each_axis_and_its_moment():
    b = np.array(thruster_matrix(VEHICLE))
    for k, thruster in enumerate(VEHICLE):
        axis = np.array(thruster.axis) / np.linalg.norm(thruster.axis)
        assert np.allclose(b[:3, k], axis) and np.allclose(b[3:, k], np.cross(thruster.at_m, axis))


@pytest.mark.parametrize("thrusters", [VEHICLE, EIGHT], ids=["seven", "eight"])
@given(wrench=wrenches)
def test_allocation_stays_within_limits_and_keeps_the_direction(thrusters, wrench):
    thrust = allocation(thrusters)
    force = np.array(thrust.forces(wrench))
    assert (force >= LOW - 1e-9).all() and (force <= HIGH + 1e-9).all()
    made = np.array(thrust.b) @ force
    assert np.allclose(made, thrust.share * np.array(wrench), atol=1e-5)
    size = np.linalg.norm(made) * np.linalg.norm(wrench)
    if size > 1e-6:
        assert np.degrees(np.arccos(np.clip(made @ wrench / size, -1, 1))) < 0.01


@settings(max_examples=60, deadline=None)
@given(wrench=wrenches)
def test_allocation_gives_the_largest_possible_share(wrench):
    thrust = allocation(VEHICLE)
    thrust.forces(wrench)
    assert thrust.share == pytest.approx(largest_share(VEHICLE, wrench), rel=1e-4, abs=1e-6)


def test_allocation_uses_the_null_space_before_it_scales_the_wrench():
    thrust = allocation(VEHICLE)
    least_effort = np.linalg.pinv(np.array(thrust.b))
    cut = [
        wrench
        for wrench in np.random.default_rng(1).uniform(-1, 1, (200, 6)) * [80, 80, 60, 2, 3, 20]
        if max(least_effort @ wrench / HIGH) > 1 and thrust.forces(wrench) is not None and thrust.share == 1.0
    ]
    assert cut, "some wrenches are within reach, but not by the forces of least effort"


def test_allocation_of_rank_below_six_is_least_squares():
    thrust = allocation(VEHICLE[:4])  # level ones alone
    made = np.array(thrust.b) @ thrust.forces([10.0, 5.0, 8.0, 0.0, 0.0, 1.0])
    assert made[[0, 1, 5]] == pytest.approx([10.0, 5.0, 1.0], abs=1e-3) and made[2] == 0.0


def test_saturated_wrench_through_pulses_keeps_its_direction():
    settings = open_vehicle("rov").settings
    board = build_board(settings, None, 50)
    limits = [[actuator.low / ONE for actuator in board.actuators], [a.high / ONE for a in board.actuators]]
    thrust = Allocation(settings.control.thruster, *limits)
    rng, off_deg = np.random.default_rng(0), []
    for wrench in rng.normal(size=(300, 6)) * [60, 60, 60, 8, 8, 15]:
        force = thrust.forces(wrench)
        if thrust.share < 1.0:
            pulses = [a.map.to_device(to_q14(n)) for a, n in zip(board.actuators, force, strict=True)]
            real = [a.map.force_n(us) for a, us in zip(board.actuators, pulses, strict=True)]
            made = np.array(thrust.b) @ real
            cosine = made @ wrench / np.linalg.norm(made) / np.linalg.norm(wrench)
            off_deg.append(np.degrees(np.arccos(min(cosine, 1.0))))
    assert len(off_deg) > 200 and max(off_deg) < 1.0


@pytest.mark.parametrize("dead", range(7))
@given(wrench=wrenches)
@settings(max_examples=30)
def test_allocation_gives_a_dropped_thruster_no_force(dead, wrench):
    thrust = allocation(VEHICLE)
    thrust.drop([k == dead for k in range(7)])
    force = np.array(thrust.forces(wrench))
    assert force[dead] == pytest.approx(0.0, abs=1e-6)
    assert (force >= LOW - 1e-9).all() and (force <= HIGH + 1e-9).all()
    others = [thruster for k, thruster in enumerate(VEHICLE) if k != dead]
    b = np.array(thruster_matrix(others))
    nearest = b @ np.linalg.lstsq(b, np.array(wrench), rcond=None)[0]
    assert np.array(thrust.b) @ force == pytest.approx(thrust.share * nearest, rel=1e-4, abs=1e-3)


def test_allocation_uses_a_thruster_that_is_dropped_no_longer():
    thrust, wrench = allocation(VEHICLE), (20.0, -8.0, 5.0, 0.5, 0.2, 1.0)
    before = list(thrust.forces(wrench))
    thrust.drop([k == 3 for k in range(7)])
    assert list(thrust.forces(wrench)) != before
    thrust.drop([False] * 7)
    assert list(thrust.forces(wrench)) == before
