"""Lines of numbers from another board, over a serial port (hal/core/number_line.py). CPython only."""

from collections.abc import Callable, Mapping
from typing import Any

import serial

from caudal.hal.core.number_line import NumberLine
from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot, Steps

_SILENCE_US = 1_000_000
_WRITE_S = 0.05  # a blocked port must not delay the other devices


def open_serial(device: str, baud: int) -> Any:
    """Opens a port whose reads never wait; an OSError if there is none."""
    return serial.serial_for_url(device, baudrate=baud, timeout=0, write_timeout=_WRITE_S)


class SerialUart:
    """A pyserial port with the methods of machine.UART that NumberLine uses."""

    def __init__(self, port: Any) -> None:
        self._port = port
        self.count = 0  # bytes that were read

    def any(self) -> int:
        """Bytes that can be read at once."""
        waiting: int = self._port.in_waiting
        return waiting

    def readinto(self, buffer: bytearray, count: int) -> int:
        """Reads up to `count` bytes into the buffer."""
        got = self._port.read(count)
        buffer[: len(got)] = got
        self.count += len(got)
        return len(got)


class Lines:
    """Fields of a line, by index, once per period.

    A port without a complete line for a second is opened again.
    """

    restart_us = RESTART_US

    def __init__(
        self,
        open_port: Callable[[], Any],
        fields: int,
        slots: Mapping[int, Slot],
        period_us: int,
        name: str = "number line",
    ) -> None:
        if not all(0 <= field < fields for field in slots):
            raise ValueError(f"a line of {fields} numbers has fields 0 to {fields - 1}, not {list(slots)}")
        self.name = name
        self.period_us = period_us
        self.working = False
        self._open_port = open_port
        self._fields = fields
        self._slots = dict(slots)

    def run(self) -> Steps:
        """Reads lines until none has come for a second."""
        port = self._open_port()
        try:
            uart = SerialUart(port)
            line = NumberLine(uart, self._fields)
            silent_us = 0
            while silent_us <= _SILENCE_US:
                yield None
                line.take()
                silent_us += self.period_us
                if line.new:
                    self.working = True
                    silent_us = uart.count = 0
                self._put(line)
        finally:
            port.close()
        what = f"{uart.count} bytes but no complete line" if uart.count else "nothing"
        raise DeviceError(
            f"{self.name} sent {what} for a second; check port, speed and that lines have {self._fields} numbers"
        )

    def _put(self, line: NumberLine) -> None:
        for field, slot in self._slots.items():
            number = line.number(field)
            if number is not None:
                slot.put(number)
