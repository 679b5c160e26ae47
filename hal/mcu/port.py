"""Serial ports of a board, on machine.UART, and one as the port of a HIL link. Portable: MicroPython."""

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from caudal.hal.core import number_line
    from caudal.hal.tables import mcu as tables

    class Uart(number_line.Uart, Protocol):
        """The part of machine.UART that a HIL link needs."""

        def write(self, buffer: memoryview) -> object:
            """Sends bytes."""


_WAIT_US = 100  # between two reads of an empty UART: about a byte at 115,200 baud


def build_uart(table: "tables.Uart", machine: "Any") -> "Uart":
    """The UART of a table, on its pins or on the board's default pins."""
    pins = {}
    if table.tx is not None:
        pins["tx"] = machine.Pin(table.tx)
    if table.rx is not None:
        pins["rx"] = machine.Pin(table.rx)
    uart: Uart = machine.UART(table.id, baudrate=table.baud, **pins)
    return uart


class UartPort:
    """A UART with a read timeout."""

    def __init__(self, uart: "Uart") -> None:
        self._uart = uart

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        """Receives into the buffer; the number of bytes, 0 after the timeout."""
        start_ms = time.ticks_ms()  # type: ignore[attr-defined]
        while True:
            count = self._uart.any()
            if count:
                return self._uart.readinto(buffer, min(count, len(buffer))) or 0
            if time.ticks_diff(time.ticks_ms(), start_ms) >= timeout_ms:  # type: ignore[attr-defined]
                return 0
            time.sleep_us(_WAIT_US)  # type: ignore[attr-defined]

    def write(self, buffer: bytearray, count: int) -> None:
        """Sends `count` bytes of the buffer."""
        self._uart.write(memoryview(buffer)[:count])
