"""Failsafe rules and output limiter: delays and clearing, the strongest action, limits and slew."""

from bench_vehicle import BenchDriver, Table, failsafe, sensor, servo

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import ONE, to_q14
from caudal.onboard.core.failsafe import (
    ACTIONS,
    DISARM,
    HOLD,
    NEUTRAL,
    NONE,
    SURFACE,
    WARN,
    FailsafeMonitor,
    FailsafeRule,
)
from caudal.onboard.core.limiter import OutputLimiter
from caudal.onboard.core.modes import AUTO, TAIL
from caudal.onboard.core.modes import HOLD as HOLD_MODE
from caudal.onboard.core.modes import SURFACE as SURFACE_MODE
from caudal.onboard.core.state import State

NAN = float("nan")
INFINITE = float("inf")
STEP = 12 * ONE // 100  # 12 rad/s at 100 Hz


class Bench:
    """Two servos, one limp and one held at 0.5 rad when safe, behind a limiter with the given rules."""

    def __init__(self, *rows, armed=True):
        self.driver = BenchDriver(("heading",))
        channels = Table(
            actuators=[servo("limp", 0), servo("held", 1, safe_rad=0.5)],
            sensors=[sensor("heading", 0, 0.001, -3000, 3000, 0.03)],
        )
        self.board = build_board(channels, self.driver, 100)
        self.state = State(self.board, 10000)
        self.state.armed = armed
        self.rows = [FailsafeRule(row, self.board, 100, TAIL) for row in rows]
        self.monitor = FailsafeMonitor(self.rows, TAIL)
        self.limiter = OutputLimiter(self.board, 100)

    def step(self, ticks=1):
        for _ in range(ticks):
            self.board.sense()
            self.monitor.step(self.state)
            self.limiter.step(self.state)
        return self.state.outputs

    def ticks_until_active(self, wanted=True, most=500):
        for tick in range(1, most):
            self.step()
            if bool(self.state.active_rules) == wanted:
                return tick
        raise AssertionError("it never did")


def lost(action="neutral", **changes):
    return failsafe("lost", "reading_lost", action, sensors=["heading"], **changes)


def test_nothing_moves_while_disarmed_whatever_the_table_says():
    bench = Bench(armed=False)
    bench.state.commands = [ONE, ONE]
    assert bench.step(10) == [None, None] and not bench.state.commands_applied
    bench.state.armed = True
    bench.step()
    bench.state.armed = False
    assert bench.step() == [None, None]


def test_nothing_moves_before_arming():
    bench = Bench(failsafe("not_armed", "not_armed", "disarm"), armed=False)
    bench.state.commands = [ONE, ONE]
    assert bench.step(10) == [None, None]
    bench.state.armed = True
    assert bench.step() == [STEP, to_q14(0.5) + STEP]


def test_disarming_takes_effect_in_the_same_tick():
    bench = Bench(failsafe("not_armed", "not_armed", "disarm"))
    bench.state.commands = [ONE, ONE]
    bench.step(5)
    bench.state.armed = False
    assert bench.step() == [None, None]


def test_a_lost_reading_fires_after_its_age_and_delay():
    bench = Bench(lost(delay_s=0.1))
    bench.step()
    bench.driver.counts["heading"] = None
    assert bench.ticks_until_active() == 3 + 1 + 10
    assert bench.state.action == NEUTRAL


def test_a_reading_back_before_the_delay_fires_nothing():
    bench = Bench(lost(delay_s=0.1))
    bench.step()
    for _ in range(5):
        bench.driver.counts["heading"] = None
        bench.step(12)
        assert bench.state.active_rules == 0
        bench.driver.counts["heading"] = 0
        bench.step()
    assert bench.state.active_rules == 0


def test_a_row_clears_once_its_cause_has_been_gone_long_enough():
    bench = Bench(lost(clear_s=0.5))
    bench.driver.counts["heading"] = None
    bench.step(10)
    assert bench.state.active_rules == 1
    bench.driver.counts["heading"] = 0
    assert bench.ticks_until_active(False) == 51
    assert bench.state.action == NONE


def test_a_cause_that_comes_back_restarts_the_clearing():
    bench = Bench(lost(clear_s=0.5))
    bench.driver.counts["heading"] = None
    bench.step(10)
    bench.driver.counts["heading"] = 0
    bench.step(40)
    bench.driver.counts["heading"] = None
    bench.step(10)
    bench.driver.counts["heading"] = 0
    assert bench.ticks_until_active(False) == 51


def test_a_latched_row_stays_until_a_person_has_taken_note_after_its_cause_is_gone():
    bench = Bench(lost(latched=True))
    bench.driver.counts["heading"] = None
    bench.step(10)
    bench.rows[0].acknowledge()
    bench.step()
    assert bench.state.active_rules == 1  # the cause is still there
    bench.driver.counts["heading"] = 0
    bench.step(300)
    bench.state.armed = False
    bench.step(300)
    assert bench.state.active_rules == 1
    bench.rows[0].acknowledge()
    bench.step(5)
    assert bench.state.active_rules == 0


def test_a_cause_seen_while_disarmed_still_counts_after_arming():
    bench = Bench(lost("hold", delay_s=1.0, latched=True), armed=False)
    bench.step()
    bench.driver.counts["heading"] = None
    bench.step(120)
    bench.driver.counts["heading"] = 0
    bench.step(10)
    bench.state.armed = True
    bench.step()
    assert bench.state.action == HOLD


def test_a_command_that_is_no_number_stays_where_it_was_and_fires_its_row_in_the_next_tick():
    for ask in (NAN, None):
        bench = Bench(failsafe("bad", "bad_command", "disarm"))
        bench.state.commands = [0, to_q14(0.5)]
        bench.step()
        assert bench.state.active_rules == 0
        bench.state.commands = [0, ask]
        assert bench.step() == [0, to_q14(0.5)]
        assert bench.step() == [None, None]
        assert not bench.state.armed


def test_infinity_is_a_number_too_large():
    bench = Bench(failsafe("bad", "bad_command", "disarm"))
    bench.state.commands = [INFINITE, -INFINITE]
    bench.step(300)
    assert bench.state.active_rules == 0
    assert bench.state.outputs == [ONE, -ONE]


def two_rows(first, second):
    return Bench(failsafe("a", "not_armed", first), failsafe("b", "not_armed", second), armed=False)


def test_the_strongest_action_wins_in_any_order():
    for first in ACTIONS:
        for second in ACTIONS:
            bench = two_rows(first, second)
            bench.step()
            assert bench.state.action == max(ACTIONS[first], ACTIONS[second])


def test_hold_and_surface_change_the_mode_and_the_asked_one_comes_back():
    for action, mode in (("hold", HOLD_MODE), ("surface", SURFACE_MODE), ("drop", SURFACE_MODE)):
        bench = Bench(lost(action))
        bench.step()
        assert bench.state.mode == AUTO
        bench.driver.counts["heading"] = None
        bench.step(5)
        assert bench.state.mode == mode and bench.state.requested_mode == AUTO
        bench.driver.counts["heading"] = 0
        bench.step(5)
        assert bench.state.mode == AUTO


def test_hold_does_not_cancel_a_commanded_surfacing():
    bench = Bench(lost("hold"))
    bench.state.requested_mode = SURFACE_MODE
    bench.driver.counts["heading"] = None
    bench.step(5)
    assert bench.state.action == HOLD and bench.state.mode == SURFACE_MODE


def test_neither_a_delay_nor_a_clearing_goes_on_while_nothing_is_known():
    bench = Bench(
        failsafe("wide", "outside", "hold", sensors=["heading"], low=None, high=1.0, delay_s=0.1, clear_s=0.1)
    )

    def look(heading, ticks):
        bench.driver.counts["heading"] = heading
        bench.step(ticks)
        return bool(bench.state.active_rules)

    assert not look(2000, 6)
    assert not look(None, 50)  # the first three still go by the last reading
    assert not look(2000, 1) and look(2000, 1)
    assert look(0, 5) and look(None, 50)
    assert look(0, 2) and not look(0, 2)


def test_a_vehicle_that_cannot_hold_goes_up_instead():
    bench = Bench(lost("hold"))
    bench.monitor = FailsafeMonitor(bench.rows, {AUTO: (), SURFACE_MODE: ()})
    bench.driver.counts["heading"] = None
    bench.step(5)
    assert bench.state.action == HOLD and bench.state.mode == SURFACE_MODE


def test_every_active_row_has_its_bit():
    bench = Bench(
        failsafe("a", "not_armed", "warn"), lost("warn"), failsafe("c", "not_armed", "warn"), armed=False
    )
    bench.step()
    assert bench.state.active_rules == 0b101
    bench.driver.counts["heading"] = None
    bench.step(9)
    assert bench.state.active_rules == 0b111


def test_a_warning_changes_no_command():
    bench = Bench(lost("warn"))
    bench.driver.counts["heading"] = None
    bench.state.commands = [100, to_q14(0.5) + 200]
    bench.ticks_until_active()
    assert bench.step() == [100, to_q14(0.5) + 200]


def test_neutral_goes_to_each_actuators_safe_state_within_its_slew():
    bench = Bench(lost())
    bench.state.commands = [ONE, -ONE]
    bench.step(100)
    bench.driver.counts["heading"] = None
    bench.ticks_until_active()
    assert bench.state.outputs == [None, -ONE + STEP]
    assert bench.step(100) == [None, to_q14(0.5)]


def test_limits_and_slew_hold_without_any_row():
    bench = Bench()
    bench.state.commands = [5 * ONE, -5 * ONE]
    assert bench.step() == [STEP, to_q14(0.5) - STEP]
    assert bench.step(300) == [ONE, -ONE]


def test_no_number_leaves_the_actuator_where_it_is():
    bench = Bench()
    bench.state.commands = [900, to_q14(0.5)]
    bench.step()
    for ask in (NAN, None):
        bench.state.commands = [ask, ask]
        assert bench.step(3) == [900, to_q14(0.5)]


def test_a_float_command_leaves_as_an_integer():
    bench = Bench()
    bench.state.commands = [12.75, to_q14(0.5) - 3.5]
    for output in bench.step():
        assert isinstance(output, int)


def test_after_off_a_servo_starts_from_where_it_was():
    bench = Bench(failsafe("a", "not_armed", "disarm"))
    bench.state.commands = [ONE, ONE]
    bench.step(100)
    bench.state.armed = False
    bench.step(5)
    bench.state.armed = True
    bench.state.commands = [0, 0]
    assert bench.step() == [ONE - STEP, ONE - STEP]


def test_after_off_an_actuator_that_does_not_stay_starts_from_rest():
    bench = Bench(failsafe("a", "not_armed", "disarm"))
    bench.board.actuators[1].map.stays = False
    bench.limiter = OutputLimiter(bench.board, 100)
    bench.state.commands = [ONE, ONE]
    bench.step(100)
    bench.state.armed = False
    bench.step(5)
    bench.state.armed = True
    assert bench.step() == [ONE, to_q14(0.5) + STEP]


def test_the_state_says_whether_commands_got_through():
    bench = Bench(failsafe("not_armed", "not_armed", "disarm"), lost("warn"))
    bench.driver.counts["heading"] = 0
    bench.step()
    assert bench.state.commands_applied
    bench.driver.counts["heading"] = None
    bench.step(20)
    assert bench.state.action == WARN and bench.state.commands_applied
    bench.state.armed = False
    bench.step()
    assert not bench.state.commands_applied


def test_slow_halves_what_pushes_and_leaves_joints_their_room():
    bench = Bench(lost("slow"))
    bench.board.actuators[1].map.pushes = True
    bench.limiter = OutputLimiter(bench.board, 100)
    bench.state.commands = [ONE, ONE]
    assert bench.step(200) == [ONE, ONE]
    bench.driver.counts["heading"] = None
    bench.ticks_until_active()
    assert bench.state.outputs == [ONE, ONE - STEP]
    assert bench.step(200) == [ONE, ONE // 2]


def test_surface_is_stronger_than_hold_and_weaker_than_neutral():
    assert HOLD < SURFACE < NEUTRAL < DISARM
