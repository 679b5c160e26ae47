"""A board's serial lines, on machine.UART; one as a port of the bench wire. Portable: MicroPython.

A port has `read(buffer, timeout_ms) -> count` and `write(buffer, count)`.
"""

import time

_WAIT_US = 100  # between two looks at an empty line: about a byte at 115,200 baud


def build_uart(wires, machine):
    if wires["tx"] is None and wires["rx"] is None:
        return machine.UART(wires["id"], baudrate=wires["baud"])
    pins = {key: machine.Pin(wires[key]) for key in ("tx", "rx") if wires[key] is not None}
    return machine.UART(wires["id"], baudrate=wires["baud"], **pins)


class UartPort:
    def __init__(self, uart):
        self._uart = uart

    def read(self, buffer, timeout_ms):
        start_ms = time.ticks_ms()  # type: ignore[attr-defined]
        while True:
            count = self._uart.any()
            if count:
                return self._uart.readinto(buffer, min(count, len(buffer))) or 0
            if time.ticks_diff(time.ticks_ms(), start_ms) >= timeout_ms:  # type: ignore[attr-defined]
                return 0
            time.sleep_us(_WAIT_US)  # type: ignore[attr-defined]

    def write(self, buffer, count):
        self._uart.write(memoryview(buffer)[:count])
