"""The pressure loop of a valve: how fast and how near on a valve that is off its data sheet, and what is refused.

The same loop on other runtimes: tests/portable/test_core_pressure.py.
"""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_q14
from caudal.hal.core.maps import LinearSensor, ValveMap
from caudal.hal.core.pressure_loop import PressureMap
from caudal.hal.tables import channels as hal_spec
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from tests.portable.bench_valve import PA_PER_COUNT, BenchValve

RATE_HZ, TICK_MS = 50, 20
NEAR = 0.02  # of the command
PRESSURES_PA = (50e3, 120e3, 300e3, 500e3)

FILE = """
[actuator.knee]
map = "valve"
port = 0
cracking_current_ua = 120000
ua_per_pa = 0.5
high_ua = 600000
max_pa = 800e3
slew_pa_s = 1e6
pressure = "chamber"
kp = 2.5
ki = 25.0
trim_ua = 40000

[sensor.chamber]
map = "linear"
port = 0
unit = "Pa"
si_per_count = 25.0
low_count = -100
high_count = 40000
max_age_s = 0.1

[sensor.depth]
map = "linear"
port = 1
unit = "m"
si_per_count = 0.001
low_count = 0
high_count = 10000
max_age_s = 0.5
"""


class Bench:
    """The vehicle file's board on a valve: a driver whose counts and currents are the bench's."""

    def __init__(self, valve: BenchValve, text: str = FILE) -> None:
        self.valve, self.current_ua, self.deaf = valve, 0, False
        channels = hal_spec.read(VehicleFile.parse(text, "mine.toml"))
        self.board = build_board(channels, self, RATE_HZ)

    def read(self, counts):
        counts[:] = [None if self.deaf else self.valve.count(), None]

    def write(self, outputs):
        self.current_ua = outputs[0]
        self.valve.run(self.current_ua, TICK_MS)

    def close(self):
        pass

    def hold(self, asked_pa: float | None, seconds: float) -> list[int]:
        """The pressure after each tick."""
        pressures_pa = []
        for _ in range(round(seconds * RATE_HZ)):
            self.board.sense()
            self.board.act([None if asked_pa is None else to_q14(asked_pa)])
            pressures_pa.append(self.valve.pressure_pa)
        return pressures_pa


def settled_s(pressures_pa: list[int], asked_pa: float) -> float:
    """When they come near their command and stay there."""
    far = [k + 1 for k, pa in enumerate(pressures_pa) if abs(pa - asked_pa) > NEAR * asked_pa]
    return max(far, default=0) / RATE_HZ


@pytest.mark.parametrize("cracking_current_ua", [114_000, 120_000, 126_000])
@pytest.mark.parametrize("play_ua", [1500, 3000, 5000])
def test_any_step_is_within_two_percent_in_half_a_second(cracking_current_ua, play_ua):
    for seed, (before_pa, asked_pa) in enumerate(itertools.permutations(PRESSURES_PA, 2)):
        bench = Bench(BenchValve(cracking_current_ua, play_ua, seed=seed))
        bench.hold(before_pa, 1.5)
        taken_s = settled_s(bench.hold(asked_pa, 1.5), asked_pa)
        assert taken_s < 0.5, (before_pa, asked_pa, taken_s)


def test_without_its_loop_the_same_valve_stays_off_by_more_than_two_percent():
    open_loop = FILE.replace('pressure = "chamber"', "").replace("kp = 2.5\nki = 25.0\ntrim_ua = 40000\n", "")
    for asked_pa in PRESSURES_PA:
        pressures_pa = Bench(BenchValve(126_000, 3000), open_loop).hold(asked_pa, 2.0)
        assert settled_s(pressures_pa, asked_pa) == 2.0


@pytest.mark.parametrize("asked_pa", PRESSURES_PA)
def test_pressure_that_is_held_stays_within_two_percent(asked_pa):
    bench = Bench(BenchValve(126_000, 3000))
    bench.hold(asked_pa, 1.0)
    assert settled_s(bench.hold(asked_pa, 20.0), asked_pa) == 0.0


@pytest.mark.parametrize(
    "stuck_pa, asked_pa", [(100e3, 400e3), (400e3, 100e3), (50e3, 200e3), (200e3, 120e3)]
)
def test_released_valve_meets_its_command_as_fast_as_any_other(stuck_pa, asked_pa):
    """However long it was stuck: nothing is wound up while the error alone asks for all the trim."""
    runs = []
    for stuck_s in (0.2, 10.0):
        bench = Bench(BenchValve(126_000, 3000))
        bench.hold(stuck_pa, 1.5)
        bench.valve.stuck = True
        bench.hold(asked_pa, stuck_s)
        bench.valve.stuck = False
        runs.append(bench.hold(asked_pa, 1.5))
    for pressures_pa in runs:
        assert settled_s(pressures_pa, asked_pa) < 0.5
        beyond_pa = max((pa - asked_pa) * (1 if asked_pa > stuck_pa else -1) for pa in pressures_pa)
        assert beyond_pa < 0.1 * abs(asked_pa - stuck_pa)


def test_small_error_of_a_stuck_valve_winds_up_no_more_than_the_trim():
    bench = Bench(BenchValve(126_000, 3000))
    bench.hold(200e3, 1.5)
    bench.valve.stuck = True
    bench.hold(210e3, 10.0)
    bench.valve.stuck = False
    pressures_pa = bench.hold(210e3, 3.0)
    assert max(pressures_pa) < 210e3 + 40_000 / 0.5
    assert settled_s(pressures_pa, 210e3) < 1.0


def test_valve_runs_in_open_loop_while_the_gauge_has_no_reading():
    bench = Bench(BenchValve(126_000, 3000))
    bench.hold(200e3, 1.5)
    bench.deaf = True
    bench.hold(200e3, 2.0)
    assert bench.current_ua == 220_000
    bench.deaf = False
    assert settled_s(bench.hold(200e3, 1.5), 200e3) < 0.5


def test_off_ends_the_current_at_once_and_resets_the_sum():
    bench, first = Bench(BenchValve(126_000, 3000)), Bench(BenchValve(126_000, 3000))
    bench.hold(400e3, 2.0)
    bench.hold(None, 0.02)
    assert bench.current_ua == 0
    bench.hold(None, 5.0)
    for one in (bench, first):
        one.valve.spool_ua = one.valve._fine = one.valve._seed = 0
    assert bench.hold(300e3, 1.0) == first.hold(300e3, 1.0)


commands = st.one_of(st.none(), st.floats(0, 1e6).map(to_q14), st.integers(-5, 1 << 40))
counts = st.one_of(st.none(), st.integers(-(2**31), 2**31))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(commands, counts), min_size=1, max_size=60),
    st.floats(0, 1e3), st.floats(0, 1e3), st.integers(1, 1_000_000), st.integers(130_000, 1_000_000),
)  # fmt: skip
def test_current_is_an_integer_within_trim_and_coil_for_every_reading(rows, kp, ki, trim_ua, high_ua):
    loop = PressureMap(120_000, 0.5, high_ua, kp, ki, trim_ua, RATE_HZ)
    plain = ValveMap(120_000, 0.5, high_ua)
    gauge = LinearSensor(0, PA_PER_COUNT, -(2**31), 2**31)
    for command, count in rows:
        loop.follow(gauge, count)
        if command is None:
            continue
        current_ua, open_ua = loop.to_device(command), plain.to_device(command)
        assert type(current_ua) is int
        if command <= 0:
            assert current_ua == 0
        elif count is None:
            assert current_ua == open_ua
        else:
            assert max(open_ua - trim_ua, 0) <= current_ua <= min(open_ua + trim_ua, high_ua)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('pressure = "chamber"', 'pressure = "boiler"', 'knee.pressure: there is no sensor "boiler"'),
        ('pressure = "chamber"', 'pressure = "depth"', 'knee.pressure: sensor "depth" reads m; name one of unit "Pa"'),
        ('pressure = "chamber"', "", "knee.kp: there is no pressure to close the loop with"),
        ('pressure = "chamber"\nkp = 2.5', "", "knee.ki: there is no pressure to close the loop with"),
        ('pressure = "chamber"\nkp = 2.5\nki = 25.0', "", "knee.trim_ua: there is no pressure to close the loop with"),
        ("kp = 2.5\nki = 25.0", "", "knee.pressure: a loop without a gain does nothing"),
        ("trim_ua = 40000", "", "knee.trim_ua: the loop may add nothing"),
        ("kp = 2.5", "kp = -2.5", "knee.kp"),
    ],
)  # fmt: skip
def test_loop_that_cannot_be_closed_is_refused(old, new, words):
    assert old in FILE
    with pytest.raises(VehicleFileError) as refused:
        hal_spec.read(VehicleFile.parse(FILE.replace(old, new, 1), "mine.toml"))
    assert words in str(refused.value)
