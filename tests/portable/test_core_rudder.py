"""The swim law of a tail that steers as a rudder does: a curvature by deflection, whatever it beats."""

import math

from bench_vehicle import control

from caudal.onboard.control.swim_model import SwimModel
from caudal.onboard.core.state import Setpoint

CURVATURE_PER_RAD = 4.5


def law(**changes):
    return SwimModel(control().changed(curvature_per_rad=CURVATURE_PER_RAD).changed(**changes))


def inverted(acceleration_m_s2, turn_rad_s, speed_m_s, **settings):
    want = Setpoint()
    want.acceleration_m_s2 = acceleration_m_s2
    want.turn_rate_rad_s = turn_rad_s
    law(**settings).invert(want, speed_m_s)
    return want


def test_the_deflection_it_asks_gives_the_turn_rate_wanted():
    for turn_rad_s, speed_m_s in ((0.3, 0.2), (-0.7, 0.2), (0.3, 0.1), (0.0, 0.3)):
        want = inverted(0.0, turn_rad_s, speed_m_s)
        assert abs(CURVATURE_PER_RAD * want.deflection_rad * speed_m_s - turn_rad_s) < 1e-12


def test_the_beat_it_asks_gives_the_acceleration_wanted():
    for acceleration_m_s2, turn_rad_s in ((0.0, 0.0), (0.02, 0.4), (0.04, -0.5)):
        want = inverted(acceleration_m_s2, turn_rad_s, 0.2)
        assert abs(law().acceleration_m_s2(want, 0.2) - acceleration_m_s2) < 2e-4


def test_a_turn_needs_no_faster_beat():
    straight = inverted(0.0, 0.0, 0.2)
    turning = inverted(0.0, 0.4, 0.2)
    assert turning.frequency_hz * math.cos(turning.deflection_rad) <= straight.frequency_hz * 1.001
    assert inverted(0.0, 0.4, 0.2).deflection_rad == inverted(0.05, 0.4, 0.2).deflection_rad


def test_more_than_the_rudder_can_ends_at_its_limit():
    assert inverted(0.0, 99.0, 0.2).deflection_rad == 1.05
    assert inverted(0.0, -99.0, 0.2).deflection_rad == -1.05
    assert abs(law().turn_rate_max_rad_s(0.2) - CURVATURE_PER_RAD * 1.05 * 0.2) < 1e-12


def test_at_rest_it_is_steered_as_at_a_creep():
    at_rest, creeping = inverted(0.0, 0.1, 0.0), inverted(0.0, 0.1, 0.05)
    assert at_rest.deflection_rad == creeping.deflection_rad < 1.05
    assert law().turn_rate_max_rad_s(0.0) == law().turn_rate_max_rad_s(0.05) > 0


def test_the_tail_beats_on_at_its_least_frequency_with_the_amplitude_for_the_thrust():
    want = inverted(0.0, 0.2, 0.2, frequency_min_hz=1.8, amplitude_min=0.2)
    assert want.frequency_hz == 1.8 and abs(want.frequency_hz * want.amplitude - 1.0) < 0.05
    assert inverted(-1.0, 0.2, 0.2, frequency_min_hz=1.8, amplitude_min=0.2).amplitude == 0.2


def test_the_bend_of_a_turn_is_the_sine_of_its_deflection():
    assert abs(law().deflection_sine(0.45, 0.2) - math.sin(0.5)) < 1e-12
    assert law().deflection_sine(-99.0, 0.2) == -math.sin(1.05)


def test_without_the_number_it_turns_by_beats():
    want = inverted(0.0, 1.0, 0.2, curvature_per_rad=0.0)
    assert abs(law().turn_rate_rad_s(want.frequency_hz, want.deflection_rad) - 1.0) < 1e-9
