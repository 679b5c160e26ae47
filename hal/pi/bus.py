"""An I2C bus for drivers, over an smbus2.SMBus that is opened at its first use. CPython only.

    write, read, write_read                               for the drivers of this folder
    try_lock, unlock, writeto, readfrom_into, ...         for Adafruit's packages

Every transaction is one `i2c_rdwr`, so that a write and the read after it are one transfer with a repeated start. An
OSError goes to the device. One that is the adapter's closes the handle, and the next use opens it again: the old handle
of a USB adapter that was unplugged never works again.
"""

import errno
import threading
from collections.abc import Callable
from typing import Any

from smbus2 import i2c_msg

# Errors of one device or one transfer (Linux, Documentation/i2c/fault-codes.rst); all others are the adapter's.
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
        """Sends one message."""
        self._transfer(i2c_msg.write(address, data))

    def read(self, address: int, count: int) -> bytes:
        """Reads one message."""
        answer = i2c_msg.read(address, count)
        self._transfer(answer)
        return bytes(answer)

    def write_read(self, address: int, data: bytes | bytearray, count: int) -> bytes:
        """Sends a message and reads the response to it, with a repeated start between them."""
        answer = i2c_msg.read(address, count)
        self._transfer(i2c_msg.write(address, data), answer)
        return bytes(answer)

    def close(self) -> None:
        """Closes the bus; a later use opens it again."""
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
        except OSError:  # the adapter is gone; there is nothing left to close
            pass

    # The interface of adafruit_bus_device.

    def try_lock(self) -> bool:
        """Locks the bus if it is free."""
        return self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        """Unlocks the bus."""
        self._lock.release()

    def writeto(self, address: int, buffer: Any, *, start: int = 0, end: int | None = None) -> None:
        """Sends a part of a buffer."""
        self.write(address, bytes(memoryview(buffer)[start:end]))

    def readfrom_into(self, address: int, buffer: Any, *, start: int = 0, end: int | None = None) -> None:
        """Reads into a part of a buffer."""
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
        """Sends a part of a buffer and reads into a part of another, with a repeated start between them."""
        place = memoryview(in_buffer)[in_start:in_end]
        place[:] = self.write_read(address, bytes(memoryview(out_buffer)[out_start:out_end]), len(place))
