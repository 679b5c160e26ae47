"""An emulated bus answers, refuses, hangs and lies as a real one does."""

import pytest
from chip_bench import Bench
from smbus2 import SMBus, i2c_msg

from caudal.hal.emulated.ads1115 import Ads1115
from caudal.hal.emulated.bno055 import Bno055
from caudal.hal.emulated.ina219 import Ina219
from caudal.hal.emulated.ms5837 import Ms5837, crc4
from caudal.hal.emulated.pca9685 import Pca9685

IDS = bytes((0xA0, 0xFB, 0x32, 0x0F))


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.add(Pca9685)
    bench.add(Bno055)
    bench.add(Ads1115)
    return bench


def ids(bench: Bench) -> bytes:
    return bench.bus.write_read(0x28, b"\x00", 4)


def test_emulated_bus_is_an_smbus_without_a_file(bench):
    assert isinstance(bench.smbus, SMBus)
    with bench.smbus as opened:
        opened.open(1)
        assert opened.fd is None


def test_real_messages_are_filled(bench):
    register, answer = i2c_msg.write(0x28, [0x00]), i2c_msg.read(0x28, 4)
    bench.smbus.i2c_rdwr(register, answer)
    assert bytes(answer) == IDS


def test_address_without_a_chip_is_not_acknowledged(bench):
    with pytest.raises(OSError) as refused:
        bench.bus.write(0x29, b"\x00")
    assert refused.value.errno == 121
    assert bench.now_us == 23  # only the address was sent: nine bits at 400 kHz


def test_transaction_takes_nine_bits_a_byte(bench):
    bench.bus.write(0x40, bytes([0x06]) + bytes(64))
    assert bench.now_us == 1485  # 66 bytes with the address
    bench.bus.write_read(0x28, b"\x00", 6)
    assert bench.now_us == 1485 + 45 + 158  # two messages, each with its address, in whole microseconds


def test_chip_wired_for_another_address_is_refused():
    with pytest.raises(ValueError, match="0x41 is wired for 0x40"):
        type(Bench().smbus)({0x41: Pca9685(lambda: 0)}, print)


def test_calls_past_i2c_rdwr_are_refused_with_a_sentence(bench):
    with pytest.raises(NotImplementedError, match="has only i2c_rdwr"):
        bench.smbus.read_byte_data(0x28, 0)


def test_nack_at_one_address_does_not_affect_others(bench):
    bench.faults.set("nack", 0x40)
    with pytest.raises(OSError) as refused:
        bench.bus.read(0x40, 1)
    assert refused.value.errno == 121
    assert ids(bench) == IDS
    bench.faults.clear("nack", 0x40)
    bench.bus.read(0x40, 1)


def test_hung_bus_takes_a_second_per_transaction(bench):
    bench.faults.set("hang")
    for already in range(3):
        with pytest.raises(OSError) as hung:
            ids(bench)
        assert hung.value.errno == 110
        assert bench.now_us == (already + 1) * 1_020_000
    bench.faults.clear("hang")
    assert ids(bench) == IDS


@pytest.mark.parametrize(("bit", "level", "seen"), [(4, 1, "b0fb321f"), (1, 0, "a0f9300d")])
def test_stuck_bit_is_in_every_byte_read(bench, bit, level, seen):
    bench.faults.set("stuck", 0x28, bit=bit, level=level)
    assert ids(bench).hex() == seen


def test_swapped_bytes_exchange_pairs_and_leave_an_odd_last_one(bench):
    bench.faults.set("swapped")
    assert ids(bench).hex() == "fba00f32"
    assert bench.bus.write_read(0x28, b"\x00", 3).hex() == "fba032"


def test_stuck_bit_applies_after_swapped_bytes(bench):
    bench.faults.set("swapped")
    bench.faults.set("stuck", bit=0, level=0)
    assert ids(bench).hex() == "faa00e32"


def test_brown_out_resets_the_registers_once(bench):
    bench.bus.write(0x40, b"\x00\x20")
    bench.faults.set("brown-out", 0x40)
    assert bench.bus.write_read(0x40, b"\x00", 1) == b"\x11"
    bench.bus.write(0x40, b"\x00\x20")
    assert bench.bus.write_read(0x40, b"\x00", 1) == b"\x20"  # while it is still set


def test_wrong_identity_is_never_the_right_one(bench):
    depth = bench.add(Ms5837)
    bench.faults.set("identity")
    assert all(seen != right for seen, right in zip(ids(bench), IDS, strict=True))
    prom = [int.from_bytes(bench.bus.write_read(0x76, bytes([0xA0 + 2 * k]), 2), "big") for k in range(8)]
    assert prom[0] >> 12 != crc4(tuple(prom))
    bench.faults.clear()
    assert ids(bench) == IDS
    assert bench.bus.write_read(0x76, b"\xa0", 2) == depth.prom[0].to_bytes(2, "big")


@pytest.mark.parametrize("kind", [Ads1115, Ina219, Ms5837])
def test_slow_chip_takes_twenty_times_as_long(kind):
    def lasts_us(slow: bool) -> int:
        bench = Bench()
        address = bench.add(kind).address
        if slow:
            bench.faults.set("slow", address)
        start, done = {
            Ads1115: (b"\x01\xc3\x83", lambda: bench.bus.write_read(address, b"\x01", 1)[0] & 0x80),
            Ina219: (b"\x00\x39\x9f", lambda: bench.bus.write_read(address, b"\x02", 2)[1] & 0x02),
            # Asked once: asking spoils the conversion, but not its time.
            Ms5837: (b"\x48", lambda: any(bench.bus.write_read(address, b"\x00", 3))),
        }[kind]
        bench.bus.write(address, start)
        start_us = bench.now_us
        while not done():
            bench.wait(100)
        return bench.now_us - start_us

    assert lasts_us(slow=True) / lasts_us(slow=False) == pytest.approx(20, rel=0.1)


def test_clearing_one_address_keeps_the_fault_at_another(bench):
    bench.faults.set("nack", 0x40)
    bench.faults.set("nack", 0x28)
    bench.faults.clear("nack", 0x40)
    bench.bus.read(0x40, 1)
    with pytest.raises(OSError):
        ids(bench)
    bench.faults.clear()
    assert not bench.faults and ids(bench) == IDS


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("gremlin",), "it has nack, hang"),
        (("nack", 0x55), "no chip at 0x55; there are chips at 0x28, 0x40, 0x48"),
    ],
)
def test_impossible_fault_is_refused_with_a_sentence(bench, words, sentence):
    with pytest.raises(ValueError, match=sentence):
        bench.faults.set(*words)


def test_only_bits_of_a_byte_can_be_stuck(bench):
    with pytest.raises(ValueError, match="bit 8"):
        bench.faults.set("stuck", bit=8)


def test_clock_may_start_below_zero():
    bench = Bench()
    bench.now_us = -1_500_000
    bench.add(Bno055).set(heading=100)
    bench.add(Ms5837)
    bench.add(Ads1115).set(0, 1_000_000)
    bench.add(Ina219, address=0x41).set(bus_mv=12_000)
    for address, message in ((0x28, b"\x3d\x0c"), (0x76, b"\x48"), (0x48, b"\x01\xc3\x83")):
        bench.bus.write(address, message)
    bench.wait(10_000)
    assert bench.bus.write_read(0x28, b"\x1a", 2) == b"\x64\x00"
    assert any(bench.bus.write_read(0x76, b"\x00", 3))
    assert bench.bus.write_read(0x48, b"\x00", 2) == b"\x1f\x40"
    assert bench.bus.write_read(0x41, b"\x02", 2) == (3000 << 3 | 2).to_bytes(2, "big")


def test_general_call_resets_chips_that_support_it(bench):
    bench.bus.write(0x40, b"\x00\x20")
    bench.bus.write(0x48, b"\x01\x05\x83")
    bench.bus.write(0x00, b"\x06")
    assert bench.bus.write_read(0x40, b"\x00", 1) == b"\x11"
    assert bench.bus.write_read(0x48, b"\x01", 2) == b"\x85\x83"
    with pytest.raises(OSError):
        bench.bus.write(0x00, b"\x04")
