"""What is on a bus: which addresses answer, and what kind of chip each seems to be. CPython only.

Nothing is written but register pointers (of an MS5837: its commands to read), and these only where a chip of that kind
can be: to a port expander a pointer would be its outputs. Three of the chips have no identity: what their reserved bits
must read tells them apart, and they are asked in an order in which each rules out the next. An MS5837 that was never
reset may have an empty PROM, and is unknown then.
"""

import errno
from collections.abc import Callable, Iterator
from typing import Any

from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.ms5837 import crc4

ADDRESSES = range(0x03, 0x78)  # of seven bits; the rest are the bus's own
ALL_CALL = 0x70  # where every PCA9685 listens too, until a driver tells it not to
# Where the pins of each kind can put it.
PLACES = {
    "bno055": range(0x28, 0x2A),
    "ms5837": range(0x76, 0x78),
    "pca9685": range(0x40, 0x80),
    "ads1115": range(0x48, 0x4C),
    "ina219": range(0x40, 0x50),
}
# From here on a PCA9685 is asked for only where some chip is expected: converters and multiplexers are more usual.
_SELDOM = 0x50
_SILENT = {errno.EREMOTEIO, errno.ENXIO, errno.EIO}  # nobody acknowledged, as adapters say it
_HANGS = 3  # transactions that time out, a second each, before a bus is given up
_TRIES = 3  # for an answer from where a chip is expected
_IDS = bytes((0xA0, 0xFB, 0x32, 0x0F))  # of a BNO055


class BusError(Exception):
    """A bus that cannot be scanned; one sentence without its name."""


def scan(bus: I2cBus, expected: dict[int, str]) -> list[int]:
    """The addresses that answer a read of one byte; where a chip is expected it may take more than one."""
    found, hangs = [], 0
    for address in ADDRESSES:
        for _ in range(_TRIES if address in expected else 1):
            try:
                bus.read(address, 1)
                found.append(address)
                break
            except OSError as error:
                hangs += error.errno == errno.ETIMEDOUT
                if error.errno not in _SILENT | {errno.ETIMEDOUT}:
                    raise BusError(_cannot(error)) from error
                if hangs == _HANGS:
                    raise BusError("hangs: a line is held low; check wiring, pull-ups and supply") from error
    return found


def _cannot(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "is not there; enable it, or correct the bus in the vehicle file"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "may not be opened by this user; add it to the group i2c: sudo usermod -aG i2c $USER"
    if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):
        return "is an adapter that carries no plain messages; chips cannot be on it"
    return f"does not work ({error.strerror or error}); check its adapter"


def identify(bus: I2cBus, address: int, expected: str | None = None) -> str | None:
    """The kind of chip, by the names that a vehicle file has for them (a PCA9685 is "pca9685"); None for unknown."""
    for kind, fits in CHECKS.items():
        possible = address in PLACES[kind] and (expected or kind != "pca9685" or address < _SELDOM)
        if not possible and kind != expected:
            continue
        try:
            if fits(bus, address, kind == expected):
                return kind
        except OSError:  # it does not even acknowledge what such a chip has
            continue
    return None


def hears_all_call(bus: I2cBus, address: int) -> bool:
    """Does this PCA9685 listen at ALL_CALL."""
    try:
        return bool(_byte(bus, address, 0x00) & 0x01) and _byte(bus, address, 0x05) == ALL_CALL << 1
    except OSError:
        return False


def _byte(bus: I2cBus, address: int, register: int) -> int:
    return bus.write_read(address, bytes((register,)), 1)[0]


def _word(bus: I2cBus, address: int, register: int) -> int:
    return int.from_bytes(bus.write_read(address, bytes((register,)), 2), "big")


def _is_bno055(bus: I2cBus, address: int, expected: bool) -> bool:
    return bus.write_read(address, b"\x00", len(_IDS)) == _IDS


def _is_ms5837(bus: I2cBus, address: int, expected: bool) -> bool:
    prom = [_word(bus, address, 0xA0 + 2 * i) for i in range(7)]
    return len(set(prom)) > 1 and prom[0] >> 12 == crc4(prom)


def _is_pca9685(bus: I2cBus, address: int, expected: bool) -> bool:
    """NXP rev. 4, 7.3: reserved bits are 0, so are ALL_LED registers and the lowest bits of addresses.

    Byte by byte, because a chip that was just powered does not go on to the next register.
    """
    reserved = ((0x01, 0xE0), *((r, 0x01) for r in range(0x02, 0x06)), (0x07, 0xE0), (0x09, 0xE0))
    return (
        not any(_byte(bus, address, register) & bits for register, bits in reserved)
        and not any(_byte(bus, address, register) for register in range(0xFA, 0xFE))
        and _byte(bus, address, 0xFE) >= 3
    )


def _is_ads1115(bus: I2cBus, address: int, expected: bool) -> bool:
    """TI SBAS444: thresholds as after power-on or as drivers leave them; of one that is expected, any allowed."""
    low, high = _word(bus, address, 0x02), _word(bus, address, 0x03)
    if (low, high) in ((0x8000, 0x7FFF), (0x8000, 0x5AA5), (0x0000, 0x8000)):
        return True
    return expected and (low ^ 0x8000 < high ^ 0x8000 or (high >= 0x8000 > low))


def _is_ina219(bus: I2cBus, address: int, expected: bool) -> bool:
    """TI SBOS448: of config, bus voltage and calibration the bits that are always 0."""
    reserved = ((0x00, 0xC000), (0x02, 0x0004), (0x05, 0x0001))
    return not any(_word(bus, address, register) & bits for register, bits in reserved) and bool(
        _word(bus, address, 0x00)  # a line held low reads as 0, and no driver switches the chip off so
    )


CHECKS: dict[str, Callable[[I2cBus, int, bool], bool]] = {
    "bno055": _is_bno055,
    "ms5837": _is_ms5837,
    "pca9685": _is_pca9685,
    "ads1115": _is_ads1115,
    "ina219": _is_ina219,
}


def ask_ping(port: Any, wait_us: Callable[[int], None]) -> Iterator[int]:
    """The device types that a serial line's end says it is, as answers come; a Ping sonar is 1. Half a second."""
    from brping import definitions

    from caudal.hal.pi.ping import Reader, request

    reader = Reader()
    port.write(request(definitions.COMMON_DEVICE_INFORMATION))
    for _ in range(50):
        wait_us(10_000)
        waiting = port.in_waiting
        for message in reader.take(port.read(waiting)) if waiting else ():
            if message.message_id == definitions.COMMON_DEVICE_INFORMATION:
                yield message.device_type
