"""Swim model of a tail that steers as a rudder: its deflection gives a curvature at any frequency."""

import math

from bench_vehicle import control

from caudal.onboard.control.swim_model import SwimModel
from caudal.onboard.core.state import Setpoint

CURVATURE_PER_RAD = 4.5


def model(**changes):
    return SwimModel(control().changed(curvature_per_rad=CURVATURE_PER_RAD).changed(**changes))


def inverted(acceleration_m_s2, turn_rad_s, speed_m_s, **settings):
    setpoint = Setpoint()
    setpoint.acceleration_m_s2 = acceleration_m_s2
    setpoint.turn_rate_rad_s = turn_rad_s
    model(**settings).invert(setpoint, speed_m_s)
    return setpoint


def test_rudder_deflection_gives_the_turn_rate():
    for turn_rad_s, speed_m_s in ((0.3, 0.2), (-0.7, 0.2), (0.3, 0.1), (0.0, 0.3)):
        setpoint = inverted(0.0, turn_rad_s, speed_m_s)
        assert abs(CURVATURE_PER_RAD * setpoint.deflection_rad * speed_m_s - turn_rad_s) < 1e-12


def test_rudder_vehicle_beats_for_its_acceleration():
    for acceleration_m_s2, turn_rad_s in ((0.0, 0.0), (0.02, 0.4), (0.04, -0.5)):
        setpoint = inverted(acceleration_m_s2, turn_rad_s, 0.2)
        assert abs(model().acceleration_m_s2(setpoint, 0.2) - acceleration_m_s2) < 2e-4


def test_rudder_vehicle_beats_no_faster_in_a_turn():
    straight = inverted(0.0, 0.0, 0.2)
    turning = inverted(0.0, 0.4, 0.2)
    assert turning.frequency_hz * math.cos(turning.deflection_rad) <= straight.frequency_hz * 1.001
    assert inverted(0.0, 0.4, 0.2).deflection_rad == inverted(0.05, 0.4, 0.2).deflection_rad


def test_rudder_stays_within_its_limit():
    assert inverted(0.0, 99.0, 0.2).deflection_rad == 1.05
    assert inverted(0.0, -99.0, 0.2).deflection_rad == -1.05
    assert abs(model().turn_rate_max_rad_s(0.2) - CURVATURE_PER_RAD * 1.05 * 0.2) < 1e-12


def test_rudder_steers_at_rest_as_at_creep_speed():
    at_rest, creeping = inverted(0.0, 0.1, 0.0), inverted(0.0, 0.1, 0.05)
    assert at_rest.deflection_rad == creeping.deflection_rad < 1.05
    assert model().turn_rate_max_rad_s(0.0) == model().turn_rate_max_rad_s(0.05) > 0


def test_tail_at_least_frequency_has_the_amplitude_for_the_thrust():
    setpoint = inverted(0.0, 0.2, 0.2, frequency_min_hz=1.8, amplitude_min=0.2)
    assert setpoint.frequency_hz == 1.8 and abs(setpoint.frequency_hz * setpoint.amplitude - 1.0) < 0.05
    assert inverted(-1.0, 0.2, 0.2, frequency_min_hz=1.8, amplitude_min=0.2).amplitude == 0.2


def test_deflection_sine_is_that_of_the_rudder():
    assert abs(model().deflection_sine(0.45, 0.2) - math.sin(0.5)) < 1e-12
    assert model().deflection_sine(-99.0, 0.2) == -math.sin(1.05)


def test_vehicle_without_curvature_turns_by_beats():
    setpoint = inverted(0.0, 1.0, 0.2, curvature_per_rad=0.0)
    assert abs(model().turn_rate_rad_s(setpoint.frequency_hz, setpoint.deflection_rad) - 1.0) < 1e-9
