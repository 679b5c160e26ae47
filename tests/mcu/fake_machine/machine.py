"""MicroPython's `machine` where there is no machine: what the drivers call, and a record of what they did to it.

UART    a pseudo-terminal, the one that FAKE_UART names; or, where `line` is set, that text again and again
PWM     stores every pulse it was set to, by pin
ADC, Pin, I2C      give what a test put into `levels` and `registers`
"""

import os
import select

pulses_ns = {}  # pin -> every duty it was set to
levels = {}  # pin -> value of a switch or an analogue input
registers = {}  # (address, register) -> byte; an address without any does not answer
written = []  # (address, register, bytes)
fed = []  # a watchdog's meals
line = None


class Pin:
    IN = 0
    PULL_UP = 1
    PULL_DOWN = 2

    def __init__(self, id, mode=None, pull=None):
        self.id = id

    def value(self):
        return levels.get(self.id, 1)


class PWM:
    def __init__(self, pin, freq, duty_ns):
        self.pin = pin.id
        pulses_ns[self.pin] = [duty_ns]

    def duty_ns(self, duty_ns):
        pulses_ns[self.pin].append(duty_ns)

    def deinit(self):
        pulses_ns[self.pin].append("deinit")


class ADC:
    def __init__(self, pin):
        self._pin = pin.id

    def read_u16(self):
        return levels.get(self._pin, 0)


class I2C:
    def __init__(self, id, scl, sda, freq):
        pass

    def writeto_mem(self, address, register, data):
        written.append((address, register, bytes(data)))

    def readfrom_mem_into(self, address, register, buffer):
        for i in range(len(buffer)):
            if (address, register + i) not in registers:
                raise OSError(19)
            buffer[i] = registers[(address, register + i)]


def UART(id, baudrate, tx=None, rx=None):
    return TextUart(line) if line else FileUart()


class TextUart:
    def __init__(self, text):
        self._text = text

    def any(self):
        return len(self._text)

    def readinto(self, buffer, count):
        i = 0
        while i < count:
            buffer[i] = self._text[i]
            i += 1
        self._text = self._text[count:] + self._text[:count]
        return count


class FileUart:
    def __init__(self):
        self._file = open(os.getenv("FAKE_UART"), "r+b", 0)  # noqa: SIM115 (open as long as the program runs)
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLIN)

    def any(self):
        return 64 if self._poll.poll(0) else 0

    def readinto(self, buffer, count):
        return self._file.readinto(buffer, count)

    def write(self, buffer):
        return self._file.write(buffer)


class WDT:
    def __init__(self, timeout):
        fed.append(timeout)

    def feed(self):
        fed.append(0)


def reset():
    raise SystemExit
