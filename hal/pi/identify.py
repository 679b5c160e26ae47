"""The chips on a bus: which addresses respond, and which kind of chip each seems to be. CPython only.

Only register pointers are written (to an MS5837: its read commands), and only to addresses that a chip of that kind can
have: a port expander would take a pointer as its outputs. Three kinds of chip have no identity register: they are
distinguished by reserved bits, in a sequence in which each check excludes the next kinds. An MS5837 that was never
reset may have an empty PROM, and is unknown then.
"""

import errno
from collections.abc import Callable, Iterator
from typing import Any

from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.ms5837 import crc4

ADDRESSES = range(0x03, 0x78)  # of seven bits; the others are reserved
ALL_CALL = 0x70  # address of every PCA9685 until a driver disables it
# Addresses that each kind can have by its pins.
PLACES = {
    "bno055": range(0x28, 0x2A),
    "ms5837": range(0x76, 0x78),
    "pca9685": range(0x40, 0x80),
    "ads1115": range(0x48, 0x4C),
    "ina219": range(0x40, 0x50),
}
# From this address on a PCA9685 is only tried where a chip is expected: converters and multiplexers are more usual.
_SELDOM = 0x50
_SILENT = {errno.EREMOTEIO, errno.ENXIO, errno.EIO}  # errors of adapters for a missing acknowledge
_HANGS = 3  # timeouts of a second each after which a bus counts as hung
_TRIES = 3  # where a chip is expected
_IDS = bytes((0xA0, 0xFB, 0x32, 0x0F))  # of a BNO055


class BusError(Exception):
    """A bus that cannot be scanned; one sentence without its name."""


def scan(bus: I2cBus, expected: dict[int, str]) -> list[int]:
    """The addresses that respond to a read of one byte; an expected chip gets more than one try."""
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
    """The kind of chip, by its name in vehicle files or "pca9685"; None if it is unknown."""
    for kind, fits in CHECKS.items():
        possible = address in PLACES[kind] and (expected or kind != "pca9685" or address < _SELDOM)
        if not possible and kind != expected:
            continue
        try:
            if fits(bus, address, kind == expected):
                return kind
        except OSError:  # it does not acknowledge a register of such a chip
            continue
    return None


def responds_to_all_call(bus: I2cBus, address: int) -> bool:
    """Whether this PCA9685 responds at ALL_CALL."""
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
    """NXP rev. 4, 7.3: reserved bits are 0, and so are ALL_LED registers and the lowest bits of addresses.

    Byte by byte: a chip after power-on does not increment its register pointer.
    """
    reserved = ((0x01, 0xE0), *((r, 0x01) for r in range(0x02, 0x06)), (0x07, 0xE0), (0x09, 0xE0))
    return (
        not any(_byte(bus, address, register) & bits for register, bits in reserved)
        and not any(_byte(bus, address, register) for register in range(0xFA, 0xFE))
        and _byte(bus, address, 0xFE) >= 3
    )


def _is_ads1115(bus: I2cBus, address: int, expected: bool) -> bool:
    """TI SBAS444: thresholds as after power-on or as drivers set them; any valid ones of a chip that is expected."""
    low, high = _word(bus, address, 0x02), _word(bus, address, 0x03)
    if (low, high) in ((0x8000, 0x7FFF), (0x8000, 0x5AA5), (0x0000, 0x8000)):
        return True
    return expected and (low ^ 0x8000 < high ^ 0x8000 or (high >= 0x8000 > low))


def _is_ina219(bus: I2cBus, address: int, expected: bool) -> bool:
    """TI SBOS448: the bits of config, bus voltage and calibration that are always 0."""
    reserved = ((0x00, 0xC000), (0x02, 0x0004), (0x05, 0x0001))
    return not any(_word(bus, address, register) & bits for register, bits in reserved) and bool(
        _word(bus, address, 0x00)  # a line held low reads as 0, which no driver sets
    )


CHECKS: dict[str, Callable[[I2cBus, int, bool], bool]] = {
    "bno055": _is_bno055,
    "ms5837": _is_ms5837,
    "pca9685": _is_pca9685,
    "ads1115": _is_ads1115,
    "ina219": _is_ina219,
}


def request_ping(port: Any, wait_us: Callable[[int], None]) -> Iterator[int]:
    """Yields the device types that the device on a serial port reports within half a second; 1 is a Ping sonar."""
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
