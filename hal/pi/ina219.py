"""Voltage and current of a supply: INA219 with a shunt. CPython only.

It converts continuously, the mean of eight samples every 8.5 ms; the CNVR bit shows a new result, and reading the power
register clears it. The chip has no identity register, but a reset leaves another value in its config register than this
driver writes there; that register is read again with every sample. So is the calibration register, which is not used
otherwise: the bytes of both have every bit once as 0 and once as 1, which shows a stuck bit. Datasheet: TI SBOS448,
section 8.6.
"""

from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot, Steps

_CONFIG, _SHUNT, _BUS, _POWER, _CALIBRATION = 0x00, 0x01, 0x02, 0x03, 0x05
_RESET, _AFTER_RESET = 0x8000, 0x399F
_SETTINGS = 0x3DDF  # 32 V, 320 mV across the shunt, means of 8, both continuously
_PATTERN = 0x0100  # small: a large calibration would overflow the chip's own sums
_READY, _OVERFLOW = 0x02, 0x01
_FULL_SCALE = 32_000  # of the shunt's 10 uV
_RESET_US = 1_000
_FIRST_US = 10_000
_AGAIN_US = 2_000


class Power:
    """Voltage in counts of 4 mV, current in mA; either slot may be None."""

    restart_us = RESTART_US

    def __init__(
        self,
        bus: I2cBus,
        address: int,
        shunt_ohm: float,
        voltage: Slot | None,
        current: Slot | None,
        period_us: int,
        name: str = "",
    ) -> None:
        if shunt_ohm <= 0:
            raise ValueError(f"a shunt has a resistance, not {shunt_ohm} ohm")
        self.name = name or f"ina219 at 0x{address:02x}"
        self.period_us = period_us
        self.working = False
        self._bus = bus
        self._address = address
        self._ma_per_count = 0.01 / shunt_ohm  # 10 uV over the shunt
        self._voltage = voltage
        self._current = current

    def run(self) -> Steps:
        """Resets the chip and sets it up, then samples it once per period."""
        self._write(_CONFIG, _RESET)
        yield _RESET_US
        self._check(_CONFIG, _AFTER_RESET)
        self._write(_CALIBRATION, _PATTERN)
        self._write(_CONFIG, _SETTINGS)
        yield _FIRST_US
        self._check(_CONFIG, _SETTINGS)
        self.working = True
        while True:
            yield None
            waited_us = 0
            fresh = self._sample()
            while not fresh and waited_us + _AGAIN_US < self.period_us:
                waited_us += _AGAIN_US
                yield _AGAIN_US
                fresh = self._sample()
            if not fresh:
                self._check(_CONFIG, _SETTINGS)  # never ready: is it slow, or are its bytes wrong

    def _sample(self) -> bool:
        """Takes a new result; whether there was one."""
        bus = self._read(_BUS)
        if not bus & _READY:
            return False
        self._check(_CONFIG, _SETTINGS)
        self._check(_CALIBRATION, _PATTERN)
        shunt = self._read(_SHUNT)
        shunt -= (shunt & 0x8000) << 1
        self._read(_POWER)  # clears CNVR
        if bus & _OVERFLOW:
            return True
        if self._voltage is not None:
            self._voltage.put(bus >> 3)
        if self._current is not None and abs(shunt) < _FULL_SCALE:
            self._current.put(round(shunt * self._ma_per_count))
        return True

    def _check(self, register: int, expected: int) -> None:
        held = self._read(register)
        if held != expected:
            raise DeviceError(
                f"{self.name} holds 0x{held:04x} in register {register} where 0x{expected:04x} should be;"
                " check its supply and address"
            )

    def _read(self, register: int) -> int:
        return int.from_bytes(self._bus.write_read(self._address, bytes((register,)), 2), "big")

    def _write(self, register: int, value: int) -> None:
        self._bus.write(self._address, bytes((register,)) + value.to_bytes(2, "big"))
