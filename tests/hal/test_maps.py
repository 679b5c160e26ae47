"""Maps for every sound setting: monotone, and back to what went in within one quantum of the device."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caudal.hal.core.fixed_point import ONE, to_float, to_q14
from caudal.hal.core.maps import (
    LinearSensor,
    PolynomialCurve,
    ServoMap,
    TableCurve,
    TableSensor,
    ThrusterMap,
    ValveMap,
)

LARGEST_RAD = 3.2  # what a vehicle file may ask of a servo


def finite(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


@st.composite
def servos(draw):
    """Any scale, mounting and trim, with end stops on both sides of zero."""
    centre_us, trim_us = draw(st.integers(800, 2200)), draw(st.integers(-300, 300))
    low_us = centre_us + trim_us - draw(st.integers(1, 1200))
    high_us = centre_us + trim_us + draw(st.integers(1, 1200))
    return ServoMap(
        centre_us, draw(finite(10, 2000)), draw(st.sampled_from([1, -1])), trim_us, low_us, high_us
    )


def reach_us(servo: ServoMap) -> int:
    """How far from its zero a servo may be sent, to either side."""
    stop_us = min(servo.zero_us - servo.low_us, servo.high_us - servo.zero_us)
    return min(stop_us, int(LARGEST_RAD * abs(servo.us_per_rad)))


angles = st.integers(-int(LARGEST_RAD * ONE), int(LARGEST_RAD * ONE))


@given(servos(), angles, angles)
def test_servo_pulse_grows_with_the_angle_as_mounted(servo, a, b):
    low, high = sorted((a, b))
    rise_us = servo.to_device(high) - servo.to_device(low)
    assert rise_us >= 0 if servo.us_per_rad > 0 else rise_us <= 0


@given(servos(), st.integers())
def test_servo_pulse_is_a_whole_number_within_its_end_stops(servo, angle):
    pulse_us = servo.to_device(angle)
    assert type(pulse_us) is int
    assert servo.low_us <= pulse_us <= servo.high_us


@given(servos(), st.data())
def test_every_pulse_a_servo_may_get_comes_back_as_itself(servo, data):
    pulse_us = servo.zero_us + data.draw(st.integers(-reach_us(servo), reach_us(servo)))
    assert servo.to_device(servo.to_si(pulse_us)) == pulse_us


@given(servos(), st.data())
def test_angle_comes_back_within_half_a_microsecond(servo, data):
    largest = int(reach_us(servo) / abs(servo.us_per_rad) * ONE)
    angle = data.draw(st.integers(-largest, largest))
    # half a step, a tenth of one for the scale in 1/16 us, and the rounding of fixed point
    assert abs(servo.to_si(servo.to_device(angle)) - angle) <= 0.6 / abs(servo.us_per_rad) * ONE + 1


@st.composite
def polynomial_curves(draw, volts):
    def terms():
        first = draw(finite(0.05, 10))
        return [first] + draw(st.lists(finite(0, 5), max_size=4))

    return PolynomialCurve(
        volts, draw(st.integers(1430, 1499)), draw(st.integers(1501, 1570)), terms(), terms()
    )


@st.composite
def table_curves(draw, volts):
    """Points of growing pulse, force never falling, none between 1490 and 1510 us."""
    steps = st.lists(st.tuples(st.integers(1, 150), finite(0, 15)), min_size=1, max_size=6)
    points = [(1490, 0.0), (1510, 0.0)]
    for pulse_step, force_step in draw(steps):
        points.append((points[-1][0] + pulse_step, points[-1][1] + force_step))
    for pulse_step, force_step in draw(steps):
        points.insert(0, (points[0][0] - pulse_step, points[0][1] - force_step))
    return TableCurve(volts, [pulse for pulse, _ in points], [force for _, force in points])


@st.composite
def thrusters(draw, curves):
    volts = sorted(draw(st.sets(st.integers(60, 200), min_size=1, max_size=3)))
    thruster = ThrusterMap(1500, 1100, 1900, [draw(curves(v / 10)) for v in volts], 12.0)
    thruster.use_volts(draw(finite(5, 21)))
    return thruster


any_thruster = st.one_of(thrusters(polynomial_curves), thrusters(table_curves))


@given(any_thruster, finite(-60, 60), finite(-60, 60))
def test_thruster_pulse_never_falls_as_the_command_grows(thruster, a, b):
    low, high = sorted((a, b))
    assert thruster.to_device(to_q14(low)) <= thruster.to_device(to_q14(high))


@given(any_thruster, finite(-60, 60))
@settings(max_examples=60)
def test_thruster_pulse_gives_the_nearest_force(thruster, force_n):
    force_n = to_float(to_q14(force_n))
    pulse_us = thruster.to_device(to_q14(force_n))
    nearest_n = min(abs(thruster.force_n(other) - force_n) for other in range(1100, 1901))
    assert abs(abs(thruster.force_n(pulse_us) - force_n) - nearest_n) < 1e-9


@given(any_thruster, st.lists(finite(-60, 60), min_size=1, max_size=8))
def test_thruster_pulse_does_not_depend_on_earlier_commands(thruster, forces_n):
    fresh = copy.deepcopy(thruster)
    for force_n in forces_n:
        thruster.to_device(to_q14(force_n))
    assert thruster.to_device(to_q14(forces_n[0])) == fresh.to_device(to_q14(forces_n[0]))


@given(any_thruster, st.integers(1100, 1900))
def test_force_of_a_pulse_gives_the_same_force_as_a_command(thruster, pulse_us):
    force = thruster.to_si(pulse_us)
    assert abs(thruster.to_si(thruster.to_device(force)) - force) <= 1


@given(any_thruster, st.integers())
def test_thruster_pulse_is_whole_within_its_stops_and_outside_the_dead_band(thruster, force):
    pulse_us = thruster.to_device(force)
    assert type(pulse_us) is int
    assert 1100 <= pulse_us <= 1900
    assert pulse_us == 1500 or thruster.force_n(pulse_us) != 0


@given(any_thruster, finite(-60, 60))
def test_thruster_never_pushes_against_its_command(thruster, force_n):
    assert thruster.force_n(thruster.to_device(to_q14(force_n))) * force_n >= 0


@given(st.data(), finite(6, 20))
def test_between_two_measured_voltages_the_force_lies_between_their_curves(data, volts):
    weak, strong = data.draw(polynomial_curves(6.0)), data.draw(polynomial_curves(20.0))
    thruster = ThrusterMap(1500, 1100, 1900, [weak, strong], volts)
    pulse_us = data.draw(st.integers(1100, 1900))
    low, high = sorted((weak.force_n(pulse_us), strong.force_n(pulse_us)))
    slack = 1e-12 * max(abs(low), abs(high))
    assert low - slack <= thruster.force_n(pulse_us) <= high + slack


@st.composite
def valves(draw):
    cracking_current_ua = draw(st.integers(0, 500_000))
    high_ua = draw(st.integers(cracking_current_ua + 1, 1_000_000))
    return ValveMap(cracking_current_ua, draw(finite(1e-3, 100)), high_ua), cracking_current_ua, high_ua


pressures = finite(0, 1e6)


@given(valves(), pressures, pressures)
def test_valve_current_never_falls_as_the_pressure_grows(valve, a, b):
    low, high = sorted((a, b))
    assert valve[0].to_device(to_q14(low)) <= valve[0].to_device(to_q14(high))


@given(valves(), pressures)
def test_valve_pressure_comes_back_within_half_a_microampere(valve, pressure_pa):
    valve, cracking_current_ua, high_ua = valve
    current_ua = valve.to_device(to_q14(pressure_pa))
    assert type(current_ua) is int
    assert current_ua == 0 or cracking_current_ua <= current_ua <= high_ua
    if current_ua < high_ua:
        quantum_pa = 1 / valve._ua_per_pa
        assert to_float(valve.to_si(current_ua)) == pytest.approx(pressure_pa, abs=0.5 * quantum_pa + 2 / ONE)


counts = st.integers(-100_000, 100_000)


@given(counts, finite(1e-6, 1e3), st.sampled_from([1, -1]), counts, counts)
def test_linear_sensor_is_monotone_and_every_count_comes_back(zero_count, size, sign, a, b):
    sensor = LinearSensor(zero_count, size * sign, -100_000, 100_000)
    assert sensor.to_count(sensor.to_si(a)) == a
    low, high = sorted((a, b))
    assert (sensor.to_si(high) - sensor.to_si(low)) * sign >= 0


@given(
    st.integers(-10_000, 10_000),
    st.lists(st.tuples(st.integers(1, 1000), finite(0.01, 10)), min_size=1, max_size=8),
    st.booleans(),
    st.data(),
)
def test_table_sensor_is_monotone_and_every_count_comes_back(start, steps, falling, data):
    points, values = [start], [0.0]
    for count_step, value_step in steps:
        points.append(points[-1] + count_step)
        values.append(values[-1] + (-value_step if falling else value_step))
    sensor = TableSensor(points, values)
    count = data.draw(st.integers(points[0], points[-1]))
    assert sensor.valid(count)
    assert sensor.to_count(sensor.to_si(count)) == count
    if count < points[-1]:
        assert (sensor.to_si(count + 1) < sensor.to_si(count)) == falling
