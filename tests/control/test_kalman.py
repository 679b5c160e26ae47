"""The Kalman filters of a pose: compared with the same filter in matrices, and with their own noise."""

import math

import numpy as np
import pytest

from caudal.onboard.estimate.kalman import GATE, OUTLIERS, Angle, Axis
from caudal.onboard.tables.thrusters import FilterTable

DT = 0.02
NOISE = FilterTable(
    position_m=0.003,
    depth_m=0.003,
    angle_rad=0.005,
    rate_rad_s=0.004,
    disturbance_m_s2=0.01,
    disturbance_s=10.0,
    acceleration_noise_m_s2=0.02,
)


def matrix_axis(drag_per_s):
    """F and Q of an Axis as matrices."""
    keep = math.exp(-DT / NOISE.disturbance_s)
    f = np.array([[1, DT, 0.5 * DT**2], [0, 1 - drag_per_s * DT, DT], [0, 0, keep]])
    q = np.diag([0.0, (NOISE.acceleration_noise_m_s2 * DT) ** 2, NOISE.disturbance_m_s2**2 * (1 - keep**2)])
    return f, q


def test_axis_agrees_with_the_filter_in_matrices():
    rng = np.random.default_rng(3)
    axis = Axis(NOISE, 0.003, 0.8, DT)
    axis.start(1.0)
    f, q = matrix_axis(0.8)
    x, p = np.array([1.0, 0.0, 0.0]), np.diag([0.003**2, 0.01, NOISE.disturbance_m_s2**2])
    for k in range(400):
        push = 0.05 * math.sin(0.1 * k)
        axis.predict(push)
        # the model's acceleration is given, so the mean moves by it and not by F
        total = push + x[2]
        x = np.array([x[0] + (x[1] + 0.5 * total * DT) * DT, x[1] + total * DT, f[2, 2] * x[2]])
        p = f @ p @ f.T + q
        if k % 3 == 0:
            reading = x[0] + rng.normal(0, 0.003)
            axis.correct(reading)
            s = p[0, 0] + 0.003**2
            gain = p[:, 0] / s
            assert axis.nis == pytest.approx((reading - x[0]) ** 2 / s, rel=1e-6)
            x = x + gain * (reading - x[0])
            p = p - np.outer(gain, p[0])
        assert (axis.position_m, axis.speed_m_s, axis.disturbance_m_s2) == pytest.approx(
            tuple(x), rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize("seed", range(5))
def test_innovations_of_modelled_motion_are_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    f, q = matrix_axis(0.8)
    x = np.array([0.0, 0.0, rng.normal(0, NOISE.disturbance_m_s2)])
    axis = Axis(NOISE, 0.003, 0.8, DT)
    axis.start(rng.normal(0, 0.003))
    inside = []
    for k in range(20_000):
        x = f @ x + np.sqrt(np.diag(q)) * rng.normal(size=3)
        axis.predict(-0.8 * axis.speed_m_s)
        if k % 3 == 0:
            axis.correct(x[0] + rng.normal(0, 0.003))
            inside.append(axis.nis < 3.841)
    assert 0.94 < np.mean(inside) < 0.96


def test_axis_rejects_an_outlier_but_restarts_after_many():
    axis = Axis(NOISE, 0.003, 0.8, DT)
    axis.start(0.0)
    for _ in range(50):
        axis.predict(0.0)
        axis.correct(0.0)
    axis.predict(0.0)
    axis.correct(1.0)
    assert axis.nis > GATE and abs(axis.position_m) < 0.001
    for _ in range(OUTLIERS + 1):
        axis.predict(0.0)
        axis.correct(1.0)
    assert axis.position_m == pytest.approx(1.0, abs=0.01)


def test_angle_finds_the_gyro_bias_through_whole_turns():
    rng = np.random.default_rng(0)
    angle = Angle(0.005, 0.004, 1e-4, DT)
    heading, inside = 3.0, []
    for _ in range(10_000):
        heading += 0.3 * DT
        angle.predict(0.3 + 0.01 + rng.normal(0, 0.004))
        angle.correct((heading + rng.normal(0, 0.005) + math.pi) % (2 * math.pi) - math.pi)
        if angle.nis is not None:
            inside.append(angle.nis < 3.841)
    assert abs(angle.rate_rad_s - 0.3) < 0.02  # one reading's noise
    assert abs((angle.angle_rad - heading + math.pi) % (2 * math.pi) - math.pi) < 0.005
    assert 0.93 < np.mean(inside) < 0.97
