"""Bosch BNO055, an IMU with fusion, from its datasheet (rev. 1.4). CPython only.

Inputs are the counts of its data registers in the units of power-on (1/16 deg, 1/16 deg/s, 1/100 m/s2); UNIT_SEL
converts them. Fusion is not computed: heading, roll and pitch, and if needed quaternion, linear acceleration and
gravity, are set separately, and are 0 until then. The axis map turns the vectors of the sensors, not the angles; the
bit for Android or Windows orientation (UNIT_SEL bit 7) is stored and has no effect.

As on the chip: configuration registers are read-only outside CONFIG mode (3.3), a change of mode takes 7 or 19 ms
(table 3-6), data are 0 in CONFIG mode, the chip does not acknowledge for 650 ms after a reset and for 400 ms after
power-on. A change from one operating mode to another without CONFIG between them is assumed to be ignored; the
datasheet does not mention it.
"""

import math
import struct

from caudal.hal.emulated.chip import Chip, Clock, Nack

PAGE_ID, DATA, TEMPERATURE, CALIB_STAT, ST_RESULT = 0x07, 0x08, 0x34, 0x35, 0x36
SYS_STATUS, SYS_ERR, UNIT_SEL, OPR_MODE, PWR_MODE, SYS_TRIGGER = 0x39, 0x3A, 0x3B, 0x3D, 0x3E, 0x3F
AXIS_MAP_CONFIG, AXIS_MAP_SIGN = 0x41, 0x42
IDS = bytes((0xA0, 0xFB, 0x32, 0x0F))
POWER_ON = {
    0: {
        4: 0x11,
        5: 0x03,
        6: 0x15,
        ST_RESULT: 0x0F,
        UNIT_SEL: 0x80,
        OPR_MODE: 0x10,
        0x40: 0x02,
        AXIS_MAP_CONFIG: 0x24,
    },
    1: {PAGE_ID: 1, 0x08: 0x0D, 0x09: 0x6D, 0x0A: 0x38},
}
WRITABLE = {0: range(UNIT_SEL, 0x6B), 1: range(0x08, 0x20)}

CONFIG = 0
RESET_US, POWER_ON_US = 650_000, 400_000
TO_MODE_US, TO_CONFIG_US = 7_000, 19_000
# The operating modes in which each sensor is on (table 3-3).
FUSION = {8, 9, 10, 11, 12}
ACC_MODES, MAG_MODES, GYR_MODES = {1, 4, 5, 7} | FUSION, {2, 4, 6, 7, 9, 10, 11, 12}, {3, 5, 6, 7, 8, 11, 12}

# In the order of the data registers, from 0x08 on, each of 16 bits.
VALUES = (
    "acc_x", "acc_y", "acc_z", "mag_x", "mag_y", "mag_z", "rate_x", "rate_y", "rate_z", "heading", "roll", "pitch",
    "quat_w", "quat_x", "quat_y", "quat_z", "lin_x", "lin_y", "lin_z", "grav_x", "grav_y", "grav_z",
)  # fmt: skip
VECTORS = (0, 3, 6, 16, 19)  # where acceleration, field, rate, linear acceleration and gravity begin
PLAIN_AXES = 0x24
TURN = 5760  # 360 deg
MILLI_G = 10 / 9.80665  # 1/100 m/s2 -> mg
PER_RADIAN = 900 * math.pi / 180 / 16  # 1/16 deg -> 1/900 rad


class Bno055(Chip):
    """The chip, with the counts of its sensors."""

    def __init__(self, clock: Clock, address: int = 0x28) -> None:
        super().__init__(clock, address)
        self.calibration = 0xFF  # CALIB_STAT while it runs: system, gyroscope, accelerometer, magnetometer
        self.temperature_c = 20
        self.error = 0  # SYS_ERR; any except 0 is an error in SYS_STATUS too
        self._inputs = dict.fromkeys(VALUES, 0)
        self._known: bytes | None = None  # the data registers, until a change
        self._ready_us = clock()
        self._start()

    def set(self, **counts: int) -> None:
        """Sets new data, by the names in VALUES; others stay."""
        unknown = counts.keys() - self._inputs.keys()
        if unknown:
            raise ValueError(f"a BNO055 has no {', '.join(sorted(unknown))}; it has {', '.join(VALUES)}")
        if "heading" in counts:
            counts["heading"] %= TURN
        self._inputs.update(counts)
        self._known = None

    @property
    def mode(self) -> int:
        """The operating mode."""
        return self._pages[0][OPR_MODE] & 0x0F

    def power_cycle(self) -> None:
        """Sets the registers to their power-on values; the chip is not ready for 400 ms."""
        self._start()
        self._ready_us = self.clock() + POWER_ON_US

    def write(self, data: bytes) -> None:
        """Sets the register pointer, and writes registers."""
        self._check_ready()
        if data:
            self._pointer = data[0] & 0x7F
        for value in data[1:]:
            self._write_register(self._pointer, value)
            self._pointer = (self._pointer + 1) & 0x7F

    def read(self, count: int) -> bytes:
        """Reads registers from the pointer on."""
        self._check_ready()
        page = bytearray(self._pages[self._page])
        if self._page == 0:
            self._fill(page)
        data = bytes(page[(self._pointer + k) & 0x7F] for k in range(count))
        self._pointer = (self._pointer + count) & 0x7F
        return data

    def _check_ready(self) -> None:
        if self.clock() < self._ready_us:
            raise Nack

    def _start(self) -> None:
        self._pages = [bytearray(128), bytearray(128)]
        for page, values in POWER_ON.items():
            for register, value in values.items():
                self._pages[page][register] = value
        self._page = 0
        self._pointer = 0
        self._switched_us = self.clock()  # end of the last change of mode
        self._frozen: bytes | None = None
        self._known = None

    def _write_register(self, register: int, value: int) -> None:
        if register == PAGE_ID:
            self._page = value & 1
        elif self._page == 0 and register == OPR_MODE:
            self._change_mode(value & 0x0F)
        elif self._page == 0 and register == SYS_TRIGGER and value & 0x20:
            self._start()
            self._ready_us = self.clock() + RESET_US
        elif self.mode == CONFIG and self.clock() >= self._switched_us and register in WRITABLE[self._page]:
            self._configure(register, value)

    def _change_mode(self, mode: int) -> None:
        old = self.mode
        if mode == old or mode > 12 or (mode != CONFIG and old != CONFIG):
            return
        self._pages[0][OPR_MODE] = mode
        self._known = None
        self._switched_us = self.clock() + (TO_CONFIG_US if mode == CONFIG else TO_MODE_US)

    def _configure(self, register: int, value: int) -> None:
        if self._page == 0:
            if register == AXIS_MAP_CONFIG and sorted(_axes(value)) != [0, 1, 2]:
                return  # an invalid map leaves the old one (3.4)
            if register == SYS_TRIGGER:
                value &= 0x80  # the other bits are commands, not settings
            if register == PWR_MODE:
                self._frozen = self._data() if value & 3 == 2 else None
        self._pages[self._page][register] = value
        self._known = None

    def _fill(self, page: bytearray) -> None:
        """Puts measured values over stored ones."""
        running = self.mode != CONFIG and self.clock() >= self._switched_us
        page[0:4] = bytes(byte ^ 0xFF for byte in IDS) if self.wrong_identity else IDS
        if running:
            page[DATA:TEMPERATURE] = self._data() if self._frozen is None else self._frozen
            page[CALIB_STAT] = self.calibration
            degrees = self.temperature_c
            fahrenheit = page[UNIT_SEL] & 0x10
            page[TEMPERATURE] = (round((degrees * 1.8 + 32) / 2) if fahrenheit else degrees) & 0xFF
        page[SYS_ERR] = self.error
        page[SYS_STATUS] = 1 if self.error else 0 if not running else 5 if self.mode in FUSION else 6

    def _data(self) -> bytes:
        if self._known is None:
            self._known = self._compute()
        return self._known

    def _compute(self) -> bytes:
        counts = [self._inputs[name] for name in VALUES]
        page, mode = self._pages[0], self.mode
        _turn(counts, page[AXIS_MAP_CONFIG], page[AXIS_MAP_SIGN])
        units = page[UNIT_SEL]
        _scale(counts, (0, 1, 2, *range(16, 22)), MILLI_G if units & 1 else 1)
        _scale(counts, (6, 7, 8), PER_RADIAN if units & 2 else 1)
        _scale(counts, (9, 10, 11), PER_RADIAN if units & 4 else 1)
        _scale(counts, (0, 1, 2), mode in ACC_MODES)
        _scale(counts, (3, 4, 5), mode in MAG_MODES)
        _scale(counts, (6, 7, 8), mode in GYR_MODES)
        _scale(counts, range(9, 22), mode in FUSION)
        return struct.pack("<22h", *(min(max(count, -32768), 32767) for count in counts))


def _axes(config: int) -> tuple[int, int, int]:
    """The axis of the chip from which each of X, Y, Z takes its value."""
    return config & 3, config >> 2 & 3, config >> 4 & 3


def _turn(counts: list[int], config: int, sign: int) -> None:
    if config == PLAIN_AXES and not sign:
        return
    signs = (sign >> 2, sign >> 1, sign)
    for first in VECTORS:
        turned = [counts[first + axis] for axis in _axes(config)]
        for k in range(3):
            counts[first + k] = -turned[k] if signs[k] & 1 else turned[k]


def _scale(counts: list[int], places: range | tuple[int, ...], factor: float) -> None:
    if factor != 1:
        for place in places:
            counts[place] = round(counts[place] * factor)
