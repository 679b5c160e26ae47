"""Guidance: schedules, closed paths, obstacle detection, decisions and waypoints."""

import math

from bench_vehicle import ECHOES, NO_ECHO, BenchDriver, Table, guidance, schedule, settings, wander

from caudal.hal.core.build import build_board
from caudal.onboard.build import build_loop
from caudal.onboard.core.state import Estimate, State
from caudal.onboard.guidance.avoid import BumperRecoil
from caudal.onboard.guidance.detect import Detector
from caudal.onboard.guidance.schedule import Schedule
from caudal.onboard.guidance.tasks import ClosedPath, Pursue, Steering, Track, Wander
from caudal.onboard.guidance.waypoints import WaypointSequence

SQUARE_M = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]
STEERING = Table(kp=1.5, ki=0.0, kd=0.1, limit=1.5)


def bench():
    driver = BenchDriver()
    board = build_board(settings(), driver, 100)
    return driver, board, State(board, 10000)


def test_schedule_sets_the_tail_at_the_times_of_its_rows():
    _, board, state = bench()
    rows = schedule((0.0, 1.0, 1.0, 0.0), (0.5, 2.0, 0.6, 30.0), (1.0, -1.0, 1.0, -10.0)).rows
    steps = Schedule(rows, board, 100)
    seen = {}
    for tick in range(0, 120, 10):
        state.tick = tick
        steps.step(state)
        seen[tick] = (state.setpoint.frequency_hz, state.setpoint.amplitude)
    assert seen[0] == (1.0, 1.0)
    assert seen[40] == (1.0, 1.0)
    assert seen[50] == (2.0, 0.6)
    assert seen[90] == (2.0, 0.6)
    assert seen[100] == (-1.0, 1.0)
    assert abs(state.setpoint.deflection_rad - math.radians(-10)) < 1e-12


def test_schedule_applies_the_latest_row_when_it_runs_late():
    _, board, state = bench()
    steps = Schedule(
        schedule((0.0, 1.0, 1.0, 0.0), (0.1, 2.0, 1.0, 0.0), (0.2, 3.0, 1.0, 0.0)).rows, board, 100
    )
    state.tick = 60
    steps.step(state)
    assert state.setpoint.frequency_hz == 3.0


def test_schedule_commands_the_held_actuators_of_its_row():
    _, board, state = bench()
    rows = schedule((0.0, 1.0, 1.0, 0.0)).rows
    rows[0].hold = [("tail_3", 4096)]
    Schedule(rows, board, 100).step(state)
    assert state.commands == [0, 0, 4096, 0]


def test_closed_path_is_as_long_as_its_sides_and_comes_back():
    path = ClosedPath(SQUARE_M)
    assert path.length_m == 8.0
    assert path.point(1.0) == (1.0, 0.0)
    assert path.point(3.0) == (2.0, 1.0)
    assert path.point(7.5) == (0.0, 0.5)
    assert path.point(9.0) == (1.0, 0.0)
    assert path.point(-1.0) == (0.0, 1.0)


def test_closed_path_finds_the_nearest_point_and_its_distance():
    along_m, off_m = ClosedPath(SQUARE_M).nearest(1.5, -0.25)
    assert abs(along_m - 1.5) < 1e-12 and abs(off_m - 0.25) < 1e-12
    along_m, off_m = ClosedPath(SQUARE_M).nearest(3.0, 3.0)
    assert abs(along_m - 4.0) < 1e-12 and abs(off_m - math.sqrt(2)) < 1e-12


def test_closed_path_that_crosses_itself_is_followed_in_order():
    eight = ClosedPath([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0], [2.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    first, _ = eight.nearest(0.5, 0.5, 0.6)
    second, _ = eight.nearest(0.5, 0.5, eight.length_m - 1.7)
    assert abs(first - math.sqrt(0.5)) < 1e-9
    assert abs(second - (math.sqrt(2) + 3 + math.sqrt(0.5))) < 1e-9


def test_closed_path_searches_everywhere_when_the_window_is_lost():
    along_m, off_m = ClosedPath(SQUARE_M).nearest(1.9, 1.0, 0.1)
    assert abs(along_m - 3.0) < 1e-12 and abs(off_m - 0.1) < 1e-12


def at_pose(x_m, y_m, heading_rad):
    estimate = Estimate()
    estimate.x_m = x_m
    estimate.y_m = y_m
    estimate.heading_rad = heading_rad
    estimate.turn_rate_rad_s = 0.0
    return estimate


def test_steering_turns_the_short_way_towards_a_position():
    for heading_rad, x_m, y_m, sign in ((0.0, 1.0, 0.2, 1), (0.0, 1.0, -0.2, -1), (3.0, -1.0, -0.2, 1)):
        assert sign * Steering(STEERING, 10).step([0.0, 0.0, heading_rad], 0.0, x_m, y_m) > 0


def test_wander_meanders_to_both_sides():
    _, board, state = bench()
    task = Wander(Table(speed_m_s=0.2, meander_rad_s=0.3, meander_s=10.0), board, 10)
    turns = []
    for _ in range(100):
        task.step(state)
        turns.append(task.turn_rate_rad_s)
    assert abs(max(turns) - 0.3) < 1e-3 and abs(min(turns) + 0.3) < 1e-3
    assert task.error_m is None and task.speed_m_s == 0.2


def track_settings():
    return Table(speed_m_s=0.2, look_ahead_m=0.3, steering=STEERING, path_m=SQUARE_M)


def test_track_steers_along_its_path_and_gives_its_error():
    _, board, state = bench()
    task = Track(track_settings(), board, 10)
    state.estimate = at_pose(1.0, -0.2, 0.0)
    task.step(state)
    assert abs(task.error_m - 0.2) < 1e-12
    assert task.turn_rate_rad_s > 0 and task.speed_m_s == 0.2


def test_track_rests_when_the_position_is_unknown():
    _, board, state = bench()
    task = Track(track_settings(), board, 10)
    task.step(state)
    assert (task.speed_m_s, task.turn_rate_rad_s) == (0.0, 0.0)


def pursue_settings():
    return Table(
        speed_m_s=0.35,
        distance_m=0.5,
        closing_per_s=0.5,
        closing_ki_per_s2=0.0,
        target_x="target_x",
        target_y="target_y",
        steering=STEERING,
    )


def test_pursue_closes_in_from_afar_and_lets_a_near_target_go_on():
    driver, board, state = bench()
    task = Pursue(pursue_settings(), board, 10)
    state.estimate = at_pose(0.0, 0.0, 0.0)
    driver.counts.update({"target_x": 2000, "target_y": 0})
    board.sense()
    task.step(state)
    assert task.speed_m_s == 0.35 and abs(task.error_m - 1.5) < 1e-12
    driver.counts["target_x"] = 300
    board.sense()
    task.step(state)
    assert task.speed_m_s == 0.0 and task.error_m < 0


def test_pursue_rests_when_the_target_is_lost():
    driver, board, state = bench()
    task = Pursue(pursue_settings(), board, 10)
    state.estimate = at_pose(0.0, 0.0, 0.0)
    driver.counts["target_x"] = None
    board.sense()
    task.step(state)
    assert (task.speed_m_s, task.turn_rate_rad_s, task.error_m) == (0.0, 0.0, None)


def echo_to_port():
    """A detector after one echo at 1 m, 40 degrees to port, without further readings."""
    driver, board, state = bench()
    detector = Detector(settings().sensors, board, 10)
    driver.counts["port"] = 1000
    board.sense()
    before = [(point[0], point[1]) for point in detector.step(state)]
    driver.counts["port"] = None
    for _ in range(10):
        board.sense()
    return detector, state, before


def test_detector_makes_an_echo_an_arc_around_the_sensor():
    _, _, points = echo_to_port()
    assert len(points) == 3
    for x_m, y_m in points:
        assert abs(math.sqrt((x_m - 0.1) ** 2 + y_m**2) - 1.0) < 1e-12
        assert abs(math.degrees(math.atan2(y_m, x_m - 0.1)) - 40.0) <= 20.0


def test_detector_moves_points_nearer_as_the_vehicle_goes_on():
    detector, state, before = echo_to_port()
    state.estimate.speed_m_s = 0.5
    for point, (x_m, y_m) in zip(detector.step(state), before):
        assert abs(point[0] - (x_m - 0.05)) < 1e-12 and abs(point[1] - y_m) < 1e-12


def test_detector_moves_points_to_starboard_in_a_turn_to_port():
    detector, state, before = echo_to_port()
    state.estimate.turn_rate_rad_s = math.pi / 2 * 10  # a quarter turn in one step of guidance
    for point, (x_m, y_m) in zip(detector.step(state), before):
        assert abs(point[0] - y_m) < 1e-9 and abs(point[1] + x_m) < 1e-9


def test_detector_drops_the_points_of_a_sensor_that_timed_out():
    driver, board, state = bench()
    detector = Detector(settings().sensors, board, 10)
    driver.counts["port"] = 800
    board.sense()
    assert len(detector.step(state)) == 3
    driver.counts["port"] = None
    for _ in range(35):
        board.sense()
    assert len(detector.step(state)) == 3
    board.sense()
    assert detector.step(state) == []


def test_detector_has_no_points_in_open_water():
    _, board, state = bench()
    board.sense()
    assert Detector(settings().sensors, board, 10).step(state) == []


def decided(seconds=1.0, **echoes):
    """The setpoint of a vehicle that wanders straight ahead, after a time with these echoes, mm."""
    driver = BenchDriver()
    driver.counts.update({"x": None, "y": None})
    loop = build_loop(settings(), wander(), driver)
    loop.arm()
    for name in ECHOES:
        driver.counts[name] = NO_ECHO
    for _ in range(600):  # up to speed in open water
        loop.tick()
    driver.counts.update(echoes)
    for _ in range(int(seconds * 100)):
        loop.tick()
    assert loop.fault is None
    return loop.state.setpoint


def test_decider_goes_straight_in_open_water():
    assert abs(decided().turn_rate_rad_s) < 1e-9


def test_decider_passes_an_obstacle_to_port_on_its_starboard_side():
    assert decided(ahead=450, port=450).turn_rate_rad_s < -0.1


def test_decider_passes_an_obstacle_to_starboard_on_its_port_side():
    assert decided(ahead=450, starboard=450).turn_rate_rad_s > 0.1


def test_decider_goes_to_starboard_of_two_equal_ways():
    assert decided(ahead=500).turn_rate_rad_s < 0


def test_decider_brakes_at_a_dead_end():
    assert decided(0.3, ahead=250, port=250, starboard=250).acceleration_m_s2 < -0.01
    assert decided(0.3).acceleration_m_s2 > -0.01


def steps_back(guide_ticks, recoil, state):
    """The number of the next steps of guidance that back off."""
    backing = 0
    for _ in range(guide_ticks):
        state.setpoint.acceleration_m_s2 = 0.05
        state.setpoint.turn_rate_rad_s = 0.4
        recoil.watch(state)
        recoil.step(state)
        if state.setpoint.acceleration_m_s2 == -0.1:
            assert state.setpoint.turn_rate_rad_s == 0.0
            backing += 1
    return backing


def test_bumper_recoil_backs_off_for_its_time_after_a_touch():
    driver, board, state = bench()
    recoil = BumperRecoil(guidance(), board, 10)
    board.sense()
    assert steps_back(5, recoil, state) == 0
    driver.counts["bumper"] = 1
    board.sense()
    assert steps_back(1, recoil, state) == 1
    driver.counts["bumper"] = 0
    board.sense()
    assert steps_back(20, recoil, state) == 7  # 0.8 s in all


def test_bumper_recoil_sees_a_touch_shorter_than_a_guidance_step():
    driver, board, state = bench()
    recoil = BumperRecoil(guidance(), board, 10)
    driver.counts["bumper"] = 1
    board.sense()
    recoil.watch(state)
    driver.counts["bumper"] = 0
    board.sense()
    recoil.watch(state)
    recoil.step(state)
    assert state.setpoint.reverse and state.setpoint.acceleration_m_s2 == -0.1


def test_bumper_recoil_does_nothing_without_a_bumper():
    _, board, state = bench()
    board.sense()
    assert steps_back(5, BumperRecoil(guidance().changed(bumper=""), board, 10), state) == 0


def test_waypoints_request_the_mode_of_an_item_and_wait_for_it():
    _, _, state = bench()
    state.mission = [[1.0, 0.0, 0.5, 0.0], "hold", [2.0, 0.0, 0.5, 0.0], "surface"]
    waypoints = WaypointSequence(0.1, 10)
    estimate = state.estimate
    estimate.x_m, estimate.y_m, estimate.depth_m = 0.0, 0.0, 0.5
    assert waypoints.current(state)[0] == 1.0 and state.mission_index == 0
    estimate.x_m = 0.95
    waypoints.current(state)
    assert state.mission_index == state.mission_completed == 1
    assert waypoints.current(state) is None and state.mission_mode == "hold" and state.mission_index == 2
    assert waypoints.current(state) is None and state.mission_index == 2  # waits for the mode
    state.mission_mode = None
    assert waypoints.current(state)[0] == 2.0
    estimate.x_m = 2.0
    waypoints.current(state)
    assert waypoints.current(state) is None and state.mission_mode == "surface"
    assert state.mission_index == state.mission_completed == 4
    state.mission_mode = None  # a mission that is done is resumed
    assert (
        waypoints.current(state) is None and state.mission_mode == "surface" and state.mission_completed == 4
    )


def test_mission_before_the_first_position_rests_and_does_not_stop_the_loop():
    driver = BenchDriver()
    driver.counts.update({"x": None, "y": None})
    mission = Table(acceptance_radius_m=0.15, speed_m_s=0.2, steering=STEERING)
    loop = build_loop(settings().changed(mission=mission), wander(), driver)
    loop.send("mission", [[2.0, 0.0, 0.5, 0.0]])
    loop.send("mode", "mission")
    for _ in range(20):
        loop.tick()
    assert loop.fault is None and loop.state.setpoint.frequency_hz == 0.0
    driver.counts.update({"x": 0, "y": 0})
    for _ in range(20):
        loop.tick()
    assert loop.fault is None and loop.state.setpoint.acceleration_m_s2 > 0.0
