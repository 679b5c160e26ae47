"""PID of floats and of integers, the swim model and its inverse, and the tail's two stages."""

import math

from bench_vehicle import BenchDriver, control, gait, schedule, settings

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import Q20_BITS, to_q14, to_q20
from caudal.onboard.control.pid import Pid, Q20Pid
from caudal.onboard.control.swim_model import SwimModel
from caudal.onboard.control.tail import SwimInverse, Tail
from caudal.onboard.core.state import Setpoint, State
from caudal.onboard.gait.build import build_gait
from caudal.onboard.guidance.schedule import Schedule


def test_pid_adds_its_three_terms_and_stores_them():
    pid = Pid(2.0, 0.5, 0.1, 10.0, 10)
    assert abs(pid.step(1.0, 3.0, 0.25) - (0.25 + 2.0 + 0.05 - 0.3)) < 1e-12
    assert (pid.p, pid.saturated) == (2.0, False)
    assert abs(pid.i - 0.05) < 1e-12
    assert abs(pid.d + 0.3) < 1e-12


def test_pid_integral_sums_the_error_over_time():
    pid = Pid(0.0, 2.0, 0.0, 10.0, 10)
    for _ in range(10):
        output = pid.step(0.5)
    assert abs(output - 1.0) < 1e-9


def test_pid_output_stays_within_its_limit():
    pid = Pid(100.0, 0.0, 0.0, 1.5, 10)
    assert pid.step(1.0) == 1.5
    assert pid.saturated
    assert pid.step(-1.0) == -1.5
    assert pid.step(0.001) == 0.1
    assert not pid.saturated


def test_pid_integral_does_not_wind_up_at_the_limit():
    pid = Pid(1.0, 1.0, 0.0, 1.0, 10)
    for _ in range(1000):
        pid.step(5.0)
    assert abs(pid.i) <= 1.0
    outputs = [pid.step(-0.5) for _ in range(30)]
    assert outputs[0] < 1.0 and outputs[-1] < -0.5


def test_pid_integral_unwinds_while_the_output_is_at_its_limit():
    pid = Pid(0.0, 1.0, 0.0, 1.0, 10)
    pid.i = 3.0
    pid.step(-1.0)
    assert abs(pid.i - 2.9) < 1e-12
    assert pid.saturated


def test_reset_pid_has_zero_terms():
    pid = Pid(1.0, 1.0, 1.0, 1.0, 10)
    pid.step(9.0, 1.0)
    pid.reset()
    assert (pid.p, pid.i, pid.d, pid.saturated) == (0.0, 0.0, 0.0, False)


def test_q20_pid_follows_the_pid_of_floats_into_limits_and_back():
    one = 1 << Q20_BITS
    for gains in ((2.0, 0.2, 2.0, 0.5, 10), (1.0, 0.01, 2.5, 0.35, 10), (0.0, 3.0, 0.0, 1.0, 100)):
        whole, part = Q20Pid(*gains), Pid(*gains)
        for k in range(2000):
            error = math.sin(0.01 * k) * (0.02 if k < 1000 else 3.0)
            rate = 0.1 * math.cos(0.03 * k)
            feed_forward = 0.05 * math.sin(0.2 * k)
            exact = part.step(error, rate, feed_forward)
            found = whole.step(to_q20(error), to_q20(rate), to_q20(feed_forward)) / one
            assert abs(found - exact) < 0.002 * gains[3] + 0.001 * (
                abs(part.p) + abs(part.i) + abs(part.d)
            ), k
            assert abs(whole.i / one - part.i) < 0.002 * gains[3] + 0.001 * abs(part.i), k


def test_q20_pid_integral_sums_errors_far_below_a_count_of_its_output():
    pid = Q20Pid(0.0, 0.01, 0.0, 0.5, 10)
    for _ in range(10000):
        output = pid.step(to_q20(0.0001))
    assert abs(output / (1 << Q20_BITS) - 0.001) < 0.0001


def test_q20_pid_stays_within_its_limit_and_does_not_wind_up():
    pid = Q20Pid(1.0, 1.0, 0.0, 1.0, 10)
    for _ in range(1000):
        assert pid.step(to_q20(5.0)) == to_q20(1.0)
    assert pid.saturated and abs(pid.i) <= to_q20(1.0)
    for _ in range(30):
        output = pid.step(to_q20(-0.5))
    assert output < to_q20(-0.5)
    pid.reset()
    assert (pid.p, pid.i, pid.d, pid.saturated) == (0, 0, 0, False) and pid.step(0) == 0


def model():
    return SwimModel(control())


def tail(frequency_hz, deflection_rad=0.0, amplitude=1.0):
    setpoint = Setpoint()
    setpoint.frequency_hz = frequency_hz
    setpoint.deflection_rad = deflection_rad
    setpoint.amplitude = amplitude
    return setpoint


def test_swim_model_is_steady_at_frequency_times_metres_per_beat():
    for hz in (0.5, 1.0, 2.0, 3.0):
        assert abs(model().acceleration_m_s2(tail(hz), hz * 0.2)) < 1e-12


def test_swim_model_is_as_fast_at_half_amplitude_as_at_half_frequency():
    assert abs(model().acceleration_m_s2(tail(2.0, amplitude=0.5), 0.2)) < 1e-12


def test_swim_model_drag_is_the_friction_of_the_wetted_hull():
    reynolds = 0.4 * 0.26 / 1.12e-6
    friction = 1.328 / math.sqrt(reynolds) + 0.074 / reynolds**0.2
    assert abs(model().drag_n(0.4) - 0.5 * 1000 * 0.055 * friction * 0.16) < 1e-9


def test_swim_model_thrust_and_drag_are_odd():
    assert model().thrust_n(-1.5) == -model().thrust_n(1.5) < 0
    assert model().drag_n(-0.3) == -model().drag_n(0.3) < 0
    assert model().thrust_n(0.0) == 0.0


def test_swim_model_frequency_is_the_inverse_of_thrust():
    for hz in (-3.0, -1.1, 0.0, 0.3, 1.0, 2.45, 3.0):
        assert abs(model().frequency_hz(model().thrust_n(hz)) - hz) < 1e-9


def test_deflection_turns_the_vehicle_and_reduces_thrust():
    assert abs(model().turn_rate_rad_s(2.0, math.radians(30)) - 1.2) < 1e-12
    assert model().turn_rate_rad_s(-2.0, -0.3) == -model().turn_rate_rad_s(2.0, 0.3)
    straight = model().acceleration_m_s2(tail(2.0), 0.0)
    assert abs(model().acceleration_m_s2(tail(2.0, 1.0), 0.0) - straight * math.cos(1.0)) < 1e-12


def inverted(acceleration_m_s2, turn_rate_rad_s, speed_m_s, reverse=False, least_hz=0.0):
    """The setpoint after a few steps of the inverse with a constant acceleration and turn rate."""
    setpoint = Setpoint()
    setpoint.acceleration_m_s2 = acceleration_m_s2
    setpoint.turn_rate_rad_s = turn_rate_rad_s
    setpoint.reverse = reverse
    known = control().changed(frequency_min_hz=least_hz)
    for _ in range(6):
        SwimModel(known).invert(setpoint, speed_m_s)
    return setpoint


def test_inverse_of_the_swim_model_gives_the_setpoint():
    for acceleration, turn_rate, speed, least_hz in (
        (0.0, 0.0, 0.2, 0.0),
        (0.02, 0.5, 0.3, 0.0),
        (0.01, -0.8, 0.35, 0.0),
        (0.03, 0.0, 0.0, 0.0),
        (0.0, 1.8, 0.2, 0.0),
        (-0.02, -1.0, 0.25, 1.8),
        (0.03, 0.4, 0.1, 1.8),
    ):
        setpoint = inverted(acceleration, turn_rate, speed, least_hz=least_hz)
        assert abs(model().acceleration_m_s2(setpoint, speed) - acceleration) < 2e-4
        assert abs(model().turn_rate_rad_s(setpoint.frequency_hz, setpoint.deflection_rad) - turn_rate) < 1e-9
        assert 0.0 < setpoint.amplitude <= 1.0 and setpoint.frequency_hz >= least_hz


def test_inverse_beats_the_tail_for_a_turn_without_thrust():
    setpoint = inverted(0.0, 1.0, 0.0)
    assert abs(model().turn_rate_rad_s(setpoint.frequency_hz, setpoint.deflection_rad) - 1.0) < 1e-9
    assert setpoint.frequency_hz > 0


def test_inverse_stays_within_the_limits_of_the_tail():
    setpoint = inverted(50.0, 0.0, 0.2)
    assert setpoint.frequency_hz == 3.0
    setpoint = inverted(-50.0, 0.0, 0.2, reverse=True)
    assert setpoint.frequency_hz == -3.0
    setpoint = inverted(0.0, 99.0, 0.2)
    assert setpoint.frequency_hz == 3.0
    assert abs(setpoint.deflection_rad - 1.05) < 1e-9
    setpoint = inverted(0.0, -99.0, 0.2)
    assert abs(setpoint.deflection_rad + 1.05) < 1e-9


def test_inverse_reverses_the_wave_only_if_the_setpoint_allows_it():
    assert inverted(-0.5, 0.0, 0.2).frequency_hz == 0.0
    assert inverted(-0.5, 0.0, 0.2, reverse=True).frequency_hz < -1.0
    braking = model().acceleration_m_s2(inverted(-0.02, 0.0, 0.2, reverse=True), 0.2)
    assert abs(braking + 0.02) < 1e-3


def test_inverse_keeps_the_least_frequency_for_steering():
    assert inverted(0.0, 0.0, 0.0, least_hz=0.6).frequency_hz == 0.6
    assert inverted(-0.5, 0.0, 0.2, least_hz=0.6).frequency_hz == 0.6
    assert inverted(0.0, 0.0, 0.3, least_hz=0.6).frequency_hz > 1.4


def test_inverse_reduces_the_amplitude_in_a_hard_turn():
    slow = inverted(0.0, 2.0, 0.1)
    assert slow.frequency_hz > 1.9 and slow.amplitude < 0.5


def test_inverse_stops_the_tail_at_rest_without_a_setpoint():
    setpoint = inverted(0.0, 0.0, 0.0)
    assert (setpoint.frequency_hz, setpoint.deflection_rad, setpoint.amplitude) == (0.0, 0.0, 0.0)


def test_inverse_takes_an_unknown_speed_as_rest():
    state = State(build_board(settings(), BenchDriver(), 100), 10000)
    state.setpoint.acceleration_m_s2 = 0.03
    SwimInverse(model()).step(state)
    assert abs(state.setpoint.frequency_hz - inverted(0.03, 0.0, 0.0).frequency_hz) < 1e-12


def passed(frequency_hz, amplitude, deflection_rad):
    board = build_board(settings(), BenchDriver(), 100)
    tail = Tail(build_gait(gait(), board, 100), 3.0, 1.05)
    state = State(board, 10000)
    state.setpoint.frequency_hz = frequency_hz
    state.setpoint.amplitude = amplitude
    state.setpoint.deflection_rad = deflection_rad
    tail.set_gait(state)
    return tail.gait.frequency.target, tail.gait.amplitude.target, tail.gait.turn.target


def test_tail_passes_settings_within_its_limits_to_the_gait():
    assert passed(2.0, 0.5, -0.3) == (to_q14(2.0), to_q14(0.5), to_q14(-0.3))


def test_tail_limits_settings_beyond_its_limits():
    infinite = float("inf")
    assert passed(9.0, 2.0, 5.0) == (to_q14(3.0), to_q14(1.0), to_q14(1.05))
    assert passed(-infinite, infinite, -infinite) == (to_q14(-3.0), to_q14(1.0), to_q14(-1.05))


def test_tail_limits_fixed_point_settings_as_it_does_floats():
    board = build_board(settings(), BenchDriver(), 100)
    for row in ((0.0, 2.0, 0.5, -30.0), (0.0, 9.0, 1.0, 80.0), (0.0, -9.0, 0.0, -80.0)):
        tail = Tail(build_gait(gait(), board, 100), 3.0, 1.05)
        state = State(board, 10000)
        Schedule(schedule(row).rows, board, 100).step(state)
        assert state.setpoint.beat_q14 is not None
        tail.set_gait(state)
        found = (tail.gait.frequency.target, tail.gait.amplitude.target, tail.gait.turn.target)
        assert found == passed(row[1], row[2], math.radians(row[3]))


def test_tail_stops_when_settings_are_not_a_number():
    nan = float("nan")
    assert passed(nan, nan, nan) == (0, 0, 0)
