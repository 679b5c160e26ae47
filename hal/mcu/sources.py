"""Sources of a sensor's count on a microcontroller: `count()` is an integer, or None without a reading.

    AnalogPin       machine.ADC, 0 to 65535
    SwitchPin       machine.Pin, 0 or 1
    Register        a device's register on machine.I2C
    LineField       one number of a line that another board sends (hal/core/number_line.py)

Portable; none allocates while its bus responds.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from caudal.hal.core.number_line import NumberLine

    class Adc(Protocol):
        """The part of machine.ADC that a sensor needs."""

        def read_u16(self) -> int:
            """Measures, 0 to 65535."""

    class Pin(Protocol):
        """The part of machine.Pin that a switch needs."""

        def value(self) -> int:
            """Level of the input, 0 or 1."""

    class I2c(Protocol):
        """The part of machine.I2C that registers need."""

        def readfrom_mem_into(self, address: int, register: int, buffer: bytearray) -> object:
            """Reads registers into the buffer."""

        def writeto_mem(self, address: int, register: int, data: bytes) -> object:
            """Writes registers."""


class AnalogPin:
    """An analogue input."""

    def __init__(self, adc: "Adc") -> None:
        self.count = adc.read_u16


class SwitchPin:
    """A digital input."""

    def __init__(self, pin: "Pin", inverted: bool) -> None:
        self._pin = pin
        self._inverted = 1 if inverted else 0

    def count(self) -> int:
        """0 or 1."""
        return self._pin.value() ^ self._inverted


class Register:
    """One to four bytes from a register; no reading in a tick in which the device does not respond."""

    def __init__(
        self, i2c: "I2c", address: int, register: int, size: int, little: bool, signed: bool
    ) -> None:
        self._i2c = i2c
        self._address = address
        self._register = register
        self._buffer = bytearray(size)
        self._little = little
        self._signed = signed

    def count(self) -> "int | None":
        """The register's integer."""
        buffer = self._buffer
        try:
            self._i2c.readfrom_mem_into(self._address, self._register, buffer)
        except OSError:
            return None
        size = len(buffer)
        # The highest byte carries the sign, so that no intermediate value exceeds a small integer.
        top = buffer[size - 1] if self._little else buffer[0]
        count = top - 256 if self._signed and top & 0x80 else top
        i = 1
        while i < size:
            count = count << 8 | buffer[size - 1 - i if self._little else i]
            i += 1
        return count


class LineField:
    """One field of a line of numbers."""

    def __init__(self, line: "NumberLine", field: int) -> None:
        self._line = line
        self._field = field

    def count(self) -> "int | None":
        """The number that arrived since the last tick."""
        return self._line.number(self._field)
