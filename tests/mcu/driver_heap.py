"""How many bytes of heap a thousand reads and writes of a microcontroller's driver take. MicroPython.

cd PROJECT && micropython tests/mcu/driver_heap.py
"""

import gc
import sys

sys.path.insert(0, "src")

from caudal.hal.core.number_line import NumberLine
from caudal.hal.mcu.driver import McuDriver
from caudal.hal.mcu.pulses import PulsePins
from caudal.hal.mcu.sources import LineField, Register, SwitchPin

TEXT = b"3000,-12,,17\n"


class Line:
    def __init__(self):
        self.talks = True

    def any(self):
        return len(TEXT) if self.talks else 0

    def readinto(self, buffer, count):
        i = 0
        while i < count:
            buffer[i] = TEXT[i]
            i += 1
        return count


class Bus:
    def readfrom_mem_into(self, address, register, buffer):
        buffer[0] = 0x40
        buffer[1] = 0xFF


class Pin:
    def value(self):
        return 1


class Pwm:
    def duty_ns(self, duty_ns):
        pass


def bytes_of(call, argument):
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    i = 0
    while i < 1000:
        call(argument)
        i += 1
    taken = gc.mem_alloc() - before
    gc.enable()
    return taken


uart = Line()
line = NumberLine(uart, 4)
sources = [LineField(line, k) for k in range(4)]
sources += [Register(Bus(), 0x28, 0x1A, 2, True, True), SwitchPin(Pin(), True), None]
driver = McuDriver(PulsePins([Pwm(), Pwm()]), sources, line)
counts = [None] * len(sources)
outputs = [[1500, 2400], [0, 760]]


def write(pair):
    driver.write(pair[0])
    driver.write(pair[1])


print("read", bytes_of(driver.read, counts))
print("write", bytes_of(write, outputs))
uart.talks = False
print("silent", bytes_of(driver.read, counts))
print("box", bytes_of(lambda _: [None] * 4, None))
