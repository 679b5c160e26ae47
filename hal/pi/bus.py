"""An I2C bus as drivers want it, over an smbus2.SMBus that is opened at first use. CPython only.

    write, read, write_read                               what the drivers of this folder use
    try_lock, unlock, writeto, readfrom_into, ...         what Adafruit's packages want of a bus

Every transaction is one `i2c_rdwr`, so a write and the read behind it stand in one transfer with a repeated start.
An OSError goes up to the device. One that is not about the device's answer closes the handle, and the next use opens
it again: an adapter on USB comes and goes, and its old handle never works again.
"""

import errno
import threading
from collections.abc import Callable
from typing import Any

from smbus2 import i2c_msg

# Errors of one device or one transfer (Linux, Documentation/i2c/fault-codes.rst); every other is the adapter's.
# EOPNOTSUPP: adapters that cannot send an empty message, as Adafruit's probe is.
_OF_THE_DEVICE = {errno.EREMOTEIO, errno.ENXIO, errno.ETIMEDOUT, errno.EAGAIN, errno.EOPNOTSUPP}


class I2cBus:
    """`open_smbus()` gives an smbus2.SMBus; one thread uses a bus at a time."""

    def __init__(self, open_smbus: Callable[[], Any], name: str) -> None:
        self.name = name
        self._open_smbus = open_smbus
        self._smbus: Any = None
        self._lock = threading.Lock()

    def write(self, address: int, data: bytes | bytearray) -> None:
        """One message."""
        self._transfer(i2c_msg.write(address, data))

    def read(self, address: int, count: int) -> bytes:
        answer = i2c_msg.read(address, count)
        self._transfer(answer)
        return bytes(answer)

    def write_read(self, address: int, data: bytes | bytearray, count: int) -> bytes:
        """A message and the answer to it, with a repeated start between them."""
        answer = i2c_msg.read(address, count)
        self._transfer(i2c_msg.write(address, data), answer)
        return bytes(answer)

    def close(self) -> None:
        """May be called twice; a later use opens the bus again."""
        smbus, self._smbus = self._smbus, None
        if smbus is not None:
            smbus.close()

    def _transfer(self, *messages: Any) -> None:
        if self._smbus is None:
            self._smbus = self._open_smbus()
        try:
            self._smbus.i2c_rdwr(*messages)
        except OSError as error:
            if error.errno not in _OF_THE_DEVICE:
                self._drop()
            raise

    def _drop(self) -> None:
        try:
            self.close()
        except OSError:  # a handle of an adapter that is gone; there is nothing left to close
            pass

    # From here on: a bus as adafruit_bus_device knows it.

    def try_lock(self) -> bool:
        return self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        self._lock.release()

    def writeto(self, address: int, buffer: Any, *, start: int = 0, end: int | None = None) -> None:
        self.write(address, bytes(memoryview(buffer)[start:end]))

    def readfrom_into(self, address: int, buffer: Any, *, start: int = 0, end: int | None = None) -> None:
        place = memoryview(buffer)[start:end]
        place[:] = self.read(address, len(place))

    def writeto_then_readfrom(
        self,
        address: int,
        out_buffer: Any,
        in_buffer: Any,
        *,
        out_start: int = 0,
        out_end: int | None = None,
        in_start: int = 0,
        in_end: int | None = None,
    ) -> None:
        place = memoryview(in_buffer)[in_start:in_end]
        place[:] = self.write_read(address, bytes(memoryview(out_buffer)[out_start:out_end]), len(place))
