"""Trajectories of Bezier curves: their ends, their motion between, and their convex hull."""

from bench_vehicle import Table

from caudal.onboard.guidance.bezier import Trajectory

STRAIGHT = [[float(k), 2.0 * k, 0.5, -0.1 * k] for k in range(5)]
CURVED = [
    [0.0, 0.0, 1.0, 0.0],
    [1.0, 2.0, 0.0, 0.1],
    [0.0, -1.0, 2.0, 0.4],
    [3.0, 1.0, 1.0, -2.0],
    [2.0, 0.5, 0.2, 1.0],
]


def trajectory_of(*segments, segment_s=None):
    return Trajectory(Table(segment_s=segment_s or [10.0] * len(segments), points=list(segments)))


def near(found, expected, within=1e-9):
    return all([abs(a - b) < within for a, b in zip(found, expected)])


def casteljau(points, t):
    """De Casteljau's recursion."""
    while len(points) > 1:
        points = [[(1 - t) * a + t * b for a, b in zip(p, q)] for p, q in zip(points, points[1:])]
    return points[0]


def test_trajectory_starts_and_ends_at_its_outer_control_points():
    trajectory = trajectory_of(CURVED)
    trajectory.at(0.0)
    assert trajectory.pose == CURVED[0]
    trajectory.at(10.0)
    assert trajectory.pose == CURVED[-1]
    trajectory.at(10.0 - 1e-9)
    assert near(trajectory.pose, CURVED[-1], 1e-6)


def test_trajectory_agrees_with_de_casteljau():
    trajectory = trajectory_of(CURVED)
    for k in range(1, 40):
        trajectory.at(k * 0.25)
        assert near(trajectory.pose, casteljau(CURVED, k * 0.025), 1e-6)


def test_trajectory_of_even_points_on_a_line_is_steady():
    trajectory = trajectory_of(STRAIGHT)
    for t_s in (0.1, 3.3, 9.9):
        trajectory.at(t_s)
        assert near(trajectory.pose, [0.4 * t_s, 0.8 * t_s, 0.5, -0.04 * t_s], 1e-5)
        assert near(trajectory.velocity, [0.4, 0.8, 0.0, -0.04], 1e-5)
        assert near(trajectory.acceleration, [0.0, 0.0, 0.0, 0.0], 1e-5)


def test_velocity_and_acceleration_are_the_slopes_of_the_pose():
    trajectory = trajectory_of(CURVED)
    step_s = 1e-2
    for t_s in (0.5, 2.0, 5.0, 9.0):
        trajectory.at(t_s + step_s)
        pose, velocity = list(trajectory.pose), list(trajectory.velocity)
        trajectory.at(t_s - step_s)
        slope = [(a - b) / (2 * step_s) for a, b in zip(pose, trajectory.pose)]
        bend = [(a - b) / (2 * step_s) for a, b in zip(velocity, trajectory.velocity)]
        trajectory.at(t_s)
        assert near(slope, trajectory.velocity, 1e-3)
        assert near(bend, trajectory.acceleration, 1e-3)


def test_trajectory_rests_before_its_start_and_after_its_end():
    trajectory = trajectory_of(CURVED, STRAIGHT)
    for t_s, place in ((-1.0, CURVED[0]), (20.0, STRAIGHT[-1]), (1e6, STRAIGHT[-1])):
        trajectory.at(5.0)
        trajectory.at(t_s)
        assert trajectory.pose == place
        assert trajectory.velocity == [0.0] * 4 and trajectory.acceleration == [0.0] * 4


def test_trajectory_segments_follow_each_other_in_time():
    trajectory = trajectory_of(CURVED, STRAIGHT, segment_s=[4.0, 8.0])
    assert trajectory.duration_s == 12.0
    trajectory.at(3.0)
    assert near(trajectory.pose, casteljau(CURVED, 0.75), 1e-6)
    trajectory.at(10.0)
    assert near(trajectory.pose, casteljau(STRAIGHT, 0.75), 1e-6)


def test_trajectory_ends_when_its_times_do_not_add_up_evenly():
    trajectory = trajectory_of(*([STRAIGHT] * 10), segment_s=[0.1] * 10)
    for k in range(2001):
        trajectory.at(k * 0.0005)
        assert -1e-6 <= trajectory.pose[0] <= 4.0 + 1e-6


def test_trajectory_stays_in_the_convex_hull_of_its_points():
    trajectory = trajectory_of(CURVED)
    for k in range(101):
        trajectory.at(k * 0.1)
        for d in range(4):
            values = [point[d] for point in CURVED]
            assert min(values) - 1e-6 <= trajectory.pose[d] <= max(values) + 1e-6


def test_trajectory_of_high_order_agrees_with_de_casteljau():
    points = [[(k * 7 % 5) * 0.1, k * 0.1, 1.0, 0.0] for k in range(21)]
    trajectory = trajectory_of(points, segment_s=[56.0])
    for k in range(57):
        trajectory.at(k * 1.0)
        assert near(trajectory.pose, casteljau(points, k / 56), 1e-5)


def test_trajectory_of_three_points_is_a_parabola():
    trajectory = trajectory_of([[0.0] * 4, [1.0] * 4, [0.0] * 4], segment_s=[2.0])
    trajectory.at(1.0)
    assert near(trajectory.pose, [0.5] * 4) and near(trajectory.velocity, [0.0] * 4)
    assert near(trajectory.acceleration, [-1.0] * 4)
