"""Where a sensor's count comes from on a microcontroller: `count()` is an integer, or None for no reading.

    AnalogPin       machine.ADC, 0 to 65535
    SwitchPin       machine.Pin, 0 or 1
    Register        a device's register on machine.I2C
    LineField       one number of a line that another board sends (hal/core/number_line.py)

Portable; none allocates while its bus answers.
"""


class AnalogPin:
    def __init__(self, adc):
        self.count = adc.read_u16


class SwitchPin:
    def __init__(self, pin, inverted):
        self._pin = pin
        self._inverted = 1 if inverted else 0

    def count(self):
        return self._pin.value() ^ self._inverted


class Register:
    """One to four bytes from a register. A device that does not answer has no reading, and is asked again."""

    def __init__(self, i2c, address, register, size, little, signed):
        self._i2c = i2c
        self._address = address
        self._register = register
        self._buffer = bytearray(size)
        self._little = little
        self._signed = signed

    def count(self):
        buffer = self._buffer
        try:
            self._i2c.readfrom_mem_into(self._address, self._register, buffer)
        except OSError:
            return None
        size = len(buffer)
        # The sign goes in with the highest byte: a small number is never a large one on its way.
        top = buffer[size - 1] if self._little else buffer[0]
        count = top - 256 if self._signed and top & 0x80 else top
        i = 1
        while i < size:
            count = count << 8 | buffer[size - 1 - i if self._little else i]
            i += 1
        return count


class LineField:
    def __init__(self, line, field):
        self._line = line
        self._field = field

    def count(self):
        return self._line.number(self._field)
