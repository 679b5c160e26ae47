"""The board: what counts as a reading, how old it may be, and what reaches the driver."""

from bench_vehicle import BenchDriver, Table, raises, sensor, servo

from caudal.hal.core.board import NEVER, Actuator, Board, Sensor
from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_q14
from caudal.hal.core.maps import LinearSensor, PolynomialCurve, ServoMap, TableCurve, ThrusterMap, ValveMap


def board_of(names=("heading",), actuators=None):
    """A board of sensors with counts 0..100 of 0.1 a count, absent after three ticks."""
    driver = BenchDriver(names)
    channels = [Sensor(name, k, LinearSensor(0, 0.1, 0, 100), 3) for k, name in enumerate(names)]
    if actuators is None:
        actuators = [Actuator("tail", 0, ServoMap(1500, 600.0, 1, 0, 800, 2200), -16384, 16384, 16384, None)]
    return Board(actuators, channels, driver), driver


def test_before_the_first_tick_every_reading_is_absent():
    board, _ = board_of()
    assert board.reading(0) is None
    assert board.age[0] == NEVER


def test_fresh_count_is_read_in_si_units():
    board, driver = board_of()
    driver.counts["heading"] = 25
    board.sense()
    assert board.age[0] == 0
    assert board.reading(0) == 2.5


def test_absent_count_leaves_the_last_reading_until_it_is_too_old():
    board, driver = board_of()
    driver.counts["heading"] = 25
    board.sense()
    driver.counts["heading"] = None
    ages = []
    readings = []
    for _ in range(5):
        board.sense()
        ages.append(board.age[0])
        readings.append(board.reading(0))
    assert ages == [1, 2, 3, 4, 5]
    assert readings == [2.5, 2.5, 2.5, None, None]


def test_invalid_count_is_no_reading():
    board, driver = board_of()
    driver.counts["heading"] = 25
    board.sense()
    for count in (-1, 101):
        driver.counts["heading"] = count
        board.sense()
    assert board.age[0] == 2
    assert board.reading(0) == 2.5
    assert board.counts[0] == 101  # as it came, for the record


def test_reading_that_never_came_stays_absent():
    board, driver = board_of()
    driver.counts["heading"] = None
    for _ in range(10):
        board.sense()
    assert board.age[0] == NEVER
    assert board.reading(0) is None


def test_reading_returns_in_the_same_tick_as_its_sensor():
    board, driver = board_of()
    driver.counts["heading"] = None
    for _ in range(10):
        board.sense()
    driver.counts["heading"] = 7
    board.sense()
    assert board.age[0] == 0
    assert abs(board.reading(0) - 0.7) < 1e-12


def test_each_channel_ages_alone():
    board, driver = board_of(("heading", "depth"))
    driver.counts["heading"] = 1
    driver.counts["depth"] = 2
    board.sense()
    driver.counts["heading"] = None
    board.sense()
    assert board.age == [1, 0]


def thruster_board():
    curves = [TableCurve(v, [1100, 1500, 1900], [-v, 0.0, v]) for v in (5.0, 10.0)]
    thruster = Actuator(
        "thruster",
        0,
        ThrusterMap(1500, 1100, 1900, curves, 10.0),
        -1 << 20,
        1 << 20,
        1 << 20,
        None,
        "battery",
    )
    return board_of(("battery",), [thruster])


def test_thruster_follows_the_battery():
    board, driver = thruster_board()
    driver.counts["battery"] = 100  # 10 V
    board.sense()
    board.act([to_q14(5.0)])
    assert driver.outputs == [1700]
    driver.counts["battery"] = 50  # 5 V: twice the pulse for the same force
    board.sense()
    board.act([to_q14(5.0)])
    assert driver.outputs == [1900]


def test_lost_battery_reading_keeps_the_last_voltage():
    board, driver = thruster_board()
    driver.counts["battery"] = 50
    board.sense()
    driver.counts["battery"] = None
    for _ in range(9):
        board.sense()
    board.act([to_q14(2.5)])
    assert driver.outputs == [1700]


def test_off_is_each_actuators_own_idle():
    servo_map = ServoMap(1500, 600.0, 1, 0, 800, 2200)
    motor = ThrusterMap(1490, 1100, 1900, [PolynomialCurve(12.0, 1475, 1525, [1.0], [1.0])], 12.0)
    valve = ValveMap(8000, 0.1, 20000)
    actuators = [Actuator(str(k), k, m, -1, 1, 1, None) for k, m in enumerate((servo_map, motor, valve))]
    board, driver = board_of((), actuators)
    board.act([None, None, None])
    assert driver.outputs == [0, 1490, 0]


def test_safe_puts_every_actuator_into_its_safe_state_at_once():
    servo_map = ServoMap(1500, 600.0, 1, 0, 800, 2200)
    actuators = [
        Actuator("limp", 0, servo_map, -16384, 16384, 1, None),
        Actuator("held", 1, servo_map, -16384, 16384, 1, to_q14(0.5)),
    ]
    board, driver = board_of((), actuators)
    board.act([to_q14(1.0), to_q14(-1.0)])
    board.safe()
    assert driver.outputs == [0, 1800]
    assert driver.writes == 2


def test_outputs_before_the_first_command_are_idle():
    board, _ = board_of()
    assert board.outputs == [0]


def test_unknown_channel_is_refused_with_the_known_names():
    board, _ = board_of(("heading", "depth"))
    message = raises(KeyError, board.sensor, "height")
    assert "height" in message and "heading, depth" in message
    assert "tail" in raises(KeyError, board.actuator, "fin")
    assert board.sensor("depth") == 1


def test_closing_the_board_closes_the_driver():
    board, driver = board_of()
    board.close()
    assert driver.closed


def test_settings_become_channels_with_fixed_point_limits_and_ages_in_ticks():
    settings = Table(
        actuators=[servo("tail_1", 3, safe_rad=0.25), servo("tail_2", 4)],
        sensors=[sensor("depth", 2, 0.001, 0, 1000, 0.25)],
    )
    board = build_board(settings, BenchDriver(("depth",)), 100)
    first, second = board.actuators
    assert (first.port, first.low, first.high, first.slew) == (3, -16384, 16384, 12 * 16384)
    assert first.safe == 4096 and second.safe is None
    assert board.sensors[0].max_age == 25


def test_settings_of_thrusters_and_valves_become_their_maps():
    curve = Table(fit="table", battery_v=12.0, pulses_us=[1100, 1500, 1900], forces_n=[-8.0, 0.0, 8.0])
    thruster = Table(name="thruster", map="thruster", port=0, neutral_us=1500, low_us=1100, high_us=1900)
    thruster.changed(nominal_v=12.0, battery="", curve=[curve])
    thruster.changed(min_n=-4.0, max_n=4.0, slew_n_s=8.0, safe_n=0.0)
    valve = Table(name="valve", map="valve", port=0, cracking_current_ua=8000, ua_per_pa=0.1, high_ua=20000)
    valve.changed(min_pa=0.0, max_pa=1e5, slew_pa_s=1e5, safe_pa="off", pressure="")
    table = Table(name="level", map="table", port=0, counts=[0, 10], values=[0.0, 5.0], max_age_s=1)
    driver = BenchDriver(("level",))
    board = build_board(Table(actuators=[thruster, valve], sensors=[table]), driver, 100)
    driver.counts["level"] = 4
    board.sense()
    assert board.reading(0) == 2.0
    board.act([to_q14(4.0), to_q14(50000.0)])
    assert driver.outputs == [1700, 13000]
