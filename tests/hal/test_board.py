"""The board for any sequence of counts: a reading is fresh and valid, or it is absent."""

from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.core.board import NEVER, Actuator, Board, Sensor
from caudal.hal.core.fixed_point import ONE
from caudal.hal.core.maps import LinearSensor, ServoMap, ThrusterMap, ValveMap
from caudal.hal.core.maps import TableCurve as Points


class ListDriver:
    """Gives prepared counts, keeps every output list."""

    def __init__(self, rows):
        self.rows = iter(rows)
        self.written = []

    def read(self, counts):
        counts[:] = next(self.rows)

    def write(self, outputs):
        self.written.append(list(outputs))

    def close(self):
        pass


any_count = st.one_of(st.none(), st.integers(-5, 15), st.integers())
LOW, HIGH, SCALE = 0, 10, 0.5


@given(
    st.lists(st.tuples(any_count, any_count), min_size=1, max_size=60), st.integers(0, 9), st.integers(0, 9)
)
def test_reading_is_the_last_valid_count_until_it_is_too_old(rows, first_age, second_age):
    sensors = [
        Sensor(str(k), k, LinearSensor(0, SCALE, LOW, HIGH), age)
        for k, age in enumerate((first_age, second_age))
    ]
    board = Board([], sensors, ListDriver(rows))
    last_valid = [None, None]
    for tick, row in enumerate(rows):
        board.sense()
        for k, count in enumerate(row):
            if count is not None and LOW <= count <= HIGH:
                last_valid[k] = tick, count
            if last_valid[k] is None:
                assert board.age[k] == NEVER and board.reading(k) is None
                continue
            since, value = last_valid[k]
            assert board.age[k] == tick - since
            expected = value * SCALE if tick - since <= sensors[k].max_age else None
            assert board.reading(k) == expected
    assert board.counts == list(rows[-1])


def actuators():
    thruster = ThrusterMap(
        1500, 1100, 1900, [Points(v, [1100, 1500, 1900], [-v, 0.0, v]) for v in (6.0, 18.0)], 12.0
    )
    return [
        Actuator("servo", 0, ServoMap(1500, 636.6, 1, 0, 760, 2240), -ONE, ONE, ONE, None),
        Actuator("thruster", 1, thruster, -9 * ONE, 9 * ONE, ONE, 0, "battery"),
        Actuator("valve", 2, ValveMap(8000, 0.1, 20000), 0, 90000 * ONE, ONE, 1000 * ONE),
    ]


command = st.one_of(st.none(), st.integers(), st.integers(-2 * ONE, 2 * ONE))


@given(st.lists(st.tuples(command, command, command, any_count), min_size=1, max_size=30))
def test_device_values_are_integers_within_limits_for_every_command(rows):
    battery = Sensor("battery", 0, LinearSensor(0, 1.0, 0, 30), 3)
    driver = ListDriver([[row[3]] for row in rows])
    board = Board(actuators(), [battery], driver)
    for row in rows:
        board.sense()
        board.act(list(row[:3]))
    board.safe()
    for outputs in driver.written:
        pulse_us, motor_us, current_ua = outputs
        assert [type(output) for output in outputs] == [int, int, int]
        assert pulse_us == 0 or 760 <= pulse_us <= 2240
        assert 1100 <= motor_us <= 1900
        assert current_ua == 0 or 8000 <= current_ua <= 20000
    assert driver.written[-1] == [0, 1500, 8100]
    for row, (pulse_us, motor_us, current_ua) in zip(rows, driver.written, strict=False):
        assert (pulse_us == 0) == (row[0] is None)
        assert motor_us == 1500 or row[1] is not None
        assert current_ua == 0 or row[2] is not None


@given(st.integers(0, 30), st.integers(0, 9))
def test_thruster_map_follows_battery_readings_and_ignores_absent_ones(volts, gap):
    battery = Sensor("battery", 0, LinearSensor(0, 1.0, 0, 30), 3)
    driver = ListDriver([[volts]] + [[None]] * gap)
    board = Board(actuators(), [battery], driver)
    for _ in range(gap + 1):
        board.sense()
    assert board.actuators[1].map.force_n(1900) == min(max(volts, 6.0), 18.0)
