"""Every trigger of the failsafe table: when it is a cause, and when it is not."""

from bench_vehicle import BenchDriver, Table, failsafe, sensor, servo

from caudal.hal.core.board import NEVER
from caudal.hal.core.build import build_board
from caudal.onboard.core.failsafe import FailsafeRule
from caudal.onboard.core.failsafe_triggers import TRIGGERS
from caudal.onboard.core.modes import MANUAL, MISSION, WRENCH
from caudal.onboard.core.state import State

NAMES = ("heading", "turn_rate", "roll", "depth")


class Bench:
    """One row without delay over four sensors in thousandths."""

    def __init__(self, trigger, **keys):
        self.driver = BenchDriver(NAMES)
        channels = Table(
            actuators=[servo("fin", 0), servo("tail", 1)],
            sensors=[sensor(name, k, 0.001, -20000, 20000, 0.03) for k, name in enumerate(NAMES)],
        )
        self.board = build_board(channels, self.driver, 100)
        self.state = State(self.board, 10000)
        self.state.armed = True
        self.row = FailsafeRule(failsafe("row", trigger, "warn", **keys), self.board, 100, WRENCH)

    def step(self, ticks=1, **counts):
        for name in counts:
            self.driver.counts[name] = counts[name]
        for _ in range(ticks):
            self.board.sense()
            self.row.step(self.state)
        return self.row.active


def test_not_armed():
    bench = Bench("not_armed")
    assert not bench.step()
    bench.state.armed = False
    assert bench.step()


def test_bad_command():
    bench = Bench("bad_command")
    assert not bench.step()
    bench.state.bad_command = True
    assert bench.step()


def test_overrun_counts_ticks_and_stalled_seconds():
    for trigger, keys, limit_us in (
        ("overrun", {"limit_ticks": 1.5}, 15000),
        ("stalled", {"limit_s": 0.5}, 500000),
    ):
        bench = Bench(trigger, **keys)
        bench.state.late_us = limit_us
        assert not bench.step()
        bench.state.late_us = limit_us + 1
        assert bench.step()
        bench.state.late_us = 0
        assert not bench.step()


def test_reading_lost_is_any_of_its_sensors_too_old():
    bench = Bench("reading_lost", sensors=["heading", "depth"])
    assert not bench.step()
    assert not bench.step(3, depth=None)
    assert bench.step()
    assert not bench.step(depth=0)
    assert not bench.step(20, roll=None)


def test_silence_is_all_of_them():
    bench = Bench("silence")
    assert not bench.step(heading=None, turn_rate=None, roll=None)
    assert bench.step(depth=None)
    assert not bench.step(roll=0)


def test_outside_either_end():
    bench = Bench("outside", sensors=["depth"], low=-1.0, high=2.0)
    assert not bench.step(depth=2000)
    assert bench.step(depth=2001)
    assert not bench.step(depth=-1000)
    assert bench.step(depth=-1001)
    bench = Bench("outside", sensors=["depth"], low=None, high=2.0)
    assert not bench.step(depth=-20000)


def test_tilted_either_way():
    bench = Bench("tilted", sensors=["roll"], limit_deg=90.0)
    assert not bench.step(roll=1570)
    assert bench.step(roll=1572)
    assert bench.step(roll=-1572)


def test_rule_keeps_its_state_when_its_sensor_times_out():
    for trigger, keys, well, ill in (
        ("outside", {"low": None, "high": 2.0}, 0, 2001),
        ("tilted", {"limit_deg": 90.0}, 0, 1572),
    ):
        bench = Bench(trigger, sensors=["roll", "heading"], **keys)
        bench.driver.counts["roll"] = None
        assert not bench.step(20, heading=well)  # never received
        assert not bench.step(20, roll=well) and not bench.step(20, roll=None)
        assert bench.step(roll=ill)
        assert bench.step(20, roll=None) and bench.row.present  # silent while it was bad
        assert bench.step(20, heading=ill) and bench.step(20, heading=well)
        assert not bench.step(roll=well)
        assert bench.step(heading=ill)  # one that is silent does not hide another
        bench.driver.counts["roll"] = None
        assert bench.step(20)


def turn(bench, ticks, rate_rad_s, heading, seen_rad_s=None):
    """Turns a heading that is seen to turn at another rate; the heading behind it, and whether the row is active."""
    active = False
    for _ in range(ticks):
        heading += rate_rad_s / 100
        wrapped = (heading + 3.141592653589793) % 6.283185307179586 - 3.141592653589793
        seen = rate_rad_s if seen_rad_s is None else seen_rad_s
        active = bench.step(heading=int(wrapped * 1000), turn_rate=int(seen * 1000)) or active
    return heading, active


def test_implausible_is_an_angle_that_its_rate_does_not_explain():
    pairs = [["heading", "turn_rate"]]
    bench = Bench("implausible", pairs=pairs, limit_rad=0.5)
    heading, active = turn(bench, 1000, 2.0, 0.0)  # several times round
    assert not active
    heading, active = turn(bench, 200, 0.0, heading, 1.0)  # the angle is stuck
    assert active
    bench = Bench("implausible", pairs=pairs, limit_rad=0.5)
    assert turn(bench, 200, 1.0, 0.0, 0.0)[1]  # the rate is stuck
    bench = Bench("implausible", pairs=pairs, limit_rad=0.5)
    heading, active = turn(bench, 50, 0.1, 0.0)
    assert not active
    assert turn(bench, 1, 0.1, heading + 0.7)[1]  # the angle jumps
    bench = Bench("implausible", pairs=pairs, limit_rad=0.5)
    assert not turn(bench, 1000, 1.0, 0.0, 1.1)[1]  # a rate that is a little off


def test_inconsistent_is_an_average_of_innovations():
    bench = Bench("inconsistent", limit_nis=9.0, average_s=0.5)
    bench.state.estimate.x_nis = 1.0
    assert not bench.step(500)
    bench.state.estimate.x_nis = 50.0
    assert not bench.step(2)
    assert bench.step(100)
    bench.state.estimate.x_nis = None
    assert bench.step(10)


def test_out_of_bounds_is_outside_a_box_on_any_axis():
    for field in ("x_m", "y_m", "depth_m"):
        bench = Bench("out_of_bounds", low_m=[0.0, 0.0, 0.0], high_m=[5.0, 5.0, 5.0])
        assert not bench.step()  # nothing known is nowhere
        setattr(bench.state.estimate, field, 5.0)
        assert not bench.step()
        setattr(bench.state.estimate, field, 5.01)
        assert bench.step()
        setattr(bench.state.estimate, field, -0.01)
        assert bench.step()


def test_pilot_lost_is_for_mode_manual_alone():
    bench = Bench("pilot_lost", limit_s=1.0)
    bench.state.manual_input_age = 101
    assert not bench.step()
    bench.state.requested_mode = MANUAL
    assert bench.step()
    bench.state.manual_input_age = 100
    assert not bench.step()
    bench.state.manual_input_age = NEVER
    assert bench.step()


def test_station_lost_is_one_that_was_there():
    bench = Bench("station_lost", limit_s=5.0)
    bench.state.station_age = NEVER
    assert not bench.step()
    bench.state.station_age = 500
    assert not bench.step()
    bench.state.station_age = 501
    assert bench.step()


def test_mode_unable_is_a_mode_without_its_estimates():
    bench = Bench("mode_unable")
    assert bench.step()
    for field in WRENCH[MISSION]:
        setattr(bench.state.estimate, field, 0.0)
    bench.state.requested_mode = MISSION
    assert not bench.step()
    bench.state.estimate.depth_m = None
    assert bench.step()


def test_not_following_is_any_of_its_actuators():
    bench = Bench("not_following", actuators=["tail"])
    bench.state.not_following[0] = True
    assert not bench.step()
    bench.state.not_following[1] = True
    assert bench.step()


def test_host_is_what_the_computer_says():
    bench = Bench("host", word="storage_full")
    assert not bench.step()
    bench.state.host["storage_full"] = True
    assert bench.step()
    bench.state.host["storage_full"] = False
    assert not bench.step()


def test_every_trigger_has_a_test_here():
    tested = "_".join([name for name in globals() if name.startswith("test_")])
    for trigger in TRIGGERS:
        assert trigger in tested, trigger
