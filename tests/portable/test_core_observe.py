"""Actuators that do not follow are marked in the time that is stated, and trusted again when they do; no others."""

import math

from bench_vehicle import BenchDriver, Table, sensor, servo, valve

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_q14
from caudal.onboard.core.actuator_monitor import build_monitor
from caudal.onboard.core.state import State

RATE_HZ = 100
OFF_RAD = 0.1
FOUND_S = 0.3


class Rig:
    """One actuator and what hears it. `tick(told, heard)`: the output of the last tick, and the sensor's count."""

    def __init__(self, channel, si_per_count=0.001, low=-20000, high=20000):
        self.driver = BenchDriver(("heard",))
        settings = Table(
            rate_hz=RATE_HZ,
            actuators=[channel.changed(feedback="heard")],
            sensors=[sensor("heard", 0, si_per_count, low, high)],
        )
        self.board = build_board(settings, self.driver, RATE_HZ)
        self.state = State(self.board, 1000000 // RATE_HZ)
        self.monitor, self.probe = build_monitor(settings, self.board)
        self.ticks = 0

    def tick(self, told, count):
        self.state.outputs[0] = None if told is None else to_q14(told)
        self.driver.counts["heard"] = count
        self.board.sense()
        self.monitor.step(self.state)
        self.ticks += 1
        self.state.tick = self.ticks
        return self.state.not_following[0]


def joint(**changes):
    return servo("joint", 0, lag_s=0.02, tolerance_rad=OFF_RAD, detect_s=FOUND_S, **changes)


def wave(k, amplitude=0.4, hz=1.0):
    return amplitude * math.sin(2 * math.pi * hz * k / RATE_HZ)


def count(angle_rad):
    return int(1000 * angle_rad)


def swim(rig, ticks, heard, amplitude=0.4):
    """Commands a wave; `heard(k)` is its angle. The ticks after which the mark came and went."""
    marked = gone = None
    for k in range(ticks):
        if rig.tick(wave(k, amplitude), heard(k)):
            marked = k + 1 if marked is None else marked
        elif marked is not None and gone is None:
            gone = k + 1
    return marked, gone


def test_a_servo_that_follows_with_its_lag_and_some_noise_is_never_marked():
    rig = Rig(joint())
    angle = 0.0
    for k in range(3000):
        noise = ((k * 7919) % 41 - 20) / 1000
        assert not rig.tick(wave(k, hz=2.0), count(angle + noise))
        angle += (wave(k, hz=2.0) - angle) * 0.4


def test_a_servo_that_is_elsewhere_is_marked_after_the_stated_time():
    rig = Rig(joint())
    for _ in range(50):
        assert not rig.tick(0.0, 0)
    ticks = 0
    while not rig.tick(0.0, count(0.3)):
        ticks += 1
    assert ticks + 1 == int(FOUND_S * RATE_HZ)


def test_a_jammed_servo_is_marked_though_its_command_passes_it_and_stays_marked():
    rig = Rig(joint())
    marked, gone = swim(rig, 1000, lambda k: 0)
    assert FOUND_S * RATE_HZ <= marked < 100 and gone is None


def test_servo_with_a_setpoint_below_its_tolerance_is_not_checked():
    rig = Rig(joint())
    assert swim(rig, 1000, lambda k: 0, amplitude=0.09) == (None, None)
    # and if it was marked, that shows nothing either
    swim(rig, 200, lambda k: 0)
    assert rig.state.not_following[0]
    swim(rig, 1000, lambda k: 0, amplitude=0.09)
    assert rig.state.not_following[0]


def test_the_mark_goes_within_a_beat_in_which_it_follows():
    rig = Rig(joint())
    marked, gone = swim(rig, 700, lambda k: 0 if k < 300 else count(wave(k - 2)))
    assert marked < 100 and 300 < gone <= 400
    # one that rests at its set-point, away from where it was stuck, as well
    rig = Rig(joint())
    for _ in range(60):
        rig.tick(0.3, count(0.0 if rig.ticks else 0.3))
    assert rig.state.not_following[0]
    for _ in range(20):
        rig.tick(0.3, count(0.3))
    assert not rig.state.not_following[0]


def test_limp_servo_and_one_without_feedback_are_not_checked():
    rig = Rig(joint())
    for _ in range(200):
        assert not rig.tick(None, count(0.7))
    for k in range(200):
        assert not rig.tick(wave(k), None)
    # limp again and commanded again: it begins where it is
    rig.tick(None, count(0.7))
    angle = 0.7
    for _ in range(100):
        assert not rig.tick(0.0, count(angle))
        angle *= 0.7


def test_a_sensor_that_speaks_every_fifth_tick_finds_it_in_the_same_time():
    rig = Rig(joint())
    for _ in range(50):
        rig.tick(0.0, 0)
    ticks = 0
    while not rig.tick(0.0, count(0.3) if ticks % 5 == 4 else None):
        ticks += 1
    assert int(FOUND_S * RATE_HZ) <= ticks + 1 <= int(FOUND_S * RATE_HZ) + 5


def test_a_chamber_that_leaks_or_is_stuck_is_found_and_one_that_lags_is_not():
    for share, found in ((1.0, False), (0.5, True), (0.0, True)):
        rig = Rig(valve(pressure="heard", lag_s=0.1, tolerance_pa=15000.0, detect_s=1.0), 25.0, -100, 40000)
        pressure_pa = 0.0
        for k in range(400):
            asked_pa = min(1000.0 * k, 100e3)
            pressure_pa += (share * asked_pa - pressure_pa) * 0.1
            rig.tick(asked_pa, int(pressure_pa / 25))
        assert rig.state.not_following[0] == found


def thruster():
    return Table(
        name="push",
        map="thruster",
        port=0,
        neutral_us=1500,
        low_us=1100,
        high_us=1900,
        nominal_v=16.0,
        battery="",
        min_n=-30.0,
        max_n=30.0,
        slew_n_s=300.0,
        safe_n="off",
        curve=[
            Table(
                fit="table",
                battery_v=16.0,
                pulses_us=[1100, 1500, 1900],
                forces_n=[-30.0, 0.0, 30.0],
            )
        ],
        lag_s=0.08,
        tolerance_n=0.5,
        detect_s=0.4,
        turn_n_s2=[0.014, 0.011],
    )


def turns_count(force_n, ahead=0.014, back=0.011):
    """Without a sign, in tenths of a turn a second."""
    return int(10 * math.sqrt(force_n / ahead if force_n > 0 else -force_n / back))


def test_thruster_is_checked_by_its_rpm_either_way_and_though_its_curve_is_off():
    for share in (0.85, 1.0, 1.2):
        rig = Rig(thruster(), 0.1, 0, 1000)
        force_n = 0.0
        for k in range(2000):
            assert not rig.tick(wave(k, 20.0, 0.3), turns_count(share * force_n))
            force_n += (wave(k, 20.0, 0.3) - force_n) * 0.12


def test_a_dead_thruster_is_found_asked_for_nothing_and_found_again_by_a_short_push():
    rig = Rig(thruster(), 0.1, 0, 1000)
    ticks = 0
    while not rig.tick(5.0, 0):
        ticks += 1
    assert ticks < 0.5 * RATE_HZ
    pushes = 0
    for _ in range(1000):
        rig.probe.step(rig.state)
        pushes += rig.state.commands[0] != 0
        assert rig.tick(rig.state.commands[0] / 16384, 0)
    assert 90 <= pushes <= 110  # half a second of every five
    force_n = 0.0
    for _ in range(600):
        rig.state.commands[0] = 0
        rig.probe.step(rig.state)
        told_n = rig.state.commands[0] / 16384
        force_n += (told_n - force_n) * 0.12
        if not rig.tick(told_n, turns_count(force_n)):
            return
    raise AssertionError("it turns, and is not trusted")
