"""The pressure loop on a valve that differs from its map: the same bits on every runtime."""

import gc
import sys

from bench_valve import PA_PER_COUNT, BenchValve
from bench_vehicle import BenchDriver, Table, sensor, valve

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_q14

RATE_HZ = 50
CHECK = 253435549  # of the currents below, as CPython gives them
OPEN_UA = 120000 + 50000  # of 100 kPa, by the map alone


class Rig:
    """A board with one valve and the gauge of its chamber."""

    def __init__(self, plant=None, rate_hz=RATE_HZ, **changes):
        self.driver = BenchDriver(("chamber",))
        self.plant = plant
        self.tick_ms = 1000 // rate_hz
        gauge = sensor("chamber", 0, PA_PER_COUNT * 1.0, -100, 40000)
        self.board = build_board(Table(actuators=[valve(**changes)], sensors=[gauge]), self.driver, rate_hz)

    def tick(self, asked_pa, count=None):
        """One tick; the count is the plant's own if there is one."""
        self.driver.counts["chamber"] = self.plant.count() if self.plant else count
        self.board.sense()
        self.board.act([None if asked_pa is None else to_q14(asked_pa)])
        current_ua = self.driver.outputs[0]
        if self.plant:
            self.plant.run(current_ua, self.tick_ms)
        return current_ua


def settled_s(rig, asked_pa, seconds):
    """When the pressure comes within 2 % to stay."""
    last = 0
    for tick in range(int(seconds * RATE_HZ)):
        rig.tick(asked_pa)
        if abs(rig.plant.pressure_pa - asked_pa) * 50 > asked_pa:
            last = tick + 1
    return last / RATE_HZ


def test_steps_up_and_down_are_within_two_percent_in_half_a_second():
    for cracking_current_ua in (114000, 126000):
        rig = Rig(BenchValve(cracking_current_ua, 3000))
        for asked_pa in (50000.0, 500000.0, 50000.0, 300000.0, 200000.0, 120000.0):
            taken_s = settled_s(rig, asked_pa, 1.0)
            assert taken_s < 0.5, (cracking_current_ua, asked_pa, taken_s)


def test_every_runtime_gives_the_same_currents_to_the_microampere():
    rig = Rig(BenchValve(126000, 3000))
    check = 0
    for tick in range(600):
        asked_pa = (None, 50000.0, 431234.5, 90000.25, 0.0, 250000.0)[tick // 40 % 6]
        check = (check * 31 + rig.tick(asked_pa)) & 0x3FFFFFFF
    assert check == CHECK


def test_first_current_is_the_maps_plus_the_gain_times_the_error():
    assert Rig().tick(100000.0, 4000) == OPEN_UA
    assert Rig(kp=2.0, ki=0.0).tick(100000.0, 3999) == OPEN_UA + 50  # 25 Pa times 2 uA a Pa
    assert (
        Rig(kp=0.0, ki=20.0).tick(100000.0, 3999) == OPEN_UA + 10
    )  # 25 Pa times 20 uA a Pa and second, for 20 ms


def test_sum_grows_by_the_rate_of_the_board():
    for rate_hz in (25, 50, 100):
        rig = Rig(rate_hz=rate_hz, kp=0.0, ki=20.0)
        for _ in range(rate_hz):
            current_ua = rig.tick(100000.0, 3980)
        assert abs(current_ua - OPEN_UA - 10000) <= 10  # 500 Pa for a second; a Gain is within 0.1 %


def test_loop_corrects_by_no_more_than_its_trim():
    rig = Rig()
    for _ in range(100):
        assert rig.tick(400000.0, 0) == 120000 + 200000 + 40000
    rig = Rig()
    for _ in range(100):
        assert rig.tick(100000.0, 30000) == OPEN_UA - 40000


def test_no_current_is_below_none_or_above_the_coils():
    assert Rig(trim_ua=1000000, kp=100.0).tick(100000.0, 30000) == 0
    assert Rig(trim_ua=1000000, kp=100.0).tick(100000.0, 0) == 600000
    assert Rig(high_ua=150000).tick(100000.0, 4000) == 150000


def test_sum_at_its_limit_leaves_it_at_the_first_opposite_error():
    rig = Rig(kp=0.0, ki=20.0)
    for _ in range(200):
        rig.tick(100000.0, 3900)
    assert rig.tick(100000.0, 3900) == OPEN_UA + 40000
    assert rig.tick(100000.0, 4100) == OPEN_UA + 40000 - 1000


def test_command_of_0_is_no_current_and_resets_the_sum():
    for nothing in (None, 0.0, -5.0):
        rig = Rig(kp=0.0, ki=20.0)
        for _ in range(20):
            rig.tick(100000.0, 3900)
        assert rig.tick(100000.0, 4000) > OPEN_UA
        assert rig.tick(nothing, 4000) == 0
        assert rig.tick(100000.0, 4000) == OPEN_UA


def test_safe_state_resets_the_sum():
    rig = Rig(kp=0.0, safe_pa=20000.0)
    for _ in range(20):
        rig.tick(100000.0, 3900)
    rig.board.sense()
    rig.board.safe()
    assert rig.driver.outputs == [130000]  # the open-loop current
    assert rig.tick(100000.0, 4000) == OPEN_UA


def test_current_is_the_maps_and_the_sum_stays_without_a_reading():
    rig = Rig(kp=0.0, ki=20.0)
    assert rig.tick(100000.0, None) == OPEN_UA  # there never was one
    for _ in range(20):
        rig.tick(100000.0, 3900)
    held_ua = rig.tick(100000.0, 4000)
    assert held_ua > OPEN_UA
    ages = [rig.tick(100000.0, None) for _ in range(30)]  # the gauge's max_age_s is five ticks
    assert ages[:5] == [held_ua] * 5
    assert ages[5:] == [OPEN_UA] * 25
    assert rig.tick(100000.0, 4000) == held_ua


def test_valve_without_a_gauge_has_no_loop():
    rig = Rig(pressure="", kp=0.0, ki=0.0, trim_ua=0)
    assert rig.tick(100000.0, 0) == rig.tick(100000.0, 9000) == OPEN_UA


def test_tick_allocates_nothing_where_a_command_is_a_small_integer():
    if not hasattr(gc, "mem_alloc") or sys.maxsize < 1 << 40:
        return  # CPython; and boards with words of 4 bytes, where the command itself takes heap
    rig = Rig()
    asked = [to_q14(431234.5)]
    rig.driver.counts["chamber"] = 12000
    rig.board.sense()
    rig.board.act(asked)
    loop = rig.board.actuators[0].map
    gauge = rig.board.sensors[0].map
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    count = 12000
    while count < 13000:
        loop.follow(gauge, count)
        loop.to_device(asked[0])
        count += 1
    taken = gc.mem_alloc() - before
    gc.enable()
    assert taken == 0, taken
