"""The attitude estimator: readings as they are, None without one."""

from bench_vehicle import BenchDriver, Table, sensor, servo

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_q20
from caudal.onboard.core.state import Estimate, State
from caudal.onboard.estimate.attitude import AttitudeEstimator

CHANNELS = ("heading", "pitch", "roll", "turn_rate", "pitch_rate", "roll_rate", "depth")
FIELDS = (
    "heading_rad",
    "pitch_rad",
    "roll_rad",
    "turn_rate_rad_s",
    "pitch_rate_rad_s",
    "roll_rate_rad_s",
    "depth_m",
)


class Bench:
    """An inertial unit and a depth whose counts are mrad, mrad/s and mm, good for 0.1 s at 100 Hz."""

    def __init__(self, **changes):
        sensors = [sensor(name, k, 0.001, -20000, 20000) for k, name in enumerate(CHANNELS)]
        channels = Table(actuators=[servo("tail", 0)], sensors=sensors)
        self.driver = BenchDriver(CHANNELS)
        self.board = build_board(channels, self.driver, 100)
        self.state = State(self.board, 10000)
        settings = Table(**{name: name for name in CHANNELS}).changed(**changes)
        self.estimator = AttitudeEstimator(settings, self.board)

    def step(self, ticks=1, **counts):
        for _ in range(ticks):
            self.driver.counts.update(counts)
            self.board.sense()
            self.estimator.step(self.state)
        return [getattr(self.state.estimate, field) for field in FIELDS]


COUNTS = {
    "heading": 100,
    "pitch": -200,
    "roll": 300,
    "turn_rate": -400,
    "pitch_rate": 500,
    "roll_rate": -600,
    "depth": 800,
}
NOTHING = {
    "heading": None,
    "pitch": None,
    "roll": None,
    "turn_rate": None,
    "pitch_rate": None,
    "roll_rate": None,
    "depth": None,
}


def test_attitude_estimator_puts_each_reading_into_its_field():
    assert Bench().step(**COUNTS) == [0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.8]


def test_attitude_is_unknown_without_readings():
    assert Bench().step(3, **NOTHING) == [None] * 7


def test_attitude_is_unknown_only_where_the_reading_is_too_old():
    bench = Bench()
    bench.step(**COUNTS)
    assert bench.step(10, roll=None)[2] == 0.3
    assert bench.step(1, roll=None) == [0.1, -0.2, None, -0.4, 0.5, -0.6, 0.8]
    assert bench.step(roll=0)[2] == 0.0


def test_attitude_is_unknown_when_a_count_is_out_of_range():
    assert Bench().step(**NOTHING)[2] is None
    bench = Bench()
    bench.step(roll=20001)
    assert bench.state.estimate.roll_rad is None


def test_attitude_estimator_works_without_a_channel_that_the_vehicle_lacks():
    assert Bench(roll="", heading="").step(**COUNTS) == [None, -0.2, None, -0.4, 0.5, -0.6, 0.8]


def test_attitude_is_the_same_as_an_integer():
    bench = Bench(roll="")
    numbers = bench.step(**COUNTS)
    for field, number in zip(FIELDS, numbers):
        count = bench.state.estimate.q20(field)
        assert count is None if number is None else abs(count - to_q20(number)) < 40, (
            field
        )  # of a slope of 15 bits
    bench.step(11, **NOTHING)
    assert [bench.state.estimate.q20(field) for field in FIELDS] == [None] * 7


def test_attitude_estimator_leaves_other_fields_unknown():
    bench = Bench()
    bench.step(**COUNTS)
    for field in Estimate.FIELDS:
        assert field in FIELDS or getattr(bench.state.estimate, field) is None
    assert not hasattr(bench.state.estimate, "colour")


def test_fill_attitude_leaves_heading_and_depth_alone():
    bench = Bench()
    bench.state.estimate.heading_rad = 9.0
    bench.state.estimate.turn_rate_rad_s = 8.0
    bench.state.estimate.depth_m = 7.0
    bench.driver.counts.update(COUNTS)
    bench.board.sense()
    bench.estimator.fill_attitude(bench.state)
    assert (bench.state.estimate.heading_rad, bench.state.estimate.turn_rate_rad_s) == (9.0, 8.0)
    assert bench.state.estimate.depth_m == 7.0
    assert (bench.state.estimate.pitch_rad, bench.state.estimate.roll_rad) == (-0.2, 0.3)
