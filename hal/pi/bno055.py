"""Attitude: BNO055, which fuses its own gyroscope, accelerometer and (NDOF) compass. CPython only.

    heading roll pitch            1/16 deg, wrapped to [-180, 180) deg
    rate_x rate_y rate_z          1/16 deg/s
    acc_x acc_y acc_z             1/100 m/s2

After a brown-out the chip is in its config mode, where it responds correctly and all data are zero; and it stretches
the clock, which makes some buses read wrong bits. So its identity is read with every sample, in the same burst, and its
mode after it. A reset takes 650 ms: a chip that is already set up is not reset. Datasheet: Bosch BST-BNO055-DS000,
sections 3.3 and 4.3.
"""

import struct
from collections.abc import Mapping

from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot, Steps

MODES = {"imu": 0x08, "ndof": 0x0C}
# Byte of each value in the burst from register 0 on.
REGISTERS = {
    "acc_x": 0x08, "acc_y": 0x0A, "acc_z": 0x0C,
    "rate_x": 0x14, "rate_y": 0x16, "rate_z": 0x18,
    "heading": 0x1A, "roll": 0x1C, "pitch": 0x1E,
}  # fmt: skip
ANGLES = ("heading", "roll", "pitch")

_IDS = bytes((0xA0, 0xFB, 0x32, 0x0F))  # chip, accelerometer, magnetometer, gyroscope
_BURST = 0x20
_PAGE_ID, _SYS_STATUS, _UNIT_SEL, _OPR_MODE, _SYS_TRIGGER = 0x07, 0x39, 0x3B, 0x3D, 0x3F
# SYS_STATUS, SYS_ERR, UNIT_SEL, -, OPR_MODE, PWR_MODE, SYS_TRIGGER, -, axis map, axis signs
_STATUS_BURST = 10
_UNITS = 0x00  # degrees, degrees a second, m/s2; pitch and roll turn as in "Windows" orientation
_UNIT_BITS = 0x97
_CONFIG = 0x00  # of OPR_MODE
_NORMAL = 0  # of PWR_MODE: neither low power nor suspended, which freezes the data
_AXES = bytes((0x24, 0x00))  # as after a reset: x, y, z, none negated
_RESET = 0x20
_ERROR, _FUSING = 1, 5  # of SYS_STATUS
_RESET_US = 650_000
_TO_CONFIG_US, _FROM_CONFIG_US = 19_000, 20_000


def wrapped(angle: int) -> int:
    """The angle in 1/16 deg, wrapped to [-180, 180) deg."""
    return (angle + 2880) % 5760 - 2880


class Imu:
    """Values by their slots; `signs` has -1 for values to be negated."""

    restart_us = RESTART_US

    def __init__(
        self,
        bus: I2cBus,
        address: int,
        slots: Mapping[str, Slot],
        period_us: int,
        signs: Mapping[str, int] | None = None,
        mode: str = "ndof",
        name: str = "",
    ) -> None:
        signs = signs or {}
        for value in (*slots, *signs):
            if value not in REGISTERS:
                raise ValueError(f"a BNO055 has no {value!r}; it has {', '.join(REGISTERS)}")
        if mode not in MODES:
            raise ValueError(f"a BNO055's mode is one of {', '.join(MODES)}, not {mode!r}")
        self.name = name or f"bno055 at 0x{address:02x}"
        self.period_us = period_us
        self.working = False
        self._bus = bus
        self._address = address
        self._mode = MODES[mode]
        self._outputs = [
            (REGISTERS[value], signs.get(value, 1), value in ANGLES, slot) for value, slot in slots.items()
        ]

    def run(self) -> Steps:
        """Sets the chip up if necessary, then samples it once per period."""
        yield from self._set_up()
        self.working = True
        while True:
            yield None
            sample = self._read(0, _BURST)
            self._check_ids(sample)
            # The mode after the data: it shows a chip that has gone back to config mode in between.
            if self._check_status() == _FUSING:
                self._put(sample)

    def _set_up(self) -> Steps:
        self._write(_PAGE_ID, 0)
        self._check_ids(self._read(0, len(_IDS)))
        status = self._read(_SYS_STATUS, _STATUS_BURST)
        mode = status[4] & 0x0F
        plain = status[0] != _ERROR and status[5] & 3 == _NORMAL and status[8:10] == _AXES
        if plain and mode == self._mode and status[2] & _UNIT_BITS == _UNITS:
            return
        # Another program may have changed settings that are not checked here.
        if not plain or mode != _CONFIG:
            self._write(_SYS_TRIGGER, _RESET)
            yield _RESET_US
            self._check_ids(self._read(0, len(_IDS)))
            self._write(_OPR_MODE, _CONFIG)
            yield _TO_CONFIG_US
        self._write(_UNIT_SEL, _UNITS)
        self._write(_OPR_MODE, self._mode)
        yield _FROM_CONFIG_US
        self._check_status()

    def _check_ids(self, ids: bytes) -> None:
        if ids[: len(_IDS)] != _IDS:
            raise DeviceError(
                f"{self.name} gives {ids[:4].hex(' ')} as its identity, not {_IDS.hex(' ')}; check address and wiring"
            )

    def _check_status(self) -> int:
        """SYS_STATUS; a DeviceError if the chip does not run as it was set up."""
        status, error, units, _, mode, power = self._read(_SYS_STATUS, 6)
        if status == _ERROR:
            raise DeviceError(f"{self.name} reports error {error}; if it stays, the chip is broken")
        if (mode & 0x0F, units & _UNIT_BITS, power & 3) != (self._mode, _UNITS, _NORMAL):
            raise DeviceError(
                f"{self.name} is in mode 0x{mode:02x}, power mode {power}, with units 0x{units:02x}, not as"
                " it was set up; check its supply"
            )
        return status

    def _put(self, sample: bytes) -> None:
        for place, sign, angle, slot in self._outputs:
            count = sign * struct.unpack_from("<h", sample, place)[0]
            slot.put(wrapped(count) if angle else count)

    def _read(self, register: int, count: int) -> bytes:
        return self._bus.write_read(self._address, bytes((register,)), count)

    def _write(self, register: int, value: int) -> None:
        self._bus.write(self._address, bytes((register, value)))
