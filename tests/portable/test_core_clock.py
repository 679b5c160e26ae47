"""The clock: with a made-up time source, so that lateness is exact."""

from caudal.onboard.core.clock import RealClock

PERIOD_US = 10000


class Time:
    """Microseconds that pass on request only, wrapping as a board's counter does."""

    def __init__(self, start_us=0, wrap=1 << 62, oversleep_us=0):
        self.now_us = start_us
        self.wrap = wrap
        self.oversleep_us = oversleep_us
        self.slept = []

    def ticks_us(self):
        return self.now_us % self.wrap

    def sleep_us(self, duration_us):
        self.slept.append(duration_us)
        self.now_us += duration_us + self.oversleep_us

    def diff(self, later, earlier):
        # as on a board: only a counter's own values may be compared
        assert 0 <= later < self.wrap and 0 <= earlier < self.wrap
        return (later - earlier + self.wrap // 2) % self.wrap - self.wrap // 2

    def add(self, ticks, duration_us):
        return (ticks + duration_us) % self.wrap

    def clock(self):
        return RealClock(PERIOD_US, self.ticks_us, self.sleep_us, self.diff, self.add)


def test_the_first_tick_is_now_and_the_next_a_period_later():
    time = Time(123)
    clock = time.clock()
    assert clock.wait() == 0
    assert time.slept == []
    assert clock.wait() == 0
    assert time.slept == [PERIOD_US]


def test_work_done_in_a_tick_shortens_the_sleep():
    time = Time()
    clock = time.clock()
    clock.wait()
    time.now_us += 3500
    assert clock.wait() == 0
    assert time.slept == [6500]


def test_lateness_is_reported_and_does_not_add_up():
    time = Time(oversleep_us=80)
    clock = time.clock()
    lates = [clock.wait() for _ in range(50)]
    assert lates[0] == 0
    assert lates[1:] == [80] * 49
    assert time.now_us == 49 * PERIOD_US + 80


def test_a_short_stall_is_caught_up():
    time = Time()
    clock = time.clock()
    clock.wait()
    time.now_us += 45000
    lates = [clock.wait() for _ in range(5)]
    assert lates == [35000, 25000, 15000, 5000, 0]


def test_after_a_stall_of_more_than_a_second_the_missed_ticks_are_given_up():
    time = Time()
    clock = time.clock()
    clock.wait()
    time.now_us += 5000000
    assert clock.wait() == 4990000
    assert clock.wait() == 0
    assert time.slept == [PERIOD_US]


def test_a_counter_that_wraps_changes_nothing():
    time = Time((1 << 30) - 25000, 1 << 30)
    clock = time.clock()
    lates = [clock.wait() for _ in range(10)]
    assert lates == [0] * 10
    assert time.slept == [PERIOD_US] * 9


def test_the_real_clock_ticks_on_this_runtime():
    clock = RealClock(1000)
    for _ in range(3):
        assert clock.wait() >= 0
