"""An smbus2.SMBus with emulated chips: real i2c_msg objects and errnos, no file.

Only `i2c_rdwr` works; the SMBus calls (read_byte_data ...) raise an error. CPython only.
"""

import ctypes
import errno
from collections.abc import Callable

from smbus2 import SMBus, i2c_msg

from caudal.hal.emulated.chip import Chip, Nack
from caudal.hal.emulated.faults import HANG_US, Faults

READ = 0x0001  # I2C_M_RD of linux/i2c.h
GENERAL_CALL = 0x00


class EmulatedSMBus(SMBus):
    """`spend(us)` gets the time of each message on the bus, before the chip gets the message."""

    def __init__(self, chips: dict[int, Chip], spend: Callable[[int], None], clock_hz: int = 400_000) -> None:
        super().__init__()
        for address, chip in chips.items():
            if chip.address != address:
                raise ValueError(f"the chip at 0x{address:02x} is wired for 0x{chip.address:02x}")
        self.chips = chips
        self.faults = Faults(chips)
        self._spend = spend
        self._clock_hz = clock_hz

    def open(self, bus: int | str) -> None:
        """An emulated bus has no device to open."""

    def close(self) -> None:
        """An emulated bus has no device to close."""
        pass

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None:
        """Carries the messages of one transaction in turn; it ends at the first without an acknowledge."""
        for message in i2c_msgs:
            self._carry(message)

    def _carry(self, message: i2c_msg) -> None:
        address, count = message.addr, message.len
        if self.faults:
            if self.faults.find("hang", address):
                self._spend(HANG_US)
                raise OSError(errno.ETIMEDOUT, "Connection timed out")
            if self.faults.find("nack", address):
                self._refuse()
        if address == GENERAL_CALL and not message.flags & READ:
            self._spend_bytes(1 + count)
            # A list, so that every chip receives it; one acknowledge is enough.
            if not any([chip.general_call(bytes(message)) for chip in self.chips.values()]):
                raise Nack
            return
        listeners = self._listeners(address)
        if not listeners:
            self._refuse()
        self._spend_bytes(1 + count)
        if message.flags & READ:
            data = listeners[0].read(count)
            ctypes.memmove(message.buf, self.faults.on_read(address, data) if self.faults else data, count)
        else:
            for chip in listeners:
                chip.write(bytes(message))

    def _listeners(self, address: int) -> list[Chip]:
        listeners = [chip for chip in self.chips.values() if address in chip.also_at()]
        chip = self.chips.get(address)
        return [chip, *listeners] if chip else listeners

    def _refuse(self) -> None:
        self._spend_bytes(1)
        raise Nack

    def _spend_bytes(self, count: int) -> None:
        """Nine bits per byte, address included, in whole microseconds."""
        self._spend(-(-count * 9 * 1_000_000 // self._clock_hz))

    def _set_address(self, address: int, force: bool | None = None) -> None:
        """All other calls of smbus2 begin here."""
        raise NotImplementedError("an emulated bus has only i2c_rdwr; send i2c_msg objects with it")
