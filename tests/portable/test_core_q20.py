"""Readings as integers: the float's number within what their bits allow, and factors that keep products small."""

from caudal.hal.core.fixed_point import Q20_BITS, Gain, q20_to_q14, to_q14, to_q20, to_q20_or_none
from caudal.hal.core.maps import LinearSensor, TableSensor

ONE = 1 << Q20_BITS


def test_q20_is_the_nearest_count_and_no_number_is_none():
    assert to_q20(1.0) == ONE and to_q20(-1.0) == -ONE and to_q20(0.0) == 0
    assert to_q20(0.6 / ONE) == 1 and to_q20(-0.6 / ONE) == -1 and to_q20(0.4 / ONE) == 0
    assert to_q20_or_none(None) is None and to_q20_or_none(float("nan")) is None


def test_linear_sensors_integer_is_its_float():
    for zero, si_per_count, low, high in (
        (0, 0.00109083078, -2880, 2880),
        (100, 0.001, -500, 12000),
        (2880, -0.00109083078, 0, 5760),
        (0, 0.00109083078, -32000, 32000),
        (0, 1.0, 0, 1),
        (7, 12.5, -3, 90),
    ):
        sensor = LinearSensor(zero, si_per_count, low, high)
        largest = max(abs(low - zero), abs(high - zero))
        step = max(1, (high - low) // 97)
        count = low
        while count <= high:
            exact = sensor.to_si(count) * ONE
            slope_error = largest / (1 << 29)  # half a bit of a slope that fills 28 bits at the largest count
            assert abs(sensor.to_q20(count) - exact) <= 0.5 + slope_error * abs(exact), (si_per_count, count)
            count += step


def test_table_sensors_integer_is_its_float():
    sensor = TableSensor([0, 100, 200], [0.0, 1.0, 4.0])
    for count in (0, 50, 100, 150, 200):
        assert sensor.to_q20(count) == to_q20(sensor.to_si(count))


def test_gain_is_within_a_thousandth_and_rounds_to_the_nearest():
    for factor in (0.25, -0.25, 0.01, 0.05, 1 / 3, 2.0, 17.3, 300.0, 1e-4, -3e-5):
        gain = Gain(factor)
        for count in (0, 1, -1, 1000, -1000, 123456, -123456):
            assert abs(gain.apply(count) - factor * count) <= 0.501 + abs(factor * count) * 0.001, (
                factor,
                count,
            )


def test_count_too_large_for_one_product_is_multiplied_alike():
    for factor in (0.25, -0.25, 1 / 3, 2.0, -17.3, 300.0, 1e-4, -3e-5):
        gain = Gain(factor)
        for count in (0, 1, 12345, (1 << 19) - 1, 1 << 19, (1 << 19) + 1, 12345678, (1 << 29) - 1):
            for signed in (count, -count):
                exact = (signed * gain._factor + gain._half) >> gain._shift
                assert gain.apply(signed) == exact, (factor, signed)


def test_command_is_the_nearest_of_a_q20_count():
    for value in (0.0, 0.3, -0.3, 1.5, -1.5, 0.00003, -0.00003):
        assert q20_to_q14(to_q20(value)) == to_q14(value)


def test_gain_of_0_gives_0():
    assert Gain(0.0).apply(12345) == 0 and Gain(0.0).apply(-12345) == 0
