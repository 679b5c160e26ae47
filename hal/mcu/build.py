"""Builds a microcontroller's driver from its [mcu] table (hal/tables/mcu.py). `machine` is passed in. Portable."""

from caudal.hal.core.number_line import NumberLine
from caudal.hal.mcu.driver import McuDriver
from caudal.hal.mcu.port import build_uart
from caudal.hal.mcu.pulses import PulsePins
from caudal.hal.mcu.sources import AnalogPin, LineField, Register, SwitchPin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caudal.hal.mcu.driver import Source
    from caudal.hal.mcu.sources import I2c, Pin
    from caudal.hal.tables import mcu as tables
    from caudal.hal.tables.channels import BoardSettings


def build_driver(settings: "BoardSettings", mcu: "tables.Mcu", machine: "Any") -> McuDriver:
    """The driver of a vehicle's channels on the pins and buses of a board."""
    i2c = build_i2c(mcu, machine)
    line = NumberLine(build_uart(mcu.line, machine), mcu.line.fields) if mcu.line else None
    pwms = [
        machine.PWM(machine.Pin(mcu.pulse[actuator.name]), freq=mcu.pulse_hz, duty_ns=0)
        for actuator in settings.actuators
    ]
    sources = [build_source(mcu.sensor.get(sensor.name), i2c, line, machine) for sensor in settings.sensors]
    return McuDriver(PulsePins(pwms), sources, line)


def build_i2c(mcu: "tables.Mcu", machine: "Any") -> "I2c | None":
    """The I2C bus, its devices configured by [mcu] setup; None without a bus."""
    table = mcu.i2c
    if not table:
        return None
    scl, sda = machine.Pin(table.scl), machine.Pin(table.sda)
    i2c: I2c = machine.I2C(table.id, scl=scl, sda=sda, freq=table.frequency_hz)
    for write in mcu.setup:
        i2c.writeto_mem(write.address, write.register, bytes([write.value]))
    return i2c


def build_source(
    table: "tables.Place | None", i2c: "I2c | None", line: "NumberLine | None", machine: "Any"
) -> "Source | None":
    """The source of a sensor's counts; None for a sensor that is not fitted."""
    if table is None:
        return None
    if table.on == "adc":
        return AnalogPin(machine.ADC(machine.Pin(table.pin)))
    if table.on == "pin":
        return SwitchPin(build_input(table, machine), table.inverted)
    if line and table.on == "line":
        return LineField(line, table.field)
    if i2c and table.on == "i2c":
        little = table.order == "little"
        return Register(i2c, table.address, table.register, table.bytes, little, table.signed)
    return None


def build_input(table: "tables.Input", machine: "Any") -> "Pin":
    """A digital input pin."""
    pull = {"up": machine.Pin.PULL_UP, "down": machine.Pin.PULL_DOWN, "none": None}[table.pull]
    pin: Pin = machine.Pin(table.pin, machine.Pin.IN, pull)
    return pin
