"""What the campaign has found, once each: the case that showed it."""

import math

import pytest

from caudal.tools.campaign.campaign import Case, run_case
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation


@pytest.mark.parametrize("fault", ["spikes:turn_rate@1.9+0.11*9.364", "drifting:turn_rate@0.84*24.54"])
def test_a_gyro_that_goes_wild_neither_ends_a_chains_loop_nor_carries_its_filters_away(fault):
    outcome = run_case(Case("hybrid", (), "mode1", 7984, 2.5, (fault,)))
    assert outcome.broken == []


def test_a_chains_velocity_stays_one_that_a_vehicle_can_have():
    vehicle, name, _ = open_scenario("hybrid", [], "mode1")
    simulation = Simulation(vehicle, name, 7984)
    simulation.arm()
    simulation.inject("hybrid_1", "spikes:turn_rate@0.5*9.364")
    estimate = simulation.instances[0].loop.state.estimate
    for _ in range(100):
        simulation.step()
        speeds = (estimate.speed_m_s, estimate.sway_m_s, estimate.heave_m_s)
        assert all(speed is None or (math.isfinite(speed) and abs(speed) < 50.0) for speed in speeds)


def test_looking_at_a_loop_does_not_change_it():
    """A valve's map keeps a sum: whoever asks it changes it, and the run would not replay."""
    outcome = run_case(Case("hybrid", (), "mode1", 5, 1.0, ("full:storage@0.5",)))
    assert outcome.broken == []


@pytest.mark.parametrize("fault", ["brown-out:pulses@0.5+1", "hang:bus@0.1+0.03"])
def test_a_chain_whose_thrusters_are_all_gone_for_a_moment_does_not_lose_its_loop(fault):
    """Nothing is left to hold it by, and the gain that would has no answer."""
    outcome = run_case(Case("hybrid", (), "mode1", 93, 3.0, (fault,)))
    assert outcome.broken == []


def test_an_estimator_that_once_gave_no_number_is_still_found_out_when_it_is_wrong():
    """An average that took in what is no number would never be above a limit again."""
    faults = ("nan:estimator@0.5+0.1", "noisy:x@0.8*2")
    assert run_case(Case("rov", (), "station", 1, 8.0, faults)).broken == []


def test_no_number_from_the_estimator_is_the_estimators():
    """Not that of whoever stands before it and is overwritten."""
    vehicle, name, _ = open_scenario("rov", [], "station")
    simulation = Simulation(vehicle, name, 1)
    simulation.arm()
    simulation.inject("rov_1", "nan:estimator@0.5")
    for _ in range(40):
        simulation.step()
    assert math.isnan(simulation.instances[0].loop.state.estimate.x_m)


def test_a_chain_that_runs_straight_hears_it_when_its_place_is_nonsense():
    """Its filter over all of the state told nobody what readings were off by, and estimate_wrong never acted."""
    outcome = run_case(Case("hybrid", (), "speed", 1, 8.0, ("noisy:x@1*2",)))
    assert outcome.broken == [] and outcome.to_safe_s is not None


def test_what_a_chains_readings_are_off_by_in_a_run_is_what_its_filter_reckons_with():
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
