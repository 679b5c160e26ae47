"""Shells: they damp roll, hold the body level against a lasting torque, and tolerate lost readings."""

import math

from bench_vehicle import Table, servo

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_float, to_q14
from caudal.onboard.control.shells import Shells
from caudal.onboard.core.state import State

RATE_HZ = 100
JOINTS = ("r1", "r2")


def bench():
    channels = Table(actuators=[servo(name, k) for k, name in enumerate(("neck",) + JOINTS)], sensors=[])
    board = build_board(channels, None, RATE_HZ)
    return board, State(board, 10000)


def shells(board, **changes):
    settings = Table(
        joints=JOINTS,
        damp_per_s=0.0,
        leak_s=0.2,
        rate_s=0.0,
        trim_per_s=0.0,
        limit_rad=0.5,
        trim_limit_rad=0.3,
        level_deg=0.0,
    )
    return Shells(settings.changed(**changes), board, RATE_HZ)


class Pendulum:
    """A body that rolls at 1.4 Hz; its shells have half of its inertia, and their lobes right it a little.

    Inertia of the whole 1: roll'' = -w^2 roll - 0.5 shell'' + lobes shell + torque. The shells' servo is critically
    damped, with the lag of a good one.
    """

    def __init__(self, torque=0.0, lobes=0.0, lag_s=0.02):
        self.board, self.state = bench()
        self.roll_rad = 0.0
        self.rate_rad_s = 0.0
        self.shell_rad = 0.0
        self.shell_rate_rad_s = 0.0
        self._torque = torque
        self._lobes = lobes
        self._w = 2 / lag_s

    def tick(self):
        goal_rad = to_float(self.state.commands[1])
        dt = 1 / RATE_HZ / 20
        for _ in range(20):
            w = self._w
            push = -w * w * (self.shell_rad - goal_rad) - 2 * w * self.shell_rate_rad_s
            turn = -77.4 * self.roll_rad - 0.5 * push + self._lobes * self.shell_rad + self._torque
            self.rate_rad_s += turn * dt
            self.roll_rad += self.rate_rad_s * dt
            self.shell_rate_rad_s += push * dt
            self.shell_rad += self.shell_rate_rad_s * dt

    def run(self, seconds, controller=None):
        """Largest roll of the last second."""
        largest_rad = 0.0
        ticks = round(seconds * RATE_HZ)
        for tick in range(ticks):
            self.state.estimate.roll_rad = self.roll_rad
            self.state.estimate.roll_rate_rad_s = self.rate_rad_s
            if controller:
                controller.step(self.state)
            self.tick()
            if tick >= ticks - RATE_HZ:
                largest_rad = max(largest_rad, abs(self.roll_rad))
        return largest_rad


def rolling(**options):
    body = Pendulum(**options)
    body.roll_rad = 0.15
    return body


def test_body_rolls_on_without_shells():
    assert abs(rolling().run(5.0) - 0.15) < 0.01


def test_shells_damp_by_the_integral_of_the_roll():
    body = rolling()
    assert body.run(3.0, shells(body.board, damp_per_s=10.0)) < 0.15 / 30


def test_shells_with_the_wrong_sign_increase_the_roll():
    body = rolling()
    assert body.run(3.0, shells(body.board, damp_per_s=-10.0)) > 0.3


def test_published_control_law_is_unstable_at_a_large_gain():
    # At the roll's own frequency -k roll' is k w^2 times the integral; at higher ones it is far more.
    body = rolling()
    assert body.run(10.0, shells(body.board, rate_s=0.02)) < 0.15 / 30
    body = rolling()
    assert body.run(3.0, shells(body.board, rate_s=0.1)) > 0.15


def test_shells_trim_a_lasting_torque_by_their_lobes():
    torque = 5.0  # heels it by 3.7 degrees
    body = Pendulum(torque=torque, lobes=-20.0)
    heeled_rad = body.run(40.0, shells(body.board, damp_per_s=10.0))
    body = Pendulum(torque=torque, lobes=20.0)
    held_rad = body.run(40.0, shells(body.board, damp_per_s=10.0, trim_per_s=1.0))
    assert heeled_rad > 0.05 and held_rad < 0.005


def first_command(roll_rad, rate_rad_s=None, **settings):
    board, state = bench()
    state.estimate.roll_rad = roll_rad
    state.estimate.roll_rate_rad_s = rate_rad_s
    shells(board, **settings).step(state)
    return state.commands


def test_roll_to_the_right_turns_only_the_shells_and_to_the_right():
    # A tick of it, less what the slow mean has taken up: 1 part in 200.
    assert first_command(0.1, damp_per_s=10.0) == [0, to_q14(0.00995), to_q14(0.00995)]
    assert first_command(-0.1, damp_per_s=10.0) == [0, to_q14(-0.00995), to_q14(-0.00995)]


def test_trim_and_published_law_turn_the_other_way():
    assert first_command(0.1, trim_per_s=1.0) == [0, to_q14(-0.001), to_q14(-0.001)]
    assert first_command(0.0, 0.5, rate_s=0.1) == [0, to_q14(-0.05), to_q14(-0.05)]


def test_shells_hold_the_level_of_their_table():
    level = 10.0 * math.pi / 180
    assert first_command(level, damp_per_s=10.0, trim_per_s=1.0, level_deg=10.0) == [0, 0, 0]
    assert first_command(0.0, trim_per_s=1.0, level_deg=10.0)[1] == to_q14(level / RATE_HZ)


def test_shells_stay_within_limits_at_any_reading():
    board, state = bench()
    controller = shells(
        board, damp_per_s=200.0, rate_s=10.0, trim_per_s=50.0, limit_rad=0.4, trim_limit_rad=0.2
    )
    for tick in range(400):
        state.estimate.roll_rad = 3.0 if tick % 100 < 50 else -3.0
        state.estimate.roll_rate_rad_s = 40.0 if tick % 30 < 15 else -40.0
        controller.step(state)
        for index in (1, 2):
            assert abs(state.commands[index]) <= to_q14(0.4)
        assert abs(controller.damp_rad) <= 0.4 and abs(controller.trim_rad) <= 0.2


def test_shells_do_not_damp_a_lasting_roll():
    board, state = bench()
    controller = shells(board, damp_per_s=10.0)
    largest_rad = 0.0
    state.estimate.roll_rad = 0.1
    for _ in range(20 * RATE_HZ):
        controller.step(state)
        largest_rad = max(largest_rad, controller.damp_rad)
    assert largest_rad > 0.1 and abs(controller.damp_rad) < 0.001


def test_shells_centre_without_a_reading_and_keep_their_trim():
    board, state = bench()
    controller = shells(board, damp_per_s=10.0, trim_per_s=1.0)
    state.estimate.roll_rad = 0.1
    for _ in range(100):
        controller.step(state)
    trim_rad = controller.trim_rad
    assert trim_rad < -0.09
    state.estimate.roll_rad = None
    for _ in range(500):
        controller.step(state)
        assert state.commands[1] == state.commands[2] == 0
    state.estimate.roll_rad = 0.0
    controller.step(state)
    assert controller.trim_rad == trim_rad


def test_shells_damp_while_some_readings_are_lost():
    body = rolling()
    controller = shells(body.board, damp_per_s=10.0)
    for tick in range(4 * RATE_HZ):
        body.state.estimate.roll_rad = None if tick % 5 == 0 else body.roll_rad
        controller.step(body.state)
        body.tick()
    assert abs(body.roll_rad) < 0.01
