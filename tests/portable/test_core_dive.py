"""Depth control with one servo, at the first depth, a scenario's or a schedule's."""

from bench_vehicle import Table, servo

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_float, to_q14
from caudal.onboard.control.dive import Dive
from caudal.onboard.core.state import State
from caudal.onboard.guidance.schedule import Schedule

RATE_HZ = 100


def bench():
    channels = Table(actuators=[servo(name, k) for k, name in enumerate(("tail", "fins"))], sensors=[])
    board = build_board(channels, None, RATE_HZ)
    return board, State(board, 10000)


def dive(board, depth_m=None, **changes):
    settings = Table(
        actuator="fins",
        direction=1,
        kp_rad_per_m=2.0,
        ki_rad_per_m_s=0.0,
        kd_rad_s_per_m=0.0,
        pitch_gain=0.0,
        limit_rad=0.5,
    )
    return Dive(settings.changed(**changes), board, depth_m, RATE_HZ)


def commanded(depths_m, setpoint_m=1.0, pitch_rad=None, **settings):
    """The servo's angle after these depths, one per tick; the other servo stays at 0."""
    board, state = bench()
    controller = dive(board, setpoint_m, **settings)
    state.estimate.pitch_rad = pitch_rad
    for depth_m in depths_m:
        state.estimate.depth_m = depth_m
        controller.step(state)
    assert state.commands[0] == 0
    return to_float(state.commands[1])


def test_dive_angle_is_positive_when_too_shallow():
    assert abs(commanded([0.9]) - 0.2) < 1e-4
    assert abs(commanded([1.1]) + 0.2) < 1e-4
    assert commanded([1.0]) == 0.0


def test_dive_angle_is_reversed_for_a_reversed_servo():
    assert abs(commanded([0.9], direction=-1) + 0.2) < 1e-4


def test_dive_integral_grows_while_too_shallow():
    short, long = (commanded([0.9] * seconds * RATE_HZ, ki_rad_per_m_s=1.0) for seconds in (1, 2))
    assert abs(short - 0.3) < 1e-3 and abs(long - 0.4) < 1e-3


def test_dive_damps_the_depth_rate():
    sinking = [1.0 + 0.1 * k / RATE_HZ for k in range(-200, 1)]  # 0.1 m/s, and at its depth now
    angle_rad = commanded(sinking, kp_rad_per_m=0.0, kd_rad_s_per_m=2.0)
    assert abs(angle_rad + 0.2) < 0.005
    assert commanded(sinking, kp_rad_per_m=0.0, kd_rad_s_per_m=2.0, direction=-1) == -angle_rad


def test_dive_filters_the_noise_of_the_depth():
    jumps = [1.0 + 0.003 * (-1) ** k for k in range(300)]  # m, up and down every tick
    assert abs(commanded(jumps, kp_rad_per_m=2.0, kd_rad_s_per_m=2.0)) < 0.01


def test_dive_adds_the_pitch_by_its_gain_when_it_is_known():
    assert abs(commanded([1.0], pitch_rad=0.2, pitch_gain=-0.5) + 0.1) < 1e-4
    assert commanded([1.0], pitch_rad=None, pitch_gain=-0.5) == 0.0


def test_dive_angle_stays_within_its_limit():
    assert commanded([0.0]) == 0.5 and commanded([9.0]) == -0.5
    assert commanded([0.0], direction=-1) == -0.5


def test_dive_keeps_its_last_command_without_a_depth():
    board, state = bench()
    controller = dive(board, 1.0)
    state.estimate.depth_m = 0.9
    controller.step(state)
    before = state.commands[1]
    state.estimate.depth_m = None
    for _ in range(300):
        controller.step(state)
        assert state.commands[1] == before == to_q14(0.2)


def test_dive_holds_the_first_depth_without_a_setpoint():
    board, state = bench()
    controller = dive(board)
    controller.step(state)
    assert state.setpoint.depth_m is None
    for depth_m in (0.4, 0.5, 0.6):
        state.estimate.depth_m = depth_m
        controller.step(state)
    assert state.setpoint.depth_m == 0.4 and state.commands[1] < 0


def test_dive_holds_the_depth_of_the_scenario_from_the_start():
    board, state = bench()
    state.estimate.depth_m = 0.4
    dive(board, 1.0).step(state)
    assert state.setpoint.depth_m == 1.0


def test_dive_follows_the_depth_of_a_schedule():
    board, state = bench()
    rows = []
    for at_s, depth_m in ((0.0, None), (0.1, 1.5), (0.2, None)):
        row = Table(at_s=at_s, frequency_hz=1.0, amplitude=1.0, deflection_deg=0.0)
        rows.append(row.changed(depth_m=depth_m, hold=[]))
    schedule, controller = Schedule(rows, board, RATE_HZ), dive(board, 1.0)
    state.estimate.depth_m = 1.0
    setpoint_m = []
    for tick in range(30):
        state.tick = tick
        schedule.step(state)
        controller.step(state)
        setpoint_m.append(state.setpoint.depth_m)
    assert setpoint_m == [1.0] * 10 + [1.5] * 20
    assert state.commands[1] == to_q14(0.5)  # half a metre too shallow: the largest angle


def settled_m(direction, lift_sign, seconds=60):
    """Depth of a slightly heavy body whose fins lift it: depth'' = 0.4 lift_sign angle - 0.8 depth' + 0.02."""
    board, state = bench()
    controller = dive(board, 1.0, direction=direction, ki_rad_per_m_s=0.2, kd_rad_s_per_m=2.0)
    depth_m, sink_m_s = 0.7, 0.0
    for _ in range(seconds * RATE_HZ):
        state.estimate.depth_m = depth_m
        controller.step(state)
        sink_m_s += (0.4 * lift_sign * to_float(state.commands[1]) - 0.8 * sink_m_s + 0.02) / RATE_HZ
        depth_m += sink_m_s / RATE_HZ
    return depth_m


def test_dive_settles_at_its_depth_with_a_heavy_vehicle():
    assert abs(settled_m(1, 1) - 1.0) < 0.005
    assert abs(settled_m(-1, -1) - 1.0) < 0.005


def test_dive_diverges_with_the_wrong_direction():
    assert abs(settled_m(-1, 1) - 1.0) > 1.0
