"""Fixed point: the nearest count, ends that hold, and no invented number."""

from caudal.hal.core.fixed_point import LARGEST, ONE, to_float, to_q14, to_q14_or_none


def test_one_unit_is_16384_counts():
    assert to_q14(1) == 16384
    assert to_q14(1.0) == ONE
    assert to_q14(-0.5) == -8192
    assert to_q14(0.0) == 0


def test_nearest_count_is_taken_alike_on_both_sides_of_zero():
    assert to_q14(0.4 / ONE) == 0
    assert to_q14(0.6 / ONE) == 1
    assert to_q14(-0.4 / ONE) == 0
    assert to_q14(-0.6 / ONE) == -1
    assert to_q14(2.5 / ONE) == 3
    assert to_q14(-2.5 / ONE) == -3


def test_not_a_number_stays_none():
    assert to_q14_or_none(float("nan")) is None


def test_infinities_and_huge_values_end_at_the_largest_count():
    assert to_q14(float("inf")) == LARGEST
    assert to_q14(float("-inf")) == -LARGEST
    assert to_q14(1e300) == LARGEST


def test_every_count_comes_back_as_itself():
    for count in (0, 1, -1, 77, -12345, 16383, 1 << 29, -(1 << 29)):
        assert to_q14(to_float(count)) == count


def test_count_is_an_integer():
    assert isinstance(to_q14(0.3), int)
    assert isinstance(to_q14(-0.3), int)
