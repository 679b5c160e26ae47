"""Attitude from a BNO055 (hal/pi/bno055.py), against an emulated chip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.bno055 import Bno055
from caudal.hal.pi.bno055 import ANGLES, REGISTERS, Imu, wrapped
from caudal.hal.pi.slot import Slot
from tests.hal.pi_bench import Bench, taken

COUNTS = {
    "heading": 700, "roll": -300, "pitch": 45, "rate_x": 1, "rate_y": -20, "rate_z": 16_000,
    "acc_x": -12, "acc_y": 34, "acc_z": 981,
}  # fmt: skip


@given(st.integers(-40_000, 40_000))
def test_angle_is_wrapped_to_half_a_turn_each_way(angle):
    assert -2880 <= wrapped(angle) < 2880
    assert (wrapped(angle) - angle) % 5760 == 0


class Rig(Bench):
    def __init__(self, mode: str = "ndof", **signs: int) -> None:
        super().__init__()
        self.chip = Bno055(self.clock, 0x28)
        self.add(self.chip)
        self.slots = {value: Slot() for value in REGISTERS}
        self.device = Imu(self.bus, 0x28, self.slots, 20_000, signs, mode)
        self.use(self.device)
        self.chip.set(**COUNTS)

    def take(self) -> dict[str, int | None]:
        return {value: slot.take() for value, slot in self.slots.items()}

    def fresh(self) -> dict[str, int | None]:
        self.take()
        self.run(21)
        return self.take()

    def left_in(self, mode: int, *more: tuple[int, int]) -> None:
        """As another program left it."""
        for register, value in (*more, (0x3D, mode)):
            self.bus.write(0x28, bytes((register, value)))
        self.clock.us += 30_000


@pytest.mark.parametrize("mode", ["ndof", "imu"])
def test_every_value_is_read_as_it_is_in_the_chip(mode):
    rig = Rig(mode)
    rig.run(60)
    assert rig.fresh() == COUNTS
    assert rig.chip.mode == {"ndof": 12, "imu": 8}[mode]


@given(
    st.dictionaries(st.sampled_from(sorted(COUNTS)), st.integers(-2879, 2879)),
    st.sets(st.sampled_from(sorted(COUNTS))),
)
def test_signs_negate_values_and_headings_wrap(counts, turned):
    rig = Rig(**dict.fromkeys(turned, -1))
    rig.chip.set(**counts)
    rig.run(100)
    expected = {v: (-c if v in turned else c) for v, c in (COUNTS | counts).items()}
    assert rig.fresh() == expected


def test_half_a_turn_is_the_same_from_both_sides():
    for sign in (1, -1):
        rig = Rig(heading=sign)
        rig.chip.set(heading=2880)
        rig.run(100)
        assert rig.fresh()["heading"] == -2880


def test_unknown_values_are_refused():
    with pytest.raises(ValueError, match="no 'yaw'"):
        Imu(Bench().bus, 0x28, {"yaw": Slot()}, 20_000)
    with pytest.raises(ValueError, match="no 'yaw'"):
        Imu(Bench().bus, 0x28, {}, 20_000, {"yaw": -1})
    with pytest.raises(ValueError, match="ndof"):
        Imu(Bench().bus, 0x28, {}, 20_000, mode="amg")
    assert set(ANGLES) < set(REGISTERS)


def resets(rig: Rig) -> int:
    return rig.smbus.writes.count((0x28, b"\x3f\x20"))


def test_chip_that_runs_or_was_just_powered_needs_no_reset():
    rig = Rig()
    rig.run(60)
    assert rig.fresh() == COUNTS and resets(rig) == 0
    rig.use(rig.device)  # the process begins again
    rig.take()
    rig.run(25)
    assert rig.take() == COUNTS and resets(rig) == 0


@pytest.mark.parametrize(
    ("mode", "settings"),
    [
        (7, []),  # without fusion
        (8, []),  # another fusion
        (12, [(0x3B, 0x04)]),  # radians
        (12, [(0x41, 0x21), (0x42, 0x02)]),  # axes turned
        (0, [(0x42, 0x07)]),
        (12, [(0x3E, 0x02)]),  # suspended
    ],
)
def test_chip_with_other_settings_is_reset(mode, settings):
    rig = Rig()
    rig.left_in(mode, *settings)
    rig.run(800)
    assert rig.fresh() == COUNTS
    assert resets(rig) == 1


def test_chip_on_its_second_page_is_identified():
    rig = Rig()
    rig.bus.write(0x28, b"\x07\x01")
    rig.run(60)
    assert rig.fresh() == COUNTS


def test_another_chip_at_the_address_is_named():
    rig = Rig()
    rig.faults.set("identity", 0x28)
    rig.run(50)
    assert rig.reason.startswith("bno055 at 0x28 gives 5f 04 cd f0 as its identity, not a0 fb 32 0f")
    assert rig.take() == dict.fromkeys(COUNTS)


def test_brown_out_gives_no_zeros_and_readings_return_within_700_ms():
    rig = Rig()
    rig.run(100)
    rig.take()
    rig.faults.set("brown-out", 0x28)
    rig.faults.clear()
    readings = taken(rig.slots["heading"], rig, 350)
    assert readings == [] and "I/O" in rig.reason
    assert set(taken(rig.slots["heading"], rig, 350)) == {700}
    assert not rig.reason


def test_chip_in_config_mode_has_no_reading_and_is_set_up_again():
    rig = Rig()
    rig.run(100)
    rig.take()
    rig.bus.write(0x28, b"\x3d\x00")
    assert 0 not in taken(rig.slots["heading"], rig, 90)
    assert "mode 0x00" in rig.reason
    rig.run(300)
    assert rig.fresh() == COUNTS and not rig.reason


def test_error_that_the_chip_reports_is_named_with_its_number():
    rig = Rig()
    rig.run(100)
    rig.chip.error = 3
    rig.run(50)
    assert "reports error 3" in rig.reason
    rig.chip.error = 0
    rig.run(900)
    assert rig.fresh() == COUNTS


def test_before_fusion_runs_there_is_no_reading():
    rig = Rig()
    rig.run(100)
    fill = rig.chip._fill

    def starting(page):
        fill(page)
        page[0x39] = 3  # SYS_STATUS: system initialisation

    rig.chip._fill = starting
    assert rig.fresh() == dict.fromkeys(COUNTS)
    assert not rig.reason


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("level", [0, 1])
def test_stuck_bit_never_gives_a_wrong_reading(bit, level):
    rig = Rig()
    rig.run(100)
    rig.take()
    rig.faults.set("stuck", 0x28, bit=bit, level=level)
    rig.run(100)
    assert rig.take() == dict.fromkeys(COUNTS)
    assert "identity" in rig.reason


def test_swapped_bytes_never_give_a_reading():
    rig = Rig()
    rig.run(100)
    rig.take()
    rig.faults.set("swapped", 0x28)
    rig.run(100)
    assert rig.take() == dict.fromkeys(COUNTS)
