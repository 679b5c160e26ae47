"""Gaze stabilisation: the neck's joint compensates the predicted motion of its base."""

import math

from bench_vehicle import Table, servo

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_float, to_q14, to_q20, to_q20_or_none
from caudal.onboard.control.gaze import Gaze, GazeHold
from caudal.onboard.core.state import State

RATE_HZ = 100
DT = 1 / RATE_HZ


def bench():
    channels = Table(actuators=[servo(name, k) for k, name in enumerate(("yaw", "pitch"))], sensors=[])
    board = build_board(channels, None, RATE_HZ)
    return board, State(board, 10000)


def gaze(sign=1, lead_s=0.0, lag_s=0.0, limit_rad=0.8):
    table = Table(lead_s=lead_s, lag_s=lag_s, limit_rad=limit_rad)
    return Gaze(table, bench()[0], "yaw", sign, RATE_HZ)


def hold(board, **changes):
    settings = Table(
        yaw="yaw",
        pitch="pitch",
        yaw_sign=1,
        pitch_sign=1,
        lead_s=0.0,
        lag_s=0.0,
        limit_rad=0.8,
        heading_deg=None,
    )
    return GazeHold(settings.changed(**changes), board, RATE_HZ)


def step(axis, commands, head_rad, head_rate_rad_s, goal_rad=0.0):
    axis.step(commands, to_q20_or_none(head_rad), to_q20_or_none(head_rate_rad_s), to_q20(goal_rad))


def sent(axis, neck_rad, neck_rate_rad_s, ticks, goal_rad=0.0, sign=1):
    """Commands while the neck's base moves so, with a servo without lag."""
    commands = [0, 0]
    found = []
    joint_rad = 0.0
    for tick in range(ticks):
        before_rad = joint_rad
        joint_rad = to_float(commands[0])
        rate_rad_s = neck_rate_rad_s(tick * DT) + sign * (joint_rad - before_rad) * RATE_HZ
        step(axis, commands, neck_rad(tick * DT) + sign * joint_rad, rate_rad_s, goal_rad)
        found.append(to_float(commands[0]))
    return found


def test_gaze_compensates_a_constant_angle_of_the_neck():
    for sign in (1, -1):
        commands = sent(gaze(sign), lambda t: 0.3, lambda t: 0.0, 10, goal_rad=0.1, sign=sign)
        for command in commands:
            assert abs(command + sign * 0.2) < 1e-4


def test_gaze_leads_a_neck_that_turns_steadily():
    for sign in (1, -1):
        axis = gaze(sign, lead_s=0.05)
        commands = sent(axis, lambda t: 0.4 * t, lambda t: 0.4, 100, sign=sign)
        for tick in range(20, 100):
            assert abs(commands[tick] + sign * 0.4 * (tick * DT + 0.05)) < 2e-4


def swing_rad(lead_s, lag_s, sign=-1, hz=1.5):
    """Largest heading of a head on a neck that swings by 0.3 rad, behind a servo with lag and delay."""
    axis = gaze(sign, lead_s, lag_s)
    commands = [0, 0]
    joint_rad = joint_rate_rad_s = 0.0
    late = [0.0]  # what the servo follows: the command of a tick ago
    largest_rad = 0.0
    for tick in range(4 * RATE_HZ):
        t = tick * DT
        neck_rad = 0.3 * math.sin(2 * math.pi * hz * t)
        neck_rate_rad_s = 0.3 * 2 * math.pi * hz * math.cos(2 * math.pi * hz * t)
        head_rad = neck_rad + sign * joint_rad
        step(axis, commands, head_rad, neck_rate_rad_s + sign * joint_rate_rad_s)
        goal_rad = late.pop(0)
        late.append(to_float(commands[0]))
        for _ in range(10):
            joint_rate_rad_s = (goal_rad - joint_rad) / 0.02
            joint_rad += joint_rate_rad_s * DT / 10
        if tick > RATE_HZ:
            largest_rad = max(largest_rad, abs(head_rad))
    return largest_rad


def test_gaze_holds_the_head_on_a_swinging_neck():
    for sign in (1, -1):
        assert swing_rad(0.035, 0.02, sign) < 0.06


def test_gaze_swings_without_its_lead():
    assert swing_rad(0.0, 0.02) > 0.08


def test_gaze_joint_stays_within_its_limit():
    for command in sent(gaze(limit_rad=0.5), lambda t: 2.0, lambda t: 0.0, 5):
        assert command == -0.5


def test_gaze_keeps_its_last_command_while_a_reading_is_lost():
    axis = gaze()
    commands = [to_q14(0.25), 0]
    for angle_rad, rate_rad_s in ((None, 0.0), (0.1, None), (None, None)):
        step(axis, commands, angle_rad, rate_rad_s)
        assert commands == [to_q14(0.25), 0]
    step(axis, commands, 0.3, 0.0)
    assert abs(to_float(commands[0]) + 0.05) < 1e-4


def test_gaze_turns_the_short_way():
    commands = [0, 0]
    step(gaze(), commands, -math.pi + 0.1, 0.0, math.pi - 0.1)
    assert abs(to_float(commands[0]) + 0.2) < 1e-4
    commands = [0, 0]
    step(gaze(), commands, math.pi - 0.1, 0.0, -math.pi + 0.1)
    assert abs(to_float(commands[0]) - 0.2) < 1e-4


def held(state, controller, heading_rad, pitch_rad=0.0):
    state.estimate.heading_rad = heading_rad
    state.estimate.turn_rate_rad_s = 0.0
    state.estimate.pitch_rad = pitch_rad
    state.estimate.pitch_rate_rad_s = 0.0
    state.commands[0] = state.commands[1] = 0  # a gait's, of another tick
    controller.step(state)
    return [to_float(command) for command in state.commands]


def test_gaze_holds_the_first_heading_and_level():
    board, state = bench()
    controller = hold(board, pitch_sign=-1)
    assert held(state, controller, None) == [0.0, 0.0]
    assert held(state, controller, 0.7) == [0.0, 0.0]
    yaw_rad, pitch_rad = held(state, controller, 0.9, pitch_rad=0.1)
    assert abs(yaw_rad + 0.2) < 1e-4 and abs(pitch_rad - 0.1) < 1e-4


def test_gaze_holds_the_heading_of_its_table():
    board, state = bench()
    yaw_rad, _ = held(state, hold(board, heading_deg=30.0), 0.4)
    assert abs(yaw_rad - (math.pi / 6 - 0.4)) < 1e-4


def test_gaze_works_without_an_axis_that_the_vehicle_lacks():
    board, state = bench()
    assert held(state, hold(board, yaw="", heading_deg=0.0), 0.5, 0.2) == [0.0, to_float(to_q14(-0.2))]
    board, state = bench()
    assert held(state, hold(board, pitch="", heading_deg=0.0), 0.5, 0.2) == [-0.5, 0.0]
