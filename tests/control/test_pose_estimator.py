"""The estimator of a vehicle with thrusters, while sensors fail."""

import math

from caudal.hal.core.build import build_board
from caudal.onboard.core.state import State
from caudal.onboard.estimate.pose import PoseEstimator
from caudal.tools.config.vehicle import open_vehicle

GYROS = ("roll_rate", "pitch_rate", "turn_rate")


class Driver:
    """Count 0 of every sensor, or another one by the sensor's name."""

    def __init__(self, names):
        self.names = names
        self.others = {}

    def read(self, counts):
        counts[:] = [self.others.get(name, 0) for name in self.names]


def test_position_recovers_after_gyros_at_their_limits_and_no_readings():
    settings = open_vehicle("rov").settings
    sensors = {sensor.name: sensor for sensor in settings.sensors}
    driver = Driver(list(sensors))
    board = build_board(settings, driver, settings.rate_hz)
    state = State(board, 1_000_000 // settings.rate_hz)
    estimator = PoseEstimator(settings.estimate, settings.control, board, settings.rate_hz)

    def run(seconds):
        for _ in range(seconds * settings.rate_hz):
            board.sense()
            estimator.step(state)
            estimate = state.estimate
            assert all(math.isfinite(getattr(estimate, f"{name}_m")) for name in ("x", "y", "depth"))

    run(2)
    driver.others = {name: sensors[name].high_count for name in GYROS} | {"x": None, "y": None, "depth": None}
    run(60)
    driver.others = {}
    run(10)
    assert abs(state.estimate.x_m) < 0.01 and abs(state.estimate.speed_m_s) < 0.01
