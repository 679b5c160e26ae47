"""PID of floats and of integers, the swim law and its inverse, and the tail's two stages."""

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


def test_a_pid_adds_its_three_terms_and_keeps_them():
    pid = Pid(2.0, 0.5, 0.1, 10.0, 10)
    assert abs(pid.step(1.0, 3.0, 0.25) - (0.25 + 2.0 + 0.05 - 0.3)) < 1e-12
    assert (pid.p, pid.saturated) == (2.0, False)
    assert abs(pid.i - 0.05) < 1e-12
    assert abs(pid.d + 0.3) < 1e-12


def test_the_integral_sums_the_error_over_time():
    pid = Pid(0.0, 2.0, 0.0, 10.0, 10)
    for _ in range(10):
        output = pid.step(0.5)
    assert abs(output - 1.0) < 1e-9


def test_an_output_stays_within_its_limit():
    pid = Pid(100.0, 0.0, 0.0, 1.5, 10)
    assert pid.step(1.0) == 1.5
    assert pid.saturated
    assert pid.step(-1.0) == -1.5
    assert pid.step(0.001) == 0.1
    assert not pid.saturated


def test_the_integral_does_not_wind_up_at_the_limit():
    pid = Pid(1.0, 1.0, 0.0, 1.0, 10)
    for _ in range(1000):
        pid.step(5.0)
    assert abs(pid.i) <= 1.0
    outputs = [pid.step(-0.5) for _ in range(30)]
    assert outputs[0] < 1.0 and outputs[-1] < -0.5


def test_the_integral_may_unwind_while_the_output_is_still_at_the_limit():
    pid = Pid(0.0, 1.0, 0.0, 1.0, 10)
    pid.i = 3.0
    pid.step(-1.0)
    assert abs(pid.i - 2.9) < 1e-12
    assert pid.saturated


def test_a_reset_pid_remembers_nothing():
    pid = Pid(1.0, 1.0, 1.0, 1.0, 10)
    pid.step(9.0, 1.0)
    pid.reset()
    assert (pid.p, pid.i, pid.d, pid.saturated) == (0.0, 0.0, 0.0, False)


def test_integers_follow_floats_through_limits_and_back():
    one = 1 << Q20_BITS
    for gains in ((2.0, 0.2, 2.0, 0.5, 10), (1.0, 0.01, 2.5, 0.35, 10), (0.0, 3.0, 0.0, 1.0, 100)):
        whole, part = Q20Pid(*gains), Pid(*gains)
        for k in range(2000):
            error = math.sin(0.01 * k) * (0.02 if k < 1000 else 3.0)
            rate = 0.1 * math.cos(0.03 * k)
            lean = 0.05 * math.sin(0.2 * k)
            exact = part.step(error, rate, lean)
            found = whole.step(to_q20(error), to_q20(rate), to_q20(lean)) / one
            assert abs(found - exact) < 0.002 * gains[3] + 0.001 * (
                abs(part.p) + abs(part.i) + abs(part.d)
            ), k
            assert abs(whole.i / one - part.i) < 0.002 * gains[3] + 0.001 * abs(part.i), k


def test_an_integer_integral_sums_errors_far_below_a_count_of_its_output():
    pid = Q20Pid(0.0, 0.01, 0.0, 0.5, 10)
    for _ in range(10000):
        output = pid.step(to_q20(0.0001))
    assert abs(output / (1 << Q20_BITS) - 0.001) < 0.0001


def test_an_integer_output_stays_within_its_limit_and_does_not_wind_up():
    pid = Q20Pid(1.0, 1.0, 0.0, 1.0, 10)
    for _ in range(1000):
        assert pid.step(to_q20(5.0)) == to_q20(1.0)
    assert pid.saturated and abs(pid.i) <= to_q20(1.0)
    for _ in range(30):
        output = pid.step(to_q20(-0.5))
    assert output < to_q20(-0.5)
    pid.reset()
    assert (pid.p, pid.i, pid.d, pid.saturated) == (0, 0, 0, False) and pid.step(0) == 0


def law():
    return SwimModel(control())


def tail(frequency_hz, deflection_rad=0.0, amplitude=1.0):
    want = Setpoint()
    want.frequency_hz = frequency_hz
    want.deflection_rad = deflection_rad
    want.amplitude = amplitude
    return want


def test_steady_speed_is_frequency_times_metres_per_beat():
    for hz in (0.5, 1.0, 2.0, 3.0):
        assert abs(law().acceleration_m_s2(tail(hz), hz * 0.2)) < 1e-12


def test_half_the_amplitude_swims_as_half_the_frequency():
    assert abs(law().acceleration_m_s2(tail(2.0, amplitude=0.5), 0.2)) < 1e-12


def test_drag_is_the_friction_of_the_wetted_hull():
    reynolds = 0.4 * 0.26 / 1.12e-6
    friction = 1.328 / math.sqrt(reynolds) + 0.074 / reynolds**0.2
    assert abs(law().drag_n(0.4) - 0.5 * 1000 * 0.055 * friction * 0.16) < 1e-9


def test_thrust_and_drag_are_odd():
    assert law().thrust_n(-1.5) == -law().thrust_n(1.5) < 0
    assert law().drag_n(-0.3) == -law().drag_n(0.3) < 0
    assert law().thrust_n(0.0) == 0.0


def test_frequency_is_the_inverse_of_thrust():
    for hz in (-3.0, -1.1, 0.0, 0.3, 1.0, 2.45, 3.0):
        assert abs(law().frequency_hz(law().thrust_n(hz)) - hz) < 1e-9


def test_deflection_turns_and_wastes_thrust():
    assert abs(law().turn_rate_rad_s(2.0, math.radians(30)) - 1.2) < 1e-12
    assert law().turn_rate_rad_s(-2.0, -0.3) == -law().turn_rate_rad_s(2.0, 0.3)
    straight = law().acceleration_m_s2(tail(2.0), 0.0)
    assert abs(law().acceleration_m_s2(tail(2.0, 1.0), 0.0) - straight * math.cos(1.0)) < 1e-12


def inverted(acceleration_m_s2, turn_rate_rad_s, speed_m_s, reverse=False, least_hz=0.0):
    """What the law asks for once the wanted motion has been held for a few rounds."""
    want = Setpoint()
    want.acceleration_m_s2 = acceleration_m_s2
    want.turn_rate_rad_s = turn_rate_rad_s
    want.reverse = reverse
    known = control().changed(frequency_min_hz=least_hz)
    for _ in range(6):
        SwimModel(known).invert(want, speed_m_s)
    return want


def test_what_the_inverse_asks_gives_the_motion_wanted():
    for acceleration, turn_rate, speed, least_hz in (
        (0.0, 0.0, 0.2, 0.0),
        (0.02, 0.5, 0.3, 0.0),
        (0.01, -0.8, 0.35, 0.0),
        (0.03, 0.0, 0.0, 0.0),
        (0.0, 1.8, 0.2, 0.0),
        (-0.02, -1.0, 0.25, 1.8),
        (0.03, 0.4, 0.1, 1.8),
    ):
        want = inverted(acceleration, turn_rate, speed, least_hz=least_hz)
        assert abs(law().acceleration_m_s2(want, speed) - acceleration) < 2e-4
        assert abs(law().turn_rate_rad_s(want.frequency_hz, want.deflection_rad) - turn_rate) < 1e-9
        assert 0.0 < want.amplitude <= 1.0 and want.frequency_hz >= least_hz


def test_a_turn_at_rest_beats_the_tail_even_where_no_thrust_is_wanted():
    want = inverted(0.0, 1.0, 0.0)
    assert abs(law().turn_rate_rad_s(want.frequency_hz, want.deflection_rad) - 1.0) < 1e-9
    assert want.frequency_hz > 0


def test_more_than_the_tail_can_ends_at_its_limits():
    want = inverted(50.0, 0.0, 0.2)
    assert want.frequency_hz == 3.0
    want = inverted(-50.0, 0.0, 0.2, reverse=True)
    assert want.frequency_hz == -3.0
    want = inverted(0.0, 99.0, 0.2)
    assert want.frequency_hz == 3.0
    assert abs(want.deflection_rad - 1.05) < 1e-9
    want = inverted(0.0, -99.0, 0.2)
    assert abs(want.deflection_rad + 1.05) < 1e-9


def test_the_wave_is_turned_round_only_where_that_is_allowed():
    assert inverted(-0.5, 0.0, 0.2).frequency_hz == 0.0
    assert inverted(-0.5, 0.0, 0.2, reverse=True).frequency_hz < -1.0
    braking = law().acceleration_m_s2(inverted(-0.02, 0.0, 0.2, reverse=True), 0.2)
    assert abs(braking + 0.02) < 1e-3


def test_the_tail_keeps_the_beat_it_needs_to_steer():
    assert inverted(0.0, 0.0, 0.0, least_hz=0.6).frequency_hz == 0.6
    assert inverted(-0.5, 0.0, 0.2, least_hz=0.6).frequency_hz == 0.6
    assert inverted(0.0, 0.0, 0.3, least_hz=0.6).frequency_hz > 1.4


def test_a_hard_turn_does_not_speed_it_up():
    slow = inverted(0.0, 2.0, 0.1)
    assert slow.frequency_hz > 1.9 and slow.amplitude < 0.5


def test_wanting_nothing_at_rest_stills_the_tail():
    want = inverted(0.0, 0.0, 0.0)
    assert (want.frequency_hz, want.deflection_rad, want.amplitude) == (0.0, 0.0, 0.0)


def test_the_inverse_stage_takes_an_unknown_speed_as_rest():
    state = State(build_board(settings(), BenchDriver(), 100), 10000)
    state.setpoint.acceleration_m_s2 = 0.03
    SwimInverse(law()).step(state)
    assert abs(state.setpoint.frequency_hz - inverted(0.03, 0.0, 0.0).frequency_hz) < 1e-12


def asked(frequency_hz, amplitude, deflection_rad):
    board = build_board(settings(), BenchDriver(), 100)
    tail = Tail(build_gait(gait(), board, 100), 3.0, 1.05)
    state = State(board, 10000)
    state.setpoint.frequency_hz = frequency_hz
    state.setpoint.amplitude = amplitude
    state.setpoint.deflection_rad = deflection_rad
    tail.set_gait(state)
    return tail.gait.frequency.target, tail.gait.amplitude.target, tail.gait.turn.target


def test_the_tail_hands_settings_within_its_limits_to_the_gait():
    assert asked(2.0, 0.5, -0.3) == (to_q14(2.0), to_q14(0.5), to_q14(-0.3))


def test_settings_beyond_the_limits_are_cut():
    infinite = float("inf")
    assert asked(9.0, 2.0, 5.0) == (to_q14(3.0), to_q14(1.0), to_q14(1.05))
    assert asked(-infinite, infinite, -infinite) == (to_q14(-3.0), to_q14(1.0), to_q14(-1.05))


def test_settings_known_beforehand_are_asked_alike_and_cut_alike():
    board = build_board(settings(), BenchDriver(), 100)
    for row in ((0.0, 2.0, 0.5, -30.0), (0.0, 9.0, 1.0, 80.0), (0.0, -9.0, 0.0, -80.0)):
        tail = Tail(build_gait(gait(), board, 100), 3.0, 1.05)
        state = State(board, 10000)
        Schedule(schedule(row).rows, board, 100).step(state)
        assert state.setpoint.beat_q14 is not None
        tail.set_gait(state)
        found = (tail.gait.frequency.target, tail.gait.amplitude.target, tail.gait.turn.target)
        assert found == asked(row[1], row[2], math.radians(row[3]))


def test_settings_that_are_no_number_still_the_tail():
    nan = float("nan")
    assert asked(nan, nan, nan) == (0, 0, 0)
