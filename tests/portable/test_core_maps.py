"""Maps by hand calculation: pulses, currents and SI values as a data sheet would give them."""

from caudal.hal.core.fixed_point import ONE, to_q14
from caudal.hal.core.maps import (
    LinearSensor,
    PolynomialCurve,
    ServoMap,
    TableCurve,
    TableSensor,
    ThrusterMap,
    ValveMap,
    clamp,
    interpolate,
)


def plain_servo():
    return ServoMap(1500, 600.0, 1, 0, 800, 2200)


def test_clamp_keeps_a_value_between_its_ends():
    assert clamp(5, 0, 3) == 3
    assert clamp(-5, 0, 3) == 0
    assert clamp(2, 0, 3) == 2


def test_interpolation_hits_its_points_and_halves_between_them():
    xs = [0, 10, 30]
    ys = [1.0, 2.0, 6.0]
    assert [interpolate(xs, ys, x) for x in (0, 10, 30)] == ys
    assert interpolate(xs, ys, 5) == 1.5
    assert interpolate(xs, ys, 20) == 4.0


def test_interpolation_holds_its_end_values_beyond_them():
    assert interpolate([0, 1], [3.0, 4.0], -9) == 3.0
    assert interpolate([0, 1], [3.0, 4.0], 9) == 4.0


def test_servo_at_zero_stands_at_its_centre():
    assert plain_servo().to_device(0) == 1500


def test_half_a_radian_is_half_the_scale():
    assert plain_servo().to_device(to_q14(0.5)) == 1800
    assert plain_servo().to_device(to_q14(-0.5)) == 1200


def test_servo_scale_keeps_its_fraction_of_a_microsecond():
    assert ServoMap(1500, 636.6, 1, 0, 500, 2500).to_device(to_q14(1.0)) == 2137  # 2136.6
    assert ServoMap(1500, 636.6, 1, 0, 500, 2500).to_device(to_q14(-1.0)) == 863  # 863.4


def test_reversed_servo_mirrors_every_pulse():
    servo = ServoMap(1500, 600.0, -1, 0, 800, 2200)
    assert servo.to_device(to_q14(0.5)) == 1200
    assert servo.to_device(to_q14(-0.5)) == 1800
    assert servo.to_si(1200) == to_q14(0.5)


def test_trim_shifts_the_whole_servo():
    servo = ServoMap(1500, 600.0, 1, 25, 800, 2200)
    assert servo.to_device(0) == 1525
    assert servo.to_device(to_q14(0.5)) == 1825
    assert servo.to_si(1525) == 0


def test_trim_is_in_microseconds_whatever_the_direction():
    assert ServoMap(1500, 600.0, -1, 25, 800, 2200).to_device(0) == 1525


def test_servo_never_passes_its_end_stops():
    servo = plain_servo()
    assert servo.to_device(to_q14(2.0)) == 2200
    assert servo.to_device(to_q14(-2.0)) == 800
    assert servo.to_device(1 << 60) == 2200
    assert servo.to_device(-(1 << 60)) == 800


def test_pulse_comes_back_as_its_angle():
    assert plain_servo().to_si(1800) == to_q14(0.5)
    assert plain_servo().to_si(1500) == 0


def test_limp_servo_has_no_pulse():
    assert ServoMap.idle == 0


def polynomial(volts=12.0, forward=(2.0, 1.0), reverse=(1.0, 0.5)):
    """N = 2 u + u^2 forward, u + u^2/2 backward, u in 100 us from a dead-band of 1475 to 1525 us."""
    return PolynomialCurve(volts, 1475, 1525, forward, reverse)


def test_polynomial_curve_gives_the_sum_of_its_terms():
    assert polynomial().force_n(1725) == 8.0  # u = 2: 4 + 4
    assert polynomial().force_n(1275) == -4.0  # u = 2: 2 + 2
    assert PolynomialCurve(12.0, 1475, 1525, (0.0, 0.0, 1.0), (1.0,)).force_n(1825) == 27.0


def test_dead_band_gives_no_force_up_to_and_with_its_edges():
    for pulse_us in (1475, 1500, 1525):
        assert polynomial().force_n(pulse_us) == 0.0
    assert polynomial().force_n(1526) > 0
    assert polynomial().force_n(1474) < 0


def test_thruster_takes_the_pulse_of_its_command():
    thruster = ThrusterMap(1500, 1100, 1900, [polynomial()], 12.0)
    assert thruster.to_device(to_q14(8.0)) == 1725
    assert thruster.to_device(to_q14(-4.0)) == 1275


def test_smallest_force_skips_the_dead_band():
    thruster = ThrusterMap(1500, 1100, 1900, [polynomial()], 12.0)
    step_n = polynomial().force_n(1526)
    assert thruster.to_device(to_q14(step_n)) == 1526
    assert thruster.to_device(to_q14(step_n * 0.6)) == 1526
    assert thruster.to_device(to_q14(polynomial().force_n(1474) * 0.6)) == 1474


def test_force_below_half_a_step_gives_idle():
    thruster = ThrusterMap(1500, 1100, 1900, [polynomial()], 12.0)
    assert thruster.to_device(0) == 1500
    assert thruster.to_device(to_q14(polynomial().force_n(1526) * 0.4)) == 1500


def test_thruster_never_passes_its_end_stops():
    thruster = ThrusterMap(1500, 1100, 1900, [polynomial()], 12.0)
    assert thruster.to_device(to_q14(1000.0)) == 1900
    assert thruster.to_device(to_q14(-1000.0)) == 1100


def two_voltages():
    return ThrusterMap(1500, 1100, 1900, [polynomial(10.0), polynomial(14.0, (4.0, 2.0), (2.0, 1.0))], 12.0)


def test_force_is_blended_between_the_voltages_of_its_curves():
    thruster = two_voltages()
    assert thruster.force_n(1725) == 12.0  # half way from 8 N at 10 V to 16 N at 14 V
    thruster.use_volts(11.0)
    assert thruster.force_n(1725) == 10.0
    thruster.use_volts(14.0)
    assert thruster.force_n(1725) == 16.0


def test_beyond_the_measured_voltages_the_nearest_curve_holds():
    thruster = two_voltages()
    thruster.use_volts(3.0)
    assert thruster.force_n(1725) == 8.0
    thruster.use_volts(30.0)
    assert thruster.force_n(1725) == 16.0


def test_of_three_voltages_the_two_nearest_are_blended():
    curves = [TableCurve(v, [1100, 1500, 1900], [-v, 0.0, v]) for v in (10.0, 12.0, 16.0)]
    thruster = ThrusterMap(1500, 1100, 1900, curves, 10.0)
    for volts in (10.0, 11.0, 12.0, 14.0, 16.0):
        thruster.use_volts(volts)
        assert thruster.force_n(1900) == volts


def test_weaker_battery_needs_a_longer_pulse():
    thruster = two_voltages()
    thruster.use_volts(14.0)
    strong_us = thruster.to_device(to_q14(8.0))
    thruster.use_volts(10.0)
    assert thruster.to_device(to_q14(8.0)) == 1725 > strong_us


def test_table_thruster_interpolates_its_points():
    thruster = ThrusterMap(
        1500, 1100, 1900, [TableCurve(12.0, [1100, 1450, 1550, 1900], [-7.0, 0.0, 0.0, 14.0])], 12.0
    )
    assert thruster.to_device(to_q14(7.0)) == 1725
    assert thruster.to_device(to_q14(-3.5)) == 1275
    assert thruster.to_si(1725) == to_q14(7.0)
    assert thruster.to_device(to_q14(0.001)) == 1500


def test_valve_opens_at_its_crack_current():
    valve = ValveMap(8000, 0.1, 20000)
    assert valve.to_device(0) == 0
    assert valve.to_device(-5 * ONE) == 0
    assert valve.to_device(to_q14(10.0)) == 8001
    assert valve.to_device(to_q14(50000.0)) == 13000


def test_valve_never_passes_its_coil_limit():
    assert ValveMap(8000, 0.1, 20000).to_device(to_q14(1e9)) == 20000


def test_valve_current_comes_back_as_its_pressure():
    valve = ValveMap(8000, 0.1, 20000)
    assert valve.to_si(13000) == to_q14(50000.0)
    assert valve.to_si(8000) == 0
    assert valve.to_si(0) == 0


def test_linear_sensor_is_zero_at_its_zero_count():
    depth = LinearSensor(100, 0.001, -500, 12000)
    assert depth.to_si(100) == 0
    assert depth.to_si(1100) == 1.0
    assert depth.to_count(1.0) == 1100


def test_count_is_rounded_alike_below_and_above_zero():
    sensor = LinearSensor(0, 0.1, -100, 100)
    assert sensor.to_count(0.53) == 5
    assert sensor.to_count(-0.53) == -5
    assert sensor.to_count(-0.57) == -6


def test_count_outside_its_range_is_no_reading():
    sensor = LinearSensor(0, 0.1, -3, 3)
    assert [sensor.valid(count) for count in (-4, -3, 0, 3, 4)] == [False, True, True, True, False]


def test_table_sensor_interpolates_rising_and_falling_tables():
    rising = TableSensor([0, 100, 300], [0.0, 1.0, 2.0])
    falling = TableSensor([0, 100, 300], [2.0, 1.0, 0.0])
    assert rising.to_si(50) == 0.5
    assert rising.to_si(200) == 1.5
    assert falling.to_si(200) == 0.5
    assert rising.to_count(1.5) == 200
    assert falling.to_count(0.5) == 200


def test_table_sensor_has_no_reading_beyond_its_table():
    sensor = TableSensor([10, 100], [0.0, 1.0])
    assert [sensor.valid(count) for count in (9, 10, 100, 101)] == [False, True, True, False]
