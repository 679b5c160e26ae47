"""The planar estimator: readings, predictions between them, and unknown fields."""

import math

from bench_vehicle import BenchDriver, control, estimate, settings

from caudal.hal.core.build import build_board
from caudal.onboard.control.swim_model import SwimModel
from caudal.onboard.core.angles import wrap
from caudal.onboard.core.state import State
from caudal.onboard.estimate.planar import PlanarEstimator


class Bench:
    """An estimator at 100 Hz; counts are mrad and mm."""

    def __init__(self, **changes):
        self.driver = BenchDriver()
        self.board = build_board(settings(), self.driver, 100)
        self.state = State(self.board, 10000)
        channels = estimate()
        channels.changed(**changes)
        self.model = SwimModel(control())
        self.estimator = PlanarEstimator(channels, self.board, self.model, 100)

    def step(self, ticks=1, **counts):
        for _ in range(ticks):
            self.driver.counts.update(counts)
            self.board.sense()
            self.estimator.step(self.state)
        return self.state.estimate


def test_wrap_keeps_a_direction_within_its_range():
    for angle in (0.0, 3.0, -3.0, 4.0, -4.0, 100.0):
        wrapped = wrap(angle)
        assert -math.pi <= wrapped < math.pi
        assert abs(math.sin(wrapped) - math.sin(angle)) < 1e-12
        assert abs(math.cos(wrapped) - math.cos(angle)) < 1e-12


def test_planar_estimate_is_unknown_without_readings():
    known = Bench().step(5, heading=None, turn_rate=None, x=None, y=None, depth=None)
    assert known.heading_rad is None
    assert known.turn_rate_rad_s is None
    assert known.x_m is None and known.y_m is None
    assert known.depth_m is None


def test_planar_estimator_takes_a_fresh_heading_as_it_is():
    assert Bench().step(heading=1250).heading_rad == 1.25


def test_gyro_predicts_the_heading_between_compass_readings():
    bench = Bench()
    bench.step(heading=1000, turn_rate=500)
    known = bench.step(20, heading=None)
    assert abs(known.heading_rad - 1.1) < 1e-9


def test_predicted_heading_stays_within_a_turn():
    bench = Bench()
    bench.step(heading=3100, turn_rate=1000)
    known = bench.step(10, heading=None)
    assert abs(known.heading_rad - wrap(3.2)) < 1e-9


def test_heading_stays_without_compass_and_gyro():
    bench = Bench()
    bench.step(heading=1000)
    assert bench.step(30, heading=None, turn_rate=None).heading_rad == 1.0


def test_speed_follows_the_swim_model_while_commands_are_applied():
    bench = Bench(x="", y="")
    bench.state.commands_applied = True
    bench.state.setpoint.frequency_hz = 1.0
    bench.state.setpoint.amplitude = 1.0
    speeds = []
    for _ in range(6):
        speeds.append(bench.step(1000).speed_m_s)
    assert speeds == sorted(speeds)
    assert abs(speeds[-1] - 0.2) < 0.002


def test_speed_stays_zero_while_commands_are_not_applied():
    bench = Bench(x="", y="")
    bench.state.armed = True
    bench.state.setpoint.frequency_hz = 3.0
    bench.state.setpoint.amplitude = 1.0
    assert bench.step(100).speed_m_s == 0.0


def test_first_position_measurement_is_the_position():
    known = Bench().step(x=1500, y=-500)
    assert (known.x_m, known.y_m) == (1.5, -0.5)


def test_position_stays_unknown_when_only_x_is_measured():
    known = Bench().step(x=1500, y=None)
    assert known.x_m is None and known.y_m is None


def test_position_is_predicted_by_heading_and_speed_between_measurements():
    bench = Bench()
    bench.step(x=1000, y=2000, heading=1571)
    bench.state.estimate.speed_m_s = 0.1
    known = bench.step(1, x=None, y=None)
    assert abs(known.y_m - 2.001) < 1e-5
    assert abs(known.x_m - 1.0) < 1e-5


def test_measurement_corrects_position_and_speed_by_their_gains():
    bench = Bench()
    bench.step(x=1000, y=0, heading=0)
    known = bench.step(x=1100, y=0)
    assert abs(known.x_m - 1.025) < 1e-9
    assert abs(known.speed_m_s - 0.05) < 1e-9


def test_measurement_to_the_side_does_not_change_the_speed():
    bench = Bench()
    bench.step(x=1000, y=0, heading=0)
    known = bench.step(y=100)
    assert abs(known.y_m - 0.025) < 1e-9
    assert abs(known.speed_m_s) < 1e-12


def test_depth_is_the_pressure_reading_until_it_is_too_old():
    bench = Bench()
    assert bench.step(depth=480).depth_m == 0.48
    assert bench.step(10, depth=None).depth_m == 0.48
    assert bench.step(1).depth_m is None


def test_planar_estimator_works_without_a_channel_that_the_vehicle_lacks():
    known = Bench(heading="", turn_rate="", x="", y="", depth="").step(3, heading=1, depth=1)
    assert known.heading_rad is None
    assert known.depth_m is None
    assert known.speed_m_s == 0.0
