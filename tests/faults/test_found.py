"""Bugs that the campaign has found: the case that showed each one."""

import math

import pytest

from caudal.tools.campaign.campaign import Case, run_case
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation


@pytest.mark.parametrize("fault", ["spikes:turn_rate@1.9+0.11*9.364", "drifting:turn_rate@0.84*24.54"])
def test_chain_keeps_running_and_its_filters_stay_finite_when_its_gyro_fails(fault):
    outcome = run_case(Case("hybrid", (), "mode1", 7984, 2.5, (fault,)))
    assert outcome.violations == []


def test_chain_velocity_estimate_stays_plausible_when_its_gyro_spikes():
    vehicle, name, _ = open_scenario("hybrid", [], "mode1")
    simulation = Simulation(vehicle, name, 7984)
    simulation.arm()
    simulation.inject("hybrid_1", "spikes:turn_rate@0.5*9.364")
    estimate = simulation.instances[0].loop.state.estimate
    for _ in range(100):
        simulation.step()
        speeds = (estimate.speed_m_s, estimate.sway_m_s, estimate.heave_m_s)
        assert all(speed is None or (math.isfinite(speed) and abs(speed) < 50.0) for speed in speeds)


def test_invariants_do_not_change_the_state_of_a_loop():
    """A valve's map keeps a sum, so that calling it for a check would change the run, which would not replay."""
    outcome = run_case(Case("hybrid", (), "mode1", 5, 1.0, ("full:storage@0.5",)))
    assert outcome.violations == []


@pytest.mark.parametrize("fault", ["brown-out:pulses@0.5+1", "hang:bus@0.1+0.03"])
def test_chain_keeps_running_when_all_thrusters_are_off_for_a_moment(fault):
    """Without thrusters the gain of the controller has no solution."""
    outcome = run_case(Case("hybrid", (), "mode1", 93, 3.0, (fault,)))
    assert outcome.violations == []


def test_estimate_wrong_still_acts_after_the_estimator_gave_nan():
    """An average with a NaN in it would never be above a limit again."""
    faults = ("nan:estimator@0.5+0.1", "noisy:x@0.8*2")
    assert run_case(Case("rov", (), "station", 1, 8.0, faults)).violations == []


def test_nan_of_the_estimator_is_injected_after_its_last_stage():
    """A NaN of an earlier stage would be overwritten."""
    vehicle, name, _ = open_scenario("rov", [], "station")
    simulation = Simulation(vehicle, name, 1)
    simulation.arm()
    simulation.inject("rov_1", "nan:estimator@0.5")
    for _ in range(40):
        simulation.step()
    assert math.isnan(simulation.instances[0].loop.state.estimate.x_m)


def test_straight_chain_goes_safe_when_its_position_is_wrong():
    """Its full-state filter reported no innovations, so that estimate_wrong never acted."""
    outcome = run_case(Case("hybrid", (), "speed", 1, 8.0, ("noisy:x@1*2",)))
    assert outcome.violations == [] and outcome.to_safe_s is not None


def test_chain_innovations_match_the_noise_its_filter_assumes():
    vehicle, name, _ = open_scenario("hybrid", [], "speed")
    simulation = Simulation(vehicle, name, 3)
    simulation.arm()
    estimate = simulation.instances[0].loop.state.estimate
    innovations: dict[str, list[float]] = {"x_nis": [], "y_nis": [], "depth_nis": [], "heading_nis": []}
    for _ in range(20 * 50):
        simulation.step()
        for field, seen in innovations.items():
            if (one := getattr(estimate, field)) is not None:
                seen.append(one)
    for field, seen in innovations.items():
        assert 0.8 < sum(seen) / len(seen) < 1.5, field
